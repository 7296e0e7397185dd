//! What people are shown: results, tools, errors, the registry, the history, the context.
//!
//! Each display is a small type that borrows what it shows. As a [`Show`] it becomes text, in a box or plain; as a
//! [`Serialize`](serde::Serialize) it becomes JSON, with values as their bytes stand and times in RFC 3339.
//!
//! A box never grows with what is in it: lines are wrapped, and hang under what they belong to. Whatever is shown is made
//! [`safe`] first, so that no payload, name or message can do anything to a terminal or hide anything from a reader.
//!
//! ```
//! use serde_json::json;
//! use trommel_tool::display::{Look, Show, ToolDetails};
//! use trommel_tool::{Category, Metadata};
//!
//! let schema = json!({
//!     "type": "object",
//!     "properties": {"file_path": {"type": "string", "description": "Absolute path to the file to read"}},
//!     "required": ["file_path"]
//! });
//! let tool = Metadata::new("Read", "Read contents of a file", schema).category(Category::File);
//! let expected = "\
//! Tool: Read
//! Category: FILE
//!
//! Description:
//! Read contents of a file
//!
//! Parameters:
//!
//!   file_path (string) [required]
//!     Absolute path to the file to read
//! ";
//! assert_eq!(ToolDetails::new(&tool).text(&Look::new().plain()), expected);
//! ```

mod context;
mod escape;
mod figures;
mod history;
mod json;
mod outcome;
mod panel;
mod problems;
mod registry;
mod tools;
mod validation;
mod wrap;

use jiff::tz::TimeZone;

pub use context::ContextView;
pub use escape::safe;
pub use history::History;
pub use outcome::Outcome;
pub use panel::Panel;
pub use problems::{ExecutionFailed, Problem, ToolNotFound};
pub use registry::{RegistrationFailed, RegistryView};
pub use tools::{ToolDetails, ToolList};
pub use validation::ValidationFailed;

pub use figures::grouped;

/// Something that people are shown.
pub trait Show {
    /// What it consists of.
    fn panel(&self, look: &Look) -> Panel;

    /// The lines, each ended by a line break.
    fn text(&self, look: &Look) -> String {
        self.panel(look).text(look)
    }
}

/// How displays look.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Look {
    /// Columns of a box, and of a line without one; never fewer than [`NARROWEST`](Self::NARROWEST).
    pub width: u16,
    /// Whether there is a box.
    pub boxed: bool,
    /// The zone in which times are told.
    pub zone: TimeZone,
    /// How to see all tools, as a reader would have to write it.
    pub list_command: String,
}

impl Look {
    /// Columns of a box unless another width is set.
    pub const WIDTH: u16 = 71;
    /// Columns that a box takes at least: words broken into letters are no words.
    pub const NARROWEST: u16 = 24;

    /// A box, with local times.
    pub fn new() -> Self {
        Self {
            width: Self::WIDTH,
            boxed: true,
            zone: TimeZone::system(),
            list_command: "trommel tools".to_owned(),
        }
    }

    /// Sets the width.
    #[must_use]
    pub fn width(mut self, columns: u16) -> Self {
        self.width = columns;
        self
    }

    /// Leaves the box away.
    #[must_use]
    pub fn plain(mut self) -> Self {
        self.boxed = false;
        self
    }

    /// Tells times in UTC.
    #[must_use]
    pub fn utc(self) -> Self {
        self.zone(TimeZone::UTC)
    }

    /// Tells times in a zone.
    #[must_use]
    pub fn zone(mut self, zone: TimeZone) -> Self {
        self.zone = zone;
        self
    }

    /// Sets how a reader gets to see all tools.
    #[must_use]
    pub fn list_command(mut self, command: impl Into<String>) -> Self {
        self.list_command = command.into();
        self
    }

    /// Columns of a line.
    fn room(&self) -> usize {
        let width = usize::from(self.width.max(Self::NARROWEST));
        if self.boxed { width - 4 } else { width }
    }
}

impl Default for Look {
    fn default() -> Self {
        Self::new()
    }
}
