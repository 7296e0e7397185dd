//! Arguments from C: the only code that follows addresses of the caller.

use std::ffi::{CStr, c_char};

use crate::status::Failure;

/// Reads a text.
///
/// # Safety
/// `text` is null, or points to bytes that end with a zero and do not change while `'a` lasts.
pub(crate) unsafe fn text<'a>(text: *const c_char) -> Result<&'a str, Failure> {
    if text.is_null() {
        return Err(Failure::argument("a text is null"));
    }
    // SAFETY: the caller promises a text with its end.
    let text = unsafe { CStr::from_ptr(text) };
    text.to_str().map_err(|_invalid| Failure::argument("a text is not UTF-8"))
}

/// Reads bytes. Null stands for no bytes.
///
/// # Safety
/// `bytes` is null, or points to `length` bytes that do not change while `'a` lasts.
pub(crate) unsafe fn bytes<'a>(bytes: *const u8, length: usize) -> Result<&'a [u8], Failure> {
    if bytes.is_null() {
        return if length == 0 { Ok(&[]) } else { Err(Failure::argument("the bytes are null")) };
    }
    if isize::try_from(length).is_err() {
        return Err(Failure::argument("there are more bytes than an address can reach"));
    }
    // SAFETY: the caller promises these bytes.
    Ok(unsafe { std::slice::from_raw_parts(bytes, length) })
}

/// Reads a structure. Null stands for its default.
///
/// # Safety
/// `value` is null, or points to a structure of this type.
pub(crate) unsafe fn copied<T: Copy + Default>(value: *const T) -> T {
    if value.is_null() {
        return T::default();
    }
    // SAFETY: the caller promises a structure.
    unsafe { value.read() }
}

/// Checks the address of a result before the work for it.
pub(crate) fn check_out<T>(out: *mut T) -> Result<(), Failure> {
    if out.is_null() { Err(Failure::argument("the address of the result is null")) } else { Ok(()) }
}

/// Writes a result.
///
/// # Safety
/// `out` is null, or points to a place for the result.
pub(crate) unsafe fn put<T>(out: *mut T, value: T) -> Result<(), Failure> {
    check_out(out)?;
    // SAFETY: the caller promises a place.
    unsafe { out.write(value) };
    Ok(())
}

/// A pointer of the caller that this library only passes back.
#[derive(Clone, Copy)]
pub(crate) struct Context(pub(crate) *mut std::ffi::c_void);

// SAFETY: the pointer is not followed. The interface says that callbacks may be called on other
// threads, so the caller's data must allow it.
unsafe impl Send for Context {}

// SAFETY: as above; and no two threads call a callback at the same time.
unsafe impl Sync for Context {}

impl Context {
    /// The pointer. A method, so that closures capture the whole context.
    pub(crate) fn get(self) -> *mut std::ffi::c_void {
        self.0
    }
}
