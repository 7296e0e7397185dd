//! Statuses, and the last error of each thread.

use std::cell::RefCell;
use std::ffi::{CStr, CString, c_char};
use std::panic::{AssertUnwindSafe, catch_unwind};

use engine::Error;
use engine::reader::{self, ErrorKind};
use trommel_answer::{AnswerError, RequestError};

/// The result of a call.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TrommelStatus {
    /// The call succeeded.
    Ok = 0,
    /// An argument is null, not UTF-8, not valid JSON, or a handle that is freed or of another
    /// type.
    Argument = 1,
    /// A query, filter, or request is not valid.
    Query = 2,
    /// The input is not valid JSON.
    Json = 3,
    /// A limit was reached: of depth, of a token, or of temporary files.
    Limit = 4,
    /// The input changed while it was read.
    Changed = 5,
    /// The input cannot be opened or read.
    Io = 6,
    /// The run was cancelled.
    Cancelled = 7,
    /// A callback ended the run.
    Stopped = 8,
    /// The questions cannot be answered for this input.
    Refused = 9,
    /// A defect of this library.
    Defect = 10,
}

/// The last error of a thread.
#[derive(Default)]
struct LastError {
    message: CString,
    kind: CString,
    offset: Option<u64>,
    line: u64,
    column: u64,
}

thread_local! {
    static LAST: RefCell<LastError> = RefCell::default();
}

/// Why a call fails.
pub(crate) struct Failure {
    status: TrommelStatus,
    last: LastError,
}

impl Failure {
    pub(crate) fn new(status: TrommelStatus, message: impl ToString) -> Self {
        let last = LastError { message: c_string(&message.to_string()), ..LastError::default() };
        Self { status, last }
    }

    pub(crate) fn argument(message: impl ToString) -> Self {
        Self::new(TrommelStatus::Argument, message)
    }

    fn of_reader(error: &reader::Error, message: &str) -> Self {
        let status = match error.kind() {
            ErrorKind::Limit(_) => TrommelStatus::Limit,
            ErrorKind::SourceChanged => TrommelStatus::Changed,
            ErrorKind::Syntax(_) => TrommelStatus::Json,
            _ if error.is_cancelled() => TrommelStatus::Cancelled,
            _ => TrommelStatus::Io,
        };
        let mut failure = Self::new(status, message);
        failure.last.kind = c_string(error.kind().code());
        failure.last.offset = Some(error.offset());
        if let Some(at) = error.line_column() {
            (failure.last.line, failure.last.column) = (at.line, at.column);
        }
        failure
    }
}

/// A text without the zero bytes that C cannot hold.
fn c_string(text: &str) -> CString {
    let text = text.replace('\0', "\u{fffd}");
    CString::new(text).unwrap_or_else(|_| unreachable!("zero bytes were replaced"))
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        let message = error.to_string();
        match &error {
            Error::Read { error, .. } => Self::of_reader(error, &message),
            Error::Query(_) => Self::new(TrommelStatus::Query, message),
            Error::Open { .. } | Error::Output(_) => Self::new(TrommelStatus::Io, message),
            _ => Self::new(TrommelStatus::Refused, message),
        }
    }
}

impl From<RequestError> for Failure {
    fn from(error: RequestError) -> Self {
        Self::new(TrommelStatus::Query, error)
    }
}

impl From<AnswerError> for Failure {
    fn from(error: AnswerError) -> Self {
        let message = error.to_string();
        match &error {
            AnswerError::Sampled(error) => Self::of_reader(error, &message),
            _ => Self::new(TrommelStatus::Defect, message),
        }
    }
}

impl From<trommel_table::Error> for Failure {
    fn from(error: trommel_table::Error) -> Self {
        match error {
            trommel_table::Error::Run(error) => error.into(),
            error => Self::new(TrommelStatus::Refused, error),
        }
    }
}

/// Runs the body of a function. A panic becomes a status.
pub(crate) fn call(body: impl FnOnce() -> Result<(), Failure>) -> TrommelStatus {
    // A panic leaves at most the handles of this call in an unknown state, and they are not used
    // again within it.
    let done = catch_unwind(AssertUnwindSafe(body)).unwrap_or_else(|panic| {
        let message = panic.downcast_ref::<&str>().map(ToString::to_string);
        let message = message.or_else(|| panic.downcast_ref::<String>().cloned());
        let message = message.unwrap_or_else(|| "a panic without a text".into());
        Err(Failure::new(TrommelStatus::Defect, format!("internal error: {message}; please report this")))
    });
    let (status, last) = match done {
        Ok(()) => (TrommelStatus::Ok, LastError::default()),
        Err(Failure { status, last }) => (status, last),
    };
    LAST.with_borrow_mut(|known| *known = last);
    status
}

fn pointer(text: impl FnOnce(&LastError) -> &CStr) -> *const c_char {
    LAST.with_borrow(|last| text(last).as_ptr())
}

/// The message of the last call of this thread, empty if it succeeded. Valid until the next call.
#[unsafe(no_mangle)]
pub extern "C" fn trommel_error_message() -> *const c_char {
    pointer(|last| &last.message)
}

/// A short, stable name for the kind of the error in the input, empty if it was another one.
#[unsafe(no_mangle)]
pub extern "C" fn trommel_error_kind() -> *const c_char {
    pointer(|last| &last.kind)
}

/// The byte offset of the error in the input, or the largest number if the error has no offset.
#[unsafe(no_mangle)]
pub extern "C" fn trommel_error_offset() -> u64 {
    LAST.with_borrow(|last| last.offset.unwrap_or(u64::MAX))
}

/// The line of the error in the input, from 1, or 0 if it is not known.
#[unsafe(no_mangle)]
pub extern "C" fn trommel_error_line() -> u64 {
    LAST.with_borrow(|last| last.line)
}

/// The column of the error in the input, in characters from 1, or 0 if it is not known.
#[unsafe(no_mangle)]
pub extern "C" fn trommel_error_column() -> u64 {
    LAST.with_borrow(|last| last.column)
}
