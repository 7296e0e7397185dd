//! The preview of a stored output: its outermost members or elements, with containers shown by
//! their size.

use std::fmt::Write;

use trommel::reader::{Config, Cursor, Kind, Payload, Result, Scalar, Validation};
use trommel_base::text::{excerpt, first, is_unsafe, push_escape};
use trommel_store::{Kind as Stream, Store, Stored};
use trommel_tool::PREVIEW_CHARS;

use crate::outputs::damage::RecordSkipper;
use crate::outputs::source::Source;
use crate::text::{chars, push_name, string};

/// The preview of an output.
#[derive(Debug, Default)]
pub(crate) struct Outline {
    /// The text, of at most [`PREVIEW_CHARS`] characters.
    pub(crate) text: String,
    /// The path of the first array found.
    pub(crate) array: Option<String>,
    /// The path of the first value found.
    pub(crate) value: Option<String>,
}

/// The number of bytes to read. Children after them are not counted.
const MAX_BYTES_READ: u64 = 16 << 20;

/// The maximum length of a value in characters.
const MAX_VALUE_CHARS: usize = 80;

/// The maximum length of a member name in characters.
const MAX_NAME_CHARS: usize = 60;

/// The maximum length of an element in characters.
const MAX_LINE_CHARS: usize = 240;

/// The characters reserved for the last line.
const MAX_LAST_LINE_CHARS: usize = 40;

/// Creates the preview of an output.
pub(crate) fn outline(store: &Store, stored: &Stored) -> Outline {
    let mut outline = Outline::default();
    let known = chars(&stored.preview) as u64 == stored.characters;
    if stored.kind == Stream::Text || known {
        outline.text = visible(&stored.preview);
    }
    if stored.kind == Stream::Text {
        let more = stored.characters.saturating_sub(chars(&stored.preview) as u64);
        if more > 0 {
            let _ = write!(outline.text, "… {more} more characters");
        }
        return outline;
    }
    let mut writer = PreviewWriter { text: String::new(), array: None, value: None };
    // A payload that cannot be read leaves the preview incomplete. The tools report the error when
    // they read it.
    let _ = Source::open(store, stored.clone()).map(|source| writer.draw(&source, stored));
    if !known {
        outline.text = writer.text;
    }
    Outline { array: writer.array, value: writer.value, ..outline }
}

/// Escapes the unsafe characters of a text, except line breaks and tabs.
fn visible(text: &str) -> String {
    let mut out = String::new();
    for c in text.chars() {
        if is_unsafe(c) && !matches!(c, '\n' | '\t') { push_escape(c, &mut out) } else { out.push(c) }
    }
    let kept = PREVIEW_CHARS - MAX_LAST_LINE_CHARS;
    if chars(&out) > kept { format!("{}…", first(&out, kept)) } else { out }
}

struct PreviewWriter {
    text: String,
    array: Option<String>,
    value: Option<String>,
}

impl PreviewWriter {
    fn draw(&mut self, source: &Source<'_>, stored: &Stored) -> Result<()> {
        let config = Config::new().validation(Validation::Structural);
        let mut cursor = source.cursor(&config, Box::new(|_| Ok(())))?;
        if !RecordSkipper::new(stored).next_record(&mut cursor)? {
            return Ok(());
        }
        if source.is_stream() {
            self.array = Some("$".into());
            let records = stored.records.unwrap_or_default();
            let damaged = match stored.damaged_records {
                0 => String::new(),
                damaged => format!(", {damaged} damaged"),
            };
            let _ = writeln!(self.text, "[{records} records{damaged}], the first:");
        }
        // The summary of a stream has no totals of its first record.
        let record = source.is_stream();
        let kind = cursor.peek()?;
        cursor.begin_value()?;
        match kind {
            Some(Kind::Object) => self.members(&mut cursor, if record { None } else { stored.summary.keys }),
            Some(Kind::Array) => {
                self.array = Some("$".into());
                self.elements(&mut cursor, if record { None } else { stored.summary.items })
            }
            _ => {
                self.text.push_str(&scalar(&cursor));
                Ok(())
            }
        }
    }

    /// Appends a line if it fits. Returns true if it did.
    fn line(&mut self, line: &str) -> bool {
        let fits = chars(&self.text) + chars(line) + 1 + MAX_LAST_LINE_CHARS <= PREVIEW_CHARS;
        if fits {
            self.text.push_str(line);
            self.text.push('\n');
        }
        fits
    }

    #[expect(clippy::expect_used, reason = "a cursor in a member has its name")]
    fn members(&mut self, cursor: &mut Cursor<'_>, total: Option<u64>) -> Result<()> {
        self.text.push_str("{\n");
        let mut count = 0;
        while cursor.next_member()? {
            let name = cursor.name().expect("a member was entered").decode().into_owned();
            let mut path = String::from("$");
            push_name(&name, &mut path);
            let kind = cursor.peek()?;
            // A model copies the path into its next call, so long ones are not suggested.
            if chars(&path) <= 2 * MAX_NAME_CHARS {
                if kind == Some(Kind::Array) {
                    self.array.get_or_insert_with(|| path.clone());
                }
                self.value.get_or_insert(path);
            }
            let (value, ended) = value(cursor)?;
            if !self.line(&format!("  {}: {value}", string(&excerpt(&name, MAX_NAME_CHARS)))) {
                break;
            }
            count += 1;
            if !ended {
                break;
            }
        }
        self.rest(total, count, "members");
        self.text.push('}');
        Ok(())
    }

    fn elements(&mut self, cursor: &mut Cursor<'_>, total: Option<u64>) -> Result<()> {
        self.text.push_str("[\n");
        let mut count = 0;
        while cursor.next_element()? {
            if count == 0 {
                self.value = Some("$[0]".into());
            }
            let (line, ended) = match cursor.peek()? {
                Some(Kind::Object) => names(cursor)?,
                _ => value(cursor)?,
            };
            if !self.line(&format!("  {line}")) {
                break;
            }
            count += 1;
            if count == MAX_ELEMENTS || !ended {
                break;
            }
        }
        self.rest(total, count, "elements");
        self.text.push(']');
        Ok(())
    }

    /// Appends the number of children that are not shown.
    fn rest(&mut self, total: Option<u64>, shown: u64, what: &str) {
        match total.map(|total| total.saturating_sub(shown)) {
            Some(0) => {}
            Some(more) => {
                let _ = writeln!(self.text, "  … {more} more {what}");
            }
            None => self.text.push_str("  …\n"),
        }
    }
}

/// The maximum number of elements shown.
const MAX_ELEMENTS: u64 = 3;

/// Returns a short text for the next value, such as `[12 items]`. The flag is true if the value was
/// read to its end; otherwise, the preview must stop there.
fn value(cursor: &mut Cursor<'_>) -> Result<(String, bool)> {
    let kind = cursor.peek()?;
    cursor.begin_value()?;
    let object = match kind {
        Some(Kind::Object) => true,
        Some(Kind::Array) => false,
        _ => return Ok((scalar(cursor), cursor.offset() <= MAX_BYTES_READ)),
    };
    let mut count = 0_u64;
    let mut ended = false;
    while !ended && cursor.offset() <= MAX_BYTES_READ {
        let more = if object { cursor.next_member()? } else { cursor.next_element()? };
        count += u64::from(more);
        ended = !more;
    }
    let more = if ended { "" } else { "+" };
    let text = if object { format!("{{}} ({count}{more} keys)") } else { format!("[{count}{more} items]") };
    Ok((text, ended))
}

/// Returns an element that is an object, with as many members as fit. The flag is true if the
/// object was read to its end.
#[expect(clippy::expect_used, reason = "a cursor in a member has its name")]
fn names(cursor: &mut Cursor<'_>) -> Result<(String, bool)> {
    let mut line = String::from("{");
    cursor.begin_value()?;
    let mut first = true;
    while cursor.next_member()? {
        let name = excerpt(&cursor.name().expect("a member was entered").decode(), MAX_NAME_CHARS);
        line.push_str(if first { "" } else { ", " });
        first = false;
        if chars(&line) + chars(&name) > MAX_LINE_CHARS {
            return Ok((format!("{line}…}}"), false));
        }
        let (value, ended) = value(cursor)?;
        let _ = write!(line, "{name}: {value}");
        if !ended {
            return Ok((format!("{line}, …}}"), false));
        }
    }
    line.push('}');
    Ok((line, true))
}

/// Returns the text of the scalar that the cursor has just entered.
fn scalar(cursor: &Cursor<'_>) -> String {
    match cursor.payload() {
        Payload::Scalar(Scalar::String(text)) => {
            let raw = String::from_utf8_lossy(text.raw().get(..4 * MAX_VALUE_CHARS).unwrap_or(text.raw()));
            format!("\"{}\"", excerpt(&raw, MAX_VALUE_CHARS))
        }
        Payload::Scalar(Scalar::Number(number)) => excerpt(number.lexeme(), MAX_VALUE_CHARS),
        Payload::Scalar(Scalar::Bool(value)) => value.to_string(),
        Payload::Scalar(Scalar::Null) => "null".into(),
        _ => String::new(),
    }
}
