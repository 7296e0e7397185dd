//! Settings of object stores.

use std::path::PathBuf;
use std::sync::Arc;

use trommel_blocks::{BlockStorage, PayloadStorage, Result};

use super::access::{Identity, Method, SecretMethod, required_secret};
use super::data::Auth;
#[cfg(not(feature = "objects"))]
use super::fault::SettingFault;
use super::layers::Layers;
use super::table::{SecretPlace, Setting};
#[cfg(feature = "objects")]
use crate::objects::{Access, ObjectBlockStorage, ObjectOptions, ObjectPayloads, Objects};

/// A location in an object store.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct ObjectSettings {
    /// `az://CONTAINER/PREFIX`, `s3://BUCKET/PREFIX`, or `file:///FOLDER`.
    pub url: String,
    /// The endpoint of the service, unless it is the vendor's own.
    pub endpoint: Option<String>,
    /// The region (S3).
    pub region: Option<String>,
    /// The storage account (Azure).
    pub account: Option<String>,
    /// True if unencrypted connections are allowed.
    pub allow_http: bool,
    /// The credentials.
    pub auth: Auth,
}

impl ObjectSettings {
    /// The folder of a `file:///…` URL.
    pub(super) fn folder(&self) -> Option<PathBuf> {
        let path = self.url.strip_prefix("file://")?;
        path.starts_with('/').then(|| PathBuf::from(path))
    }

    /// Creates the storage of blocks without connecting.
    #[cfg(feature = "objects")]
    pub(super) fn open(&self) -> Result<Arc<dyn BlockStorage>> {
        Ok(Arc::new(ObjectBlockStorage::new(Objects::open(&self.url, &ObjectOptions::from(self))?)))
    }

    /// Creates the storage of payloads without connecting.
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

/// The settings of Azure Blob.
const AZURE: Identity = Identity {
    word: Setting::OBJECTS_AUTH,
    secrets: &[
        SecretMethod {
            method: Method::ConnectionString,
            auth: Auth::ConnectionString,
            place: SecretPlace {
                setting: Setting::OBJECTS_CONNECTION_STRING,
                file: Setting::OBJECTS_CONNECTION_STRING_FILE,
            },
        },
        SecretMethod {
            method: Method::Key,
            auth: Auth::Key,
            place: SecretPlace { setting: Setting::OBJECTS_KEY, file: Setting::OBJECTS_KEY_FILE },
        },
        SecretMethod {
            method: Method::Signature,
            auth: Auth::Signature,
            place: SecretPlace { setting: Setting::OBJECTS_SIGNATURE, file: Setting::OBJECTS_SIGNATURE_FILE },
        },
    ],
    allows_anonymous: true,
    tenant: Setting::OBJECTS_TENANT,
    client: Setting::OBJECTS_CLIENT,
    client_secret: SecretPlace {
        setting: Setting::OBJECTS_CLIENT_SECRET,
        file: Setting::OBJECTS_CLIENT_SECRET_FILE,
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

/// Reads the settings of the object store; `None` without a URL.
pub(super) fn read(layers: &mut Layers<'_>) -> Result<Option<ObjectSettings>> {
    let Some(url) = layers.text(Setting::OBJECTS_URL)? else { return Ok(None) };
    let mut endpoint = layers.text(Setting::OBJECTS_ENDPOINT)?;
    let auth = match url.split_once("://") {
        Some(("az" | "azure", _)) => AZURE.find(layers)?,
        Some(("s3", _)) => {
            endpoint = match endpoint {
                None => layers.text(Setting::S3_ENDPOINT)?,
                named => named,
            };
            read_s3_auth(layers)?
        }
        Some(("file" | "memory", _)) => Auth::Anonymous,
        _ => {
            let advice = "write it like `az://CONTAINER/PREFIX`, `s3://BUCKET/PREFIX` or `file:///FOLDER`";
            return Err(Setting::OBJECTS_URL.error("is not a supported URL", advice));
        }
    };
    // A URL appears in every list of settings, so it must not contain secrets.
    if url.contains(['@', '?', ';']) {
        let advice = "remove users, keys, and signatures, and set them in the environment";
        return Err(Setting::OBJECTS_URL.error("contains a user, a query, or a `;`", advice));
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

fn read_s3_auth(layers: &mut Layers<'_>) -> Result<Auth> {
    let method = layers.word(Setting::OBJECTS_AUTH, S3)?;
    if method == Some(Method::Anonymous) {
        return Ok(Auth::Anonymous);
    }
    let is_key = method == Some(Method::AccessKey);
    // An id selects the access key even if its secret is missing, so that half of a key is an
    // error.
    let has_id = method.is_none() && layers.has(Setting::ACCESS_KEY_ID);
    if !is_key && !has_id {
        return Ok(Auth::DefaultCredentials);
    }
    let missing = || Setting::ACCESS_KEY_ID.error("is missing", "an access key has an id and a secret");
    Ok(Auth::AccessKey {
        id: layers.text(Setting::ACCESS_KEY_ID)?.ok_or_else(missing)?,
        secret: required_secret(
            layers,
            SecretPlace { setting: Setting::SECRET_ACCESS_KEY, file: Setting::SECRET_ACCESS_KEY_FILE },
        )?,
        token: layers
            .secret(SecretPlace { setting: Setting::SESSION_TOKEN, file: Setting::SESSION_TOKEN_FILE })?,
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

/// Returns the credentials for the object store. A single key is one of Azure; keys of S3 have an
/// id.
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
