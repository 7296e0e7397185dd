//! Stored outputs of tools: the same store as that of the command line.

use std::io::{self, Read, Write};
use std::path::PathBuf;
use std::sync::Arc;

use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyByteArray, PyBytes, PyMemoryView, PyString};
use trommel::Cancel;
use trommel::reader::Framing;
use trommel_store::{Filter, Origin, StoreOptions, Stored};
use trommel_tool::Redaction;

use crate::decode::{ByteOrigin, Decoder};
use crate::document::{Document, OpenOptions};
use crate::errors::{internal, of_store};
use crate::file::{FileObject, SharedFile};
use crate::run::interruptible;
use crate::source::{KnownGuide, Source, framing_of};

/// A folder of stored outputs.
#[pyclass(module = "trommel", frozen)]
pub(crate) struct Store(Arc<trommel_store::Store>);

/// Opens the store in a folder, or that of the command line. Creates it if needed.
#[pyfunction]
#[pyo3(signature = (folder=None))]
pub(crate) fn store(py: Python<'_>, folder: Option<PathBuf>) -> PyResult<Store> {
    let folder = folder.or_else(trommel_cli::outputs_folder);
    let folder = folder.ok_or_else(|| {
        PyValueError::new_err("no data folder is known: set $TROMMEL_HOME, or give a folder")
    })?;
    let opened = interruptible(py, &Cancel::new(), move || {
        trommel_store::Store::open(folder, StoreOptions::default())
    })?;
    Ok(Store(Arc::new(opened.map_err(|error| of_store(py, &error))?)))
}

/// The ratio of decompression that `trommel put` allows by default.
const MAX_RATIO: u64 = 1000;

/// The bytes to store.
enum Payload {
    Bytes(Vec<u8>),
    Path(PathBuf),
    Object(FileObject),
}

impl Payload {
    fn of(data: &Bound<'_, PyAny>) -> PyResult<Self> {
        if let Ok(text) = data.cast::<PyString>() {
            return Ok(Self::Bytes(text.extract::<String>()?.into_bytes()));
        }
        if data.is_instance_of::<PyBytes>()
            || data.is_instance_of::<PyByteArray>()
            || data.is_instance_of::<PyMemoryView>()
        {
            let bytes = data.py().get_type::<PyBytes>().call1((data,))?.cast_into::<PyBytes>()?;
            return Ok(Self::Bytes(bytes.as_bytes().to_vec()));
        }
        if data.hasattr("read")? {
            return Ok(Self::Object(FileObject::new(&Arc::new(SharedFile::new(data.clone().unbind())))));
        }
        data.extract::<PathBuf>().map(Self::Path).map_err(|_not_a_path| {
            let name = data.get_type().name().map_or_else(|_| "this".into(), |name| name.to_string());
            PyTypeError::new_err(format!("cannot store {name}: give bytes, text, a binary file, or a path"))
        })
    }

    fn reader(self) -> io::Result<Box<dyn Read + Send>> {
        Ok(match self {
            Self::Bytes(bytes) => Box::new(io::Cursor::new(bytes)),
            Self::Path(path) => Box::new(std::fs::File::open(path)?),
            Self::Object(object) => Box::new(object),
        })
    }
}

/// Writes a payload as an output.
fn put(
    store: &trommel_store::Store,
    origin: Origin,
    payload: Payload,
    cancel: &Cancel,
) -> Result<Stored, PutError> {
    let mut reader = trommel::unpacked(payload.reader()?, MAX_RATIO)?;
    let mut put = store.put(origin)?;
    let mut buffer = vec![0; 256 << 10];
    loop {
        let count = reader.read(&mut buffer)?;
        if count == 0 || cancel.is_cancelled() {
            break;
        }
        // The store passes its own errors through the writer.
        put.write_all(&buffer[..count]).map_err(|error| match error.downcast::<trommel_store::Error>() {
            Ok(error) => PutError::Store(error),
            Err(error) => PutError::Io(error),
        })?;
    }
    if cancel.is_cancelled() {
        return Err(PutError::Io(io::ErrorKind::Interrupted.into()));
    }
    Ok(put.finish()?)
}

enum PutError {
    Io(io::Error),
    Store(trommel_store::Error),
}

impl From<io::Error> for PutError {
    fn from(error: io::Error) -> Self {
        Self::Io(error)
    }
}

impl From<trommel_store::Error> for PutError {
    fn from(error: trommel_store::Error) -> Self {
        Self::Store(error)
    }
}

impl Store {
    /// Calls the store without the interpreter lock.
    fn call<T: Send + 'static>(
        &self,
        py: Python<'_>,
        work: impl FnOnce(&trommel_store::Store) -> Result<T, trommel_store::Error> + Send + 'static,
    ) -> PyResult<T> {
        let store = Arc::clone(&self.0);
        let done = interruptible(py, &Cancel::new(), move || work(&store))?;
        done.map_err(|error| of_store(py, &error))
    }
}

/// A description as a dictionary.
fn dictionary<'py>(py: Python<'py>, described: &impl serde::Serialize) -> PyResult<Bound<'py, PyAny>> {
    let text = serde_json::to_vec(described).map_err(internal)?;
    Decoder::new(py, false)?.value(py, &text, ByteOrigin::all(" of the description"))
}

#[pymethods]
impl Store {
    /// Stores bytes, text, or the content of a binary file object or a path, decompressed. Returns
    /// the ID.
    #[pyo3(signature = (data, *, tool, id=None, conversation=None, message=None, failed=false, parameters=None, framing=None))]
    #[expect(clippy::too_many_arguments, reason = "the arguments are those of Python")]
    fn put(
        &self,
        py: Python<'_>,
        data: &Bound<'_, PyAny>,
        tool: &str,
        id: Option<String>,
        conversation: Option<String>,
        message: Option<String>,
        failed: bool,
        parameters: Option<&Bound<'_, PyAny>>,
        framing: Option<&str>,
    ) -> PyResult<String> {
        let mut origin = Origin::of(tool);
        (origin.id, origin.conversation_id, origin.message_id) = (id, conversation, message);
        if let Some(parameters) = parameters {
            let text: String = py.import("json")?.call_method1("dumps", (parameters,))?.extract()?;
            origin.parameters = Redaction::new().value(&serde_json::from_str(&text).map_err(internal)?);
        }
        let (store, payload, cancel) = (Arc::clone(&self.0), Payload::of(data)?, Cancel::new());
        origin.success = !failed;
        origin.framing = match (framing, &payload) {
            (Some(framing), _) => framing_of(framing)?,
            (None, Payload::Path(path)) => trommel::framing_of(path),
            (None, _) => Framing::Auto,
        };
        let token = cancel.clone();
        let stored = interruptible(py, &cancel, move || put(&store, origin, payload, &token))?;
        stored.map(|stored| stored.id).map_err(|error| match error {
            PutError::Store(error) => of_store(py, &error),
            PutError::Io(error) => PyErr::from(error),
        })
    }

    /// The stored outputs, newest first, as dictionaries.
    #[pyo3(signature = (*, tool=None, conversation=None, limit=20, offset=0))]
    #[expect(clippy::too_many_arguments, reason = "the arguments are those of Python")]
    fn list<'py>(
        &self,
        py: Python<'py>,
        tool: Option<String>,
        conversation: Option<String>,
        limit: u64,
        offset: u64,
    ) -> PyResult<Bound<'py, PyAny>> {
        let mut filter = Filter::default();
        (filter.tool_name, filter.conversation_id) = (tool, conversation);
        (filter.limit, filter.offset) = (limit, offset);
        let page = self.call(py, move |store| store.list(&filter))?;
        dictionary(py, &page.rows)
    }

    /// A stored output as a document. `id` may be a unique prefix.
    fn open(&self, py: Python<'_>, id: String) -> PyResult<Document> {
        let stored = self.call(py, move |store| store.get(&id))?;
        let skips = stored.on_bad_record();
        let source = Source::Stored(Arc::clone(&self.0), Box::new(stored), KnownGuide::default());
        Ok(Document::new(source, OpenOptions { on_bad_record: skips, ..OpenOptions::default() }))
    }

    /// The metadata of an output as a dictionary.
    fn describe<'py>(&self, py: Python<'py>, id: String) -> PyResult<Bound<'py, PyAny>> {
        let mut stored = self.call(py, move |store| store.get(&id))?;
        // The index of lines only serves reading.
        stored.line_index = None;
        dictionary(py, &stored)
    }

    /// Deletes an output.
    fn delete(&self, py: Python<'_>, id: String) -> PyResult<()> {
        self.call(py, move |store| store.delete(&id).map(drop))
    }

    fn __enter__(this: Py<Self>) -> Py<Self> {
        this
    }

    /// Does nothing: the store holds no lock and no unwritten data.
    #[pyo3(signature = (*_arguments))]
    #[expect(clippy::unused_self, reason = "Python calls it as a method")]
    fn __exit__(&self, _arguments: &Bound<'_, pyo3::types::PyTuple>) {}
}
