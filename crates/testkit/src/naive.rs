//! A strict and plain reader of RFC 8259: bytes to a tree that remembers where everything stood.
//!
//! It knows nothing of masks, windows or skipping, looks at one byte after another, and refuses
//! whatever the RFC refuses, half a surrogate pair included. A byte order mark at the very start is
//! passed over.
//!
//! ```
//! use trommel_testkit::naive::{self, Data};
//!
//! let document = naive::parse(br#"{"a":[1,2.50]}"#)?;
//! let array = document.member(document.root(), "a").unwrap();
//! let second = document.children(array)[1];
//! assert_eq!(document[second].data, Data::Number("2.50".into()));
//! assert_eq!(document[second].span.range(), 8..12);
//! assert_eq!(document.path(second), "$['a'][1]");
//! # Ok::<(), naive::Error>(())
//! ```

mod equal;
mod error;
mod framing;
mod lexer;
mod parser;
mod path;
mod tree;

pub use equal::{equal, equal_by};
pub use error::{Error, ErrorKind};
pub use framing::{Framing, Record, records};
pub use parser::{DEPTH_LIMIT, parse, parse_within};
pub use path::{is_shorthand, normalized_name};
pub use tree::{Data, Document, Kind, Member, Span, Value, ValueId};
