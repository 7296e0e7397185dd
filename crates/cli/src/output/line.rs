//! The lines that a form prints for a value.

use std::io;

use trommel::reader::{Cursor, Framing, Span, Validation};

use super::size::grouped;
use super::values::Checked;
use super::{FoundValue, JsonStyle, Out, Target, Values, WriteError, escape, gron, json_string, push_string};

/// The content of the lines of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum LineForm {
    /// The value without insignificant white space.
    Values,
    /// The value, verbatim.
    Verbatim,
    /// The normalized path.
    Paths,
    /// An object with path, value, and byte offsets.
    Located,
    /// The names of the members of an object, one per line.
    Keys,
    /// Assignments that gron reads.
    Gron,
}

impl LineForm {
    /// True if the lines need the location of the value.
    pub(crate) fn needs_location(self) -> bool {
        matches!(self, Self::Paths | Self::Located | Self::Gron)
    }

    /// True if the lines show the number of the record in a stream.
    pub(crate) fn shows_record(self) -> bool {
        matches!(self, Self::Located | Self::Gron)
    }

    /// True if the lines are JSON values, which a [layout](super::JsonStyle) applies to.
    pub(crate) fn is_json(self) -> bool {
        matches!(self, Self::Values | Self::Verbatim | Self::Located | Self::Keys)
    }
}

/// The lines that name their input.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FileNames {
    /// None, or objects if there are several inputs.
    Objects { several: bool },
    /// Each line begins with the name.
    Prefix,
}

/// The form of lines, and its details.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LineOptions<'a> {
    pub(crate) form: LineForm,
    pub(crate) files: FileNames,
    /// The texts of the queries, which lines name if there are several.
    pub(crate) queries: &'a [String],
    /// The style of JSON lines. Other lines follow its terminator and colors.
    pub(crate) style: JsonStyle,
}

/// Writes the lines of values.
#[derive(Debug)]
pub(crate) struct LineWriter {
    form: LineForm,
    values: Values,
    /// The queries as JSON strings, if lines name them.
    queries: Vec<String>,
    style: JsonStyle,
    files: FileNames,
    /// The start of each line: the name of the current input and a tab, or nothing.
    prefix: Vec<u8>,
    /// The name of the current input as a member, if objects name it.
    file: Vec<u8>,
    /// Matches that have no names, because they are not objects.
    nameless: u64,
}

impl LineWriter {
    pub(crate) fn new(options: &LineOptions<'_>, values: Values) -> Self {
        let queries = if options.queries.len() > 1 { options.queries } else { &[] };
        Self {
            form: options.form,
            values: values.verbatim(options.form == LineForm::Verbatim),
            queries: queries.iter().map(|query| json_string(query)).collect(),
            style: JsonStyle { prefixed: options.files == FileNames::Prefix, ..options.style },
            files: options.files,
            prefix: Vec::new(),
            file: Vec::new(),
            nameless: 0,
        }
    }

    pub(crate) fn form(&self) -> LineForm {
        self.form
    }

    pub(crate) fn style(&self) -> JsonStyle {
        self.style
    }

    /// Sets the input of the next values.
    pub(crate) fn begin_input(&mut self, name: &str) {
        match self.files {
            FileNames::Prefix => {
                let name = if self.values.is_escaped() { escape::text(name) } else { name.into() };
                self.prefix = format!("{name}\t").into_bytes();
            }
            FileNames::Objects { several } if several && self.form == LineForm::Located => {
                self.file = b",\"file\":".to_vec();
                push_path(name, self.values.is_escaped(), &mut self.file);
            }
            FileNames::Objects { .. } => {}
        }
    }

    /// Writes the line before the first value of an input that is a stream, if the form has one.
    pub(crate) fn begin_stream(&self, out: &Out) -> io::Result<()> {
        if self.form == LineForm::Gron { out.write(&[&self.prefix, gron::STREAM].concat()) } else { Ok(()) }
    }

    /// Returns the completion of lines that were written while it was undecided if they show the
    /// record. Only a single input is ever undecided.
    pub(super) fn completion(&self, stream: bool) -> LineCompletion {
        let record = stream.then_some(0);
        let (start, end) = match self.form {
            LineForm::Gron => (self.root(record), Vec::new()),
            _ => (Vec::new(), self.end(record)),
        };
        LineCompletion { start, end, is_at_start: true }
    }

    /// The start of an assignment.
    fn root(&self, record: Option<u64>) -> Vec<u8> {
        [&self.prefix, gron::root(record).as_bytes()].concat()
    }

    /// The end of an object.
    fn end(&self, record: Option<u64>) -> Vec<u8> {
        let record = record.map_or_else(String::new, |record| format!(",\"record\":{record}"));
        [record.as_bytes(), &self.file, b"}"].concat()
    }

    /// True if the value itself is its line, without a check: most lines take this path.
    #[inline]
    pub(super) fn is_line(&self, value: &[u8]) -> bool {
        matches!(self.form, LineForm::Values | LineForm::Verbatim)
            && self.values.are_verbatim(value)
            && !self.refuses_nul()
    }

    /// Writes a value that itself is its line.
    #[inline]
    pub(super) fn write_line(&self, value: &[u8], to: &mut impl Target) -> io::Result<()> {
        let bytes = to.bytes();
        bytes.reserve(self.prefix.len() + value.len() + 1);
        if !self.prefix.is_empty() {
            bytes.extend_from_slice(&self.prefix);
        }
        bytes.extend_from_slice(value);
        bytes.push(b'\n');
        to.flush_if_full()
    }

    /// True if strings must not contain NUL.
    fn refuses_nul(&self) -> bool {
        self.style.nul && self.style.raw_strings
    }

    /// Validates a value, unless that happens while its lines are written.
    pub(crate) fn check<'v>(&self, found: &FoundValue<'v>) -> Result<Option<Checked<'v>>, WriteError> {
        if matches!(self.form, LineForm::Paths | LineForm::Gron) {
            return Ok(None);
        }
        let value = found.view.bytes();
        if self.refuses_nul() && value.first() == Some(&b'"') && contains_nul(value) {
            return Err(WriteError::Nul(found.view.base()));
        }
        Ok(Some(self.values.check(found.view)?))
    }

    /// Writes the lines of a checked value. `stream` is true if they show the record. If that is
    /// undecided, they lack the part that [`LineCompletion`] adds.
    pub(crate) fn write(
        &mut self,
        found: &FoundValue<'_>,
        checked: Option<&Checked<'_>>,
        stream: Option<bool>,
        to: &mut dyn Target,
    ) -> Result<(), WriteError> {
        match (self.form, checked) {
            (LineForm::Keys, _) => return self.write_names(found, to),
            (LineForm::Gron, _) => {
                let root = stream.map_or_else(Vec::new, |stream| self.root(stream.then_some(found.record)));
                return gron::write(found, root, &mut self.values, self.style.colored, to);
            }
            (LineForm::Located, Some(checked)) => {
                to.bytes().extend_from_slice(&self.prefix);
                to.bytes().extend_from_slice(b"{\"path\":");
                push_path(found.located(), self.values.is_escaped(), to.bytes());
                to.bytes().extend_from_slice(b",\"value\":");
                self.values.put(checked, to)?;
                push_offsets(found.span(), self.queries.get(found.query), to.bytes());
                if let Some(stream) = stream {
                    to.bytes().extend_from_slice(&self.end(stream.then_some(found.record)));
                }
            }
            (_, Some(checked)) => {
                to.bytes().extend_from_slice(&self.prefix);
                self.values.put(checked, to)?;
            }
            (_, None) => {
                to.bytes().extend_from_slice(&self.prefix);
                let path = found.located();
                let path = if self.values.is_escaped() { escape::text(path) } else { path.into() };
                to.bytes().extend_from_slice(path.as_bytes());
            }
        }
        // A layout replaces the newline of JSON lines.
        let end = if self.style.nul && !self.form.is_json() { 0 } else { b'\n' };
        to.bytes().push(end);
        Ok(to.flush_if_full()?)
    }

    /// Writes the names of an object's members as JSON strings. The value was validated.
    fn write_names(&mut self, found: &FoundValue<'_>, to: &mut dyn Target) -> Result<(), WriteError> {
        if found.view.bytes().first() != Some(&b'{') {
            self.nameless += 1;
            return Ok(());
        }
        let config = self.values.config().validation(Validation::Structural);
        let mut cursor = Cursor::from_view(found.view, Framing::Single, &config);
        cursor.begin_value()?;
        while cursor.next_member()? {
            #[expect(clippy::expect_used, reason = "a token of a view is a part of it")]
            let name = found.view.narrow(cursor.span()).expect("the name is in the object");
            if self.refuses_nul() && contains_nul(name.bytes()) {
                return Err(WriteError::Nul(name.base()));
            }
            to.bytes().extend_from_slice(&self.prefix);
            self.values.put_whole(name.bytes(), to)?;
            to.bytes().push(b'\n');
            to.flush_if_full()?;
        }
        Ok(())
    }

    /// Returns a note about matches that were not printed, if there were any.
    pub(crate) fn note(&self) -> Option<String> {
        match self.nameless {
            0 => None,
            1 => Some("1 match is not an object, so it has no names".into()),
            many => Some(format!("{} matches are not objects, so they have no names", grouped(many))),
        }
    }
}

/// True if a JSON string contains NUL, which can only be escaped.
fn contains_nul(string: &[u8]) -> bool {
    let mut from = 0;
    while let Some(found) = string.get(from..).and_then(|rest| memchr::memchr(b'\\', rest)) {
        if string[from + found..].starts_with(b"\\u0000") {
            return true;
        }
        // The next character is escaped, and may be a backslash.
        from += found + 2;
    }
    false
}

/// Appends a normalized path or the name of a file as a JSON string.
fn push_path(path: &str, escaped: bool, out: &mut Vec<u8>) {
    let start = out.len();
    push_string(path, out);
    if escaped {
        let plain = out.split_off(start);
        escape::json(&plain, out);
    }
}

/// Appends the offsets of a match and its query.
fn push_offsets(span: Span, query: Option<&String>, out: &mut Vec<u8>) {
    out.extend_from_slice(format!(",\"start\":{},\"end\":{}", span.start, span.end).as_bytes());
    if let Some(query) = query {
        out.extend_from_slice(b",\"query\":");
        out.extend_from_slice(query.as_bytes());
    }
}

/// Completes lines of the first record that were written before it was known if a second one
/// follows.
#[derive(Debug)]
pub(super) struct LineCompletion {
    start: Vec<u8>,
    end: Vec<u8>,
    /// True at the start of a line. A piece may end within one.
    is_at_start: bool,
}

impl LineCompletion {
    /// Completes the lines of the next piece.
    pub(super) fn complete(&mut self, piece: &[u8]) -> Vec<u8> {
        let mut whole = Vec::with_capacity(piece.len() + 64);
        for line in piece.split_inclusive(|&byte| byte == b'\n') {
            if self.is_at_start {
                whole.extend_from_slice(&self.start);
            }
            let content = line.strip_suffix(b"\n");
            whole.extend_from_slice(content.unwrap_or(line));
            self.is_at_start = content.is_some();
            if self.is_at_start {
                whole.extend_from_slice(&self.end);
                whole.push(b'\n');
            }
        }
        whole
    }
}

#[cfg(test)]
mod tests {
    use trommel::reader::Config;

    use super::*;

    #[test]
    fn only_an_escape_of_nul_is_nul() {
        assert!(contains_nul(br#""a\u0000b""#) && contains_nul(br#""\\\u0000""#));
        assert!(!contains_nul(br#""a\\u0000b""#) && !contains_nul(br#""\u0001""#) && !contains_nul(b"\"\\"));
    }

    #[test]
    fn lines_are_completed_across_pieces() {
        let complete = |form, pieces: &[&str]| {
            let files = FileNames::Objects { several: false };
            let options = LineOptions { form, files, queries: &[], style: JsonStyle::default() };
            let writer = LineWriter::new(&options, Values::new(Config::new(), true, false));
            let mut completion = writer.completion(true);
            let whole = pieces.iter().flat_map(|piece| completion.complete(piece.as_bytes()));
            String::from_utf8(whole.collect()).unwrap()
        };
        let gron = [".a = 1", ";\n.b =", " 2;\n"];
        assert_eq!(complete(LineForm::Gron, &gron), "json[0].a = 1;\njson[0].b = 2;\n");
        let located = ["{\"a\":1", "\n{\"a\":2\n"];
        assert_eq!(complete(LineForm::Located, &located), "{\"a\":1,\"record\":0}\n{\"a\":2,\"record\":0}\n");
    }
}
