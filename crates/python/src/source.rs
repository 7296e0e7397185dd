//! What a document reads: a path, bytes, a file object, or a stored output.

use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedBytes;
use pyo3::types::{PyByteArray, PyBytes, PyMemoryView};
use trommel::Error;
use trommel::reader::{Framing, MapPolicy};
use trommel_guide::{Guide, Guides};
use trommel_store::{Store, Stored};

use crate::errors::of_store;
use crate::file::{FileObject, SharedFile};

pub(crate) enum Source {
    Path {
        path: PathBuf,
        is_trusted: bool,
        guide: KnownGuide,
    },
    Bytes(Arc<PyBackedBytes>),
    Seekable(Arc<SharedFile>),
    /// A file object that can be read once.
    Stream(Mutex<Option<FileObject>>),
    Stored(Arc<Store>, Box<Stored>, KnownGuide),
}

/// The guide that the last run has found.
#[derive(Default)]
pub(crate) struct KnownGuide(Mutex<Option<Arc<Guide>>>);

impl KnownGuide {
    /// The known guide if it still fits, or another one.
    fn get(&self, fits: impl Fn(&Guide) -> bool, find: impl FnOnce() -> Option<Guide>) -> Option<Arc<Guide>> {
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if known.as_ref().is_none_or(|guide| !fits(guide)) {
            *known = find().map(Arc::new);
        }
        known.clone()
    }
}

/// Shares bytes among the documents of several runs.
struct SharedBytes(Arc<PyBackedBytes>);

impl AsRef<[u8]> for SharedBytes {
    fn as_ref(&self) -> &[u8] {
        &self.0
    }
}

impl Source {
    pub(crate) fn of(source: &Bound<'_, PyAny>, is_trusted: bool) -> PyResult<Self> {
        let py = source.py();
        if let Ok(bytes) = source.cast::<PyBytes>() {
            return Ok(Self::Bytes(Arc::new(PyBackedBytes::from(bytes.clone()))));
        }
        if source.is_instance_of::<PyByteArray>() || source.is_instance_of::<PyMemoryView>() {
            // A copy: the owner may change or resize them.
            let bytes = py.get_type::<PyBytes>().call1((source,))?.cast_into::<PyBytes>()?;
            return Ok(Self::Bytes(Arc::new(PyBackedBytes::from(bytes))));
        }
        if source.hasattr("read")? {
            let shared = SharedFile::new(source.clone().unbind());
            return Ok(if shared.is_seekable(py)? {
                Self::Seekable(Arc::new(shared))
            } else {
                Self::Stream(Mutex::new(Some(FileObject::new(&Arc::new(shared)))))
            });
        }
        if let Ok(text) = source.extract::<String>()
            && text.contains("://")
        {
            let opened = py.import("fsspec")?.call_method1("open", (text, "rb"))?.call_method0("open")?;
            return Self::of(&opened, is_trusted);
        }
        let path = source.extract::<PathBuf>().map_err(|_not_a_path| {
            let name = source.get_type().name().map_or_else(|_| "this".into(), |name| name.to_string());
            PyTypeError::new_err(format!("cannot open {name}: give a path, bytes, or a binary file object"))
        })?;
        Ok(Self::Path { path, is_trusted, guide: KnownGuide::default() })
    }

    /// True if the source can be read again.
    pub(crate) fn is_repeatable(&self) -> bool {
        !matches!(self, Self::Stream(_))
    }

    /// Opens the source. Runs without the interpreter lock.
    pub(crate) fn document(&self) -> Result<trommel::Document<'static>, Error> {
        Ok(match self {
            Self::Path { path, is_trusted: false, .. } => trommel::Document::open(path)?,
            Self::Path { path, is_trusted: true, .. } => {
                #[expect(unsafe_code, reason = "the caller of `open` vouches for the file")]
                // SAFETY: the caller of `open` states that no other process truncates the file.
                let policy = unsafe { MapPolicy::trusted() };
                trommel::Document::open_with(path, policy)?
            }
            Self::Bytes(bytes) => trommel::Document::from_bytes(SharedBytes(Arc::clone(bytes))),
            Self::Seekable(shared) => trommel::Document::from_seekable(FileObject::new(shared))?,
            Self::Stream(object) => {
                let object = object.lock().unwrap_or_else(PoisonError::into_inner).take();
                trommel::Document::from_reader(object.ok_or(Error::Consumed)?)
            }
            Self::Stored(store, stored, _) => {
                let refused = |error| Python::attach(|py| of_store(py, &error));
                let opened = store.document(stored).map_err(refused);
                opened.map_err(|error| trommel::reader::Error::io(std::io::Error::other(error), 0))?
            }
        })
    }

    /// The guide of a document of this source, if there is one that fits.
    pub(crate) fn guide(&self, document: &trommel::Document<'_>) -> Option<Arc<Guide>> {
        if std::env::var_os("TROMMEL_GUIDE").is_some_and(|value| value == "off") {
            return None;
        }
        match self {
            Self::Path { path, guide, .. } => {
                let file = document.file()?;
                let find = || Some(Guides::new(trommel_cli::guides_folder()?).find(path, file).ok()?.0);
                guide.get(|known| known.check_file(file).is_ok(), find)
            }
            // An output does not change.
            Self::Stored(store, stored, guide) => guide.get(|_| true, || store.guide(stored).ok()?),
            Self::Bytes(_) | Self::Seekable(_) | Self::Stream(_) => None,
        }
    }
}

/// The framing with a name.
pub(crate) fn framing_of(name: &str) -> PyResult<Framing> {
    Ok(match name {
        "auto" => Framing::Auto,
        "json" => Framing::Single,
        "jsonl" => Framing::Lines,
        "concatenated" => Framing::Concatenated,
        "json-seq" => Framing::JsonSeq,
        _ => {
            let names = "auto, json, jsonl, concatenated, json-seq";
            return Err(PyValueError::new_err(format!("framing must be one of {names}, not {name:?}")));
        }
    })
}
