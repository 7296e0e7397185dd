//! The options of a display.

use jiff::tz::TimeZone;

/// The options of a display.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct DisplayOptions {
    /// Columns of a box, and of a line without one; at least [`MIN_WIDTH`](Self::MIN_WIDTH).
    pub width: u16,
    /// True to draw a box.
    pub boxed: bool,
    /// The time zone of all times.
    pub zone: TimeZone,
    /// The command that lists all tools, as the reader would type it.
    pub list_command: String,
}

impl DisplayOptions {
    /// Default width of a box in columns.
    pub const DEFAULT_WIDTH: u16 = 71;
    /// Least width of a box in columns: below it, most words would be broken.
    pub const MIN_WIDTH: u16 = 24;

    /// A box of [`DEFAULT_WIDTH`](Self::DEFAULT_WIDTH) columns, with local times.
    pub fn new() -> Self {
        Self {
            width: Self::DEFAULT_WIDTH,
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

    /// Omits the box.
    #[must_use]
    pub fn plain(mut self) -> Self {
        self.boxed = false;
        self
    }

    /// Shows times in UTC.
    #[must_use]
    pub fn utc(self) -> Self {
        self.zone(TimeZone::UTC)
    }

    /// Shows times in this zone.
    #[must_use]
    pub fn zone(mut self, zone: TimeZone) -> Self {
        self.zone = zone;
        self
    }

    /// Sets the command that lists all tools.
    #[must_use]
    pub fn list_command(mut self, command: impl Into<String>) -> Self {
        self.list_command = command.into();
        self
    }

    /// Columns of a line, without the frame.
    pub(crate) fn room(&self) -> usize {
        let width = usize::from(self.width.max(Self::MIN_WIDTH));
        if self.boxed { width - 4 } else { width }
    }
}

impl Default for DisplayOptions {
    fn default() -> Self {
        Self::new()
    }
}
