//! Opens an object store by its URL.

use std::borrow::Cow;
use std::path::Path as FilePath;
use std::sync::Arc;

use object_store::ObjectStore;
use object_store::local::LocalFileSystem;
use object_store::memory::InMemory;
use object_store::multipart::MultipartStore;
use object_store::path::Path;
use trommel_base::files;
use trommel_blocks::{Error, Result};
use url::{Host, Url};

use super::fault::ObjectFault;
use super::options::ObjectOptions;
use super::reach::ReachTarget;
use super::service::invalid_settings;
use super::{azure, s3};

/// An opened object store.
pub(super) struct OpenedStore {
    pub(super) store: Arc<dyn ObjectStore>,
    /// The same store, if it accepts multipart uploads, whose parts can be retried one by one.
    pub(super) parts: Option<Arc<dyn MultipartStore>>,
    pub(super) prefix: Path,
    pub(super) target: ReachTarget,
    pub(super) name: String,
}

pub(super) fn open(text: &str, options: &ObjectOptions) -> Result<OpenedStore> {
    let url = Url::parse(text.trim()).map_err(|error| unusable(error.to_string()))?;
    let has_secret = !url.username().is_empty() || url.password().is_some() || url.query().is_some();
    // The text may be a key or a signature, so the message does not repeat it.
    if has_secret {
        return Err(unusable("it has a user, a password, or a query; keys do not belong in a URL"));
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
        "file" => folder(&url.to_file_path().map_err(|()| unusable("it has no folder"))?),
        "memory" => Ok(in_memory()),
        scheme => Err(unusable(format!("unknown scheme `{}`", short(scheme)))),
    }
}

pub(super) fn in_memory() -> OpenedStore {
    let store = Arc::new(InMemory::new());
    OpenedStore {
        store: Arc::clone(&store) as Arc<dyn ObjectStore>,
        parts: Some(store),
        prefix: Path::default(),
        target: ReachTarget::InProcess,
        name: "memory".to_owned(),
    }
}

pub(super) fn folder(folder: &FilePath) -> Result<OpenedStore> {
    files::make_folder(folder)?;
    let store =
        LocalFileSystem::new_with_prefix(folder).map_err(|error| invalid_settings("the folder", &error))?;
    Ok(OpenedStore {
        store: Arc::new(store),
        parts: None,
        prefix: Path::default(),
        target: ReachTarget::Folder(folder.to_owned()),
        name: format!("folder {}", folder.display()),
    })
}

fn cloud<S: ObjectStore + MultipartStore>(url: &Url, address: &str, store: Arc<S>) -> Result<OpenedStore> {
    let prefix = Path::from_url_path(url.path()).map_err(|error| unusable(error.to_string()))?;
    let address = Url::parse(address).map_err(|error| unusable(error.to_string()))?;
    let host = address.host().ok_or_else(|| unusable("the endpoint has no host"))?;
    let host = match host {
        Host::Ipv6(address) => address.to_string(),
        other => other.to_string(),
    };
    let port = address.port_or_known_default().unwrap_or(443);
    let name = match url.host_str() {
        Some(container) if prefix.as_ref().is_empty() => format!("{}://{container}", url.scheme()),
        Some(container) => format!("{}://{container}/{prefix}", url.scheme()),
        None => url.scheme().to_owned(),
    };
    Ok(OpenedStore {
        store: Arc::clone(&store) as Arc<dyn ObjectStore>,
        parts: Some(store),
        prefix,
        target: ReachTarget::Host(host, port),
        name,
    })
}

/// Returns the name of the container or bucket.
fn first(url: &Url) -> Result<&str> {
    url.host_str().filter(|host| !host.is_empty()).ok_or_else(|| unusable("it has no container or bucket"))
}

fn unusable(why: impl Into<Cow<'static, str>>) -> Error {
    ObjectFault::Url { why: why.into() }.into()
}

fn short(text: &str) -> String {
    text.chars().take(20).collect::<String>().escape_debug().to_string()
}
