//! An object store.

use std::path::PathBuf;

use super::Auth;
use super::access::{self, Application, Method, needed};
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

const AZURE: &[(&str, Method)] = &[
    ("default_credentials", Method::Default),
    ("default_credential", Method::Default),
    ("managed_identity", Method::Managed),
    ("service_principal", Method::Application),
    ("key", Method::Key),
    ("connection_string", Method::ConnectionString),
    ("sas_token", Method::Signature),
    ("anonymous", Method::Anonymous),
];

const S3: &[(&str, Method)] = &[
    ("default_credentials", Method::Default),
    ("default_credential", Method::Default),
    ("managed_identity", Method::Managed),
    ("access_key", Method::AccessKey),
    ("key", Method::AccessKey),
    ("anonymous", Method::Anonymous),
];

const APPLICATION: Application = Application {
    tenant: Setting::OBJECTS_TENANT,
    client: Setting::OBJECTS_CLIENT,
    secret: Setting::OBJECTS_CLIENT_SECRET,
    secret_file: Setting::OBJECTS_CLIENT_SECRET_FILE,
};

/// The place that is named, if one is.
pub(super) fn of(layers: &mut Layers<'_>) -> Result<Option<ObjectSettings>> {
    let Some(url) = layers.text(Setting::OBJECTS_URL)? else { return Ok(None) };
    let mut endpoint = layers.text(Setting::OBJECTS_ENDPOINT)?;
    let auth = match url.split_once("://") {
        Some(("az" | "azure", _)) => of_azure(layers)?,
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

fn of_azure(layers: &mut Layers<'_>) -> Result<Auth> {
    let connection = (Setting::OBJECTS_CONNECTION_STRING, Setting::OBJECTS_CONNECTION_STRING_FILE);
    let key = (Setting::OBJECTS_KEY, Setting::OBJECTS_KEY_FILE);
    let signature = (Setting::OBJECTS_SIGNATURE, Setting::OBJECTS_SIGNATURE_FILE);
    match layers.word(Setting::OBJECTS_AUTH, AZURE)? {
        Some(Method::Key) => needed(layers, key).map(Auth::Key),
        Some(Method::ConnectionString) => needed(layers, connection).map(Auth::ConnectionString),
        Some(Method::Signature) => needed(layers, signature).map(Auth::Signature),
        Some(Method::Managed) => {
            Ok(Auth::ManagedIdentity { client_id: layers.text(Setting::OBJECTS_CLIENT)? })
        }
        Some(Method::Application) => access::application(layers, &APPLICATION),
        Some(Method::Anonymous) => Ok(Auth::Anonymous),
        Some(_) => default_azure(layers),
        None => {
            if let Some(text) = layers.secret(connection.0, connection.1)? {
                return Ok(Auth::ConnectionString(text));
            }
            if let Some(key) = layers.secret(key.0, key.1)? {
                return Ok(Auth::Key(key));
            }
            match layers.secret(signature.0, signature.1)? {
                Some(signature) => Ok(Auth::Signature(signature)),
                None => default_azure(layers),
            }
        }
    }
}

/// An application where one is set, else the machine.
fn default_azure(layers: &mut Layers<'_>) -> Result<Auth> {
    let is_set = [APPLICATION.tenant, APPLICATION.client].iter().all(|setting| layers.has(*setting))
        && (layers.has(APPLICATION.secret) || layers.has(APPLICATION.secret_file));
    if is_set { access::application(layers, &APPLICATION) } else { Ok(Auth::DefaultCredentials) }
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
        token: layers.secret(Setting::SESSION_TOKEN, Setting::SESSION_TOKEN_FILE)?,
    })
}
