//! The page of a report.

use serde::Serialize;
use trommel::{Coverage, StatsAnswer};
use trommel_answer::StatsText;
use trommel_answer::figures::{binary, share};
use trommel_base::text::{clip, grouped};
use trommel_tool::Redaction;

use crate::html::{Html, MAX_PATH};
use crate::rows::{self, PathRow};
use crate::{MAX_PATHS, assets, redact};

/// The maximum number of characters of a path in a table.
const MAX_TABLE_PATH: usize = 300;

/// Longer schemas, in bytes, are not indented.
const MAX_READABLE: usize = 64 << 10;

/// Everything that a page shows about an input.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Report {
    /// The heading of the page.
    pub title: String,
    /// The inputs, in the order in which they were read.
    pub inputs: Vec<ReportInput>,
    /// The statistics, with bytes and fields by path, and everything else that the page shows.
    pub stats: StatsAnswer,
    /// The parts of the input that were read.
    pub coverage: Coverage,
    /// The time at which the report was made, and how long that took.
    pub made: String,
    /// Faults in the input, each in one line, the most important first.
    pub faults: Vec<String>,
    /// The rows whose values were sampled. The values of all others are exact.
    pub sampled: Vec<SampledRows>,
    /// Sampled records.
    pub examples: Vec<Example>,
    /// The inputs as arguments of a shell command. Without, the page shows no commands.
    pub arguments: String,
}

/// An input of a report.
#[derive(Clone, Debug, PartialEq, Eq)]
#[expect(clippy::exhaustive_structs, reason = "a name with a size has nothing else")]
pub struct ReportInput {
    /// The name, as in the command.
    pub name: String,
    /// The bytes that were read, after decompression.
    pub bytes: u64,
}

/// Rows of which only a sample was read for the figures of values.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[expect(clippy::exhaustive_structs, reason = "the parameters of a random sample")]
pub struct SampledRows {
    /// The path of the rows.
    pub path: String,
    /// The number of rows in the sample.
    pub rows: u64,
    /// The number of all rows.
    pub total: u64,
    /// The seed of the sample.
    pub seed: u64,
}

/// A record that the page shows.
#[derive(Clone, Debug, PartialEq, Eq)]
#[expect(clippy::exhaustive_structs, reason = "a record with its position has nothing else")]
pub struct Example {
    /// The path of the rows that it is from.
    pub path: String,
    /// Its position and size, such as `number 17, 1.2 KiB`.
    pub position: String,
    /// Its [readable](crate::readable) text.
    pub text: String,
}

/// The facts that the script of a page needs in addition to the statistics.
#[derive(Serialize)]
struct PageData<'a> {
    title: &'a str,
    /// For each path, the distance to the row of the path that contains it.
    parents: Vec<Option<u32>>,
    paths: u64,
    sampled: &'a [SampledRows],
    coverage: &'a Coverage,
}

impl Report {
    /// A report about statistics, without facts about the input.
    pub fn new(title: impl Into<String>, stats: StatsAnswer, coverage: Coverage) -> Self {
        Self {
            title: title.into(),
            inputs: Vec::new(),
            stats,
            coverage,
            made: String::new(),
            faults: Vec::new(),
            sampled: Vec::new(),
            examples: Vec::new(),
            arguments: String::new(),
        }
    }

    /// Removes the secrets from values and names: strings and numbers under the names of secrets,
    /// and texts that have the form of one. The texts of examples are [made](crate::readable)
    /// without secrets.
    pub fn redact(&mut self, redaction: &Redaction) {
        if redact::statistics(&mut self.stats, redaction) {
            self.faults.push("the schema is left out, because a name in it may be a secret".to_owned());
        }
    }

    /// The sample that has the values of a path, if they are not exact.
    pub(crate) fn sample_of(&self, path: &str) -> Option<&SampledRows> {
        self.sampled.iter().find(|sample| path.starts_with(&sample.path))
    }

    /// Formats the page, with at most `max_bytes` if possible. If it would be larger, examples or a
    /// schema that take more than half of it are left out, then the smallest paths, then the
    /// examples, then the schema. The smallest page may be larger.
    ///
    /// # Errors
    /// If the statistics cannot be written as JSON, which is a defect of the engine.
    pub fn page(mut self, max_bytes: usize) -> serde_json::Result<String> {
        let (mut paths, total) = (MAX_PATHS, rows::count_paths(&self.stats));
        loop {
            rows::keep_largest(&mut self.stats, paths);
            // The paths alone may be too long, in deep documents. Such a page is not formatted.
            if rows::path_bytes(&self.stats) <= max_bytes {
                let page = self.formatted(total)?;
                if page.len() <= max_bytes {
                    return Ok(page);
                }
            }
            if self.leave_out(max_bytes / 2) {
                continue;
            }
            if paths > 1 {
                let drawn = self.stats.summary.bytes.as_ref().map_or(1, Vec::len);
                paths = (drawn.min(paths) * 3 / 4).max(1);
            } else if !self.leave_out(0) {
                return self.formatted(total);
            }
        }
    }

    /// Leaves out the examples, or else the schema, if they take more than `max` bytes. Returns
    /// false if neither does.
    fn leave_out(&mut self, max: usize) -> bool {
        let size = |section: fn(&Self, &mut Html)| {
            let mut html = Html::default();
            section(self, &mut html);
            html.finish().len()
        };
        let left_out = if size(Self::examples) > max {
            self.examples.clear();
            "the examples are"
        } else if size(Self::schema).saturating_mul(2) > max {
            // The statistics of the page have the schema, too.
            self.stats.summary.schema = None;
            "the schema is"
        } else {
            return false;
        };
        self.faults.push(format!("{left_out} left out, because the page would be too large"));
        true
    }

    fn formatted(&self, total_paths: u64) -> serde_json::Result<String> {
        let rows = rows::joined(&self.stats);
        let mut html = Html::default();
        assets::head(&mut html, &self.title);
        self.overview(total_paths, rows.len(), &mut html);
        html.raw("<main>\n");
        html.raw("<div class=\"beside\">\n");
        map(&mut html);
        assets::late_rows(&mut html);
        self.table(&rows, &mut html);
        html.raw("</div>\n");
        html.raw("<section id=\"details\" aria-labelledby=\"details-title\">\n");
        html.raw("<h2 id=\"details-title\">Each path</h2>\n");
        for (number, row) in rows.iter().enumerate() {
            self.details(number, row, &mut html);
        }
        html.raw("</section>\n");
        self.examples(&mut html);
        self.schema(&mut html);
        html.raw("</main>\n");
        self.data(total_paths, &rows, &mut html)?;
        assets::scripts(&mut html);
        assets::end(&mut html);
        Ok(html.finish())
    }

    fn overview(&self, total_paths: u64, drawn: usize, html: &mut Html) {
        html.raw("<header>\n<h1>").text(&self.title).raw("</h1>\n");
        for fault in &self.faults {
            html.raw("<p class=\"fault\"><strong>Note:</strong> ").clipped(fault, MAX_PATH).raw("</p>\n");
        }
        html.raw("<dl class=\"facts\">\n");
        for input in self.inputs.iter().take(20) {
            let size = format!("{} ({} bytes)", binary(input.bytes), grouped(input.bytes));
            html.fact("Input", &format!("{}: {size}", input.name));
        }
        if let Some(more) = self.inputs.len().checked_sub(20).filter(|more| *more > 0) {
            html.fact("Inputs", &format!("{} more", grouped(more as u64)));
        }
        if self.inputs.len() != 1 {
            html.fact("Size", &format!("{} ({} bytes)", binary(self.stats.bytes), grouped(self.stats.bytes)));
        }
        let structure = &self.stats.summary.structure;
        if let Some(records) = self.stats.records {
            html.fact("Records", &grouped(records));
        }
        html.fact("Values", &grouped(structure.total_values));
        html.fact("Depth", &format!("{} levels", grouped(structure.max_depth)));
        html.fact("Paths", &paths_text(total_paths, drawn));
        html.fact("Read", &self.read());
        for sample in &self.sampled {
            let rows = format!("{} of {} rows", grouped(sample.rows), grouped(sample.total));
            let path = clip(&sample.path, MAX_TABLE_PATH);
            html.fact("Values of", &format!("{path}: {rows}, drawn at random with seed {}", sample.seed));
        }
        if !self.made.is_empty() {
            html.fact("Made", &self.made);
        }
        html.raw("</dl>\n</header>\n");
    }

    /// The coverage in one line.
    fn read(&self) -> String {
        let Coverage { bytes_read, bytes_total, bad_records, complete, .. } = self.coverage;
        let whole = if complete { "all bytes, checked strictly".to_owned() } else { "a part".to_owned() };
        let part = match bytes_total {
            Some(total) if !complete => {
                format!("{} of {} ({})", binary(bytes_read), binary(total), share(bytes_read, total))
            }
            _ => whole,
        };
        match bad_records {
            0 => part,
            1 => format!("{part}; 1 malformed record was skipped"),
            bad => format!("{part}; {} malformed records were skipped", grouped(bad)),
        }
    }

    fn table(&self, rows: &[PathRow<'_>], html: &mut Html) {
        html.raw(
            "<section id=\"paths\" aria-labelledby=\"paths-title\">\n<h2 id=\"paths-title\">Paths</h2>\n",
        );
        html.raw("<p class=\"search\" hidden><label for=\"search\">Search</label> <input id=\"search\" type=\"search\" autocomplete=\"off\"> <span id=\"found\" role=\"status\"></span></p>\n");
        html.raw("<div class=\"wide\" tabindex=\"0\" role=\"group\" aria-labelledby=\"paths-title\"><table id=\"rows\"><thead><tr><th scope=\"col\">Path</th><th scope=\"col\">Type</th><th scope=\"col\" class=\"number\">Size</th><th scope=\"col\" class=\"number\">Share</th><th scope=\"col\" class=\"number\">Values</th><th scope=\"col\" class=\"number\">Present</th><th scope=\"col\" class=\"number\">Distinct</th></tr></thead><tbody>\n");
        for (number, row) in rows.iter().enumerate() {
            self.row(number, row, html);
        }
        html.raw("</tbody></table></div>\n</section>\n");
    }

    fn row(&self, number: usize, row: &PathRow<'_>, html: &mut Html) {
        let (bytes, whole) = (row.bytes, self.stats.bytes);
        let kind = rows::kind(bytes.types);
        html.raw("<tr data-label=\"").clipped(&rows::label(&bytes.path), MAX_TABLE_PATH);
        html.raw("\" class=\"").raw(kind).raw("\"><td><a href=\"#p").number(number as u64).raw("\"><code>");
        html.clipped(&bytes.path, MAX_TABLE_PATH).raw("</code></a></td><td><span class=\"type\">").raw(kind);
        html.raw("</span></td>");
        cell(html, Some(bytes.total()), &binary(bytes.total()));
        let part = bytes.total().min(whole) as f64 / whole.max(1) as f64 * 60.0;
        html.raw("<td class=\"number\" data-value=\"").number(bytes.total());
        html.raw("\">");
        // A shorter bar cannot be seen.
        if part >= 0.3 {
            html.raw("<svg class=\"bar\" viewBox=\"0 0 60 8\" aria-hidden=\"true\"><rect width=\"");
            html.text(&format!("{part:.1}")).raw("\" height=\"8\"/></svg>");
        }
        html.raw("<span class=\"percent\">").text(&share(bytes.total(), whole)).raw("</span></td>");
        cell(html, Some(bytes.count), &grouped(bytes.count));
        let present = row.present();
        let parts = present.map(|(present, of)| present.saturating_mul(1_000_000) / of.max(1));
        cell(html, parts, &present.map_or_else(String::new, |(present, of)| share(present, of)));
        let distinct = row.values.map(|values| values.distinct);
        let about = if distinct.is_some_and(|distinct| distinct.approximate) { "~" } else { "" };
        let count = distinct.map(|distinct| distinct.count);
        cell(html, count, &count.map_or_else(String::new, |count| format!("{about}{}", grouped(count))));
        html.raw("</tr>\n");
    }

    fn examples(&self, html: &mut Html) {
        if self.examples.is_empty() {
            return;
        }
        html.raw("<section id=\"examples\" aria-labelledby=\"examples-title\">\n");
        html.raw("<h2 id=\"examples-title\">Sampled records</h2>\n");
        for example in &self.examples {
            html.raw("<details><summary><code>").clipped(&example.path, MAX_TABLE_PATH);
            html.raw("</code> ").clipped(&example.position, MAX_TABLE_PATH);
            html.raw("</summary><pre tabindex=\"0\">").lines(&example.text).raw("</pre></details>\n");
        }
        html.raw("</section>\n");
    }

    fn schema(&self, html: &mut Html) {
        let Some(schema) = &self.stats.summary.schema else { return };
        html.raw("<section id=\"schema\" aria-labelledby=\"schema-title\">\n");
        html.raw("<h2 id=\"schema-title\">JSON Schema</h2>\n<details><summary>Show the schema</summary>");
        html.raw("<pre tabindex=\"0\">");
        let json = schema.as_json();
        match crate::readable(json.as_bytes(), None) {
            Ok(text) if json.len() <= MAX_READABLE => html.lines(&text),
            // Too long to indent, or deeper than the reader's limit: as it is.
            _ => html.text(json),
        };
        html.raw("</pre></details>\n</section>\n");
    }

    /// Appends the statistics as JSON, which are those of `stats`, and what the script needs.
    fn data(&self, paths: u64, rows: &[PathRow<'_>], html: &mut Html) -> serde_json::Result<()> {
        let parents = rows.iter().map(|row| row.bytes.parent).collect();
        let (title, sampled, coverage) = (&*self.title, &*self.sampled, &self.coverage);
        let page = PageData { title, parents, paths, sampled, coverage };
        html.raw("<script type=\"application/json\" id=\"stats\">");
        html.json(&serde_json::to_string(&StatsText::new(&self.stats)?)?);
        html.raw("</script>\n<script type=\"application/json\" id=\"page\">");
        html.json(&serde_json::to_string(&page)?).raw("</script>\n");
        Ok(())
    }
}

/// The section of the treemap, which the script fills.
fn map(html: &mut Html) {
    html.raw("<section id=\"map\" aria-labelledby=\"map-title\" hidden>\n");
    html.raw("<h2 id=\"map-title\">Bytes by path</h2>\n<nav id=\"crumbs\" aria-label=\"Position in the map\"></nav>\n");
    html.raw("<p id=\"hint\" class=\"note\">Click a tile, or press Enter, to look inside; Escape goes back. Arrow keys move.</p>\n");
    html.raw("<div id=\"tiles\"></div>\n<p id=\"selected\" role=\"status\"></p>\n<ul id=\"legend\" aria-label=\"Colors by type\"></ul>\n</section>\n");
}

fn cell(html: &mut Html, value: Option<u64>, text: &str) {
    html.raw("<td class=\"number\" data-value=\"");
    if let Some(value) = value {
        html.number(value);
    }
    html.raw("\">").text(text).raw("</td>");
}

fn paths_text(total: u64, drawn: usize) -> String {
    if total > drawn as u64 {
        let rest = grouped(total - drawn as u64);
        format!(
            "{}; the {} largest are shown, and {rest} count with those that contain them",
            grouped(total),
            grouped(drawn as u64)
        )
    } else {
        grouped(total)
    }
}
