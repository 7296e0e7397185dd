//! As whom a storage is asked, out of words and secrets.

use super::Auth;
use super::layers::{Layers, Setting};
use crate::error::Result;
use crate::secret::Secret;

/// The ways to say who one is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Method {
    Default,
    Managed,
    Application,
    Key,
    ConnectionString,
    Signature,
    AccessKey,
    Anonymous,
}

const COSMOS: &[(&str, Method)] = &[
    ("default_credentials", Method::Default),
    ("default_credential", Method::Default),
    ("managed_identity", Method::Managed),
    ("service_principal", Method::Application),
    ("key", Method::Key),
    ("connection_string", Method::ConnectionString),
];

/// The settings that an application's identity stands in.
pub(super) struct Application {
    pub(super) tenant: Setting,
    pub(super) client: Setting,
    pub(super) secret: Setting,
    pub(super) secret_file: Setting,
}

const APPLICATION: Application = Application {
    tenant: Setting::TENANT,
    client: Setting::CLIENT,
    secret: Setting::CLIENT_SECRET,
    secret_file: Setting::CLIENT_SECRET_FILE,
};

/// By the word, or else by the secret that is there.
pub(super) fn of_cosmos(layers: &mut Layers<'_>) -> Result<Auth> {
    let connection = (Setting::CONNECTION_STRING, Setting::CONNECTION_STRING_FILE);
    let key = (Setting::KEY, Setting::KEY_FILE);
    match layers.word(Setting::AUTH, COSMOS)? {
        Some(Method::Key) => needed(layers, key).map(Auth::Key),
        Some(Method::ConnectionString) => needed(layers, connection).map(Auth::ConnectionString),
        Some(Method::Managed) => Ok(Auth::ManagedIdentity { client_id: layers.text(Setting::CLIENT)? }),
        Some(Method::Application) => application(layers, &APPLICATION),
        Some(_) => Ok(Auth::DefaultCredentials),
        None => {
            if let Some(text) = layers.secret(connection.0, connection.1)? {
                return Ok(Auth::ConnectionString(text));
            }
            Ok(layers.secret(key.0, key.1)?.map_or(Auth::DefaultCredentials, Auth::Key))
        }
    }
}

/// A secret that has to be there.
pub(super) fn needed(layers: &mut Layers<'_>, (setting, in_file): (Setting, Setting)) -> Result<Secret> {
    layers.secret(setting, in_file)?.ok_or_else(|| {
        let variable = setting.variables.last().copied().unwrap_or_default();
        let path = in_file.paths.first().copied().unwrap_or_default();
        let advice = format!(
            "put it into the environment as {variable}, or into a file that only you may read, and name that in `session_storage.{path}`"
        );
        setting.wrong("is missing", &advice)
    })
}

/// An application's identity, all three parts of it.
pub(super) fn application(layers: &mut Layers<'_>, of: &Application) -> Result<Auth> {
    let missing =
        |setting: Setting| setting.wrong("is missing", "a service principal needs tenant, client and secret");
    Ok(Auth::ServicePrincipal {
        tenant_id: layers.text(of.tenant)?.ok_or_else(|| missing(of.tenant))?,
        client_id: layers.text(of.client)?.ok_or_else(|| missing(of.client))?,
        client_secret: needed(layers, (of.secret, of.secret_file))?,
    })
}

/// The address that a connection string names.
pub(super) fn endpoint_in(text: &Secret) -> Result<String> {
    let mut parts = text.expose().split(';').filter_map(|part| part.split_once('='));
    let found = parts.find(|(name, _)| name.trim().eq_ignore_ascii_case("AccountEndpoint"));
    found.map(|(_, value)| value.trim().to_owned()).ok_or_else(|| {
        Setting::CONNECTION_STRING
            .wrong("names no AccountEndpoint", "copy it from the account's keys as it stands there")
    })
}
