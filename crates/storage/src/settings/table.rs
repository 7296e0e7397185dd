//! The table of settings: the names of each in the environment and in the settings file.

use std::borrow::Cow;

use trommel_blocks::Error;

use super::fault::SettingFault;

/// The names of one setting, from weak to strong precedence in `variables`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Setting {
    pub(super) variables: &'static [&'static str],
    /// Paths below `session_storage`. `cosmos` covers both spellings of that section.
    pub(super) paths: &'static [&'static str],
}

impl Setting {
    /// Returns the setting's names for a message.
    #[expect(clippy::expect_used, reason = "the table below has a name for each setting")]
    pub(super) fn display_name(self) -> String {
        let variable = self.variables.last().copied();
        match (self.paths.first(), variable) {
            (Some(path), Some(variable)) => format!("`session_storage.{path}` (or {variable})"),
            (Some(path), None) => format!("`session_storage.{path}`"),
            (None, variable) => variable.expect("a setting has a name").to_owned(),
        }
    }

    /// Creates an error about the setting. It never repeats the value.
    pub(super) fn error(self, what: &'static str, advice: impl Into<Cow<'static, str>>) -> Error {
        SettingFault::Setting { setting: self.display_name(), what, advice: advice.into() }.into()
    }

    /// Creates an error about a value that was read from `origin`.
    pub(super) fn invalid_value(origin: &str, allowed: impl Into<Cow<'static, str>>) -> Error {
        SettingFault::Value { origin: origin.to_owned(), allowed: allowed.into() }.into()
    }
}

/// A secret setting, and the setting for a file that contains the same secret.
#[derive(Clone, Copy, Debug)]
pub(super) struct SecretPlace {
    pub(super) setting: Setting,
    pub(super) file: Setting,
}

macro_rules! settings {
    ($($name:ident: [$($variable:literal),*] [$($path:literal),*];)*) => {
        impl Setting {
            $(pub(super) const $name: Self = Self {
                variables: &[$($variable),*],
                paths: &[$($path),*],
            };)*

            /// All settings.
            pub(super) const ALL: &'static [Self] = &[$(Self::$name),*];
        }
    };
}

settings! {
    MODE: ["AMPLIFIER_SESSION_STORAGE_MODE", "TROMMEL_SESSION_STORAGE_MODE"] ["mode"];
    LOCAL_PATH: [] ["local.path"];
    USER: ["AMPLIFIER_USER_ID", "TROMMEL_USER_ID"] ["user_id", "user", "cosmos.user_id", "cosmos.user"];
    DEVICE: ["AMPLIFIER_DEVICE_ID", "TROMMEL_DEVICE_ID"] ["device_id", "cosmos.device_id"];
    CONNECT_TIMEOUT: ["TROMMEL_CONNECT_TIMEOUT_MS"] ["connect_timeout_ms", "cosmos.connect_timeout_ms"];
    FIRST_ANSWER_TIMEOUT: ["TROMMEL_FIRST_ANSWER_TIMEOUT_MS"] ["first_answer_timeout_ms"];
    ANSWER_TIMEOUT: ["TROMMEL_ANSWER_TIMEOUT_MS"] ["answer_timeout_ms"];

    ENDPOINT: ["AMPLIFIER_COSMOS_ENDPOINT", "COSMOS_ENDPOINT"] ["cosmos.endpoint"];
    DATABASE: ["AMPLIFIER_COSMOS_DATABASE", "COSMOS_DATABASE"] ["cosmos.database"];
    CONTAINER: ["AMPLIFIER_COSMOS_CONTAINER", "COSMOS_CONTAINER"] ["cosmos.container"];
    AUTH: ["AMPLIFIER_COSMOS_AUTH_METHOD", "COSMOS_AUTH_METHOD"] ["cosmos.auth_method", "cosmos.auth"];
    KEY: ["AMPLIFIER_COSMOS_KEY", "COSMOS_KEY"] ["cosmos.key"];
    KEY_FILE: [] ["cosmos.key_file"];
    CONNECTION_STRING: ["AMPLIFIER_COSMOS_CONNECTION_STRING", "COSMOS_CONNECTION_STRING"] ["cosmos.connection_string"];
    CONNECTION_STRING_FILE: [] ["cosmos.connection_string_file"];
    TENANT: ["AZURE_TENANT_ID"] ["cosmos.tenant_id"];
    CLIENT: ["AZURE_CLIENT_ID"] ["cosmos.client_id"];
    CLIENT_SECRET: ["AZURE_CLIENT_SECRET"] ["cosmos.client_secret"];
    CLIENT_SECRET_FILE: [] ["cosmos.client_secret_file"];

    OBJECTS_URL: ["TROMMEL_OBJECTS_URL"] ["objects.url"];
    OBJECTS_ENDPOINT: ["TROMMEL_OBJECTS_ENDPOINT"] ["objects.endpoint"];
    S3_ENDPOINT: ["AWS_ENDPOINT_URL_S3", "AWS_ENDPOINT_URL"] [];
    OBJECTS_REGION: ["TROMMEL_OBJECTS_REGION", "AWS_REGION", "AWS_DEFAULT_REGION"] ["objects.region"];
    OBJECTS_ACCOUNT: ["TROMMEL_OBJECTS_ACCOUNT", "AZURE_STORAGE_ACCOUNT_NAME", "AZURE_STORAGE_ACCOUNT"] ["objects.account"];
    OBJECTS_ALLOW_HTTP: ["TROMMEL_OBJECTS_ALLOW_HTTP"] ["objects.allow_http"];
    OBJECTS_AUTH: ["TROMMEL_OBJECTS_AUTH_METHOD"] ["objects.auth_method", "objects.auth"];
    OBJECTS_KEY: ["AZURE_STORAGE_ACCOUNT_KEY", "AZURE_STORAGE_ACCESS_KEY", "AZURE_STORAGE_KEY"] ["objects.key"];
    OBJECTS_KEY_FILE: [] ["objects.key_file"];
    OBJECTS_CONNECTION_STRING: ["AZURE_STORAGE_CONNECTION_STRING"] ["objects.connection_string"];
    OBJECTS_CONNECTION_STRING_FILE: [] ["objects.connection_string_file"];
    OBJECTS_SIGNATURE: ["AZURE_STORAGE_SAS_TOKEN", "AZURE_STORAGE_SAS_KEY"] ["objects.sas_token"];
    OBJECTS_SIGNATURE_FILE: [] ["objects.sas_token_file"];
    OBJECTS_CLIENT: ["AZURE_CLIENT_ID"] ["objects.client_id", "cosmos.client_id"];
    OBJECTS_TENANT: ["AZURE_TENANT_ID"] ["objects.tenant_id", "cosmos.tenant_id"];
    OBJECTS_CLIENT_SECRET: ["AZURE_CLIENT_SECRET"] ["objects.client_secret", "cosmos.client_secret"];
    OBJECTS_CLIENT_SECRET_FILE: [] ["objects.client_secret_file", "cosmos.client_secret_file"];
    ACCESS_KEY_ID: ["AWS_ACCESS_KEY_ID"] ["objects.access_key_id"];
    SECRET_ACCESS_KEY: ["AWS_SECRET_ACCESS_KEY"] ["objects.secret_access_key"];
    SECRET_ACCESS_KEY_FILE: [] ["objects.secret_access_key_file"];
    SESSION_TOKEN: ["AWS_SESSION_TOKEN"] ["objects.session_token"];
    SESSION_TOKEN_FILE: [] ["objects.session_token_file"];

    SYNC_ENABLED: ["TROMMEL_SYNC_ENABLED"] ["sync.enabled"];
    AUTO_SYNC: ["TROMMEL_AUTO_SYNC"] ["sync.auto_sync"];
    INTERVAL: ["TROMMEL_SYNC_INTERVAL"] ["sync.interval_seconds", "sync.interval"];
    CONFLICTS: ["TROMMEL_CONFLICT_RESOLUTION"] ["sync.conflict_resolution"];
    POLICY: ["TROMMEL_SYNC_POLICY"] ["sync.policy"];
    PROJECTS: ["TROMMEL_SYNC_PROJECTS"] ["sync.projects"];
}
