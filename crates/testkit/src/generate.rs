//! Random documents, streams, queries, and damage. Each is a function of a seed, the same on every
//! machine.
//!
//! ```
//! use trommel_testkit::generate::{self, Shape};
//! use trommel_testkit::naive;
//!
//! let text = generate::document(7, &Shape::default());
//! let document = naive::parse(&text)?;
//! let query = generate::query(7, &document, &generate::QueryOptions::default());
//! assert!(query.starts_with('$'));
//! assert_ne!(generate::damage(7, &text), text);
//! # Ok::<(), naive::Error>(())
//! ```

mod damage;
mod document;
mod expression;
mod query;
mod random;
mod scalars;
mod shape;
mod stream;

pub use damage::damage;
pub use document::document;
pub use query::{QueryOptions, filter, query};
pub use random::Random;
pub use shape::{Layout, Names, Numbers, Shape};
pub use stream::stream;
