//! From the URL of a place to the place.

use std::fs;
use std::path::{Path as FilePath, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use object_store::local::LocalFileSystem;
use object_store::memory::InMemory;
use object_store::multipart::MultipartStore;
use object_store::path::Path;
use object_store::{BackoffConfig, ClientOptions, ObjectStore, RetryConfig};
use url::{Host, Url};

use super::options::ObjectOptions;
use super::{azure, s3};
use crate::error::{Error, ErrorKind, Result};

/// How long a connection may take to come about.
const CONNECT: Duration = Duration::from_secs(5);

const KINDS: &str = "`az://CONTAINER/PREFIX`, `s3://BUCKET/PREFIX` or `file:///FOLDER`";

/// Where to find out whether a place can be reached.
#[derive(Clone, Debug)]
pub(super) enum Door {
    /// A host and a port.
    Host(String, u16),
    Folder(PathBuf),
    /// It is in this process.
    Here,
}

/// A place that was opened.
pub(super) struct Opened {
    pub(super) store: Arc<dyn ObjectStore>,
    /// The same, where it takes objects in parts that can be tried again.
    pub(super) parts: Option<Arc<dyn MultipartStore>>,
    pub(super) prefix: Path,
    pub(super) door: Door,
    pub(super) name: String,
}

pub(super) fn open(text: &str, options: &ObjectOptions) -> Result<Opened> {
    let url = Url::parse(text.trim()).map_err(|error| unusable(&error.to_string()))?;
    let has_secret = !url.username().is_empty() || url.password().is_some() || url.query().is_some();
    // What stands there may be a key or a signature: it is not repeated.
    if has_secret {
        return Err(unusable("it has a user, a password or a question mark; keys do not stand in a URL"));
    }
    match url.scheme() {
        "az" | "azure" => {
            let (store, address) = azure::open(first(&url)?, options)?;
            cloud(&url, &address, store)
        }
        "s3" => {
            let (store, address) = s3::open(first(&url)?, options)?;
            cloud(&url, &address, store)
        }
        "file" => folder(&url.to_file_path().map_err(|()| unusable("it names no folder"))?),
        "memory" => Ok(in_memory()),
        scheme => Err(unusable(&format!("`{}` is no kind of store that is known", short(scheme)))),
    }
}

pub(super) fn in_memory() -> Opened {
    let store = Arc::new(InMemory::new());
    Opened {
        store: Arc::clone(&store) as Arc<dyn ObjectStore>,
        parts: Some(store),
        prefix: Path::default(),
        door: Door::Here,
        name: "memory".to_owned(),
    }
}

pub(super) fn folder(folder: &FilePath) -> Result<Opened> {
    fs::create_dir_all(folder).map_err(|error| Error::io("make the folder", folder, error))?;
    let store = LocalFileSystem::new_with_prefix(folder).map_err(|error| refused("the folder", &error))?;
    Ok(Opened {
        store: Arc::new(store),
        parts: None,
        prefix: Path::default(),
        door: Door::Folder(folder.to_owned()),
        name: format!("folder {}", folder.display()),
    })
}

fn cloud<S: ObjectStore + MultipartStore>(url: &Url, address: &str, store: Arc<S>) -> Result<Opened> {
    let prefix = Path::from_url_path(url.path()).map_err(|error| unusable(&error.to_string()))?;
    let address = Url::parse(address).map_err(|error| unusable(&error.to_string()))?;
    let host = address.host().ok_or_else(|| unusable("the endpoint has no host"))?;
    let host = match host {
        Host::Ipv6(address) => address.to_string(),
        other => other.to_string(),
    };
    let port = address.port_or_known_default().unwrap_or(443);
    let name = match url.host_str() {
        Some(place) if prefix.as_ref().is_empty() => format!("{}://{place}", url.scheme()),
        Some(place) => format!("{}://{place}/{prefix}", url.scheme()),
        None => url.scheme().to_owned(),
    };
    Ok(Opened {
        store: Arc::clone(&store) as Arc<dyn ObjectStore>,
        parts: Some(store),
        prefix,
        door: Door::Host(host, port),
        name,
    })
}

/// The container or the bucket.
fn first(url: &Url) -> Result<&str> {
    url.host_str().filter(|host| !host.is_empty()).ok_or_else(|| unusable("it names no container or bucket"))
}

/// The address of a service, which is asked without encryption only where that was allowed, or on this machine.
pub(super) fn endpoint(text: &str, allow_http: bool) -> Result<String> {
    let wrong = |why: &str| {
        let message = format!(
            "the endpoint of the object store cannot be used: {why}; write it like `https://objects.example.com`"
        );
        Error::new(ErrorKind::Request, message)
    };
    let url = Url::parse(text.trim()).map_err(|error| wrong(&error.to_string()))?;
    if !url.username().is_empty() || url.password().is_some() || url.query().is_some() {
        return Err(wrong("it has a user, a password or a question mark"));
    }
    match url.scheme() {
        "https" => Ok(url.into()),
        "http" if allow_http || is_here(&url) => Ok(url.into()),
        "http" => Err(wrong("it is not encrypted: use https, or set `allow_http`")),
        _ => Err(wrong("it does not begin with https://")),
    }
}

fn is_here(url: &Url) -> bool {
    match url.host() {
        Some(Host::Domain(name)) => name == "localhost",
        Some(Host::Ipv4(address)) => address.is_loopback(),
        Some(Host::Ipv6(address)) => address.is_loopback(),
        None => false,
    }
}

pub(super) fn client(options: &ObjectOptions, address: &str) -> ClientOptions {
    ClientOptions::new()
        .with_timeout(options.each)
        .with_connect_timeout(CONNECT.min(options.each))
        .with_allow_http(address.starts_with("http://"))
}

/// Requests are tried again in one place only, by this crate's own rule; two rules would multiply.
pub(super) fn no_retry() -> RetryConfig {
    RetryConfig { backoff: BackoffConfig::default(), max_retries: 0, retry_timeout: Duration::ZERO }
}

fn unusable(why: &str) -> Error {
    Error::new(
        ErrorKind::Request,
        format!("the URL of the object store cannot be used: {why}; write it like {KINDS}"),
    )
}

pub(super) fn wrong_access(scheme: &str, needed: &str) -> Error {
    Error::new(ErrorKind::Request, format!("{scheme} needs {needed}; set the credentials that belong to it"))
}

/// What the library says of options may hold one: only the kind of it is told.
pub(super) fn refused(what: &str, error: &object_store::Error) -> Error {
    let system = std::error::Error::source(error).and_then(|error| error.downcast_ref::<std::io::Error>());
    let said = system.map(|error| format!(": {error}")).unwrap_or_default();
    let message = format!(
        "the settings of {what} cannot be used{said}; check that account, endpoint and credentials are written as the vendor shows them"
    );
    Error::new(ErrorKind::Request, message)
}

fn short(text: &str) -> String {
    text.chars().take(20).collect::<String>().escape_debug().to_string()
}
