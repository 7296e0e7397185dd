//! From the URL of a place to the place.

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
use super::reach::Door;
use super::service::refused;
use super::{azure, s3};

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
    let url = Url::parse(text.trim()).map_err(|error| unusable(error.to_string()))?;
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
        scheme => Err(unusable(format!("`{}` is no kind of store that is known", short(scheme)))),
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
    files::make_folder(folder)?;
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
    let prefix = Path::from_url_path(url.path()).map_err(|error| unusable(error.to_string()))?;
    let address = Url::parse(address).map_err(|error| unusable(error.to_string()))?;
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

fn unusable(why: impl Into<Cow<'static, str>>) -> Error {
    ObjectFault::Url { why: why.into() }.into()
}

fn short(text: &str) -> String {
    text.chars().take(20).collect::<String>().escape_debug().to_string()
}
