//! An object store.

use std::path::PathBuf;

use super::Auth;
use super::access::{Enough, Identity, Method, needed};
use super::layers::{Layers, Setting};
use crate::error::Result;

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
}

/// As whom Azure Blob is asked.
const AZURE: Identity = Identity {
    word: Setting::OBJECTS_AUTH,
    secrets: &[
        Enough {
            method: Method::ConnectionString,
            auth: Auth::ConnectionString,
            place: (Setting::OBJECTS_CONNECTION_STRING, Setting::OBJECTS_CONNECTION_STRING_FILE),
        },
        Enough {
            method: Method::Key,
            auth: Auth::Key,
            place: (Setting::OBJECTS_KEY, Setting::OBJECTS_KEY_FILE),
        },
        Enough {
            method: Method::Signature,
            auth: Auth::Signature,
            place: (Setting::OBJECTS_SIGNATURE, Setting::OBJECTS_SIGNATURE_FILE),
        },
    ],
    is_open: true,
    tenant: Setting::OBJECTS_TENANT,
    client: Setting::OBJECTS_CLIENT,
    client_secret: (Setting::OBJECTS_CLIENT_SECRET, Setting::OBJECTS_CLIENT_SECRET_FILE),
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
        secret: needed(layers, (Setting::SECRET_ACCESS_KEY, Setting::SECRET_ACCESS_KEY_FILE))?,
        token: layers.secret((Setting::SESSION_TOKEN, Setting::SESSION_TOKEN_FILE))?,
    })
}
