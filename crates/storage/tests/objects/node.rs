//! Tests with the emulators of Azure Blob and S3 from npm, over HTTP.

use std::ffi::OsString;
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use tempfile::TempDir;
use trommel_storage::Secret;
use trommel_storage::objects::{Access, ObjectOptions, Objects};

use crate::store;

/// The well-known key of the emulator, which is not a secret.
const AZURITE_KEY: &str =
    "Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw==";

/// A running emulator, which ends when this is dropped.
struct Emulator {
    child: Child,
    port: u16,
    _home: TempDir,
}

impl Drop for Emulator {
    fn drop(&mut self) {
        // The process may have ended by itself.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Returns the `node_modules` folder if it contains the emulator. Otherwise reports on standard
/// error that the test is skipped.
#[expect(clippy::print_stderr, reason = "a skipped test must be visible")]
fn modules_folder(service: &str, package: &str) -> Option<PathBuf> {
    let folder = std::env::var_os("TROMMEL_EMULATORS").map(PathBuf::from);
    let modules =
        folder.map(|folder| folder.join("node_modules")).filter(|modules| modules.join(package).is_dir());
    if modules.is_none() {
        eprintln!(
            "NOT RUN: {service} with its emulator; set TROMMEL_EMULATORS to a folder with {package} from npm"
        );
    }
    modules
}

/// Starts an emulator on a free port and waits until it accepts connections.
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
        assert!(since.elapsed() < Duration::from_secs(30), "the emulator did not start within 30 s");
        thread::sleep(Duration::from_millis(50));
    }
    emulator
}

/// Runs a setup script in Node.js, which creates a container.
fn run_script(modules: &Path, script: &str) {
    let done = Command::new("node").arg("-e").arg(script).env("NODE_PATH", modules).status().unwrap();
    assert!(done.success(), "{script}");
}

#[test]
fn azure_meets_the_contract() {
    let Some(modules) = modules_folder("Azure Blob", "azurite") else { return };
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
    run_script(
        &modules,
        &format!(
            "require('@azure/storage-blob').BlobServiceClient.fromConnectionString('{connection}').getContainerClient('sessions').create()"
        ),
    );
    let mut options = ObjectOptions::new(Access::AzureKey(Secret::new(AZURITE_KEY)));
    (options.account, options.endpoint) = (Some("devstoreaccount1".to_owned()), Some(endpoint));
    store::all(&Objects::open("az://sessions/with-key", &options).unwrap());
    let options = ObjectOptions::new(Access::AzureConnectionString(Secret::new(connection)));
    store::all(&Objects::open("az://sessions/with/connection", &options).unwrap());
    let wrong_key = Secret::new("d3Jvbmc=");
    let mut options = ObjectOptions::new(Access::AzureKey(wrong_key));
    options.account = Some("devstoreaccount1".to_owned());
    options.endpoint = Some(format!("http://127.0.0.1:{}/devstoreaccount1", emulator.port));
    assert_denied(&Objects::open("az://sessions/x", &options).unwrap());
}

/// The emulator does not implement `If-None-Match`, so this test cannot cover colliding writers.
/// The service has it.
#[test]
fn s3_stores_blocks_and_payloads() {
    let Some(modules) = modules_folder("S3", "s3rver") else { return };
    let emulator = start(&modules.join("s3rver/bin/s3rver.js"), |port, home| {
        let all = ["-a", "127.0.0.1", "-p", port, "-s", "--configure-bucket", "sessions", "-d"];
        all.iter().map(OsString::from).chain([home.into()]).collect()
    });
    let key =
        |secret: &str| Access::S3Key { id: "S3RVER".to_owned(), secret: Secret::new(secret), token: None };
    let mut options = ObjectOptions::new(key("S3RVER"));
    options.endpoint = Some(format!("http://127.0.0.1:{}", emulator.port));
    options.region = Some("us-east-1".to_owned());
    store::without_conditions(&Objects::open("s3://sessions/prefix", &options).unwrap());
}

/// An invalid key is denied at once, and the error does not contain the key.
fn assert_denied(objects: &Objects) {
    use trommel_blocks::BlockStorage;
    let storage = trommel_storage::objects::ObjectBlockStorage::new(objects.clone());
    let key = trommel_blocks::Key::new("ada", "s").unwrap();
    let error = storage.head(&key, &trommel_session::Watch::new()).unwrap_err();
    assert_eq!(error.class(), trommel_blocks::ErrorClass::Denied, "{error}");
    let text = format!("{error} {error:?}");
    assert!(!text.contains("d3Jvbmc=") && !text.contains(AZURITE_KEY), "{text}");
}
