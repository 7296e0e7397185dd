//! A strict and simple parser for RFC 8259, which builds a tree with the spans of all values.
//!
//! It uses no masks, windows, or skipping. It reads one byte after another and rejects everything
//! that the RFC rejects, including unpaired surrogates. A byte order mark at the very start is
//! ignored.
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
