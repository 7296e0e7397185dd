//! Documents: a file, bytes, or a callback that reads.

use std::ffi::{c_char, c_void};
use std::io::{self, Read};
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use engine::Error;
use engine::reader::Framing;

use crate::abi::{self, Context};
use crate::handle::{self, Object};
use crate::status::{Failure, TrommelStatus, call};

/// A document. Free it with `trommel_free`.
pub struct TrommelDocument(());

/// The division of an input into records.
#[repr(C)]
#[derive(Clone, Copy)]
pub enum TrommelFraming {
    /// By the first bytes.
    Auto = 0,
    /// Exactly one value.
    Single = 1,
    /// One value per line.
    Lines = 2,
    /// Values one after another.
    Concatenated = 3,
    /// A JSON text sequence (RFC 7464).
    JsonSeq = 4,
}

/// The numbers of C, which may be others than those of the type.
const FRAMINGS: [(TrommelFraming, Framing); 5] = [
    (TrommelFraming::Auto, Framing::Auto),
    (TrommelFraming::Single, Framing::Single),
    (TrommelFraming::Lines, Framing::Lines),
    (TrommelFraming::Concatenated, Framing::Concatenated),
    (TrommelFraming::JsonSeq, Framing::JsonSeq),
];

/// Reads up to `length` bytes into `into`, and returns their number: 0 at the end, and a negative
/// number if reading fails.
pub type TrommelRead =
    Option<unsafe extern "C" fn(context: *mut c_void, into: *mut u8, length: usize) -> i64>;

/// What a document reads, and how.
#[derive(Clone)]
pub(crate) struct Source {
    bytes: SourceBytes,
    framing: Option<Framing>,
    part: Option<(u64, u64)>,
}

#[derive(Clone)]
enum SourceBytes {
    File(PathBuf),
    Borrowed(Borrowed),
    /// Read once.
    Reader(Arc<Mutex<Option<CallbackReader>>>),
}

/// Bytes of the caller.
#[derive(Clone, Copy)]
struct Borrowed(&'static [u8]);

impl AsRef<[u8]> for Borrowed {
    fn as_ref(&self) -> &[u8] {
        self.0
    }
}

struct CallbackReader {
    read: unsafe extern "C" fn(*mut c_void, *mut u8, usize) -> i64,
    context: Context,
}

impl Read for CallbackReader {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        // SAFETY: the caller of `trommel_open_reader` promises that the function may be called with
        // its context, and writes at most the bytes that it is given.
        let count = unsafe { (self.read)(self.context.get(), into.as_mut_ptr(), into.len()) };
        match usize::try_from(count) {
            Ok(count) if count <= into.len() => Ok(count),
            Ok(_) => Err(io::Error::other("the callback returned more bytes than were asked for")),
            Err(_) => Err(io::Error::other("the callback failed to read")),
        }
    }
}

impl Source {
    fn new(bytes: SourceBytes) -> Self {
        Self { bytes, framing: None, part: None }
    }

    /// Opens the input.
    pub(crate) fn open(&self) -> Result<engine::Document<'static>, Error> {
        let mut document = match &self.bytes {
            SourceBytes::File(path) => engine::Document::open(path)?,
            SourceBytes::Borrowed(bytes) => engine::Document::from_bytes(*bytes),
            SourceBytes::Reader(reader) => {
                let reader = reader.lock().unwrap_or_else(PoisonError::into_inner).take();
                engine::Document::from_reader(reader.ok_or(Error::Consumed)?)
            }
        };
        if let Some(framing) = self.framing {
            document = document.framing(framing);
        }
        match self.part {
            Some((number, count)) => document.part(number, count),
            None => Ok(document),
        }
    }
}

/// Opens a file. It is read through a window when a question is asked, any number of times.
///
/// # Safety
/// `path` is a text that ends with a zero, and `document` is the address of a handle.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn trommel_open_file(
    path: *const c_char,
    document: *mut *mut TrommelDocument,
) -> TrommelStatus {
    call(|| {
        abi::check_out(document)?;
        // SAFETY: promised by the caller.
        let path = PathBuf::from(unsafe { abi::text(path) }?);
        // A missing file is an error now, and not only of the first run.
        drop(engine::Document::open(&path)?);
        let handle = handle::add(Object::Document(Arc::new(Source::new(SourceBytes::File(path)))));
        // SAFETY: promised by the caller.
        unsafe { abi::put(document, handle) }
    })
}

/// Opens bytes without copying them. They must stay as they are until the document, its parts, and
/// their Arrow streams are freed.
///
/// # Safety
/// `bytes` points to `length` bytes as above, and `document` is the address of a handle.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn trommel_open_bytes(
    bytes: *const u8,
    length: usize,
    document: *mut *mut TrommelDocument,
) -> TrommelStatus {
    call(|| {
        abi::check_out(document)?;
        // SAFETY: promised by the caller, for as long as the handle exists.
        let bytes = Borrowed(unsafe { abi::bytes(bytes, length) }?);
        let handle = handle::add(Object::Document(Arc::new(Source::new(SourceBytes::Borrowed(bytes)))));
        // SAFETY: promised by the caller.
        unsafe { abi::put(document, handle) }
    })
}

/// Opens a function that reads. It can be read once, and may be called on another thread.
///
/// # Safety
/// `read` may be called with `context` until the document is freed, and writes at most as many
/// bytes as it is given. `document` is the address of a handle.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn trommel_open_reader(
    read: TrommelRead,
    context: *mut c_void,
    document: *mut *mut TrommelDocument,
) -> TrommelStatus {
    call(|| {
        abi::check_out(document)?;
        let read = read.ok_or_else(|| Failure::argument("the function that reads is null"))?;
        let reader = CallbackReader { read, context: Context(context) };
        let source = Source::new(SourceBytes::Reader(Arc::new(Mutex::new(Some(reader)))));
        // SAFETY: promised by the caller.
        unsafe { abi::put(document, handle::add(Object::Document(Arc::new(source)))) }
    })
}

/// A document with another division into records, one of `TrommelFraming`. Both handles must be
/// freed.
///
/// # Safety
/// `framed` is the address of a handle.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn trommel_document_framing(
    document: *const TrommelDocument,
    framing: i32,
    framed: *mut *mut TrommelDocument,
) -> TrommelStatus {
    call(|| {
        abi::check_out(framed)?;
        let mut source = (*handle::document(document)?).clone();
        let known = FRAMINGS.iter().find(|(number, _)| *number as i32 == framing);
        let none = || Failure::argument(format!("{framing} is not one of the framings"));
        source.framing = Some(known.ok_or_else(none)?.1);
        // SAFETY: promised by the caller.
        unsafe { abi::put(framed, handle::add(Object::Document(Arc::new(source)))) }
    })
}

/// Part `number`, from 0, of `count` parts, which contain each record once. The records must be
/// lines or a text sequence, unless there is one part. Both handles must be freed.
///
/// # Safety
/// `part` is the address of a handle.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn trommel_document_part(
    document: *const TrommelDocument,
    number: u64,
    count: u64,
    part: *mut *mut TrommelDocument,
) -> TrommelStatus {
    call(|| {
        abi::check_out(part)?;
        let mut source = (*handle::document(document)?).clone();
        source.part = Some((number, count));
        if !matches!(source.bytes, SourceBytes::Reader(_)) {
            drop(source.open()?);
        }
        // SAFETY: promised by the caller.
        unsafe { abi::put(part, handle::add(Object::Document(Arc::new(source)))) }
    })
}
