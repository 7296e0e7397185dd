//! A text sought in the strings of a record, of any length, each hit with what stands around it.

use regex::{Regex, RegexBuilder};
use trommel::reader::{self, Cursor, Event, Payload, Scalar, Text};
use trommel_base::text::is_continuation;

use crate::error::{RequestFault, Result};
use crate::text::{around, label};
use crate::value::Value;
use crate::watch::Watch;

/// Characters of an excerpt.
const EXCERPT: usize = 400;

/// Bytes of a string, as spelt, that are searched at once.
const PIECE: usize = 1 << 20;

/// Bytes before and behind a hit that its excerpt may need: more than 500 characters of what is
/// sought and an excerpt take.
const MARGIN: usize = 8 << 10;

/// What is sought.
#[derive(Debug)]
pub(crate) struct Seeker {
    pattern: Regex,
    lines: usize,
}

/// The members of records that are searched.
#[derive(Debug)]
pub(crate) struct Members {
    /// Names that are skipped wherever they appear.
    pub(crate) skipped: &'static [&'static str],
    /// Names that are skipped in the record itself.
    pub(crate) skipped_on_top: &'static [&'static str],
    /// Types of records that are not searched.
    pub(crate) types_left_out: &'static [&'static str],
    /// A member of the record that repeats what others hold.
    pub(crate) repeated: Option<&'static str>,
}

/// All members.
pub(crate) const EVERYTHING: Members =
    Members { skipped: &[], skipped_on_top: &[], types_left_out: &[], repeated: None };

/// The members of messages, without those that hold nothing a person would search for.
pub(crate) const MESSAGES: Members =
    Members { skipped: &["role", "type", "signature", "encrypted_content"], ..EVERYTHING };

impl Members {
    fn is_type(&self, names: &[String]) -> bool {
        !self.types_left_out.is_empty() && matches!(names, [name] if name == "type")
    }

    /// True if the type that comes next is left out.
    fn leaves_out(&self, cursor: &mut Cursor<'_>) -> reader::Result<bool> {
        let mut value = Value::default();
        value.capture(cursor, TYPE)?;
        Ok(value.text().is_some_and(|kind| self.types_left_out.contains(&&*kind)))
    }

    fn skips(&self, names: &[String]) -> bool {
        let Some(name) = names.last() else { return false };
        self.skipped.contains(&&**name) || names.len() == 1 && self.skipped_on_top.contains(&&**name)
    }

    fn repeats(&self, names: &[String]) -> bool {
        self.repeated.is_some() && names.first().map(String::as_str) == self.repeated
    }
}

/// Characters of a type.
const TYPE: usize = 100;

/// A place where it was met.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Hit {
    pub(crate) excerpt: String,
    /// How many times it stands in the excerpt.
    pub(crate) hits: u64,
    pub(crate) field: String,
}

/// Places in one record, of which some are kept.
#[derive(Debug, Default)]
pub(crate) struct Hits {
    skip: u64,
    want: usize,
    pub(crate) rows: u64,
    pub(crate) count: u64,
    pub(crate) kept: Vec<Hit>,
    /// Whether the last place is among those kept.
    is_kept: bool,
}

impl Hits {
    /// Keeps so many, behind so many.
    pub(crate) fn new(skip: u64, want: usize) -> Self {
        Self { skip, want, ..Self::default() }
    }

    fn row(&mut self, excerpt: &str, field: &[String]) {
        self.is_kept = self.rows >= self.skip && self.kept.len() < self.want;
        if self.is_kept {
            self.kept.push(Hit { excerpt: excerpt.to_owned(), hits: 1, field: named(field) });
        }
        self.rows += 1;
        self.count += 1;
    }

    /// One more in the excerpt of the last place.
    fn again(&mut self) {
        self.count += 1;
        if self.is_kept
            && let Some(last) = self.kept.last_mut()
        {
            last.hits += 1;
        }
    }
}

/// Names one below the other; lists have none.
fn named(names: &[String]) -> String {
    let names = names.iter().filter(|name| !name.is_empty()).map(String::as_str);
    label(&names.collect::<Vec<_>>().join("."), 100)
}

impl Seeker {
    pub(crate) fn new(sought: &str, lines: usize) -> Result<Self> {
        let pattern = RegexBuilder::new(&regex::escape(sought)).case_insensitive(true).build();
        let wrong = |error: regex::Error| RequestFault::Pattern { why: error.to_string() };
        Ok(Self { pattern: pattern.map_err(wrong)?, lines })
    }

    /// Searches the strings of the record that comes next, without those of some members.
    ///
    /// Hits in the member that repeats the others count only where the others have none.
    pub(crate) fn record(
        &self,
        cursor: &mut Cursor<'_>,
        members: &Members,
        hits: Hits,
        watch: &Watch<'_>,
    ) -> reader::Result<Hits> {
        let outside = cursor.depth();
        // What is held is whole, however long it is.
        cursor.hold();
        let (mut repeated, mut hits) = (Hits::new(hits.skip, hits.want), hits);
        let mut names = Vec::<String>::new();
        let mut is_left_out = false;
        let mut event = cursor.begin_value()?;
        loop {
            match (event, cursor.payload()) {
                (Event::Name, Payload::Name(name)) => {
                    let level = (cursor.depth() - outside) as usize;
                    names.truncate(level.saturating_sub(1));
                    names.resize(level.saturating_sub(1), String::new());
                    names.push(name.decode().into_owned());
                    if members.is_type(&names) {
                        is_left_out |= members.leaves_out(cursor)?;
                    } else if members.skips(&names) {
                        cursor.skip_value()?;
                    }
                }
                (_, Payload::Scalar(Scalar::String(text))) => {
                    let hits = if members.repeats(&names) { &mut repeated } else { &mut hits };
                    self.string(&text, &names, hits, watch);
                }
                _ => {}
            }
            if cursor.depth() == outside {
                break;
            }
            let Some(next) = cursor.advance()? else { break };
            event = next;
        }
        cursor.release();
        Ok(match (is_left_out, hits.rows) {
            (true, _) => Hits::default(),
            (false, 0) => repeated,
            (false, _) => hits,
        })
    }

    /// Searches a string piece by piece, which overlap by what an excerpt may need.
    fn string(&self, text: &Text<'_>, field: &[String], hits: &mut Hits, watch: &Watch<'_>) {
        let mut rest = text.raw();
        let mut seen = String::new();
        let mut from = 0;
        // Whoever reads on hears of a raised flag.
        while !rest.is_empty() && !watch.is_cancelled() {
            let (piece, behind) = rest.split_at(whole(rest, PIECE));
            seen.push_str(&Text::from_raw(piece, text.is_escaped()).decode());
            let until = match behind {
                [] => seen.len(),
                _ => seen.floor_char_boundary(seen.len().saturating_sub(MARGIN)),
            };
            from = self.piece(&seen, from, until, |excerpt| match excerpt {
                Some(excerpt) => hits.row(excerpt, field),
                None => hits.again(),
            });
            let gone = seen.floor_char_boundary(from.saturating_sub(MARGIN));
            seen.drain(..gone);
            from -= gone;
            rest = behind;
        }
    }

    /// Tells of hits that begin before a place, with their excerpts, or nothing where the last
    /// excerpt shows them. Returns where to go on.
    fn piece(&self, text: &str, mut from: usize, until: usize, mut tell: impl FnMut(Option<&str>)) -> usize {
        let mut shown_until = 0;
        while let Some(hit) = self.pattern.find_at(text, from).filter(|hit| hit.start() < until) {
            from = hit.end();
            if hit.end() <= shown_until {
                tell(None);
                continue;
            }
            let part = around(text, hit.range(), self.lines, EXCERPT);
            shown_until = part.end;
            tell(text.get(part));
        }
        from.max(until)
    }
}

/// At most so many bytes of a string's spelling, which end between characters.
pub(crate) fn whole(raw: &[u8], most: usize) -> usize {
    if raw.len() <= most {
        return raw.len();
    }
    let mut at = 0;
    while let Some(found) = raw.get(at..most).and_then(|part| part.iter().position(|byte| *byte == b'\\')) {
        let length = escape_length(&raw[at + found..]);
        if at + found + length > most {
            return (at + found).max(1);
        }
        at += found + length;
    }
    let mut end = most;
    while end > at && raw.get(end).is_some_and(|byte| is_continuation(*byte)) {
        end -= 1;
    }
    end.max(1)
}

/// Bytes of the escape that something begins with; of two that are one character, both.
fn escape_length(raw: &[u8]) -> usize {
    match raw {
        [b'\\', b'u', b'd' | b'D', b'8' | b'9' | b'a' | b'b' | b'A' | b'B', ..] => 12,
        [b'\\', b'u', ..] => 6,
        _ => 2,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::records::config;

    const MEMBERS: Members = Members {
        skipped: &["role"],
        skipped_on_top: &["cwd"],
        types_left_out: &["progress"],
        repeated: Some("toolUseResult"),
    };

    fn search(json: &str, sought: &str, skip: u64, want: usize) -> Hits {
        let seeker = Seeker::new(sought, 0).unwrap();
        let mut cursor = Cursor::from_reader(json.as_bytes(), reader::Framing::Single, &config());
        seeker.record(&mut cursor, &MEMBERS, Hits::new(skip, want), &Watch::new()).unwrap()
    }

    #[test]
    fn counts_repeated_members_only_where_the_others_have_no_hit() {
        for (json, fields) in [
            (r#"{"toolUseResult":{"stdout":"x"},"message":{"content":"x"}}"#, vec!["message.content"]),
            (r#"{"message":{"content":"y"},"toolUseResult":{"stdout":"x"}}"#, vec!["toolUseResult.stdout"]),
            (r#"{"data":"x","type":"progress"}"#, vec![]),
            (r#"{"cwd":"x","message":{"cwd":"x"}}"#, vec!["message.cwd"]),
        ] {
            let found = search(json, "x", 0, 10);
            assert_eq!(found.kept.iter().map(|hit| &*hit.field).collect::<Vec<_>>(), fields, "{json}");
            assert_eq!(found.rows, fields.len() as u64, "{json}");
        }
    }

    #[test]
    fn every_hit_is_told_with_its_member() {
        let json = r#"{"role":"needle","content":[{"text":"a Needle,\na needle and NEEDLE"}],"x":{"y":"needl\u0065"}}"#;
        let found = search(json, "needle", 0, 10);
        let kept = found.kept.iter().map(|hit| (&*hit.excerpt, hit.hits, &*hit.field)).collect::<Vec<_>>();
        let expected = [
            ("a Needle,", 1, "content.text"),
            ("a needle and NEEDLE", 2, "content.text"),
            ("needle", 1, "x.y"),
        ];
        assert_eq!(kept, expected);
        assert_eq!((found.rows, found.count), (3, 4));
        let page = search(json, "needle", 1, 1);
        assert_eq!((page.kept[0].hits, page.kept.len(), page.rows), (2, 1, 3));
    }

    #[test]
    fn hits_are_found_wherever_pieces_end() {
        for shift in 0..12 {
            let filler =
                format!("{}\\ud83d\\ude00\u{e9}\\n", "x".repeat(shift)).repeat(300_000 / (shift + 4));
            let json = format!("{{\"content\":\"{filler}needle{filler}needle{filler}\"}}");
            let found = search(&json, "needle", 0, 10);
            assert_eq!((found.rows, found.count), (2, 2), "{shift}");
            assert!(found.kept.iter().all(|hit| hit.excerpt.chars().count() <= EXCERPT));
        }
    }

    #[test]
    fn pieces_end_between_characters() {
        let raw = r"ab\ud83d\ude00cdé\n".as_bytes();
        let ends = (1..=raw.len()).map(|most| whole(raw, most)).collect::<Vec<_>>();
        let expected = [1, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 14, 15, 16, 16, 18, 18, 20];
        assert_eq!(ends, expected);
    }
}
