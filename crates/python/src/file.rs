//! Python file objects as readers.

use std::io::{self, Read, Seek, SeekFrom};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyByteArray, PyBytes};

/// A file object that several runs may read. Each has a position of its own.
pub(crate) struct SharedFile {
    object: Py<PyAny>,
    /// The last reader that moved the object's position.
    last: Mutex<u64>,
    readers: AtomicU64,
}

impl SharedFile {
    pub(crate) fn new(object: Py<PyAny>) -> Self {
        Self { object, last: Mutex::new(0), readers: AtomicU64::new(0) }
    }

    /// True if the object says that it can seek.
    pub(crate) fn is_seekable(&self, py: Python<'_>) -> PyResult<bool> {
        let object = self.object.bind(py);
        if !object.hasattr("seek")? || !object.hasattr("seekable")? {
            return Ok(false);
        }
        object.call_method0("seekable")?.extract()
    }
}

/// A reader of a file object that returns bytes. Each call takes the interpreter lock.
pub(crate) struct FileObject {
    shared: Arc<SharedFile>,
    number: u64,
    position: u64,
}

impl FileObject {
    /// A reader from the object's current position; of a shared object, from the one it seeks to.
    pub(crate) fn new(shared: &Arc<SharedFile>) -> Self {
        // Numbers start at 1, because 0 means that no reader has moved the position.
        let number = shared.readers.fetch_add(1, Ordering::Relaxed) + 1;
        Self { shared: Arc::clone(shared), number, position: 0 }
    }
}

/// Copies what `read` returned. Fails for text and None.
fn copied(read: &Bound<'_, PyAny>, into: &mut [u8]) -> PyResult<usize> {
    let copy = |bytes: &[u8], into: &mut [u8]| {
        let Some(into) = into.get_mut(..bytes.len()) else {
            return Err(PyTypeError::new_err("read() returned more bytes than were asked for"));
        };
        into.copy_from_slice(bytes);
        Ok(bytes.len())
    };
    if let Ok(bytes) = read.cast::<PyBytes>() {
        return copy(bytes.as_bytes(), into);
    }
    if let Ok(bytes) = read.cast::<PyByteArray>() {
        return copy(&bytes.to_vec(), into);
    }
    let name = read.get_type().name()?.to_string();
    let hint = if name == "str" { "; open the file in binary mode" } else { "" };
    Err(PyTypeError::new_err(format!("read() must return bytes, not {name}{hint}")))
}

impl Read for FileObject {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        // The lock is taken before the interpreter's, and never while that one is held.
        let mut last = self.shared.last.lock().unwrap_or_else(PoisonError::into_inner);
        let is_moved = *last != self.number && *last != 0;
        *last = self.number;
        let position = self.position;
        let count = Python::attach(|py| {
            let object = self.shared.object.bind(py);
            if is_moved {
                object.call_method1("seek", (position,))?;
            }
            copied(&object.call_method1("read", (into.len(),))?, into)
        })
        .map_err(io::Error::other)?;
        self.position += count as u64;
        Ok(count)
    }
}

impl Seek for FileObject {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        let mut last = self.shared.last.lock().unwrap_or_else(PoisonError::into_inner);
        *last = self.number;
        let (offset, whence) = match to {
            SeekFrom::Start(at) => (i128::from(at), 0),
            SeekFrom::Current(by) => (i128::from(self.position) + i128::from(by), 0),
            SeekFrom::End(by) => (i128::from(by), 2),
        };
        self.position = Python::attach(|py| {
            let object = self.shared.object.bind(py);
            object.call_method1("seek", (offset as i64, whence))?;
            object.call_method0("tell")?.extract()
        })
        .map_err(io::Error::other)?;
        Ok(self.position)
    }
}
