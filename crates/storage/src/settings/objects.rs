//! An object store.

use std::path::PathBuf;
use std::sync::Arc;

use trommel_blocks::{BlockStorage, PayloadStorage, Result};

use super::access::{Enough, Identity, Method, needed};
use super::data::Auth;
#[cfg(not(feature = "objects"))]
use super::fault::SettingFault;
use super::layers::Layers;
use super::table::{SecretPlace, Setting};
#[cfg(feature = "objects")]
use crate::objects::{Access, ObjectBlockStorage, ObjectOptions, ObjectPayloads, Objects};

/// A place in an object store.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct ObjectSettings {
    /// `az://CONTAINER/PREFIX`, `s3://BUCKET/PREFIX` or `file:///FOLDER`.
    pub url: String,
    /// The address of the service, where it is not the vendor's own.
    pub endpoint: Option<String>,
    /// The region (S3).
    pub region: Option<String>,
    /// The storage account (Azure).
    pub account: Option<String>,
    /// Whether the endpoint may be asked without encryption.
    pub allow_http: bool,
    /// As whom.
    pub auth: Auth,
}

impl ObjectSettings {
    /// The folder, where the place is one: `file:///…`.
    pub(super) fn folder(&self) -> Option<PathBuf> {
        let path = self.url.strip_prefix("file://")?;
        path.starts_with('/').then(|| PathBuf::from(path))
    }

    /// Creates the storage of blocks. Asks nothing yet.
    #[cfg(feature = "objects")]
    pub(super) fn open(&self) -> Result<Arc<dyn BlockStorage>> {
        Ok(Arc::new(ObjectBlockStorage::new(Objects::open(&self.url, &ObjectOptions::from(self))?)))
    }

    /// Creates the storage of payloads. Asks nothing yet.
    #[cfg(feature = "objects")]
    pub(super) fn open_payloads(&self) -> Result<Arc<dyn PayloadStorage>> {
        Ok(Arc::new(ObjectPayloads::new(Objects::open(&self.url, &ObjectOptions::from(self))?)))
    }

    #[cfg(not(feature = "objects"))]
    #[expect(clippy::unused_self, reason = "a build with the feature uses it")]
    pub(super) fn open(&self) -> Result<Arc<dyn BlockStorage>> {
        Err(not_built().into())
    }

    #[cfg(not(feature = "objects"))]
    #[expect(clippy::unused_self, reason = "a build with the feature uses it")]
    pub(super) fn open_payloads(&self) -> Result<Arc<dyn PayloadStorage>> {
        Err(not_built().into())
    }
}

#[cfg(not(feature = "objects"))]
fn not_built() -> SettingFault {
    SettingFault::NotBuilt { storage: "object stores", feature: "objects" }
}

/// As whom Azure Blob is asked.
const AZURE: Identity = Identity {
    word: Setting::OBJECTS_AUTH,
    secrets: &[
        Enough {
            method: Method::ConnectionString,
            auth: Auth::ConnectionString,
            place: SecretPlace {
                setting: Setting::OBJECTS_CONNECTION_STRING,
                in_file: Setting::OBJECTS_CONNECTION_STRING_FILE,
            },
        },
        Enough {
            method: Method::Key,
            auth: Auth::Key,
            place: SecretPlace { setting: Setting::OBJECTS_KEY, in_file: Setting::OBJECTS_KEY_FILE },
        },
        Enough {
            method: Method::Signature,
            auth: Auth::Signature,
            place: SecretPlace {
                setting: Setting::OBJECTS_SIGNATURE,
                in_file: Setting::OBJECTS_SIGNATURE_FILE,
            },
        },
    ],
    is_open: true,
    tenant: Setting::OBJECTS_TENANT,
    client: Setting::OBJECTS_CLIENT,
    client_secret: SecretPlace {
        setting: Setting::OBJECTS_CLIENT_SECRET,
        in_file: Setting::OBJECTS_CLIENT_SECRET_FILE,
    },
};

const S3: &[(&str, Method)] = &[
    ("default_credentials", Method::Default),
    ("default_credential", Method::Default),
    ("managed_identity", Method::Managed),
    ("access_key", Method::AccessKey),
    ("key", Method::AccessKey),
    ("anonymous", Method::Anonymous),
];

/// The place that is named, if one is.
pub(super) fn of(layers: &mut Layers<'_>) -> Result<Option<ObjectSettings>> {
    let Some(url) = layers.text(Setting::OBJECTS_URL)? else { return Ok(None) };
    let mut endpoint = layers.text(Setting::OBJECTS_ENDPOINT)?;
    let auth = match url.split_once("://") {
        Some(("az" | "azure", _)) => AZURE.find(layers)?,
        Some(("s3", _)) => {
            endpoint = match endpoint {
                None => layers.text(Setting::S3_ENDPOINT)?,
                named => named,
            };
            of_s3(layers)?
        }
        Some(("file" | "memory", _)) => Auth::Anonymous,
        _ => {
            let advice = "write it like `az://CONTAINER/PREFIX`, `s3://BUCKET/PREFIX` or `file:///FOLDER`";
            return Err(Setting::OBJECTS_URL.wrong("is no place", advice));
        }
    };
    // Keys do not stand in a URL, where every list of settings shows them.
    if url.contains(['@', '?', ';']) {
        let advice = "leave out users, keys and signatures, and set those in the environment";
        return Err(Setting::OBJECTS_URL.wrong("is no plain place", advice));
    }
    Ok(Some(ObjectSettings {
        url,
        endpoint,
        auth,
        region: layers.text(Setting::OBJECTS_REGION)?,
        account: layers.text(Setting::OBJECTS_ACCOUNT)?,
        allow_http: layers.truth(Setting::OBJECTS_ALLOW_HTTP)?.unwrap_or(false),
    }))
}

fn of_s3(layers: &mut Layers<'_>) -> Result<Auth> {
    let method = layers.word(Setting::OBJECTS_AUTH, S3)?;
    if method == Some(Method::Anonymous) {
        return Ok(Auth::Anonymous);
    }
    let is_key = method == Some(Method::AccessKey);
    // As a pair, so that half of a key is told rather than passed over.
    let has_id = method.is_none() && layers.has(Setting::ACCESS_KEY_ID);
    if !is_key && !has_id {
        return Ok(Auth::DefaultCredentials);
    }
    let missing = || Setting::ACCESS_KEY_ID.wrong("is missing", "an access key has an id and a secret");
    Ok(Auth::AccessKey {
        id: layers.text(Setting::ACCESS_KEY_ID)?.ok_or_else(missing)?,
        secret: needed(
            layers,
            SecretPlace { setting: Setting::SECRET_ACCESS_KEY, in_file: Setting::SECRET_ACCESS_KEY_FILE },
        )?,
        token: layers
            .secret(SecretPlace { setting: Setting::SESSION_TOKEN, in_file: Setting::SESSION_TOKEN_FILE })?,
    })
}

#[cfg(feature = "objects")]
impl From<&ObjectSettings> for ObjectOptions {
    fn from(settings: &ObjectSettings) -> Self {
        Self {
            access: access(&settings.auth),
            account: settings.account.clone(),
            region: settings.region.clone(),
            endpoint: settings.endpoint.clone(),
            allow_http: settings.allow_http,
            ..Self::default()
        }
    }
}

/// As whom an object store is asked. A key is one of Azure unless it has an id.
#[cfg(feature = "objects")]
fn access(auth: &Auth) -> Access {
    match auth.clone() {
        Auth::Key(key) => Access::AzureKey(key),
        Auth::ConnectionString(text) => Access::AzureConnectionString(text),
        Auth::Signature(signature) => Access::AzureSignature(signature),
        Auth::ManagedIdentity { client_id } => Access::Machine { client_id },
        Auth::DefaultCredentials => Access::Machine { client_id: None },
        Auth::ServicePrincipal { tenant_id, client_id, client_secret } => {
            Access::AzureApplication { tenant_id, client_id, client_secret }
        }
        Auth::AccessKey { id, secret, token } => Access::S3Key { id, secret, token },
        Auth::Anonymous => Access::Anonymous,
    }
}
