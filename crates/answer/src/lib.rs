//! Questions and answers of an [`Analysis`](trommel::Analysis) as JSON.
//!
//! The command line, the tools, and the bindings to other languages write the same members. Sampled
//! values are the verbatim bytes of the input; all figures are exact. [`Questions`] are what a
//! program in another language asks, and [`PartialAnswers`] are the answers to a part of the input,
//! which know their questions.
//!
//! ```
//! use trommel::{Analysis, Count, Document, Measure};
//! use trommel_answer::push_answer;
//!
//! let orders = Measure::Count(Count::new("$.orders[*]".parse()?));
//! let mut document = Document::from_bytes(r#"{"orders": [1, 2]}"#);
//! let report = Analysis::new().ask(orders.clone()).run(&mut document)?;
//! let mut text = Vec::new();
//! push_answer(&orders, &report.answers[0], &mut text)?;
//! assert_eq!(text, b"2");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

pub mod figures;
mod groups;
mod questions;
mod report;
mod request;
mod size;
mod stats;

pub use groups::GroupsText;
pub use questions::{PartialAnswers, Questions};
pub use report::{AnswerError, push_answer, push_groups};
pub use request::{GroupRequest, Request, RequestError, SampleRequest, StatsRequest};
pub use size::size;
pub use stats::StatsText;
