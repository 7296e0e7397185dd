//! Azure Blob and S3 by emulators from npm, over HTTP.

use std::ffi::OsString;
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use tempfile::TempDir;
use trommel_storage::Secret;
use trommel_storage::objects::{Access, ObjectOptions, Objects};

use crate::place;

/// Of the emulator, and of nothing else.
const AZURITE_KEY: &str =
    "Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw==";

/// A process that ends with its test.
struct Emulator {
    child: Child,
    port: u16,
    _home: TempDir,
}

impl Drop for Emulator {
    fn drop(&mut self) {
        // It may have ended by itself.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The folder with the emulators; none where none is named, which is said loudly.
#[expect(clippy::print_stderr, reason = "what does not run is to be seen")]
fn folder(what: &str, package: &str) -> Option<PathBuf> {
    let folder = std::env::var_os("TROMMEL_EMULATORS").map(PathBuf::from);
    let found =
        folder.map(|folder| folder.join("node_modules")).filter(|modules| modules.join(package).is_dir());
    if found.is_none() {
        eprintln!(
            "NOT RUN: {what} by its emulator; set TROMMEL_EMULATORS to a folder with {package} from npm"
        );
    }
    found
}

fn start(script: &Path, arguments: impl Fn(&str, &Path) -> Vec<OsString>) -> Emulator {
    let home = tempfile::tempdir().unwrap();
    let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let child = Command::new("node")
        .arg(script)
        .args(arguments(&port.to_string(), home.path()))
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let emulator = Emulator { child, port, _home: home };
    let since = Instant::now();
    while TcpStream::connect(("127.0.0.1", port)).is_err() {
        assert!(since.elapsed() < Duration::from_secs(30), "it starts within 30 s");
        thread::sleep(Duration::from_millis(50));
    }
    emulator
}

/// What is done once in another program: a container, or a bucket.
fn node(modules: &Path, script: &str) {
    let done = Command::new("node").arg("-e").arg(script).env("NODE_PATH", modules).status().unwrap();
    assert!(done.success(), "{script}");
}

#[test]
fn azure_does_what_any_storage_has_to() {
    let Some(modules) = folder("Azure Blob", "azurite") else { return };
    let emulator = start(&modules.join("azurite/dist/src/blob/main.js"), |port, home| {
        let all = [
            "--blobHost",
            "127.0.0.1",
            "--blobPort",
            port,
            "--silent",
            "--skipApiVersionCheck",
            "--location",
        ];
        all.iter().map(OsString::from).chain([home.into()]).collect()
    });
    let endpoint = format!("http://127.0.0.1:{}/devstoreaccount1", emulator.port);
    let connection = format!(
        "DefaultEndpointsProtocol=http;AccountName=devstoreaccount1;AccountKey={AZURITE_KEY};BlobEndpoint={endpoint};"
    );
    node(
        &modules,
        &format!(
            "require('@azure/storage-blob').BlobServiceClient.fromConnectionString('{connection}').getContainerClient('sessions').create()"
        ),
    );
    let mut options = ObjectOptions::new(Access::AzureKey(Secret::new(AZURITE_KEY)));
    (options.account, options.endpoint) = (Some("devstoreaccount1".to_owned()), Some(endpoint));
    place::all(&Objects::open("az://sessions/with-key", &options).unwrap());
    let options = ObjectOptions::new(Access::AzureConnectionString(Secret::new(connection)));
    place::all(&Objects::open("az://sessions/with/connection", &options).unwrap());
    let wrong = Secret::new("d3Jvbmc=");
    let mut options = ObjectOptions::new(Access::AzureKey(wrong));
    options.account = Some("devstoreaccount1".to_owned());
    options.endpoint = Some(format!("http://127.0.0.1:{}/devstoreaccount1", emulator.port));
    refused(&Objects::open("az://sessions/x", &options).unwrap());
}

/// The emulator knows no `If-None-Match`, which the service has: that two writers collide there is
/// not shown by it.
#[test]
fn s3_does_what_can_be_shown_without_conditions() {
    let Some(modules) = folder("S3", "s3rver") else { return };
    let emulator = start(&modules.join("s3rver/bin/s3rver.js"), |port, home| {
        let all = ["-a", "127.0.0.1", "-p", port, "-s", "--configure-bucket", "sessions", "-d"];
        all.iter().map(OsString::from).chain([home.into()]).collect()
    });
    let key =
        |secret: &str| Access::S3Key { id: "S3RVER".to_owned(), secret: Secret::new(secret), token: None };
    let mut options = ObjectOptions::new(key("S3RVER"));
    options.endpoint = Some(format!("http://127.0.0.1:{}", emulator.port));
    options.region = Some("us-east-1".to_owned());
    place::without_conditions(&Objects::open("s3://sessions/prefix", &options).unwrap());
}

/// Who has the wrong key is told so at once, and the key is not.
fn refused(objects: &Objects) {
    use trommel_blocks::BlockStorage;
    let storage = trommel_storage::objects::ObjectBlockStorage::new(objects.clone());
    let key = trommel_blocks::Key::new("ada", "s").unwrap();
    let error = storage.head(&key, &trommel_session::Watch::new()).unwrap_err();
    assert_eq!(error.class(), trommel_blocks::ErrorClass::Denied, "{error}");
    let said = format!("{error} {error:?}");
    assert!(!said.contains("d3Jvbmc=") && !said.contains(AZURITE_KEY), "{said}");
}
