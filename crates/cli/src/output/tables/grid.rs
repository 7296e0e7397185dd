//! Tables that fit the terminal's width: one line for each row, and no number or ID is ever broken.

use owo_colors::OwoColorize;
use unicode_width::UnicodeWidthStr;

use super::shorten;
use crate::output::{Stream, escape};

/// The minimum width of a table.
const MIN_WIDTH: u16 = 60;

/// Columns of IDs and times, which people copy and compare.
const WHOLE: [&str; 5] = ["id", "session", "changed", "stored", "written"];

/// Columns of queries.
const PATHS: [&str; 2] = ["path", "query"];

/// Columns of this rank and above appear only if texts have twice the width that they need.
const EXTRA: u8 = 4;

/// The space before the first column, and between two columns.
const MARGIN: usize = 1;
const GAP: usize = 2;

/// The behavior of a column's cells when the table is too wide.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Fit {
    /// Cells are never shortened.
    Whole,
    /// Paths lose segments in their middle.
    Path,
    /// Texts are cut at their end.
    Text,
    /// Texts continue on the next line.
    Wrapped,
}

impl Fit {
    /// The width below which columns of lower importance give way, by default.
    const fn min_width(self) -> usize {
        match self {
            Self::Whole => usize::MAX,
            Self::Path => 24,
            Self::Text => 18,
            Self::Wrapped => 20,
        }
    }

    /// The share of the width that columns divide among them if they cannot have what they need.
    const fn weight(self) -> usize {
        if matches!(self, Self::Path) { 3 } else { 2 }
    }
}

/// A column of a table.
#[derive(Clone, Debug)]
pub(super) struct Column {
    name: String,
    fit: Fit,
    is_right: bool,
    /// The width below which columns of lower importance give way.
    least: usize,
    /// Columns with the highest rank are the first to be omitted in a narrow terminal. Those of
    /// rank 0 always remain.
    rank: u8,
}

impl Column {
    pub(super) fn new(name: &str, fit: Fit) -> Self {
        Self { name: name.to_owned(), fit, is_right: false, least: fit.min_width(), rank: 0 }
    }

    /// Sets the width below which columns of lower importance give way.
    pub(super) fn at_least(self, least: usize) -> Self {
        Self { least, ..self }
    }

    /// A column of numbers.
    pub(super) fn number(name: &str) -> Self {
        Self { is_right: true, ..Self::new(name, Fit::Whole) }
    }

    /// Sets the rank. Columns of one rank are omitted together, and each of them if it is empty.
    pub(super) fn rank(self, rank: u8) -> Self {
        Self { rank, ..self }
    }
}

/// The content of a cell.
pub(crate) enum Cell {
    Text(String),
    /// As many items as fit.
    Items(Vec<CountedItem>),
}

/// A value and its count. If it is too long, it is replaced by its short form, or else cut at its
/// end.
pub(crate) struct CountedItem {
    pub(super) text: String,
    /// The form of a number, which must not be cut.
    pub(super) short: Option<String>,
    pub(super) count: String,
}

impl CountedItem {
    fn width(&self) -> usize {
        self.text.width() + self.count.width()
    }

    /// Returns the item in at most `width` columns, if its count fits.
    fn fitted(&self, width: usize) -> String {
        let free = width.saturating_sub(self.count.width());
        let text = match &self.short {
            _ if self.text.width() <= free => self.text.clone(),
            Some(short) if short.width() <= free => short.clone(),
            Some(_) => "…".to_owned(),
            None => shorten::end(&self.text, free.max(2)),
        };
        text + &self.count
    }
}

impl From<String> for Cell {
    fn from(text: String) -> Self {
        Self::Text(text)
    }
}

impl Cell {
    /// Returns the same content, safe for a terminal.
    fn safe(self) -> Self {
        match self {
            Self::Text(text) => Self::Text(escape::text(&text).into_owned()),
            Self::Items(items) => {
                let safe =
                    |item: CountedItem| CountedItem { text: escape::text(&item.text).into_owned(), ..item };
                Self::Items(items.into_iter().map(safe).collect())
            }
        }
    }

    fn width(&self) -> usize {
        match self {
            Self::Text(text) => text.width(),
            Self::Items(items) => {
                items.iter().map(CountedItem::width).sum::<usize>() + 2 * items.len().saturating_sub(1)
            }
        }
    }

    /// Returns the lines of the cell in a column of a width.
    fn lines(&self, fit: Fit, width: usize) -> Vec<String> {
        match (self, fit) {
            (Self::Text(text), Fit::Whole) => vec![text.clone()],
            (Self::Text(text), Fit::Path) => vec![shorten::path(text, width)],
            (Self::Text(text), Fit::Text) => vec![shorten::end(text, width)],
            (Self::Text(text), Fit::Wrapped) => shorten::wrap(text, width),
            (Self::Items(items), _) => vec![join(items, width)],
        }
    }
}

/// Joins the items that fit, at least one.
fn join(items: &[CountedItem], width: usize) -> String {
    let Some((first, others)) = items.split_first() else { return String::new() };
    let mut line = first.fitted(width);
    for item in others {
        if line.width() + 2 + item.width() > width {
            break;
        }
        line.extend([", ", &item.text, &item.count]);
    }
    line
}

/// A table without rules; numbers are right-aligned.
pub(crate) struct Grid {
    columns: Vec<Column>,
    has_header: bool,
    rows: Vec<Vec<Cell>>,
    out: Stream,
}

impl Grid {
    /// Creates a table with column names. Long texts are cut at their end; IDs, times, and numbers
    /// are not.
    pub(crate) fn new(names: &[&str], right: &[bool], out: Stream) -> Self {
        let column = |(at, name): (usize, &&str)| match right.get(at) {
            Some(true) => Column::number(name),
            _ if WHOLE.contains(name) => Column::new(name, Fit::Whole),
            _ if PATHS.contains(name) => Column::new(name, Fit::Path),
            _ => Column::new(name, Fit::Text),
        };
        Self::of(names.iter().enumerate().map(column).collect(), out)
    }

    /// Creates a table of columns.
    pub(super) fn of(columns: Vec<Column>, out: Stream) -> Self {
        Self { columns, has_header: true, rows: Vec::new(), out }
    }

    /// Creates a table without column names, such as names and their values. Long texts continue on
    /// the next line.
    pub(crate) fn unnamed(right: &[bool], out: Stream) -> Self {
        let column = |right: &bool| if *right { Column::number("") } else { Column::new("", Fit::Wrapped) };
        Self { has_header: false, ..Self::of(right.iter().map(column).collect(), out) }
    }

    /// Lets long texts continue on the next line.
    pub(super) fn wrapped(mut self) -> Self {
        for column in self.columns.iter_mut().filter(|column| column.fit == Fit::Text) {
            column.fit = Fit::Wrapped;
        }
        self
    }

    /// Adds a row and escapes its cells.
    pub(crate) fn row(&mut self, cells: impl IntoIterator<Item = impl Into<Cell>>) {
        self.rows.push(cells.into_iter().map(|cell| cell.into().safe()).collect());
    }

    /// True if the width leaves space for a column.
    pub(super) fn shows(&self, name: &str) -> bool {
        self.layout().iter().any(|(column, _)| self.columns[*column].name == name)
    }

    /// Renders the table.
    pub(crate) fn text(&self) -> String {
        let layout = self.layout();
        let mut text = String::new();
        if self.has_header {
            let line =
                self.line(&layout, |column, at| shorten::end(&self.columns[column].name, layout[at].1));
            let line = if self.out.is_colored { line.dimmed().to_string() } else { line };
            text.extend([line.as_str(), "\n"]);
        }
        for row in &self.rows {
            let cells: Vec<Vec<String>> = layout
                .iter()
                .map(|&(column, width)| {
                    row.get(column).map_or_else(Vec::new, |cell| cell.lines(self.columns[column].fit, width))
                })
                .collect();
            for number in 0..cells.iter().map(Vec::len).max().unwrap_or(0) {
                let line =
                    self.line(&layout, |_, at| cells[at].get(number).map_or_else(String::new, Clone::clone));
                text.extend([line.as_str(), "\n"]);
            }
        }
        text
    }

    /// Pads the cells of a line. `cell` takes the column and its index in the layout.
    fn line(&self, layout: &[(usize, usize)], cell: impl Fn(usize, usize) -> String) -> String {
        let mut line = " ".repeat(MARGIN);
        for (at, &(column, width)) in layout.iter().enumerate() {
            let cell = cell(column, at);
            let padding = " ".repeat(width.saturating_sub(cell.width()));
            let gap = " ".repeat(if at > 0 { GAP } else { 0 });
            let parts =
                if self.columns[column].is_right { [&gap, &padding, &cell] } else { [&gap, &cell, &padding] };
            line.extend(parts.map(String::as_str));
        }
        line.truncate(line.trim_end().len());
        line
    }

    /// Returns the shown columns with their widths.
    fn layout(&self) -> Vec<(usize, usize)> {
        let content = |column: usize| {
            self.rows.iter().filter_map(|row| row.get(column)).map(Cell::width).max().unwrap_or(0)
        };
        let contents: Vec<usize> = (0..self.columns.len()).map(content).collect();
        let is_shown = |column: &usize| self.columns[*column].rank == 0 || contents[*column] > 0;
        let shown: Vec<usize> = (0..self.columns.len()).filter(is_shown).collect();
        let wanted = |column: usize| contents[column].max(self.columns[column].name.width());
        let Some(width) = width(self.out) else {
            return shown.into_iter().map(|column| (column, wanted(column))).collect();
        };
        self.fit(shown, usize::from(width), wanted)
    }

    /// Omits columns until the others fit, and divides the rest of the width among those that can
    /// be shortened.
    fn fit(
        &self,
        mut shown: Vec<usize>,
        width: usize,
        wanted: impl Fn(usize) -> usize,
    ) -> Vec<(usize, usize)> {
        let least = |column: usize| {
            let Column { least, name, .. } = &self.columns[column];
            (*least).max(name.width())
        };
        let space = |shown: &[usize]| width.saturating_sub(MARGIN + GAP * shown.len().saturating_sub(1));
        loop {
            let rank = shown.iter().map(|&column| self.columns[column].rank).max().unwrap_or(0);
            let scale = if rank >= EXTRA { 2 } else { 1 };
            let needed = shown.iter().map(|&column| wanted(column).min(least(column).saturating_mul(scale)));
            let needed: usize = needed.sum();
            if needed <= space(&shown) || rank == 0 {
                break;
            }
            shown.retain(|&column| self.columns[column].rank < rank);
        }
        let is_whole = |column: &usize| self.columns[*column].fit == Fit::Whole;
        let taken: usize = shown.iter().filter(|column| is_whole(column)).map(|&column| wanted(column)).sum();
        let mut flexible: Vec<usize> = shown.iter().copied().filter(|column| !is_whole(column)).collect();
        let weight = |column: usize| self.columns[column].fit.weight();
        flexible.sort_by_key(|&column| wanted(column) / weight(column));
        let mut rest = space(&shown).saturating_sub(taken);
        let mut widths: Vec<usize> = (0..self.columns.len()).map(&wanted).collect();
        let mut weights: usize = flexible.iter().map(|&column| weight(column)).sum();
        for column in flexible {
            // Narrow columns come first, and leave what they do not need to the others.
            widths[column] = wanted(column).min(rest * weight(column) / weights).max(2);
            rest = rest.saturating_sub(widths[column]);
            weights -= weight(column);
        }
        shown.into_iter().map(|column| (column, widths[column])).collect()
    }
}

/// Returns the width of tables, if it is known.
pub(super) fn width(out: Stream) -> Option<u16> {
    out.width.map(|width| width.max(MIN_WIDTH))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stream(width: u16) -> Stream {
        Stream { width: Some(width), ..Stream::NONE }
    }

    fn fields(width: u16) -> String {
        let columns = vec![
            Column::new("path", Fit::Path),
            Column::number("values"),
            Column::number("mean").rank(2),
            Column::number("empty").rank(1),
            Column::new("most frequent", Fit::Text),
        ];
        let mut grid = Grid::of(columns, stream(width));
        for (path, most) in [("$.log.entries[*].response.content.size", "GET"), ("$.b", "")] {
            let items = [("x".repeat(20), " × 12,345"), (most.to_owned(), " × 2")];
            let items = items.map(|(text, count)| CountedItem { text, short: None, count: count.to_owned() });
            let items = items.into();
            let text = |text: &str| Cell::Text(text.to_owned());
            grid.row([text(path), text("1,234,567"), text("3.5"), text(""), Cell::Items(items)]);
        }
        assert!(!grid.shows("empty"));
        assert_eq!(grid.shows("mean"), width >= 62);
        grid.text()
    }

    #[test]
    fn narrow_tables_omit_columns_and_shorten_texts() {
        let expected = "
 path                            values  most frequent
 $.log.entries….content.size  1,234,567  xxxxxxxxx… × 12,345
 $.b                          1,234,567  xxxxxxxxx… × 12,345
";
        assert_eq!(fields(60), expected.trim_start_matches('\n'));
        for width in 60..160 {
            let text = fields(width);
            assert!(text.lines().all(|line| line.width() <= usize::from(width)), "{width}\n{text}");
            assert!(text.lines().skip(1).all(|line| line.contains(" 1,234,567 ")), "{text}");
        }
        assert!(fields(120).contains("$.log.entries[*].response.content.size  1,234,567   3.5  xxx"));
        assert!(fields(120).contains("× 12,345, GET × 2"));
    }

    #[test]
    fn numbers_are_not_cut() {
        let (short, count) = (Some("5.05875e17".to_owned()), " × 3".to_owned());
        let id = CountedItem { text: "505874924095815681".to_owned(), short, count };
        let fitted = [22, 21, 14, 13].map(|width| id.fitted(width));
        assert_eq!(fitted, ["505874924095815681 × 3", "5.05875e17 × 3", "5.05875e17 × 3", "… × 3"]);
    }

    #[test]
    fn texts_wrap_on_request() {
        let mut grid = Grid::unnamed(&[false, false], stream(60));
        grid.row(["name".to_owned(), "some words ".repeat(8)]);
        let text = grid.text();
        assert!(text.lines().count() == 2 && text.lines().all(|line| line.width() <= 60), "{text}");
        assert!(text.lines().nth(1).unwrap().starts_with("       "), "{text}");
    }
}
