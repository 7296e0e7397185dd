//! Handles: numbers with the look of pointers, so that a wrong one is found and never followed.

use std::collections::HashMap;
use std::ffi::c_void;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use engine::Cancel;
use trommel_answer::{PartialAnswers, Questions};

use crate::document::Source;
use crate::status::{Failure, TrommelStatus, call};

/// What a handle stands for.
#[derive(Clone)]
pub(crate) enum Object {
    Document(Arc<Source>),
    Questions(Arc<Questions>),
    Partial(Arc<PartialAnswers>),
    Cancel(Cancel),
}

impl Object {
    const fn name(&self) -> &'static str {
        match self {
            Self::Document(_) => "document",
            Self::Questions(_) => "questions",
            Self::Partial(_) => "partial",
            Self::Cancel(_) => "cancel",
        }
    }
}

#[derive(Default)]
struct Live {
    last: usize,
    objects: HashMap<usize, Object>,
}

fn live() -> MutexGuard<'static, Live> {
    static LIVE: OnceLock<Mutex<Live>> = OnceLock::new();
    LIVE.get_or_init(Mutex::default).lock().unwrap_or_else(PoisonError::into_inner)
}

/// A new handle. Numbers are not used again.
pub(crate) fn add<T>(object: Object) -> *mut T {
    let mut live = live();
    live.last += 1;
    let number = live.last;
    live.objects.insert(number, object);
    std::ptr::without_provenance_mut(number)
}

/// The object of a handle.
pub(crate) fn get<T>(handle: *const T) -> Result<Object, Failure> {
    if handle.is_null() {
        return Err(Failure::argument("a handle is null"));
    }
    let object = live().objects.get(&handle.addr()).cloned();
    object.ok_or_else(|| Failure::argument("a handle is not one of this library, or was freed"))
}

macro_rules! getters {
    ($($name:ident: $variant:ident($of:ty),)*) => {$(
        #[doc = concat!("The object of a handle, which must be of the kind `", stringify!($variant), "`.")]
        pub(crate) fn $name<T>(handle: *const T) -> Result<$of, Failure> {
            match get(handle)? {
                Object::$variant(object) => Ok(object),
                other => Err(wrong(&other, stringify!($name))),
            }
        }
    )*};
}

getters! {
    document: Document(Arc<Source>),
    questions: Questions(Arc<Questions>),
    partial: Partial(Arc<PartialAnswers>),
    cancel: Cancel(Cancel),
}

fn wrong(object: &Object, wanted: &str) -> Failure {
    Failure::argument(format!("a handle is one of a {}, not of a {wanted}", object.name()))
}

/// Frees a handle of any type. A run that uses its object continues. Freeing null does nothing.
#[unsafe(no_mangle)]
pub extern "C" fn trommel_free(handle: *mut c_void) -> TrommelStatus {
    call(|| {
        if handle.is_null() {
            return Ok(());
        }
        // Dropped after the lock is released: dropping a reader calls nothing, but takes time.
        let removed = live().objects.remove(&handle.addr());
        let none = || Failure::argument("a handle is not one of this library, or was freed");
        removed.map(drop).ok_or_else(none)
    })
}
