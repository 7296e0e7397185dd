//! Pages of tables: headings, facts, and rows of texts and numbers.

use crate::assets;
use crate::html::Html;

/// The maximum number of characters of a cell, and of rows in a table.
const MAX_CELL: usize = 500;
const MAX_ROWS: usize = 2_000;

/// A page of tables.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct Sections {
    /// The heading of the page.
    pub title: String,
    /// Names and values about the whole.
    pub facts: Vec<(String, String)>,
    /// Notes about the whole, such as missing parts.
    pub notes: Vec<String>,
    /// The tables.
    pub tables: Vec<Table>,
}

/// A table with a heading.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct Table {
    /// The heading.
    pub title: String,
    /// The names of the columns.
    pub columns: Vec<String>,
    /// The rows, with a cell for each column. The page shows the first 2,000, or fewer if it would
    /// be too large.
    pub rows: Vec<Vec<Cell>>,
    /// The text if there are no rows. If it is empty, too, the table is omitted.
    pub empty: String,
}

/// A cell of a table.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct Cell {
    /// The text.
    pub text: String,
    /// The number to sort by, for a cell of numbers.
    pub value: Option<f64>,
    /// The length of a bar before the text, from 0 to 1.
    pub bar: Option<f64>,
}

impl Cell {
    /// A cell of text.
    pub fn text(text: impl Into<String>) -> Self {
        Self { text: text.into(), ..Self::default() }
    }

    /// A cell of numbers, with its text.
    pub fn number(value: f64, text: impl Into<String>) -> Self {
        Self { text: text.into(), value: Some(value), bar: None }
    }

    /// The cell with a bar of this share of a whole.
    #[must_use]
    pub fn bar(mut self, part: f64, whole: f64) -> Self {
        self.bar = (whole > 0.0).then(|| (part / whole).clamp(0.0, 1.0));
        self
    }
}

impl Table {
    /// A table without rows.
    pub fn new(title: impl Into<String>, columns: &[&str]) -> Self {
        let columns = columns.iter().map(|&column| column.to_owned()).collect();
        Self { title: title.into(), columns, ..Self::default() }
    }
}

impl Sections {
    /// A page without tables.
    pub fn new(title: impl Into<String>) -> Self {
        Self { title: title.into(), ..Self::default() }
    }

    /// Formats the page, with at most `max_bytes` if possible. Longer tables have fewer rows if it
    /// would be larger. The smallest page has the first row of each table, and may be larger.
    ///
    /// Linear in the cells, as each attempt has three quarters of the rows of the last.
    pub fn page(&self, max_bytes: usize) -> String {
        let longest = self.tables.iter().map(|table| table.rows.len()).max().unwrap_or(0);
        let mut rows = MAX_ROWS;
        loop {
            let page = self.formatted(rows);
            if page.len() <= max_bytes || rows == 1 {
                return page;
            }
            rows = (longest.min(rows) * 3 / 4).max(1);
        }
    }

    /// Formats the page with at most `max_rows` rows of each table.
    fn formatted(&self, max_rows: usize) -> String {
        let mut html = Html::default();
        assets::head(&mut html, &self.title);
        html.raw("<header>\n<h1>").text(&self.title).raw("</h1>\n");
        let shortened = (max_rows < MAX_ROWS)
            .then(|| format!("longer tables end after row {max_rows}, because the page would be too large"));
        for note in self.notes.iter().chain(&shortened) {
            html.raw("<p class=\"fault\"><strong>Note:</strong> ").clipped(note, MAX_CELL).raw("</p>\n");
        }
        html.raw("<dl class=\"facts\">\n");
        for (name, value) in &self.facts {
            html.raw("<div><dt>").text(name).raw("</dt><dd>").text(value).raw("</dd></div>\n");
        }
        html.raw("</dl>\n</header>\n<main>\n");
        html.raw("<p class=\"search\" hidden><label for=\"search\">Search</label> <input id=\"search\" type=\"search\" autocomplete=\"off\"> <span id=\"found\" role=\"status\"></span></p>\n");
        for (number, table) in self.tables.iter().enumerate() {
            table.format(number as u64, max_rows, &mut html);
        }
        html.raw("</main>\n");
        assets::scripts(&mut html);
        assets::end(&mut html);
        html.finish()
    }
}

impl Table {
    fn format(&self, number: u64, max_rows: usize, html: &mut Html) {
        if self.rows.is_empty() && self.empty.is_empty() {
            return;
        }
        html.raw("<section aria-labelledby=\"t").number(number).raw("\">\n<h2 id=\"t").number(number);
        html.raw("\">").text(&self.title).raw("</h2>\n");
        if self.rows.is_empty() {
            html.raw("<p class=\"note\">").text(&self.empty).raw("</p>\n</section>\n");
            return;
        }
        html.raw("<div class=\"wide\" tabindex=\"0\" role=\"group\" aria-labelledby=\"t").number(number);
        html.raw("\"><table class=\"sortable\"><thead><tr>");
        let is_number = |column: usize| {
            self.rows.iter().any(|row| row.get(column).is_some_and(|cell| cell.value.is_some()))
        };
        let are_numbers: Vec<bool> = (0..self.columns.len()).map(is_number).collect();
        for (column, is_number) in self.columns.iter().zip(&are_numbers) {
            html.raw(if *is_number { "<th scope=\"col\" class=\"number\">" } else { "<th scope=\"col\">" });
            html.text(column).raw("</th>");
        }
        html.raw("</tr></thead><tbody>\n");
        for row in self.rows.iter().take(max_rows) {
            debug_assert_eq!(
                row.len(),
                self.columns.len(),
                "{}: a row has another number of cells",
                self.title
            );
            html.raw("<tr>");
            for (column, cell) in row.iter().enumerate() {
                cell.format(are_numbers.get(column) == Some(&true), html);
            }
            html.raw("</tr>\n");
        }
        html.raw("</tbody></table></div>\n");
        if let Some(more) = self.rows.len().checked_sub(max_rows).filter(|more| *more > 0) {
            html.raw("<p class=\"note\">").number(more as u64).raw(" more rows are not shown.</p>\n");
        }
        html.raw("</section>\n");
    }
}

impl Cell {
    fn format(&self, is_number: bool, html: &mut Html) {
        if is_number {
            html.raw("<td class=\"number\" data-value=\"");
            if let Some(value) = self.value {
                html.text(&value.to_string());
            }
            html.raw("\">");
        } else {
            html.raw("<td>");
        }
        if let Some(bar) = self.bar {
            html.raw("<svg class=\"bar\" viewBox=\"0 0 60 8\" aria-hidden=\"true\"><rect width=\"");
            html.text(&format!("{:.1}", bar * 60.0)).raw("\" height=\"8\"/></svg>");
            html.raw("<span class=\"percent\">").clipped(&self.text, MAX_CELL).raw("</span></td>");
        } else {
            html.clipped(&self.text, MAX_CELL).raw("</td>");
        }
    }
}
