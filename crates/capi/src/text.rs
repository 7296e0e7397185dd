//! Texts that this library allocates.

use std::collections::HashMap;
use std::ffi::c_char;
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};

use crate::status::{Failure, TrommelStatus, call};

/// Bytes of this library. A zero follows them, which `length` does not count.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct TrommelText {
    /// The bytes.
    pub data: *const c_char,
    /// Their number.
    pub length: usize,
}

/// The texts that were not freed, by their addresses.
fn texts() -> MutexGuard<'static, HashMap<usize, Box<[u8]>>> {
    static TEXTS: OnceLock<Mutex<HashMap<usize, Box<[u8]>>>> = OnceLock::new();
    TEXTS.get_or_init(Mutex::default).lock().unwrap_or_else(PoisonError::into_inner)
}

impl TrommelText {
    pub(crate) fn new(mut bytes: Vec<u8>) -> Self {
        let length = bytes.len();
        bytes.push(0);
        let bytes = bytes.into_boxed_slice();
        let data = bytes.as_ptr();
        texts().insert(data.addr(), bytes);
        Self { data: data.cast(), length }
    }
}

/// Frees a text. One that was freed before is an error. A text without data needs no freeing.
#[unsafe(no_mangle)]
pub extern "C" fn trommel_text_free(text: TrommelText) -> TrommelStatus {
    call(|| {
        if text.data.is_null() {
            return Ok(());
        }
        let removed = texts().remove(&text.data.addr());
        removed
            .map(drop)
            .ok_or_else(|| Failure::argument("the text was freed, or is not one of this library"))
    })
}
