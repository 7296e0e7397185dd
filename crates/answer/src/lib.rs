//! The answers of an [`Analysis`](trommel::Analysis) as JSON.
//!
//! The command line, the tools, and the bindings to other languages write the same members. Sampled
//! values are the verbatim bytes of the input; all figures are exact.
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

mod groups;
mod report;
mod size;
mod stats;

pub use groups::GroupsText;
pub use report::{AnswerError, push_answer, push_groups, push_report};
pub use size::size;
pub use stats::StatsText;
