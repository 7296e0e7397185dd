//! Routing.
//!
//! x

mod directive;
mod error;
mod mode;
mod near;
mod pattern;
mod target;

pub use directive::{
    Asked, DirectiveError, Directives, Input, Model as ModelChoice, Output as OutputDirective, Source,
    ToolUse, Tools,
};
pub use error::{Error, ErrorKind, Result};
pub use mode::{Scope, WriteMode};
pub use pattern::{Files as FilePattern, Now, Pattern};
pub use target::{NAME_CHARS, Route, Target};
