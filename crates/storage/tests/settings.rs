//! Settings of storages: precedence, spellings, secrets that nobody sees.
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
use trommel_blocks::{ErrorClass, Result};
use trommel_blocks::{Policy, Settlement};
use trommel_storage::settings::{Auth, CloudSettings, Mode, Parameters};

/// Must never be seen anywhere.
const SENTINEL: &str = "SENTINELa2V5LXRoYXQtbm9ib2R5LXNlZXM=";

#[derive(Default)]
struct Case {
    parameters: Parameters,
    variables: HashMap<String, OsString>,
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

    fn settings(&self) -> CloudSettings {
        let settings = self.run().unwrap();
        assert!(!format!("{settings:?}").contains("SENTINEL"), "{settings:?}");
        settings
    }

    fn refusal(&self) -> (ErrorClass, String) {
        let error = self.run().unwrap_err();
        let all = format!("{error} {error:?}");
        assert!(!all.contains("SENTINEL"), "{all}");
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
fn nothing_set_is_local() {
    let settings = Case::default().settings();
    assert_eq!(settings.mode, Mode::Local);
    assert_eq!(settings.connect_timeout, Duration::from_millis(150));
    assert_eq!(settings.first_answer_timeout, Duration::from_millis(1_500));
    assert_eq!(settings.answer_timeout, Duration::from_secs(5));
    assert!(settings.cosmos.is_none() && settings.objects.is_none() && settings.notes.is_empty());
    let folder = TempDir::new().unwrap();
    let missing = folder.path().join("none.yaml");
    assert!(CloudSettings::resolve(&Parameters::default(), &|_| None, Some(&missing)).is_ok());
}

#[test]
fn the_example_of_the_specification_is_read() {
    let text = "session_storage:\n  cosmos:\n    endpoint: https://x.cosmos.azure.com\n    database: amplifier-sessions\n    auth: managed_identity  # or connection_string\n  sync:\n    enabled: true\n    auto_sync: true\n    interval_seconds: 60\n";
    let settings = Case::file(text).settings();
    assert_eq!(settings.mode, Mode::Hybrid);
    let cosmos = settings.cosmos.unwrap();
    assert_eq!((&*cosmos.database, &*cosmos.container), ("amplifier-sessions", "items"));
    assert!(matches!(cosmos.auth, Auth::ManagedIdentity { client_id: None }));
    assert!(settings.sync.auto_sync && settings.sync.interval == Duration::from_mins(1));
    assert!(settings.notes.is_empty(), "{:?}", settings.notes);
}

#[test]
fn the_other_spellings_are_read_as_well() {
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
    assert_eq!(settings.sync.conflict_resolution, Settlement::Manual);
    assert!(settings.notes.is_empty(), "{:?}", settings.notes);
}

#[test]
fn of_two_spellings_that_differ_one_wins_and_a_note_tells() {
    let case = Case::file(&format!("{}  cloud: {{endpoint: https://cloud.example.com}}\n", cosmos("")));
    let settings = case.settings();
    assert_eq!(settings.cosmos.unwrap().endpoint, "https://file.example.com");
    assert!(settings.notes[0].contains("session_storage.cloud.endpoint"), "{:?}", settings.notes);
    let case = Case::file(&cosmos(""))
        .with("COSMOS_ENDPOINT", "https://short")
        .with("AMPLIFIER_COSMOS_ENDPOINT", "https://long");
    let settings = case.settings();
    assert_eq!(settings.cosmos.unwrap().endpoint, "https://long");
    assert!(
        settings.notes[0].contains("AMPLIFIER_COSMOS_ENDPOINT and COSMOS_ENDPOINT"),
        "{:?}",
        settings.notes
    );
    let same = case.with("COSMOS_ENDPOINT", "https://long").settings();
    assert!(same.notes.is_empty(), "{:?}", same.notes);
}

proptest! {
    #[test]
    fn the_highest_layer_that_says_something_wins(layers in 0_u8..16) {
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
    fn no_file_shows_its_secret(begin in "[ -~\n\t]{0,60}", end in "[ -~\n\t]{0,60}", mode in prop_oneof![Just(0o600), Just(0o644)]) {
        let text = format!("session_storage:\n  cosmos:\n    endpoint: https://x\n{begin}{SENTINEL}{end}");
        match Case::file(&text).mode(mode).run() {
            Ok(settings) => {
                let said = format!("{:?}", settings.notes);
                prop_assert!(!said.contains("SENTINEL"));
            }
            Err(error) => {
                let said = format!("{error} {error:?}");
                prop_assert!(!said.contains("SENTINEL"));
            }
        }
    }
}

#[test]
fn each_way_to_say_who_one_is() {
    let key = Case::file(&cosmos("")).with("COSMOS_KEY", SENTINEL).settings().cosmos.unwrap().auth;
    assert!(matches!(key, Auth::Key(key) if key.expose() == SENTINEL));
    let text = format!("AccountEndpoint=https://named.example.com:443/;AccountKey={SENTINEL};");
    let named = Case::default().with("AMPLIFIER_COSMOS_CONNECTION_STRING", &text).settings().cosmos.unwrap();
    assert_eq!(named.endpoint, "https://named.example.com:443/");
    assert!(matches!(named.auth, Auth::ConnectionString(_)));
    let application = Case::file(&cosmos("    auth: service_principal\n    tenant_id: t\n"))
        .with("AZURE_CLIENT_ID", "c")
        .with("AZURE_CLIENT_SECRET", SENTINEL);
    let auth = application.settings().cosmos.unwrap().auth;
    assert!(
        matches!(auth, Auth::ServicePrincipal { tenant_id, client_id, .. } if tenant_id == "t" && client_id == "c")
    );
    let machine =
        Case::file(&cosmos("    auth: managed-identity\n    client_id: c\n")).settings().cosmos.unwrap().auth;
    assert!(matches!(machine, Auth::ManagedIdentity { client_id: Some(id) } if id == "c"));
}

#[test]
fn a_secret_in_a_file_that_others_may_read_is_refused() {
    let text = cosmos(&format!("    key: {SENTINEL}\n"));
    assert!(matches!(Case::file(&text).settings().cosmos.unwrap().auth, Auth::Key(_)));
    assert!(matches!(Case::file(&text).mode(0o400).settings().cosmos.unwrap().auth, Auth::Key(_)));
    for mode in [0o644, 0o640, 0o604, 0o620, 0o666] {
        let (kind, message) = Case::file(&text).mode(mode).refusal();
        assert_eq!(kind, ErrorClass::Denied);
        assert!(message.contains("`chmod 600 /"), "{message}");
    }
    let noted = Case::file(&text).mode(0o644).with("COSMOS_KEY", "other").settings();
    assert!(noted.notes[0].contains("chmod 600"), "{:?}", noted.notes);
    let local = text.replace("mode: hybrid", "mode: local");
    assert!(Case::file(&local).mode(0o644).settings().cosmos.is_none());
}

#[test]
fn a_secret_in_a_file_of_its_own() {
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
    for (name, kind, said) in [
        ("open", ErrorClass::Denied, "chmod 600"),
        ("two", ErrorClass::Request, "one line"),
        ("empty", ErrorClass::Request, "one line"),
        ("none", ErrorClass::NotFound, "no such file"),
    ] {
        let error = resolve(name).unwrap_err();
        assert_eq!(error.class(), kind);
        assert!(error.to_string().contains(said) && !format!("{error:?}").contains("SENTINEL"), "{error}");
    }
}

#[test]
fn no_error_shows_a_value() {
    let at = |line: &str| Case::file(&cosmos(&format!("    {line}\n")));
    let bad = [
        (at(&format!("auth: {SENTINEL}")), "`default_credentials`"),
        (at(&format!("database: [{SENTINEL}]")), "text"),
        (at(&format!("key: {{a: {SENTINEL}}}")), "text"),
        (at(&format!("key: \"{SENTINEL}")), "no YAML"),
        (at(&format!("key: 'x' {SENTINEL}")), "no YAML"),
        (at(&format!("key: a\n    key: {SENTINEL}")), "no YAML"),
        (at(&format!("key: *{SENTINEL}")), "no YAML"),
        (at(&format!("\tkey: {SENTINEL}")), "no YAML"),
        (at("auth: key"), "COSMOS_KEY"),
        (at("auth: service_principal"), "tenant"),
        (at("auth: connection_string").with("COSMOS_ENDPOINT", SENTINEL), "COSMOS_CONNECTION_STRING"),
        (at("auth: connection_strng"), "did you mean `connection_string`?"),
        (
            at("").with("COSMOS_ENDPOINT", &format!("AccountEndpoint=x;AccountKey={SENTINEL}")),
            "is no address",
        ),
        (at("").with("COSMOS_ENDPOINT", &format!("https://user:{SENTINEL}@host")), "is no address"),
        (at("").with("COSMOS_ENDPOINT", "http://localhost.example.com"), "is no address"),
        (Case::default().with("COSMOS_CONNECTION_STRING", SENTINEL), "AccountEndpoint"),
        (Case::file(&format!("session_storage: {SENTINEL}\n")), "names with values"),
        (Case::file(&format!("session_storage: {{mode: {SENTINEL}}}\n")), "`hybrid`"),
        (Case::file(&format!("session_storage: {{sync: {{enabled: {SENTINEL}}}}}\n")), "`true` or `false`"),
        (Case::file(&format!("session_storage: {{sync: {{interval: {SENTINEL}}}}}\n")), "1 to 86400"),
        (Case::file("session_storage: {sync: {interval: 0}}\n"), "1 to 86400"),
        (Case::file("session_storage: {mode: hybrid}\n"), "COSMOS_ENDPOINT"),
        (Case::default().with("TROMMEL_OBJECTS_URL", &format!("s3://a:{SENTINEL}@b")), "plain place"),
        (Case::default().with("TROMMEL_OBJECTS_URL", SENTINEL), "is no place"),
    ];
    for (number, (case, said)) in bad.iter().enumerate() {
        let (_, message) = case.refusal();
        assert!(message.contains(said), "case {number}: {message}");
    }
    let mut case = Case::file(&cosmos(""));
    let bytes = [SENTINEL.as_bytes(), &[0xff]].concat();
    case.variables.insert("COSMOS_KEY".to_owned(), OsString::from_vec(bytes));
    assert!(case.refusal().1.contains("COSMOS_KEY"));
}

#[test]
fn unknown_names_are_notes_and_no_value_slips_into_one() {
    let text = cosmos(&format!(
        "    endpiont: x\n    telemetry: y\n    ? {SENTINEL}\n    : z\n  snyc: {{}}\n  local: 5\n"
    ));
    let notes = Case::file(&text).settings().notes;
    let has = |part: &str| assert!(notes.iter().any(|note| note.contains(part)), "{part}: {notes:#?}");
    has("did you mean `endpoint`?");
    has("`telemetry`");
    has("a name in `session_storage.cosmos`");
    has("did you mean `sync`?");
    has("`session_storage.local`");
    assert!(!format!("{notes:?}").contains("SENTINEL"), "{notes:?}");
}

#[test]
fn object_stores() {
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
    let half = Case::default().with("TROMMEL_OBJECTS_URL", "s3://b").with("AWS_ACCESS_KEY_ID", "id");
    assert!(half.refusal().1.contains("AWS_SECRET_ACCESS_KEY"));
    let machine = Case::default().with("TROMMEL_OBJECTS_URL", "az://c").settings().objects.unwrap();
    assert!(matches!(machine.auth, Auth::DefaultCredentials));
    let folder = Case::default().with("TROMMEL_OBJECTS_URL", "file:///x").settings().objects.unwrap();
    assert!(matches!(folder.auth, Auth::Anonymous));
}

/// Both services of Azure, by what says where each is.
fn azure() -> [Case; 2] {
    [
        Case::default().with("COSMOS_ENDPOINT", "https://x"),
        Case::default().with("TROMMEL_OBJECTS_URL", "az://sessions"),
    ]
}

fn auth(case: &Case) -> Auth {
    let settings = case.settings();
    let cosmos = settings.cosmos.map(|cosmos| cosmos.auth);
    cosmos.or(settings.objects.map(|objects| objects.auth)).unwrap()
}

#[test]
fn an_application_counts_where_all_of_it_is_set() {
    let words = ["COSMOS_AUTH_METHOD", "TROMMEL_OBJECTS_AUTH_METHOD"];
    for (case, name) in azure().into_iter().zip(words) {
        let case = case.with("AZURE_TENANT_ID", "t").with("AZURE_CLIENT_ID", "c");
        assert!(matches!(auth(&case), Auth::DefaultCredentials), "without its secret it is none");
        let case = case.with("AZURE_CLIENT_SECRET", SENTINEL);
        assert!(matches!(auth(&case), Auth::ServicePrincipal { client_id, .. } if client_id == "c"));
        let case = case.with(name, "default_credentials");
        assert!(matches!(auth(&case), Auth::ServicePrincipal { tenant_id, .. } if tenant_id == "t"));
        let case = case.with(name, "managed_identity");
        assert!(matches!(auth(&case), Auth::ManagedIdentity { client_id: Some(id) } if id == "c"));
    }
}

#[test]
fn of_several_secrets_the_same_one_counts_everywhere() {
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
    let (_, message) = cosmos.with("COSMOS_AUTH_METHOD", "anonymous").refusal();
    assert!(message.contains("`connection_string`") && !message.contains("`anonymous`"), "{message}");
}

#[test]
fn modes_are_local_and_hybrid_and_cloud_names_the_other() {
    let named =
        |mode: &str| Case::file(&format!("session_storage: {{{mode}objects: {{url: 'file:///x'}}}}\n"));
    assert_eq!(named("").settings().mode, Mode::Hybrid);
    assert_eq!(named("mode: hybrid, ").settings().mode, Mode::Hybrid);
    let local = named("mode: local, ").settings();
    assert!(local.mode == Mode::Local && local.open().unwrap().is_none());
    for mode in ["mode: cloud, ", "mode: Cloud, "] {
        let (kind, message) = named(mode).refusal();
        assert!(kind == ErrorClass::Request && message.contains("`hybrid`"), "{message}");
    }
}

#[test]
fn only_this_machine_is_asked_without_encryption() {
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
        assert!(at(address).refusal().1.contains("is no address"), "{address}");
    }
}

#[test]
fn a_filter_without_projects_sends_nothing_by_mistake() {
    for text in [
        "session_storage: {sync: {policy: sync_filter}}",
        "session_storage: {sync: {policy: filter, projects: []}}",
        "session_storage: {sync: {policy: filter, projects: ['']}}",
    ] {
        let (kind, message) = Case::file(text).refusal();
        assert!(kind == ErrorClass::Request && message.contains("TROMMEL_SYNC_PROJECTS"), "{message}");
    }
    let named = Case::file("").with("TROMMEL_SYNC_POLICY", "sync_filter");
    assert!(named.refusal().1.contains("name some, or set `sync_all`"));
    let named = named.with("TROMMEL_SYNC_PROJECTS", "a").settings();
    assert!(matches!(named.sync.policy(), Policy::Filter(_)));
}

#[test]
fn conflicts_and_projects_are_settled_by_words() {
    for (word, settlement) in [
        ("merge", Settlement::Merge),
        ("local_wins", Settlement::Local),
        ("remote_wins", Settlement::Remote),
        ("manual", Settlement::Manual),
    ] {
        let text = format!("session_storage: {{sync: {{conflict_resolution: {word}}}}}");
        assert_eq!(Case::file(&text).settings().sync.conflict_resolution, settlement);
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
    assert_eq!(Case::file("session_storage: {sync: {projects: 3}}").refusal().0, ErrorClass::Request);
}

#[test]
fn settings_make_storages() {
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
    let said = match &opened {
        Ok(storages) => storages.as_ref().unwrap().blocks.name(),
        Err(error) => error.to_string(),
    };
    assert!(!said.contains("SENTINEL"), "{said}");
    assert_eq!(opened.is_err(), !cfg!(feature = "cosmos"), "{said}");
}
