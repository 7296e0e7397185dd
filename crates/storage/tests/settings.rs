//! Settings of storages: the precedence of sources, alternative names, and the protection of
//! secrets.
#![cfg(unix)]
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::collections::HashMap;
use std::ffi::OsString;
use std::fs::{self, Permissions};
use std::os::unix::ffi::OsStringExt;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::time::Duration;

use proptest::prelude::*;
use tempfile::TempDir;
use trommel_blocks::{ConflictResolution, Policy};
use trommel_blocks::{ErrorClass, Result};
use trommel_storage::settings::{Auth, CloudSettings, Mode, Parameters};

/// A secret that must not appear in any message or debug output.
const SENTINEL: &str = "SENTINELa2V5LXRoYXQtbm9ib2R5LXNlZXM=";

/// The sources of the settings of one test.
#[derive(Default)]
struct Case {
    parameters: Parameters,
    variables: HashMap<String, OsString>,
    /// The text and the permissions of the settings file.
    file: Option<(String, u32)>,
}

impl Case {
    fn file(text: &str) -> Self {
        Self { file: Some((text.to_owned(), 0o600)), ..Self::default() }
    }

    fn mode(mut self, mode: u32) -> Self {
        self.file.as_mut().unwrap().1 = mode;
        self
    }

    fn with(mut self, name: &str, value: &str) -> Self {
        self.variables.insert(name.to_owned(), value.into());
        self
    }

    fn run(&self) -> Result<CloudSettings> {
        let folder = TempDir::new().unwrap();
        let path = self.file.as_ref().map(|(text, mode)| write(&folder, "settings.yaml", text, *mode));
        CloudSettings::resolve(&self.parameters, &|name| self.variables.get(name).cloned(), path.as_deref())
    }

    /// Resolves valid settings, and checks that their debug output hides the secret.
    fn settings(&self) -> CloudSettings {
        let settings = self.run().unwrap();
        assert!(!format!("{settings:?}").contains("SENTINEL"), "{settings:?}");
        settings
    }

    /// Returns the class and the message of the error, and checks that both hide the secret.
    fn error(&self) -> (ErrorClass, String) {
        let error = self.run().unwrap_err();
        let text = format!("{error} {error:?}");
        assert!(!text.contains("SENTINEL"), "{text}");
        (error.class(), error.to_string())
    }
}

fn write(folder: &TempDir, name: &str, text: &str, mode: u32) -> PathBuf {
    let path = folder.path().join(name);
    fs::write(&path, text).unwrap();
    fs::set_permissions(&path, Permissions::from_mode(mode)).unwrap();
    path
}

fn cosmos(lines: &str) -> String {
    format!("session_storage:\n  mode: hybrid\n  cosmos:\n    endpoint: https://file.example.com\n{lines}")
}

#[test]
fn defaults_are_local() {
    let settings = Case::default().settings();
    assert_eq!(settings.mode, Mode::Local);
    assert_eq!(settings.connect_timeout, Duration::from_millis(150));
    assert_eq!(settings.first_answer_timeout, Duration::from_millis(1_500));
    assert_eq!(settings.answer_timeout, Duration::from_secs(5));
    assert!(settings.cosmos.is_none() && settings.objects.is_none() && settings.warnings.is_empty());
    let folder = TempDir::new().unwrap();
    let missing = folder.path().join("none.yaml");
    assert!(CloudSettings::resolve(&Parameters::default(), &|_| None, Some(&missing)).is_ok());
}

#[test]
fn reads_the_example_of_the_specification() {
    let text = "session_storage:\n  cosmos:\n    endpoint: https://x.cosmos.azure.com\n    database: amplifier-sessions\n    auth: managed_identity  # or connection_string\n  sync:\n    enabled: true\n    auto_sync: true\n    interval_seconds: 60\n";
    let settings = Case::file(text).settings();
    assert_eq!(settings.mode, Mode::Hybrid);
    let cosmos = settings.cosmos.unwrap();
    assert_eq!((&*cosmos.database, &*cosmos.container), ("amplifier-sessions", "items"));
    assert!(matches!(cosmos.auth, Auth::ManagedIdentity { client_id: None }));
    assert!(settings.sync.auto_sync && settings.sync.interval == Duration::from_mins(1));
    assert!(settings.warnings.is_empty(), "{:?}", settings.warnings);
}

#[test]
fn reads_alternative_names() {
    let text = "theme: {dark: !mine yes}\n1: x\nsession_storage:\n  mode: hybrid\n  local: {path: ~/sessions}\n  user: ana\n  device_id: lap\n  connect_timeout_ms: 300\n  answer_timeout_ms: 9000\n  cloud:\n    endpoint: https://x\n    auth_method: default_credential\n  sync: {enabled: no, interval: 5m, conflict_resolution: ask}\n";
    let settings = Case::file(text).with("HOME", "/home/ana").settings();
    assert_eq!(settings.local_path, Some(PathBuf::from("/home/ana/sessions")));
    assert_eq!((settings.user.as_deref(), settings.device_id.as_deref()), (Some("ana"), Some("lap")));
    assert_eq!(settings.connect_timeout, Duration::from_millis(300));
    assert_eq!(settings.answer_timeout, Duration::from_secs(9));
    let cosmos = settings.cosmos.unwrap();
    assert_eq!(cosmos.database, "amplifier-db");
    assert!(matches!(cosmos.auth, Auth::DefaultCredentials));
    assert!(!settings.sync.enabled);
    assert_eq!(settings.sync.interval, Duration::from_mins(5));
    assert_eq!(settings.sync.conflict_resolution, ConflictResolution::Manual);
    assert!(settings.warnings.is_empty(), "{:?}", settings.warnings);
}

#[test]
fn conflicting_aliases_resolve_with_a_note() {
    let case = Case::file(&format!("{}  cloud: {{endpoint: https://cloud.example.com}}\n", cosmos("")));
    let settings = case.settings();
    assert_eq!(settings.cosmos.unwrap().endpoint, "https://file.example.com");
    assert!(settings.warnings[0].contains("session_storage.cloud.endpoint"), "{:?}", settings.warnings);
    let case = Case::file(&cosmos(""))
        .with("COSMOS_ENDPOINT", "https://short")
        .with("AMPLIFIER_COSMOS_ENDPOINT", "https://long");
    let settings = case.settings();
    assert_eq!(settings.cosmos.unwrap().endpoint, "https://long");
    assert!(
        settings.warnings[0].contains("AMPLIFIER_COSMOS_ENDPOINT and COSMOS_ENDPOINT"),
        "{:?}",
        settings.warnings
    );
    let same = case.with("COSMOS_ENDPOINT", "https://long").settings();
    assert!(same.warnings.is_empty(), "{:?}", same.warnings);
}

proptest! {
    #[test]
    fn the_highest_layer_with_a_value_wins(layers in 0_u8..16) {
        let is_set = |layer: u8| layers & (1 << layer) != 0;
        let text = if is_set(0) { cosmos("    database: from-file\n") } else { cosmos("") };
        let mut case = Case::file(&text);
        if is_set(1) { case = case.with("COSMOS_DATABASE", "from-short"); }
        if is_set(2) { case = case.with("AMPLIFIER_COSMOS_DATABASE", "from-long"); }
        if is_set(3) { case.parameters.database = Some("from-parameter".to_owned()); }
        let expected = [(3, "from-parameter"), (2, "from-long"), (1, "from-short"), (0, "from-file")];
        let expected = expected.iter().find(|(layer, _)| is_set(*layer)).map_or("amplifier-db", |(_, name)| name);
        prop_assert_eq!(case.settings().cosmos.unwrap().database, expected);
    }

    #[test]
    fn never_shows_secrets_of_a_settings_file(begin in "[ -~\n\t]{0,60}", end in "[ -~\n\t]{0,60}", mode in prop_oneof![Just(0o600), Just(0o644)]) {
        let text = format!("session_storage:\n  cosmos:\n    endpoint: https://x\n{begin}{SENTINEL}{end}");
        match Case::file(&text).mode(mode).run() {
            Ok(settings) => {
                let notes = format!("{:?}", settings.warnings);
                prop_assert!(!notes.contains("SENTINEL"));
            }
            Err(error) => {
                let messages = format!("{error} {error:?}");
                prop_assert!(!messages.contains("SENTINEL"));
            }
        }
    }
}

#[test]
fn reads_each_authentication_method() {
    let key = Case::file(&cosmos("")).with("COSMOS_KEY", SENTINEL).settings().cosmos.unwrap().auth;
    assert!(matches!(key, Auth::Key(key) if key.expose() == SENTINEL));
    let text = format!("AccountEndpoint=https://named.example.com:443/;AccountKey={SENTINEL};");
    let named = Case::default().with("AMPLIFIER_COSMOS_CONNECTION_STRING", &text).settings().cosmos.unwrap();
    assert_eq!(named.endpoint, "https://named.example.com:443/");
    assert!(matches!(named.auth, Auth::ConnectionString(_)));
    let principal = Case::file(&cosmos("    auth: service_principal\n    tenant_id: t\n"))
        .with("AZURE_CLIENT_ID", "c")
        .with("AZURE_CLIENT_SECRET", SENTINEL);
    let auth = principal.settings().cosmos.unwrap().auth;
    assert!(
        matches!(auth, Auth::ServicePrincipal { tenant_id, client_id, .. } if tenant_id == "t" && client_id == "c")
    );
    let identity =
        Case::file(&cosmos("    auth: managed-identity\n    client_id: c\n")).settings().cosmos.unwrap().auth;
    assert!(matches!(identity, Auth::ManagedIdentity { client_id: Some(id) } if id == "c"));
}

#[test]
fn refuses_secrets_in_files_that_others_can_read() {
    let text = cosmos(&format!("    key: {SENTINEL}\n"));
    assert!(matches!(Case::file(&text).settings().cosmos.unwrap().auth, Auth::Key(_)));
    assert!(matches!(Case::file(&text).mode(0o400).settings().cosmos.unwrap().auth, Auth::Key(_)));
    for mode in [0o644, 0o640, 0o604, 0o620, 0o666] {
        let (class, message) = Case::file(&text).mode(mode).error();
        assert_eq!(class, ErrorClass::Denied);
        assert!(message.contains("`chmod 600 /"), "{message}");
    }
    let overridden = Case::file(&text).mode(0o644).with("COSMOS_KEY", "other").settings();
    assert!(overridden.warnings[0].contains("chmod 600"), "{:?}", overridden.warnings);
    let local = text.replace("mode: hybrid", "mode: local");
    assert!(Case::file(&local).mode(0o644).settings().cosmos.is_none());
}

#[test]
fn reads_a_secret_from_its_own_file() {
    let folder = TempDir::new().unwrap();
    write(&folder, "key", &format!("{SENTINEL}\n"), 0o600);
    write(&folder, "open", SENTINEL, 0o644);
    write(&folder, "two", &format!("{SENTINEL}\n{SENTINEL}"), 0o600);
    write(&folder, "empty", " \n", 0o600);
    let resolve = |name: &str| {
        let settings = write(
            &folder,
            "settings.yaml",
            &cosmos(&format!("    auth: key\n    key_file: {name}\n")),
            0o644,
        );
        CloudSettings::resolve(&Parameters::default(), &|_| None, Some(&settings))
    };
    assert!(
        matches!(resolve("key").unwrap().cosmos.unwrap().auth, Auth::Key(key) if key.expose() == SENTINEL)
    );
    for (name, class, fragment) in [
        ("open", ErrorClass::Denied, "chmod 600"),
        ("two", ErrorClass::Request, "one line"),
        ("empty", ErrorClass::Request, "one line"),
        ("none", ErrorClass::NotFound, "the file does not exist"),
    ] {
        let error = resolve(name).unwrap_err();
        assert_eq!(error.class(), class);
        assert!(
            error.to_string().contains(fragment) && !format!("{error:?}").contains("SENTINEL"),
            "{error}"
        );
    }
}

#[test]
fn errors_never_show_values() {
    let with_line = |line: &str| Case::file(&cosmos(&format!("    {line}\n")));
    let invalid = [
        (with_line(&format!("auth: {SENTINEL}")), "`default_credentials`"),
        (with_line(&format!("database: [{SENTINEL}]")), "text"),
        (with_line(&format!("key: {{a: {SENTINEL}}}")), "text"),
        (with_line(&format!("key: \"{SENTINEL}")), "not valid YAML"),
        (with_line(&format!("key: 'x' {SENTINEL}")), "not valid YAML"),
        (with_line(&format!("key: a\n    key: {SENTINEL}")), "not valid YAML"),
        (with_line(&format!("key: *{SENTINEL}")), "not valid YAML"),
        (with_line(&format!("\tkey: {SENTINEL}")), "not valid YAML"),
        (with_line("auth: key"), "COSMOS_KEY"),
        (with_line("auth: service_principal"), "tenant"),
        (with_line("auth: connection_string").with("COSMOS_ENDPOINT", SENTINEL), "COSMOS_CONNECTION_STRING"),
        (with_line("auth: connection_strng"), "did you mean `connection_string`?"),
        (
            with_line("").with("COSMOS_ENDPOINT", &format!("AccountEndpoint=x;AccountKey={SENTINEL}")),
            "is not an address",
        ),
        (
            with_line("").with("COSMOS_ENDPOINT", &format!("https://user:{SENTINEL}@host")),
            "is not an address",
        ),
        (with_line("").with("COSMOS_ENDPOINT", "http://localhost.example.com"), "is not an address"),
        (Case::default().with("COSMOS_CONNECTION_STRING", SENTINEL), "AccountEndpoint"),
        (Case::file(&format!("session_storage: {SENTINEL}\n")), "must be a mapping"),
        (Case::file(&format!("session_storage: {{mode: {SENTINEL}}}\n")), "`hybrid`"),
        (Case::file(&format!("session_storage: {{sync: {{enabled: {SENTINEL}}}}}\n")), "`true` or `false`"),
        (Case::file(&format!("session_storage: {{sync: {{interval: {SENTINEL}}}}}\n")), "1 to 86400"),
        (Case::file("session_storage: {sync: {interval: 0}}\n"), "1 to 86400"),
        (Case::file("session_storage: {mode: hybrid}\n"), "COSMOS_ENDPOINT"),
        (Case::default().with("TROMMEL_OBJECTS_URL", &format!("s3://a:{SENTINEL}@b")), "contains a user"),
        (Case::default().with("TROMMEL_OBJECTS_URL", SENTINEL), "is not a supported URL"),
    ];
    for (number, (case, fragment)) in invalid.iter().enumerate() {
        let (_, message) = case.error();
        assert!(message.contains(fragment), "case {number}: {message}");
    }
    let mut case = Case::file(&cosmos(""));
    let bytes = [SENTINEL.as_bytes(), &[0xff]].concat();
    case.variables.insert("COSMOS_KEY".to_owned(), OsString::from_vec(bytes));
    assert!(case.error().1.contains("COSMOS_KEY"));
}

#[test]
fn notes_unknown_names_without_values() {
    let text = cosmos(&format!(
        "    endpiont: x\n    telemetry: y\n    ? {SENTINEL}\n    : z\n  snyc: {{}}\n  local: 5\n"
    ));
    let notes = Case::file(&text).settings().warnings;
    let has = |part: &str| assert!(notes.iter().any(|note| note.contains(part)), "{part}: {notes:#?}");
    has("did you mean `endpoint`?");
    has("`telemetry`");
    has("a name in `session_storage.cosmos`");
    has("did you mean `sync`?");
    has("`session_storage.local`");
    assert!(!format!("{notes:?}").contains("SENTINEL"), "{notes:?}");
}

#[test]
fn reads_settings_of_object_stores() {
    let azure = Case::default()
        .with("TROMMEL_OBJECTS_URL", "az://sessions/team")
        .with("AZURE_STORAGE_ACCOUNT", "acc")
        .with("AZURE_STORAGE_KEY", SENTINEL)
        .settings();
    assert_eq!(azure.mode, Mode::Hybrid);
    let objects = azure.objects.unwrap();
    assert_eq!(objects.account.as_deref(), Some("acc"));
    assert!(matches!(objects.auth, Auth::Key(_)));
    let s3 = Case::file(
        "session_storage: {objects: {url: 's3://b/p', region: eu-west-1, endpoint: 'https://minio', access_key_id: id}}\n",
    );
    let objects = s3.with("AWS_SECRET_ACCESS_KEY", SENTINEL).settings().objects.unwrap();
    assert_eq!(objects.endpoint.as_deref(), Some("https://minio"));
    assert!(matches!(objects.auth, Auth::AccessKey { id, token: None, .. } if id == "id"));
    let incomplete = Case::default().with("TROMMEL_OBJECTS_URL", "s3://b").with("AWS_ACCESS_KEY_ID", "id");
    assert!(incomplete.error().1.contains("AWS_SECRET_ACCESS_KEY"));
    let default = Case::default().with("TROMMEL_OBJECTS_URL", "az://c").settings().objects.unwrap();
    assert!(matches!(default.auth, Auth::DefaultCredentials));
    let folder = Case::default().with("TROMMEL_OBJECTS_URL", "file:///x").settings().objects.unwrap();
    assert!(matches!(folder.auth, Auth::Anonymous));
}

/// Both services of Azure, each configured by its address only.
fn azure() -> [Case; 2] {
    [
        Case::default().with("COSMOS_ENDPOINT", "https://x"),
        Case::default().with("TROMMEL_OBJECTS_URL", "az://sessions"),
    ]
}

/// The authentication of the service that is configured.
fn auth(case: &Case) -> Auth {
    let settings = case.settings();
    let cosmos = settings.cosmos.map(|cosmos| cosmos.auth);
    cosmos.or(settings.objects.map(|objects| objects.auth)).unwrap()
}

#[test]
fn uses_a_service_principal_only_if_complete() {
    let variables = ["COSMOS_AUTH_METHOD", "TROMMEL_OBJECTS_AUTH_METHOD"];
    for (case, name) in azure().into_iter().zip(variables) {
        let case = case.with("AZURE_TENANT_ID", "t").with("AZURE_CLIENT_ID", "c");
        assert!(matches!(auth(&case), Auth::DefaultCredentials), "a principal without a secret is ignored");
        let case = case.with("AZURE_CLIENT_SECRET", SENTINEL);
        assert!(matches!(auth(&case), Auth::ServicePrincipal { client_id, .. } if client_id == "c"));
        let case = case.with(name, "default_credentials");
        assert!(matches!(auth(&case), Auth::ServicePrincipal { tenant_id, .. } if tenant_id == "t"));
        let case = case.with(name, "managed_identity");
        assert!(matches!(auth(&case), Auth::ManagedIdentity { client_id: Some(id) } if id == "c"));
    }
}

#[test]
fn both_services_rank_secrets_equally() {
    let connection = format!("AccountEndpoint=https://x;AccountKey={SENTINEL};");
    let [cosmos, objects] = azure();
    let cosmos =
        cosmos.with("COSMOS_KEY", SENTINEL).with("AZURE_TENANT_ID", "t").with("AZURE_CLIENT_ID", "c");
    let objects = objects.with("AZURE_STORAGE_SAS_TOKEN", SENTINEL);
    assert!(matches!(auth(&objects), Auth::Signature(_)));
    let objects = objects.with("AZURE_STORAGE_KEY", SENTINEL);
    for (case, name) in [(cosmos, "COSMOS_CONNECTION_STRING"), (objects, "AZURE_STORAGE_CONNECTION_STRING")] {
        let case = case.with("AZURE_CLIENT_SECRET", SENTINEL);
        assert!(matches!(auth(&case), Auth::Key(_)));
        assert!(matches!(auth(&case.with(name, &connection)), Auth::ConnectionString(_)));
    }
    let [cosmos, _] = azure();
    let (_, message) = cosmos.with("COSMOS_AUTH_METHOD", "anonymous").error();
    assert!(message.contains("`connection_string`") && !message.contains("`anonymous`"), "{message}");
}

#[test]
fn accepts_local_and_hybrid_and_suggests_hybrid_for_cloud() {
    let with_mode =
        |mode: &str| Case::file(&format!("session_storage: {{{mode}objects: {{url: 'file:///x'}}}}\n"));
    assert_eq!(with_mode("").settings().mode, Mode::Hybrid);
    assert_eq!(with_mode("mode: hybrid, ").settings().mode, Mode::Hybrid);
    let local = with_mode("mode: local, ").settings();
    assert!(local.mode == Mode::Local && local.open().unwrap().is_none());
    for mode in ["mode: cloud, ", "mode: Cloud, "] {
        let (class, message) = with_mode(mode).error();
        assert!(class == ErrorClass::Request && message.contains("`hybrid`"), "{message}");
    }
}

#[test]
fn allows_plain_http_for_loopback_addresses_only() {
    let at = |address: &str| Case::default().with("COSMOS_ENDPOINT", address).with("COSMOS_KEY", SENTINEL);
    for address in [
        "http://localhost",
        "http://localhost/",
        "http://localhost:8081/",
        "http://127.0.0.1:8081",
        "http://127.1.2.3/x",
        "http://[::1]",
        "http://[::1]:8081/",
        "https://x",
    ] {
        assert_eq!(at(address).settings().cosmos.unwrap().endpoint, address);
    }
    for address in [
        "http://localhost1",
        "http://localhost1:8081",
        "http://localhost.1",
        "http://localhost.example.com",
        "http://localhost:8081@example.com/",
        "http://localhost:x@example.com/",
        "http://127.0.0.1.example.com",
        "http://127.0.0.11.1",
        "http://127.",
        "http://10.0.0.1",
        "http://[::1]1",
        "http://[::1].example.com:80",
        "http://[::2]",
        "http://",
    ] {
        assert!(at(address).error().1.contains("is not an address"), "{address}");
    }
}

#[test]
fn refuses_a_filter_without_projects() {
    for text in [
        "session_storage: {sync: {policy: sync_filter}}",
        "session_storage: {sync: {policy: filter, projects: []}}",
        "session_storage: {sync: {policy: filter, projects: ['']}}",
    ] {
        let (class, message) = Case::file(text).error();
        assert!(class == ErrorClass::Request && message.contains("TROMMEL_SYNC_PROJECTS"), "{message}");
    }
    let filter = Case::file("").with("TROMMEL_SYNC_POLICY", "sync_filter");
    assert!(filter.error().1.contains("list the projects"));
    let filter = filter.with("TROMMEL_SYNC_PROJECTS", "a").settings();
    assert!(matches!(filter.sync.policy(), Policy::Filter(_)));
}

#[test]
fn reads_conflict_resolutions_and_policies() {
    for (word, resolution) in [
        ("merge", ConflictResolution::Merge),
        ("local_wins", ConflictResolution::Local),
        ("remote_wins", ConflictResolution::Remote),
        ("manual", ConflictResolution::Manual),
    ] {
        let text = format!("session_storage: {{sync: {{conflict_resolution: {word}}}}}");
        assert_eq!(Case::file(&text).settings().sync.conflict_resolution, resolution);
    }
    let text = "session_storage:\n  sync:\n    policy: filter\n    projects: [-home-ada-app, '-work-*']\n";
    let sync = Case::file(text).settings().sync;
    assert_eq!(sync.projects, ["-home-ada-app", "-work-*"]);
    assert!(matches!(sync.policy(), Policy::Filter(_)));
    let sync = Case::file(text).with("TROMMEL_SYNC_PROJECTS", "a, b").settings().sync;
    assert_eq!(sync.projects, ["a", "b"]);
    assert!(matches!(
        Case::file("").with("TROMMEL_SYNC_POLICY", "none").settings().sync.policy(),
        Policy::None
    ));
    assert!(matches!(Case::file("").settings().sync.policy(), Policy::All));
    let off = Case::file("session_storage: {sync: {enabled: false}}").settings();
    assert!(matches!(off.sync.policy(), Policy::None));
    assert_eq!(Case::file("session_storage: {sync: {projects: 3}}").error().0, ErrorClass::Request);
}

#[test]
fn opens_the_configured_storages() {
    let folder = TempDir::new().unwrap();
    let text = format!("session_storage: {{objects: {{url: 'file://{}'}}}}", folder.path().display());
    let storages = Case::file(&text).settings().open().unwrap().unwrap();
    assert!(
        storages.blocks.name().contains(&folder.path().display().to_string()) && storages.payloads.is_none()
    );
    assert!(Case::file("").settings().open().unwrap().is_none());
    let cosmos =
        Case::file("").with("COSMOS_ENDPOINT", "https://x.documents.azure.com").with("COSMOS_KEY", SENTINEL);
    let opened = cosmos.settings().open();
    let name_or_error = match &opened {
        Ok(storages) => storages.as_ref().unwrap().blocks.name(),
        Err(error) => error.to_string(),
    };
    assert!(!name_or_error.contains("SENTINEL"), "{name_or_error}");
    assert_eq!(opened.is_err(), !cfg!(feature = "cosmos"), "{name_or_error}");
}
