//! Determines the credentials for Azure from words and secrets.

use trommel_blocks::Result;

use super::data::Auth;
use super::layers::Layers;
use super::table::{SecretPlace, Setting};
use crate::secret::Secret;

/// The authentication methods.
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

const WORDS: &[(&str, Method)] = &[
    ("default_credentials", Method::Default),
    ("default_credential", Method::Default),
    ("managed_identity", Method::Managed),
    ("service_principal", Method::Application),
    ("key", Method::Key),
    ("connection_string", Method::ConnectionString),
    ("sas_token", Method::Signature),
    ("anonymous", Method::Anonymous),
];

/// The settings for authenticating with an Azure service.
pub(super) struct Identity {
    pub(super) word: Setting,
    /// Without a word, the first secret that is set counts.
    pub(super) secrets: &'static [SecretMethod],
    /// True if anonymous access is possible.
    pub(super) allows_anonymous: bool,
    pub(super) tenant: Setting,
    pub(super) client: Setting,
    pub(super) client_secret: SecretPlace,
}

/// A secret that is sufficient for authentication.
pub(super) struct SecretMethod {
    pub(super) method: Method,
    pub(super) auth: fn(Secret) -> Auth,
    pub(super) place: SecretPlace,
}

/// The settings of Cosmos DB.
pub(super) const COSMOS: Identity = Identity {
    word: Setting::AUTH,
    secrets: &[
        SecretMethod {
            method: Method::ConnectionString,
            auth: Auth::ConnectionString,
            place: SecretPlace { setting: Setting::CONNECTION_STRING, file: Setting::CONNECTION_STRING_FILE },
        },
        SecretMethod {
            method: Method::Key,
            auth: Auth::Key,
            place: SecretPlace { setting: Setting::KEY, file: Setting::KEY_FILE },
        },
    ],
    allows_anonymous: false,
    tenant: Setting::TENANT,
    client: Setting::CLIENT,
    client_secret: SecretPlace { setting: Setting::CLIENT_SECRET, file: Setting::CLIENT_SECRET_FILE },
};

impl Identity {
    /// Determines the credentials by the word; without one, by the first secret; without any, by
    /// the default credentials.
    pub(super) fn find(&self, layers: &mut Layers<'_>) -> Result<Auth> {
        let word = layers.word(self.word, &self.words())?;
        match word {
            Some(Method::Managed) => {
                return Ok(Auth::ManagedIdentity { client_id: layers.text(self.client)? });
            }
            Some(Method::Application) => return self.application(layers),
            Some(Method::Anonymous) => return Ok(Auth::Anonymous),
            _ => {}
        }
        for secret in self.secrets {
            if word == Some(secret.method) {
                return required_secret(layers, secret.place).map(secret.auth);
            }
            if word.is_none()
                && let Some(found) = layers.secret(secret.place)?
            {
                return Ok((secret.auth)(found));
            }
        }
        if self.is_application(layers) { self.application(layers) } else { Ok(Auth::DefaultCredentials) }
    }

    /// The words that are allowed here.
    fn words(&self) -> Vec<(&'static str, Method)> {
        let is_secret = |method| self.secrets.iter().any(|secret| secret.method == method);
        let is_allowed = |method| match method {
            Method::Default | Method::Managed | Method::Application => true,
            Method::Anonymous => self.allows_anonymous,
            method => is_secret(method),
        };
        WORDS.iter().copied().filter(|(_, method)| is_allowed(*method)).collect()
    }

    /// True if all three parts of an application's identity are set.
    fn is_application(&self, layers: &Layers<'_>) -> bool {
        let SecretPlace { setting, file } = self.client_secret;
        layers.has(self.tenant) && layers.has(self.client) && (layers.has(setting) || layers.has(file))
    }

    fn application(&self, layers: &mut Layers<'_>) -> Result<Auth> {
        let missing = |setting: Setting| {
            setting.error("is missing", "set tenant, client, and secret of the service principal")
        };
        Ok(Auth::ServicePrincipal {
            tenant_id: layers.text(self.tenant)?.ok_or_else(|| missing(self.tenant))?,
            client_id: layers.text(self.client)?.ok_or_else(|| missing(self.client))?,
            client_secret: required_secret(layers, self.client_secret)?,
        })
    }
}

/// Returns a secret, or an error if it is not set.
#[expect(clippy::expect_used, reason = "the table of settings has these names")]
pub(super) fn required_secret(layers: &mut Layers<'_>, place: SecretPlace) -> Result<Secret> {
    let SecretPlace { setting, file } = place;
    layers.secret(place)?.ok_or_else(|| {
        let variable = setting.variables.last().expect("each secret has a variable");
        let path = file.paths.first().expect("each file of a secret has a path");
        let advice = format!(
            "set {variable} in the environment, or store it in a file with mode 600 and set `session_storage.{path}` to its path"
        );
        setting.error("is missing", advice)
    })
}

/// The endpoint in a connection string.
pub(super) fn endpoint_in(text: &Secret) -> Result<String> {
    let mut parts = text.expose().split(';').filter_map(|part| part.split_once('='));
    let found = parts.find(|(name, _)| name.trim().eq_ignore_ascii_case("AccountEndpoint"));
    found.map(|(_, value)| value.trim().to_owned()).ok_or_else(|| {
        Setting::CONNECTION_STRING.error("has no AccountEndpoint", "copy it verbatim from the account's keys")
    })
}
