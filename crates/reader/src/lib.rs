//! Bytes to validated pull events, with absolute offsets.
//!
//! Placeholder.

mod config;
mod cursor;
mod error;
mod event;
mod framing;
mod grammar;
mod input;
#[expect(unsafe_code, reason = "mapping files")]
mod map;
mod meter;
mod number;
mod scan;
mod source;
mod span;
mod spool;
mod stack;
mod stream;
mod text;

pub use config::{Config, Limits, Validation};
pub use cursor::{Cursor, Mark};
pub use error::{Error, ErrorKind, Excerpt, Limit, Place, Result, Syntax};
pub use event::{Event, Kind, Payload, Scalar};
pub use framing::Framing;
pub use input::{Input, MapPolicy, View};
pub use number::Number;
pub use scan::{Backend, compact};
pub use source::Monitor;
pub use span::Span;
pub use text::Text;
