//! Boxes of lines.
//!
//! The table library draws the frame, as a table of one column with a row for each section, and finds where a long word may
//! be cut. Paragraphs whose lines hang under a label, and labels in columns across sections, are no table's: they are
//! wrapped here, before the frame is drawn.

use comfy_table::{ContentArrangement, ContentLineStyle, LineStyle, Table, TableStyle};
use unicode_width::UnicodeWidthStr;

use super::Look;
use super::escape::{lines, safe};
use super::wrap::wrap;

/// The look of the frame.
const FRAME: TableStyle = TableStyle::new()
    .top_border(LineStyle::new('┌', '─', '─', '┐'))
    .content_lines(ContentLineStyle::new('│', '│', '│'))
    .row_separator(LineStyle::new('├', '─', '─', '┤'))
    .bottom_border(LineStyle::new('└', '─', '─', '┘'));

/// Columns that the frame and the space within it take.
const FRAMING: u16 = 4;

/// Something to show: sections of lines, not yet wrapped.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Panel {
    sections: Vec<Section>,
}

/// Lines without a separator between them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Section {
    lines: Vec<Line>,
}

/// A paragraph, and what stands before its first line.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Line {
    lead: String,
    text: String,
}

impl Panel {
    /// A panel of sections; those without lines are left out.
    pub(super) fn new(sections: impl IntoIterator<Item = Section>) -> Self {
        Self { sections: sections.into_iter().filter(|section| !section.lines.is_empty()).collect() }
    }

    /// The lines, in a box or without, each ended by a line break.
    pub fn text(&self, look: &Look) -> String {
        let width = look.width.max(Look::NARROWEST);
        let mut text = if look.boxed { self.framed(width) } else { self.bare(width) };
        text.push('\n');
        text
    }

    fn framed(&self, width: u16) -> String {
        let mut table = Table::new();
        table
            .load_style(FRAME)
            .set_content_arrangement(ContentArrangement::DynamicFullWidth)
            .set_width(width);
        for section in &self.sections {
            table.add_row([section.wrapped(width - FRAMING).join("\n")]);
        }
        table.lines().collect::<Vec<_>>().join("\n")
    }

    /// Sections with an empty line between them.
    fn bare(&self, width: u16) -> String {
        let sections = self.sections.iter().map(|section| {
            let lines = section.wrapped(width);
            let is_blank = |line: &String| line.is_empty();
            let first = lines.iter().take_while(|line| is_blank(line)).count();
            let last = lines.iter().rev().take_while(|line| is_blank(line)).count();
            lines.get(first..lines.len() - last).unwrap_or_default().join("\n")
        });
        sections.collect::<Vec<_>>().join("\n\n")
    }
}

impl Section {
    /// Adds an empty line.
    pub(super) fn blank(mut self) -> Self {
        self.lines.push(Line::default());
        self
    }

    /// Adds a line of our own or of a tool's.
    pub(super) fn line(self, text: &str) -> Self {
        self.led("", text)
    }

    /// Adds a text behind a lead, under which all its further lines hang. Both are made safe here.
    pub(super) fn led(mut self, lead: &str, text: &str) -> Self {
        let mut lead = safe(lead).into_owned();
        for text in lines(text) {
            let indented = text.trim_start_matches(' ');
            let own = text.len() - indented.len();
            let next = " ".repeat(lead.width());
            self.lines.push(Line { lead: lead + &" ".repeat(own), text: indented.to_owned() });
            lead = next;
        }
        self
    }

    /// Adds what a value makes, if there is one.
    pub(super) fn maybe<T>(self, value: Option<T>, add: impl FnOnce(Self, T) -> Self) -> Self {
        match value {
            Some(value) => add(self, value),
            None => self,
        }
    }

    /// Adds something for each.
    pub(super) fn each<T>(
        self,
        values: impl IntoIterator<Item = T>,
        add: impl FnMut(Self, T) -> Self,
    ) -> Self {
        values.into_iter().fold(self, add)
    }

    fn wrapped(&self, width: u16) -> Vec<String> {
        let mut lines = Vec::with_capacity(self.lines.len());
        for line in &self.lines {
            wrap(&line.lead, &line.text, usize::from(width), &mut lines);
        }
        lines
    }
}

/// A text with spaces behind it, so that what follows begins in the same column.
pub(super) fn padded(text: &str, width: usize) -> String {
    let text = safe(text);
    let missing = width.saturating_sub(text.width());
    format!("{text}{}", " ".repeat(missing))
}

/// The columns that the widest of some texts takes.
pub(super) fn widest<'a>(texts: impl IntoIterator<Item = &'a str>) -> usize {
    texts.into_iter().map(|text| safe(text).width()).max().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn panel() -> Panel {
        let output =
            Section::default().line("Output:").line("\u{1b}[31m日本語\nthe second line is longer").blank();
        Panel::new([Section::default().led("Tool: ", "Read"), Section::default(), output])
    }

    #[test]
    fn boxes_have_the_width_they_should_have() {
        let expected = "\
┌──────────────────────┐
│ Tool: Read           │
├──────────────────────┤
│ Output:              │
│ \\u001b[31m日本語     │
│ the second line is   │
│ longer               │
│                      │
└──────────────────────┘
";
        assert_eq!(panel().text(&Look::new().width(24)), expected);
        for width in [0, 24, 71, 200] {
            for line in panel().text(&Look::new().width(width)).lines() {
                assert_eq!(line.width(), usize::from(width.max(Look::NARROWEST)), "{line}");
            }
        }
    }

    #[test]
    fn without_a_box_the_lines_are_the_same() {
        let expected = "Tool: Read\n\nOutput:\n\\u001b[31m日本語\nthe second line is longer\n";
        assert_eq!(panel().text(&Look::new().plain()), expected);
        assert_eq!(Panel::default().text(&Look::new().plain()), "\n");
    }

    #[test]
    fn indented_lines_hang_under_themselves() {
        let section = Section::default().line("  indented text that does not fit");
        assert_eq!(section.wrapped(20), ["  indented text that", "  does not fit"]);
        let section = Section::default().led("Error: ", "one\n  two");
        assert_eq!(section.wrapped(20), ["Error: one", "         two"]);
    }
}
