//! As whom something of Azure is asked, out of words and secrets.

use trommel_blocks::Result;

use super::data::Auth;
use super::layers::Layers;
use super::table::{SecretPlace, Setting};
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

/// The settings that say as whom something of Azure is asked.
pub(super) struct Identity {
    pub(super) word: Setting,
    /// Where nothing is said, the first that is there counts.
    pub(super) secrets: &'static [Enough],
    /// Whether it may be asked as nobody.
    pub(super) is_open: bool,
    pub(super) tenant: Setting,
    pub(super) client: Setting,
    pub(super) client_secret: SecretPlace,
}

/// A secret that says enough by itself.
pub(super) struct Enough {
    pub(super) method: Method,
    pub(super) auth: fn(Secret) -> Auth,
    pub(super) place: SecretPlace,
}

/// As whom Cosmos DB is asked.
pub(super) const COSMOS: Identity = Identity {
    word: Setting::AUTH,
    secrets: &[
        Enough {
            method: Method::ConnectionString,
            auth: Auth::ConnectionString,
            place: SecretPlace {
                setting: Setting::CONNECTION_STRING,
                in_file: Setting::CONNECTION_STRING_FILE,
            },
        },
        Enough {
            method: Method::Key,
            auth: Auth::Key,
            place: SecretPlace { setting: Setting::KEY, in_file: Setting::KEY_FILE },
        },
    ],
    is_open: false,
    tenant: Setting::TENANT,
    client: Setting::CLIENT,
    client_secret: SecretPlace { setting: Setting::CLIENT_SECRET, in_file: Setting::CLIENT_SECRET_FILE },
};

impl Identity {
    /// By the word; without one by the secret that is there; without any by the usual credentials.
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
                return needed(layers, secret.place).map(secret.auth);
            }
            if word.is_none()
                && let Some(found) = layers.secret(secret.place)?
            {
                return Ok((secret.auth)(found));
            }
        }
        if self.is_application(layers) { self.application(layers) } else { Ok(Auth::DefaultCredentials) }
    }

    /// The words that may be said here.
    fn words(&self) -> Vec<(&'static str, Method)> {
        let is_secret = |method| self.secrets.iter().any(|secret| secret.method == method);
        let is_said = |method| match method {
            Method::Default | Method::Managed | Method::Application => true,
            Method::Anonymous => self.is_open,
            method => is_secret(method),
        };
        WORDS.iter().copied().filter(|(_, method)| is_said(*method)).collect()
    }

    /// Whether all three parts of an application's identity are set.
    fn is_application(&self, layers: &Layers<'_>) -> bool {
        let SecretPlace { setting, in_file } = self.client_secret;
        layers.has(self.tenant) && layers.has(self.client) && (layers.has(setting) || layers.has(in_file))
    }

    fn application(&self, layers: &mut Layers<'_>) -> Result<Auth> {
        let missing = |setting: Setting| {
            setting.wrong("is missing", "a service principal needs tenant, client and secret")
        };
        Ok(Auth::ServicePrincipal {
            tenant_id: layers.text(self.tenant)?.ok_or_else(|| missing(self.tenant))?,
            client_id: layers.text(self.client)?.ok_or_else(|| missing(self.client))?,
            client_secret: needed(layers, self.client_secret)?,
        })
    }
}

/// A secret that has to be there.
#[expect(clippy::expect_used, reason = "the table of settings has these names")]
pub(super) fn needed(layers: &mut Layers<'_>, place: SecretPlace) -> Result<Secret> {
    let SecretPlace { setting, in_file } = place;
    layers.secret(place)?.ok_or_else(|| {
        let variable = setting.variables.last().expect("each secret has a variable");
        let path = in_file.paths.first().expect("each file of a secret has a path");
        let advice = format!(
            "put it into the environment as {variable}, or into a file that only you may read, and name that in `session_storage.{path}`"
        );
        setting.wrong("is missing", advice)
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
