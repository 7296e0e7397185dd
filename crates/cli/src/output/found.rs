//! Matches of a search, as one JSON document or as lines for a terminal.

use std::fmt::Write;
use std::io;

use owo_colors::{OwoColorize, Style};
use trommel_search::{MatchSite, PatternMatch};
use trommel_toolbox::outputs::MatchRow;

use super::{Out, Stream, escape, for_reader, tables};

/// The form of an answer.
#[derive(Clone, Copy, Debug)]
pub(crate) struct MatchForm {
    /// True for one JSON document.
    pub(crate) as_json: bool,
    /// True if there are several inputs, whose names are shown.
    pub(crate) has_files: bool,
    /// True if lines around matches are shown.
    pub(crate) has_context: bool,
}

/// Writes matches as they are found.
pub(crate) struct MatchWriter {
    out: Out,
    form: MatchForm,
    stream: Stream,
    /// The name of the current input.
    file: String,
    /// True if the name of the current input was printed as a heading.
    has_heading: bool,
    /// The number of the last line shown of the current input.
    last_line: Option<u64>,
    total: u64,
    is_limited: bool,
}

impl MatchWriter {
    pub(crate) fn new(out: Out, form: MatchForm, stream: Stream) -> Self {
        Self {
            out,
            form,
            stream,
            file: String::new(),
            has_heading: false,
            last_line: None,
            total: 0,
            is_limited: false,
        }
    }

    /// The number of matches so far.
    pub(crate) fn total(&self) -> u64 {
        self.total
    }

    /// The next matches are in another input.
    pub(crate) fn begin_input(&mut self, file: &str) {
        file.clone_into(&mut self.file);
        (self.has_heading, self.last_line) = (false, None);
    }

    /// Notes that the limit was reached and more matches follow.
    pub(crate) fn stop_at_limit(&mut self) {
        self.is_limited = true;
    }

    /// Writes a match.
    pub(crate) fn write(&mut self, found: PatternMatch) -> io::Result<()> {
        let text = if self.form.as_json { self.json(found)? } else { self.lines(&found) };
        self.total += 1;
        self.out.write(text.as_bytes())
    }

    /// Prints the matches so far. The answer is not ended.
    pub(crate) fn flush(&self) -> io::Result<()> {
        self.out.finish()
    }

    /// Ends the answer.
    pub(crate) fn finish(&mut self) -> io::Result<()> {
        if self.form.as_json {
            let start = if self.total == 0 { "{\"matches\":[" } else { "" };
            let total = self.total;
            let limited = if self.is_limited {
                format!(",\"truncated\":{{\"reason\":\"limit\",\"returned\":{total}}}")
            } else {
                String::new()
            };
            self.out.write(format!("{start}],\"total\":{total}{limited}}}\n").as_bytes())?;
        }
        self.out.finish()
    }

    /// True if the answer ended at the limit.
    pub(crate) fn is_limited(&self) -> bool {
        self.is_limited
    }

    fn json(&self, found: PatternMatch) -> io::Result<String> {
        let mut row = MatchRow::from(found);
        row.file = self.form.has_files.then(|| self.file.clone());
        let row = serde_json::to_string(&row).map_err(io::Error::other)?;
        let start = if self.total == 0 { "{\"matches\":[" } else { "," };
        Ok(format!("{start}{}", for_reader(row, self.stream.is_terminal)))
    }

    /// Formats a match for a terminal.
    fn lines(&mut self, found: &PatternMatch) -> String {
        let mut text = String::new();
        if self.form.has_files && !self.has_heading {
            if self.total > 0 {
                text.push('\n');
            }
            text.push_str(&tables::heading(&escape::short(&self.file, 200), self.stream));
            self.has_heading = true;
        }
        let site = match &found.site {
            MatchSite::Line { line, before, after } => {
                self.line(*line, [before, after], found, &mut text);
                return text;
            }
            MatchSite::Value { path, record: None } => escape::short(path, 200),
            MatchSite::Value { path, record: Some(record) } => {
                format!("{record} {}", escape::short(path, 200))
            }
            MatchSite::MalformedRecord { record } => format!("{record} (not JSON)"),
        };
        let shown = self.highlighted(found, |text| escape::text(text).into_owned());
        let _ = writeln!(text, "{}: {shown}", self.colored(&site, Style::new().magenta()));
        text
    }

    /// Formats a line with those around it. Lines that do not follow the last one come after `--`.
    fn line(&mut self, line: u64, [before, after]: [&[String]; 2], found: &PatternMatch, text: &mut String) {
        let first = line - before.len() as u64;
        if let Some(last) = self.last_line
            && first > last + 1
            && self.form.has_context
        {
            text.push_str("--\n");
        }
        let green = Style::new().green();
        for (neighbor, number) in before.iter().zip(first..) {
            let _ =
                writeln!(text, "{}- {}", self.colored(&number.to_string(), green), escape::lines(neighbor));
        }
        let shown = self.highlighted(found, escape::lines);
        let _ = writeln!(text, "{}: {shown}", self.colored(&line.to_string(), green));
        for (neighbor, number) in after.iter().zip(line + 1..) {
            let _ =
                writeln!(text, "{}- {}", self.colored(&number.to_string(), green), escape::lines(neighbor));
        }
        self.last_line = Some(line + after.len() as u64);
    }

    fn colored(&self, text: &str, style: Style) -> String {
        if self.stream.is_colored { text.style(style).to_string() } else { text.to_owned() }
    }

    /// Returns the text of a match, with the occurrences in color.
    fn highlighted(&self, found: &PatternMatch, escape: impl Fn(&str) -> String) -> String {
        let (mut shown, mut at) = (String::new(), 0);
        for range in &found.highlights {
            let occurrence = escape(&found.text[range.clone()]);
            shown.push_str(&escape(&found.text[at..range.start]));
            shown.push_str(&self.colored(&occurrence, Style::new().red().bold()));
            at = range.end;
        }
        shown.push_str(&escape(&found.text[at..]));
        shown
    }
}
