//! Pages of arrays, objects and streams of records: their children, from any of them on.

use std::fmt::Write;
use std::io::Read;

use trommel::reader::{Config, Cursor, Error, Framing, Result, Span, Validation};
use trommel_tool::{Failure, Output};

use super::{Located, Place, Reading, What, Whole};
use crate::outputs::cursor::Binding;
use crate::outputs::item::{Item, kind_of};
use crate::outputs::mark::{Mark, shortened_name};
use crate::outputs::names::push_name;
use crate::outputs::page::{Cut, Next, Reason, Sheet};
use crate::outputs::source::Source;

type Answer = std::result::Result<Output, Failure>;

impl Reading<'_> {
    pub(super) fn container(&self, source: &Source<'_>, place: Place, read: &mut u64) -> Answer {
        let head = self.head(&place.value);
        let mut page = Children { head, units: Vec::new(), place, binding: self.binding, end: None };
        if let Err(error) = self.fill(source, &mut page, read) {
            let out_of_time = error.is_cancelled() && self.job.is_out_of_time();
            let is_partial = !page.units.is_empty() && (out_of_time || error.is_syntax());
            page.end = is_partial.then_some(if out_of_time { Reason::Time } else { Reason::Damage });
            if !is_partial {
                return Err(self.asked.doing.read(&error, None));
            }
        }
        self.asked.fit(&page)
    }

    /// A number or a word.
    pub(super) fn scalar(&self, source: &Source<'_>, place: &Place, read: &mut u64) -> Answer {
        let span = Span::new(place.value.start, place.value.end);
        let most = self.asked.max_chars;
        let rendering = source.values().and_then(|mut values| values.rendering(span, most));
        let rendering = rendering.map_err(|error| self.asked.doing.read(&error, None))?;
        *read += span.len();
        let first = rendering.text.as_bytes().first().copied();
        let item =
            Item::new(rendering, most, || Mark::new(self.query.shorthand(), kind_of(first), span.len()));
        self.asked.fit(&Whole { head: self.head(&place.value), item })
    }

    /// Reads children, as many as there may be room for.
    fn fill(&self, source: &Source<'_>, page: &mut Children<'_>, read: &mut u64) -> Result<()> {
        let Place { value, index, at } = page.place.clone();
        let most = self.asked.max_chars;
        let mut values = source.values()?;
        let framing = source.framing();
        let begin: &[u8] = begin_of(value.what, index > 0, framing);
        // The container's own bracket is read again, unless a stand-in takes its place.
        let from = if index > 0 { at } else { value.start };
        let rest = source.payload_from(from)?.take(value.end - from);
        let config = Config::new().validation(Validation::Structural);
        let framing = if value.what == What::Records { framing } else { Framing::Single };
        let mut cursor =
            Cursor::from_reader(begin.chain(rest), framing, &config).monitored(self.job.quiet_monitor());
        // Offsets of the cursor count what stands in.
        let absolute = |offset: u64| (offset + from).saturating_sub(begin.len() as u64);
        let moved = |error: Error| Error::plain(error.kind(), absolute(error.offset()));
        let mut walk = Walk { cursor: &mut cursor, what: value.what };
        walk.begin(index > 0).map_err(moved)?;
        let (mut sum, mut number) = (0, index);
        while sum <= most {
            let Some((name, span)) = walk.child().map_err(moved)? else { break };
            let span = Span::new(absolute(span.start), absolute(span.end));
            let rendering = values.rendering(span, most)?;
            let first = rendering.text.as_bytes().first().copied();
            let item = Item::new(rendering, most, || {
                Mark::new(self.child_path(name.as_deref(), number), kind_of(first), span.len())
            });
            // The name is a JSON string that the cursor has checked.
            let short = name.as_ref().and_then(|name| shortened_name(name, most));
            let is_cut = short.is_some();
            let name = short.or(name);
            sum += item.chars() + name.as_ref().map_or(0, String::len) / 4 + 1;
            self.job.watch().found();
            page.units.push(Child { name, is_cut, item, end: span.end });
            number += 1;
        }
        *read += walk.cursor.offset();
        Ok(())
    }

    /// The path of a child.
    fn child_path(&self, name: Option<&str>, index: u64) -> String {
        let mut path = self.query.shorthand();
        match name {
            // The name is a JSON string that the cursor has checked.
            Some(name) => push_name(&serde_json::from_str::<String>(name).unwrap_or_default(), &mut path),
            None => {
                let _ = write!(path, "[{index}]");
            }
        }
        path
    }
}

/// What stands in for the children that were read, so that the rest is a container of its own.
fn begin_of(what: What, goes_on: bool, framing: Framing) -> &'static [u8] {
    match (what, goes_on) {
        (_, false) => b"",
        (What::Object, true) => b"{\"\":0",
        (What::Records, true) if framing == Framing::JsonSeq => b"\x1E0",
        (What::Records, true) => b"0",
        (_, true) => b"[0",
    }
}

/// Goes from child to child.
struct Walk<'w, 'c> {
    cursor: &'w mut Cursor<'c>,
    what: What,
}

impl Walk<'_, '_> {
    /// Before the first child; past what stands in for those that were read.
    fn begin(&mut self, goes_on: bool) -> Result<()> {
        if self.what != What::Records {
            self.cursor.begin_value()?;
        }
        if goes_on {
            self.child()?;
        }
        Ok(())
    }

    /// The name and place of the next child.
    fn child(&mut self) -> Result<Option<(Option<String>, Span)>> {
        let more = match self.what {
            What::Object => self.cursor.next_member()?,
            What::Records => self.cursor.next_record()?,
            _ => self.cursor.next_element()?,
        };
        if !more {
            return Ok(None);
        }
        let name = (self.what == What::Object).then(|| {
            let bytes = self.cursor.bytes(self.cursor.span()).unwrap_or_default();
            String::from_utf8_lossy(bytes).into_owned()
        });
        Ok(Some((name, self.cursor.skip_value()?)))
    }
}

/// A page of children.
struct Children<'a> {
    head: String,
    units: Vec<Child>,
    place: Place,
    binding: &'a Binding,
    /// Why there may be more, apart from what there is no room for.
    end: Option<Reason>,
}

struct Child {
    /// The name of a member, as it is spelt.
    name: Option<String>,
    /// Whether that is only its beginning.
    is_cut: bool,
    item: Item,
    /// Offset behind it.
    end: u64,
}

impl Children<'_> {
    /// Children behind the first so many units.
    fn left(&self, shown: usize) -> u64 {
        let Located { items, .. } = self.place.value;
        items.unwrap_or_default().saturating_sub(self.place.index + shown as u64)
    }

    fn cut(&self, shown: usize, marked: bool) -> Option<Cut> {
        let units = self.units.get(..shown).unwrap_or_default();
        let returned = shown as u64;
        let next = units.last().filter(|_| self.left(shown) > 0).map(|last| {
            let place = Place { index: self.place.index + returned, at: last.end, ..self.place.clone() };
            Next::Cursor(self.binding.cursor(&place.numbers()))
        });
        let marked = marked || units.iter().any(|unit| unit.is_cut || unit.item.is_large());
        let all = shown == self.units.len();
        match self.end {
            Some(Reason::Damage) if all => Some(Cut { reason: Reason::Damage, returned, next: None }),
            Some(reason) if all => Some(Cut { reason, returned, next }),
            _ if next.is_some() || marked => Some(Cut { reason: Reason::MaxChars, returned, next }),
            _ => None,
        }
    }
}

impl Sheet for Children<'_> {
    fn len(&self) -> usize {
        self.units.len()
    }

    fn least(&self, unit: usize) -> usize {
        self.units.get(unit).map_or(0, |unit| unit.item.chars())
    }

    fn text(&self, shown: usize, first: Option<&str>) -> String {
        let object = self.place.value.what == What::Object;
        let mut out = self.head.clone();
        out.push(if object { '{' } else { '[' });
        for (at, unit) in self.units.get(..shown).unwrap_or_default().iter().enumerate() {
            if at > 0 {
                out.push(',');
            }
            if let Some(name) = &unit.name {
                out.push_str(name);
                out.push(':');
            }
            out.push_str(first.filter(|_| at == 0).unwrap_or_else(|| unit.item.text()));
        }
        let left = self.left(shown);
        if left > 0 {
            out.push_str(if shown > 0 { "," } else { "" });
            // Writing to a string cannot fail.
            let _ =
                if object { write!(out, r#""$more":{left}"#) } else { write!(out, r#"{{"$more":{left}}}"#) };
        }
        out.push(if object { '}' } else { ']' });
        if let Some(cut) = self.cut(shown, first.is_some()) {
            cut.push(&mut out);
        }
        out.push('}');
        out
    }

    fn stand_in(&self, room: usize) -> Option<String> {
        self.units.first().and_then(|unit| unit.item.mark(room))
    }
}
