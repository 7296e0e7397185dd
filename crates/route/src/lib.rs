//! Routing.
//!
//! x

mod buffers;
mod destinations;
mod directive;
mod disk;
mod document;
mod endpoint;
mod error;
#[cfg(test)]
mod faults;
mod fetch;
mod files;
pub mod look;
mod mode;
mod model;
mod near;
mod notice;
mod pattern;
mod router;
mod spool;
mod steps;
mod target;
#[cfg(test)]
mod tests;

pub use buffers::{BufferInfo, Buffers, Content, Reader};
pub use destinations::{Destinations, Origin, Parcel};
pub use directive::{
    Asked, DirectiveError, Directives, Input, Model as ModelChoice, Output as OutputDirective, Source,
    ToolUse, Tools,
};
pub use document::{DOCUMENT_BYTES, Document, Step};
pub use endpoint::Endpoint;
pub use error::{Error, ErrorKind, Result};
pub use fetch::Fetch;
pub use files::Files;
pub use mode::{Scope, WriteMode};
pub use model::{Message, Model, Reply, Request, ToolCall};
pub use notice::{full_notice, notice};
pub use pattern::{Files as FilePattern, Now, Pattern};
pub use router::{Choosing, Router, Shelf};
pub use steps::{PROMPT_CHARS, Plan, Progress, ROUNDS, Report, RunError, Runner, StepPlan, StepReport};
pub use target::{NAME_CHARS, Route, Target};

pub use trommel_tool::Manifest;
