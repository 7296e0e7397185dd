//! Boxes of lines.
//!
//! The table library draws the frame, as a table of one column with a row for each section. It
//! cannot wrap paragraphs with a hanging indent, or align labels across sections: lines are wrapped
//! here, before the frame is drawn.

use std::borrow::Cow;

use comfy_table::{ContentArrangement, ContentLineStyle, LineStyle, Table, TableStyle};
use trommel_base::text::safe;
use unicode_width::UnicodeWidthStr;

use crate::options::DisplayOptions;
use crate::wrap::wrap;

/// The style of the frame.
const FRAME: TableStyle = TableStyle::new()
    .top_border(LineStyle::new('┌', '─', '─', '┐'))
    .content_lines(ContentLineStyle::new('│', '│', '│'))
    .row_separator(LineStyle::new('├', '─', '─', '┤'))
    .bottom_border(LineStyle::new('└', '─', '─', '┘'));

/// Columns of the frame and its padding.
const FRAMING: u16 = 4;

/// Something that people read as a panel.
pub trait Show {
    /// The sections of the panel.
    fn panel(&self, options: &DisplayOptions) -> Panel;

    /// The lines, each with a line break at its end.
    fn text(&self, options: &DisplayOptions) -> String {
        self.panel(options).text(options)
    }
}

/// Sections of lines, not yet wrapped.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Panel {
    sections: Vec<Section>,
}

/// Lines between two separators.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Section {
    lines: Vec<Line>,
}

/// A paragraph, and the lead of its first line.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Line {
    lead: String,
    text: String,
}

impl Panel {
    /// A panel of sections; omits those without lines.
    pub(crate) fn new(sections: impl IntoIterator<Item = Section>) -> Self {
        Self { sections: sections.into_iter().filter(|section| !section.lines.is_empty()).collect() }
    }

    /// The lines, with or without a box, each with a line break at its end.
    pub fn text(&self, options: &DisplayOptions) -> String {
        let width = options.width.max(DisplayOptions::MIN_WIDTH);
        let mut text = if options.boxed { self.framed(width) } else { self.bare(width) };
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
            // A section of blank lines alone is blank from both ends.
            lines[first..(lines.len() - last).max(first)].join("\n")
        });
        sections.collect::<Vec<_>>().join("\n\n")
    }
}

impl Section {
    /// Adds an empty line.
    pub(crate) fn blank(mut self) -> Self {
        self.lines.push(Line::default());
        self
    }

    /// Adds a line.
    pub(crate) fn line(self, text: &str) -> Self {
        self.led("", text)
    }

    /// Adds a lead and a text, whose further lines get a hanging indent. Both are made safe here.
    pub(crate) fn led(mut self, lead: &str, text: &str) -> Self {
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

    /// Adds the lines of a value, if there is one.
    pub(crate) fn maybe<T>(self, value: Option<T>, add: impl FnOnce(Self, T) -> Self) -> Self {
        match value {
            Some(value) => add(self, value),
            None => self,
        }
    }

    /// Adds the lines of each value.
    pub(crate) fn each<T>(
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

/// The lines of a text, each made safe, with tabs as four spaces. A carriage return before a line
/// break is part of it.
fn lines(text: &str) -> impl Iterator<Item = String> {
    text.split('\n').map(|line| {
        let line = line.strip_suffix('\r').unwrap_or(line);
        let line =
            if line.contains('\t') { Cow::Owned(line.replace('\t', "    ")) } else { Cow::Borrowed(line) };
        safe(&line).into_owned()
    })
}

/// Pads a text with spaces to a width.
pub(crate) fn padded(text: &str, width: usize) -> String {
    let text = safe(text);
    let missing = width.saturating_sub(text.width());
    format!("{text}{}", " ".repeat(missing))
}

/// The width of the widest of some texts.
pub(crate) fn widest<'a>(texts: impl IntoIterator<Item = &'a str>) -> usize {
    texts.into_iter().map(|text| safe(text).width()).max().unwrap_or(0)
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
        assert_eq!(panel().text(&DisplayOptions::new().width(24)), expected);
        for width in [0, 24, 71, 200] {
            for line in panel().text(&DisplayOptions::new().width(width)).lines() {
                assert_eq!(line.width(), usize::from(width.max(DisplayOptions::MIN_WIDTH)), "{line}");
            }
        }
    }

    #[test]
    fn without_a_box_the_lines_are_the_same() {
        let expected = "Tool: Read\n\nOutput:\n\\u001b[31m日本語\nthe second line is longer\n";
        assert_eq!(panel().text(&DisplayOptions::new().plain()), expected);
        assert_eq!(Panel::default().text(&DisplayOptions::new().plain()), "\n");
    }

    #[test]
    fn lines_end_as_on_any_system() {
        assert_eq!(lines("a\r\nb\tc\rd\n").collect::<Vec<_>>(), ["a", "b    c\\u000dd", ""]);
    }

    #[test]
    fn indented_lines_hang_under_themselves() {
        let section = Section::default().line("  indented text that does not fit");
        assert_eq!(section.wrapped(20), ["  indented text that", "  does not fit"]);
        let section = Section::default().led("Error: ", "one\n  two");
        assert_eq!(section.wrapped(20), ["Error: one", "         two"]);
    }
}
