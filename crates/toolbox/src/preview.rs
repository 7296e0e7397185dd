//! A stored output at a glance: its outermost members or elements, long ones by their size.

use std::fmt::Write;

use trommel::reader::{Config, Cursor, Kind, Payload, Result, Scalar, Validation};
use trommel_base::text::{first, is_unsafe, push_escape, shown};
use trommel_store::{Kind as Stream, Store, Stored};
use trommel_tool::PREVIEW_CHARS;

use crate::outputs::source::Source;
use crate::text::{chars, push_name, string};

/// An output at a glance.
#[derive(Debug, Default)]
pub(crate) struct Outline {
    /// At most [`PREVIEW_CHARS`] characters.
    pub(crate) text: String,
    /// A path to an array, if one was seen.
    pub(crate) array: Option<String>,
    /// A path to a value, if one was seen.
    pub(crate) value: Option<String>,
}

/// Bytes that are looked at: children behind them are not counted.
const LOOK: u64 = 16 << 20;

/// Characters of a value that is shown.
const VALUE: usize = 80;

/// Characters of a name that is shown.
const NAME: usize = 60;

/// Characters of an element in which its members are shown.
const LINE: usize = 240;

/// Characters kept for the last line.
const LAST: usize = 40;

/// Looks at an output.
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
    let mut sketch = Sketch { text: String::new(), array: None, value: None };
    // What cannot be read is not shown; whoever asks for it is told.
    let _ = Source::open(store, stored.clone()).map(|source| sketch.draw(&source, stored));
    if !known {
        outline.text = sketch.text;
    }
    Outline { array: sketch.array, value: sketch.value, ..outline }
}

/// A text of several lines, with escapes for what would do something to a terminal.
fn visible(text: &str) -> String {
    let mut out = String::new();
    for c in text.chars() {
        if is_unsafe(c) && !matches!(c, '\n' | '\t') { push_escape(c, &mut out) } else { out.push(c) }
    }
    let kept = PREVIEW_CHARS - LAST;
    if chars(&out) > kept { format!("{}…", first(&out, kept)) } else { out }
}

struct Sketch {
    text: String,
    array: Option<String>,
    value: Option<String>,
}

impl Sketch {
    fn draw(&mut self, source: &Source<'_>, stored: &Stored) -> Result<()> {
        let config = Config::new().validation(Validation::Structural);
        let mut cursor = source.cursor(&config, Box::new(|_| Ok(())))?;
        if !cursor.next_record()? {
            return Ok(());
        }
        if source.is_stream() {
            self.array = Some("$".into());
            let records = stored.records.unwrap_or_default();
            let _ = writeln!(self.text, "[{records} records], the first:");
        }
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

    /// Adds a line, if there is room.
    fn line(&mut self, line: &str) -> bool {
        let fits = chars(&self.text) + chars(line) + 1 + LAST <= PREVIEW_CHARS;
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
            // Whoever makes a call of it should not have to copy much.
            if chars(&path) <= 2 * NAME {
                if kind == Some(Kind::Array) {
                    self.array.get_or_insert_with(|| path.clone());
                }
                self.value.get_or_insert(path);
            }
            let (value, ended) = value(cursor)?;
            if !self.line(&format!("  {}: {value}", string(&shown(&name, NAME)))) {
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
            if count == ELEMENTS || !ended {
                break;
            }
        }
        self.rest(total, count, "elements");
        self.text.push(']');
        Ok(())
    }

    /// Says how many children were not shown.
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

/// Elements of an array that are shown.
const ELEMENTS: u64 = 3;

/// A value in short: an array by its length, an object by the number of its members. Tells whether
/// it was gone through to its end; if not, no more is to be looked at.
fn value(cursor: &mut Cursor<'_>) -> Result<(String, bool)> {
    let kind = cursor.peek()?;
    cursor.begin_value()?;
    let object = match kind {
        Some(Kind::Object) => true,
        Some(Kind::Array) => false,
        _ => return Ok((scalar(cursor), cursor.offset() <= LOOK)),
    };
    let mut count = 0_u64;
    let mut ended = false;
    while !ended && cursor.offset() <= LOOK {
        let more = if object { cursor.next_member()? } else { cursor.next_element()? };
        count += u64::from(more);
        ended = !more;
    }
    let more = if ended { "" } else { "+" };
    let text = if object { format!("{{}} ({count}{more} keys)") } else { format!("[{count}{more} items]") };
    Ok((text, ended))
}

/// An object by its members, as many as there is room for. Tells whether it was gone through to its
/// end.
#[expect(clippy::expect_used, reason = "a cursor in a member has its name")]
fn names(cursor: &mut Cursor<'_>) -> Result<(String, bool)> {
    let mut line = String::from("{");
    cursor.begin_value()?;
    let mut first = true;
    while cursor.next_member()? {
        let name = shown(&cursor.name().expect("a member was entered").decode(), NAME);
        line.push_str(if first { "" } else { ", " });
        first = false;
        if chars(&line) + chars(&name) > LINE {
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

/// The scalar that was just entered.
fn scalar(cursor: &Cursor<'_>) -> String {
    match cursor.payload() {
        Payload::Scalar(Scalar::String(text)) => {
            let raw = String::from_utf8_lossy(text.raw().get(..4 * VALUE).unwrap_or(text.raw()));
            format!("\"{}\"", shown(&raw, VALUE))
        }
        Payload::Scalar(Scalar::Number(number)) => shown(number.lexeme(), VALUE),
        Payload::Scalar(Scalar::Bool(value)) => value.to_string(),
        Payload::Scalar(Scalar::Null) => "null".into(),
        _ => String::new(),
    }
}
