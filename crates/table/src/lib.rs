//! Tables from JSON that is too big to load: typed columns as Arrow record batches, and Parquet
//! files.
//!
//! A row is a record of an [`Analysis`](trommel::Analysis): a line, or a node of its
//! [`each`](trommel::Analysis::each) query. A column is a query from the row on, or every member of
//! the rows. The types follow from all rows, never from the first ones:
//!
//! | values of a column | type |
//! | --- | --- |
//! | `true`, `false` | boolean |
//! | integers | int64, else uint64, else decimal128 of 38 digits, else text as written |
//! | numbers | float64 if each number is the shortest notation of its double, else text as written |
//! | strings | text |
//! | objects | struct |
//! | arrays | list |
//! | values of several types, too deep, or objects used as maps | JSON as text (`arrow.json`) |
//!
//! A [`Table`] reads the input once to find the types. If columns are given, it keeps their values
//! (in memory, or in an unnamed temporary file); otherwise it reads the input again. With a
//! [schema](TableRequest::schema) it reads once. At most two batches are in memory.
//!
//! ```
//! use trommel::{Analysis, Document};
//! use trommel_table::{Column, Table, TableRequest};
//!
//! let document = Document::from_bytes(r#"{"orders":[{"id":1,"who":{"name":"Ada"}},{"id":2.5}]}"#);
//! let orders = Analysis::new().each("$.orders[*]".parse()?);
//! let request = TableRequest::new(orders)
//!     .column(Column::new("id", "$.id".parse()?))
//!     .column(Column::new("who", "$.who.name".parse()?));
//! let mut table = Table::open(&request, document)?;
//! let names: Vec<_> = table.columns().iter().map(|column| column.column_type.name()).collect();
//! assert_eq!(names, ["a number that a double holds exactly", "a string"]);
//! let batch = table.next_batch()?.expect("two rows");
//! assert_eq!((batch.num_rows(), batch.num_columns()), (2, 2));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod cells;
mod error;
mod files;
mod number;
mod observe;
mod request;
mod rows;
mod schema;
mod shape;
mod stored;
mod table;
mod types;
mod write;

pub use error::{Error, Misfit, SchemaError};
pub use files::write_arrow;
#[cfg(feature = "parquet")]
pub use files::write_parquet;
pub use observe::TableShape;
pub use request::{Column, NumberPolicy, OnMisfit, TableRequest};
pub use schema::TableSchema;
pub use table::{Table, TableReport};
pub use types::{ColumnType, Field, Renamed};
