//! Text search in the strings of a record, of any length. Each match has an excerpt.

use regex::{Regex, RegexBuilder};
use trommel::reader::{self, Cursor, Event, Payload, Scalar, Text};
use trommel_base::text::is_continuation;

use crate::error::{RequestFault, Result};
use crate::text::{around, label};
use crate::value::Value;
use crate::watch::Watch;

/// The maximum number of characters of an excerpt.
const MAX_EXCERPT_CHARS: usize = 400;

/// The number of raw bytes of a string that are searched at once.
const PIECE_BYTES: usize = 1 << 20;

/// The number of bytes before and after an occurrence that its excerpt may need. It exceeds the
/// size of the longest search text and of an excerpt.
const MARGIN_BYTES: usize = 8 << 10;

/// A compiled search text.
#[derive(Debug)]
pub(crate) struct TextSearcher {
    pattern: Regex,
    lines: usize,
}

/// The members of records to search.
#[derive(Debug)]
pub(crate) struct SearchedMembers {
    /// Names that are skipped at any depth.
    pub(crate) skipped: &'static [&'static str],
    /// Names that are skipped at the top level.
    pub(crate) skipped_on_top: &'static [&'static str],
    /// Types of records that are skipped.
    pub(crate) types_left_out: &'static [&'static str],
    /// A top-level member that repeats the content of others.
    pub(crate) repeated: Option<&'static str>,
}

/// All members.
pub(crate) const ALL_MEMBERS: SearchedMembers =
    SearchedMembers { skipped: &[], skipped_on_top: &[], types_left_out: &[], repeated: None };

/// The members of messages, without those of no interest to a reader.
pub(crate) const MESSAGES: SearchedMembers =
    SearchedMembers { skipped: &["role", "type", "signature", "encrypted_content"], ..ALL_MEMBERS };

impl SearchedMembers {
    fn is_type(&self, names: &[String]) -> bool {
        !self.types_left_out.is_empty() && matches!(names, [name] if name == "type")
    }

    /// True if the next value is a skipped type.
    fn leaves_out(&self, cursor: &mut Cursor<'_>) -> reader::Result<bool> {
        let mut value = Value::default();
        value.capture(cursor, MAX_TYPE_CHARS)?;
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

/// The maximum number of characters of a type.
const MAX_TYPE_CHARS: usize = 100;

/// An excerpt with one or more occurrences.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct MatchExcerpt {
    pub(crate) excerpt: String,
    /// The number of occurrences in the excerpt.
    pub(crate) hits: u64,
    pub(crate) field: String,
}

/// The matches in one record, of which some are kept.
#[derive(Debug, Default)]
pub(crate) struct RecordMatches {
    skip: u64,
    want: usize,
    pub(crate) rows: u64,
    pub(crate) count: u64,
    pub(crate) kept: Vec<MatchExcerpt>,
    /// True if the last match was kept.
    is_kept: bool,
}

impl RecordMatches {
    /// Creates a collector that skips `skip` matches and keeps at most `want`.
    pub(crate) fn new(skip: u64, want: usize) -> Self {
        Self { skip, want, ..Self::default() }
    }

    fn row(&mut self, excerpt: &str, field: &[String]) {
        self.is_kept = self.rows >= self.skip && self.kept.len() < self.want;
        if self.is_kept {
            self.kept.push(MatchExcerpt { excerpt: excerpt.to_owned(), hits: 1, field: dotted(field) });
        }
        self.rows += 1;
        self.count += 1;
    }

    /// Counts one more occurrence in the last excerpt.
    fn again(&mut self) {
        self.count += 1;
        if self.is_kept
            && let Some(last) = self.kept.last_mut()
        {
            last.hits += 1;
        }
    }
}

/// Joins member names with dots. Array levels have no name.
fn dotted(names: &[String]) -> String {
    let names = names.iter().filter(|name| !name.is_empty()).map(String::as_str);
    label(&names.collect::<Vec<_>>().join("."), 100)
}

impl TextSearcher {
    pub(crate) fn new(query: &str, lines: usize) -> Result<Self> {
        let pattern = RegexBuilder::new(&regex::escape(query)).case_insensitive(true).build();
        let fault = |error: regex::Error| RequestFault::Pattern { why: error.to_string() };
        Ok(Self { pattern: pattern.map_err(fault)?, lines })
    }

    /// Searches the strings of the next record, except those of skipped members.
    ///
    /// Matches in the member that repeats others count only if the others have none.
    pub(crate) fn record(
        &self,
        cursor: &mut Cursor<'_>,
        members: &SearchedMembers,
        hits: RecordMatches,
        watch: &Watch<'_>,
    ) -> reader::Result<RecordMatches> {
        let outside = cursor.depth();
        // Without holding the record, long strings would be truncated.
        cursor.hold();
        let (mut repeated, mut hits) = (RecordMatches::new(hits.skip, hits.want), hits);
        let mut names = Vec::<String>::new();
        // The type may come after other members, so they are searched before it is known that the
        // record is skipped.
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
            (true, _) => RecordMatches::default(),
            (false, 0) => repeated,
            (false, _) => hits,
        })
    }

    /// Searches a string in pieces that overlap by the length of an excerpt.
    fn string(&self, text: &Text<'_>, field: &[String], hits: &mut RecordMatches, watch: &Watch<'_>) {
        let mut rest = text.raw();
        let mut seen = String::new();
        let mut from = 0;
        // On cancellation, the next read of the cursor reports the error.
        while !rest.is_empty() && !watch.is_cancelled() {
            let (piece, tail) = rest.split_at(raw_prefix_len(rest, PIECE_BYTES));
            seen.push_str(&Text::from_raw(piece, text.is_escaped()).decode());
            // An occurrence near the end of a piece may continue in the next one, or need it for
            // its excerpt, so it is left to the next piece.
            let until = match tail {
                [] => seen.len(),
                _ => seen.floor_char_boundary(seen.len().saturating_sub(MARGIN_BYTES)),
            };
            from = self.piece(&seen, from, until, |excerpt| match excerpt {
                Some(excerpt) => hits.row(excerpt, field),
                None => hits.again(),
            });
            let gone = seen.floor_char_boundary(from.saturating_sub(MARGIN_BYTES));
            seen.drain(..gone);
            from -= gone;
            rest = tail;
        }
    }

    /// Reports the occurrences that start before `until`: with an excerpt or, if the last excerpt
    /// covers it, without one. Returns the offset to continue from.
    fn piece(
        &self,
        text: &str,
        mut from: usize,
        until: usize,
        mut report: impl FnMut(Option<&str>),
    ) -> usize {
        let mut shown_until = 0;
        while let Some(hit) = self.pattern.find_at(text, from).filter(|hit| hit.start() < until) {
            from = hit.end();
            if hit.end() <= shown_until {
                report(None);
                continue;
            }
            let part = around(text, hit.range(), self.lines, MAX_EXCERPT_CHARS);
            shown_until = part.end;
            report(text.get(part));
        }
        from.max(until)
    }
}

/// Returns the length of the longest prefix of at most `max` bytes of a raw string that ends
/// between characters and escapes.
pub(crate) fn raw_prefix_len(raw: &[u8], max: usize) -> usize {
    if raw.len() <= max {
        return raw.len();
    }
    let mut at = 0;
    while let Some(found) = raw.get(at..max).and_then(|part| part.iter().position(|byte| *byte == b'\\')) {
        let length = escape_length(&raw[at + found..]);
        if at + found + length > max {
            return (at + found).max(1);
        }
        at += found + length;
    }
    // Not inside a multi-byte character either.
    let mut end = max;
    while end > at && raw.get(end).is_some_and(|byte| is_continuation(*byte)) {
        end -= 1;
    }
    end.max(1)
}

/// Returns the length of the escape at the start of a raw string. A surrogate pair counts as one.
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

    const MEMBERS: SearchedMembers = SearchedMembers {
        skipped: &["role"],
        skipped_on_top: &["cwd"],
        types_left_out: &["progress"],
        repeated: Some("toolUseResult"),
    };

    fn search(json: &str, query: &str, skip: u64, want: usize) -> RecordMatches {
        let seeker = TextSearcher::new(query, 0).unwrap();
        let mut cursor = Cursor::from_reader(json.as_bytes(), reader::Framing::Single, &config());
        seeker.record(&mut cursor, &MEMBERS, RecordMatches::new(skip, want), &Watch::new()).unwrap()
    }

    #[test]
    fn counts_repeated_members_only_without_other_matches() {
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
    fn reports_each_match_with_its_member() {
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
    fn finds_matches_across_pieces() {
        for shift in 0..12 {
            let filler =
                format!("{}\\ud83d\\ude00\u{e9}\\n", "x".repeat(shift)).repeat(300_000 / (shift + 4));
            let json = format!("{{\"content\":\"{filler}needle{filler}needle{filler}\"}}");
            let found = search(&json, "needle", 0, 10);
            assert_eq!((found.rows, found.count), (2, 2), "{shift}");
            assert!(found.kept.iter().all(|hit| hit.excerpt.chars().count() <= MAX_EXCERPT_CHARS));
        }
    }

    #[test]
    fn pieces_end_between_characters() {
        let raw = r"ab\ud83d\ude00cdé\n".as_bytes();
        let ends = (1..=raw.len()).map(|max| raw_prefix_len(raw, max)).collect::<Vec<_>>();
        let expected = [1, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 14, 15, 16, 16, 18, 18, 20];
        assert_eq!(ends, expected);
    }
}
