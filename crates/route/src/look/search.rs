//! Searching a content, line by line, in a window that moves.
//!
//! A line is searched by itself: a match ends with its line at the latest. Of a line that is longer
//! than the window, pieces are searched that overlap, so that a match of up to 64 KiB is found
//! wherever it stands.

use regex::bytes::{Regex, RegexBuilder};
use trommel_base::files::Op;
use trommel_base::text::{count_chars, first, nth_char};

use super::place::{self, Watch, go_on};
use crate::buffers::{BufferInfo, Content};
use crate::error::{Error, ErrorKind, Result};

/// Hits that a search gives at most.
pub const HITS: usize = 100;

/// Characters of a hit, and of each line around it, at most.
pub const HIT_CHARS: usize = 300;

/// Lines around a hit, on either side, at most.
pub const CONTEXT_LINES: usize = 10;

/// Bytes in which matches begin, before the window moves on.
const WINDOW: usize = 1 << 20;

/// Bytes behind them, into which matches may reach.
const MARGIN: usize = 64 << 10;

/// Bytes before them, for what stands around a match.
const LOOKBACK: usize = 4 << 10;

/// Characters before a match that are shown.
const BEFORE: usize = 100;

/// Characters of all hits together.
const ALL_CHARS: usize = 30_000;

/// Bytes of a compiled expression.
const COMPILED: usize = 1 << 20;

/// What is searched for.
#[derive(Clone, Debug)]
pub struct Expression(Regex);

impl Expression {
    /// A regular expression, as the crate `regex` reads them: it takes linear time on any text. `^`
    /// and `$` are the ends of a line. An error shows where it goes wrong; one that fits everywhere
    /// is refused.
    pub fn regex(text: &str) -> Result<Self> {
        let built = RegexBuilder::new(text)
            .multi_line(true)
            .crlf(true)
            .size_limit(COMPILED)
            .dfa_size_limit(COMPILED)
            .build();
        let regex = built.map_err(|error| {
            let why = error.to_string().lines().map(str::trim).collect::<Vec<_>>().join(" ");
            ErrorKind::Expression { text: text.to_owned(), why }
        })?;
        if regex.is_match(b"") {
            return Err(ErrorKind::MatchesEmpty(text.to_owned()).into());
        }
        Ok(Self(regex))
    }

    /// A text as it stands.
    pub fn plain(text: &str) -> Result<Self> {
        if text.is_empty() {
            return Err(ErrorKind::EmptyText.into());
        }
        Self::regex(&regex::escape(text))
    }
}

/// One place where it was found.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Hit {
    /// The line, from 1.
    pub line: u64,
    /// The character in the line at which the match begins, from 1.
    pub column: u64,
    /// The same from the beginning of the content, from 0.
    pub offset: u64,
    /// The line, or what stands around the match: at most [`HIT_CHARS`] characters, `…` where it
    /// was cut.
    pub text: String,
    /// The lines before it, cut as well.
    pub before: Vec<String>,
    /// The lines behind it, cut as well.
    pub after: Vec<String>,
}

/// What was found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Found {
    /// The hits, in order. Matches that a hit shows already have none of their own.
    pub hits: Vec<Hit>,
    /// The character to go on from, if not all was searched.
    pub next: Option<u64>,
}

/// A search.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Hunt<'a> {
    /// What is searched for.
    pub expression: &'a Expression,
    /// The character to begin at.
    pub offset: u64,
    /// Lines that are shown around a hit, on either side.
    pub context: usize,
}

impl<'a> Hunt<'a> {
    /// Searches from the beginning, and shows no lines around hits.
    pub fn new(expression: &'a Expression) -> Self {
        Self { expression, offset: 0, context: 0 }
    }

    /// Sets the character to begin at.
    #[must_use]
    pub fn from(mut self, offset: u64) -> Self {
        self.offset = offset;
        self
    }

    /// Sets how many lines are shown around a hit, on either side; at most [`CONTEXT_LINES`].
    #[must_use]
    pub fn context(mut self, lines: usize) -> Self {
        self.context = lines.min(CONTEXT_LINES);
        self
    }

    /// Searches a content, in memory of some MiB, until there are [`HITS`] hits or no more room for
    /// them.
    pub fn run(&self, info: &BufferInfo, content: &Content, watch: Watch<'_>) -> Result<Found> {
        let start = if self.offset == 0 { 0 } else { place::char(info, content, self.offset, watch)? };
        let mut walk = Walk::new(self, content);
        walk.search(start, watch)?;
        Ok(walk.found)
    }
}

/// What was counted up to some byte.
#[derive(Clone, Copy, Debug, Default)]
struct Counted {
    byte: u64,
    chars: u64,
    lines: u64,
    /// Characters before the line.
    line_chars: u64,
}

struct Walk<'a> {
    hunt: &'a Hunt<'a>,
    content: &'a Content,
    found: Found,
    shown: usize,
    counted: Counted,
    window: Vec<u8>,
    /// The byte that the window begins at.
    base: u64,
}

impl<'a> Walk<'a> {
    fn new(hunt: &'a Hunt<'a>, content: &'a Content) -> Self {
        Self {
            hunt,
            content,
            found: Found::default(),
            shown: 0,
            counted: Counted::default(),
            window: Vec::new(),
            base: 0,
        }
    }

    fn search(&mut self, start: u64, watch: Watch<'_>) -> Result<()> {
        let mut next = start;
        self.base = 0;
        while self.base < self.content.len() {
            self.fill()?;
            let reach = self.base + self.window.len() as u64;
            let is_last = reach == self.content.len();
            let end = if is_last { self.window.len() } else { LOOKBACK + WINDOW };
            if reach > next {
                next = self.in_window(next, end);
            }
            if self.is_full() || is_last {
                return Ok(());
            }
            self.count_to(self.base + (end - LOOKBACK) as u64);
            self.base += (end - LOOKBACK) as u64;
            go_on(watch, self.base)?;
        }
        Ok(())
    }

    fn fill(&mut self) -> Result<()> {
        self.window.resize(LOOKBACK + WINDOW + MARGIN, 0);
        let count = self.content.read_at(self.base, &mut self.window);
        let count = count.map_err(|cause| Error::file(Op::Read, "the buffer", cause))?;
        self.window.truncate(count);
        Ok(())
    }

    fn is_full(&self) -> bool {
        self.found.next.is_some()
    }

    /// Searches the window from a byte of the content on, for matches that begin before `end`;
    /// where to go on.
    fn in_window(&mut self, from: u64, end: usize) -> u64 {
        let window = std::mem::take(&mut self.window);
        let mut at = usize::try_from(from.saturating_sub(self.base)).unwrap_or(usize::MAX);
        while at < end {
            // No line has a match of its own where the window has none.
            let Some(first) = self.hunt.expression.0.find_at(&window, at).filter(|first| first.start() < end)
            else {
                break;
            };
            let line_start = memchr::memrchr(b'\n', &window[..first.start()]).map_or(0, |at| at + 1);
            let rest = &window[first.start()..];
            let line_end = memchr::memchr(b'\n', rest).map_or(window.len(), |length| first.start() + length);
            let line = &window[line_start..line_end];
            let line = line.strip_suffix(b"\r").unwrap_or(line);
            let own = self
                .hunt
                .expression
                .0
                .find_at(line, at.max(line_start).min(line_start + line.len()) - line_start);
            match own {
                // What else the line has, the next window holds.
                Some(own) if line_start + own.start() >= end => break,
                None if line_end == window.len() => break,
                None => at = line_end + 1,
                Some(own) => {
                    at = (line_start + self.hit(&window, line_start, line, own.range())).max(at + 1);
                    if self.is_full() {
                        break;
                    }
                }
            }
        }
        self.window = window;
        // Matches that were found reach further than the window's part at times.
        self.base + at.max(end) as u64
    }

    /// Takes a hit down; the byte of the line behind what it shows.
    fn hit(&mut self, window: &[u8], line_start: usize, line: &[u8], range: std::ops::Range<usize>) -> usize {
        self.count_in(window, self.base + (line_start + range.start) as u64);
        let Counted { chars, lines, line_chars, .. } = self.counted;
        if self.found.hits.len() == HITS || self.shown > ALL_CHARS {
            self.found.next = Some(chars);
            return line.len();
        }
        let (text, end) = excerpt(line, &range, line_start == 0 && self.base > 0);
        let absolute = self.base + line_start as u64;
        let before = self.lines_before(absolute);
        let after = self.lines_after(window, line_start + range.start);
        self.shown +=
            [&text].into_iter().chain(&before).chain(&after).map(|text| text.chars().count()).sum::<usize>();
        self.found.hits.push(Hit {
            line: lines + 1,
            column: chars - line_chars + 1,
            offset: chars,
            text,
            before,
            after,
        });
        end.max(range.end)
    }

    /// Counts on, up to a byte of the content that the window holds.
    fn count_to(&mut self, byte: u64) {
        let window = std::mem::take(&mut self.window);
        self.count_in(&window, byte);
        self.window = window;
    }

    fn count_in(&mut self, window: &[u8], byte: u64) {
        // A hit near the end of a window is counted past the byte that the next window begins at.
        if byte <= self.counted.byte {
            return;
        }
        let at = |byte: u64| {
            usize::try_from(byte.saturating_sub(self.base)).unwrap_or(usize::MAX).min(window.len())
        };
        let part = &window[at(self.counted.byte)..at(byte)];
        if let Some(last) = memchr::memrchr(b'\n', part) {
            self.counted.lines += memchr::memchr_iter(b'\n', part).count() as u64;
            self.counted.line_chars = self.counted.chars + count_chars(&part[..=last]);
        }
        self.counted.chars += count_chars(part);
        self.counted.byte = byte;
    }

    /// The lines before the one that begins at a byte, the first of them first.
    fn lines_before(&self, mut start: u64) -> Vec<String> {
        let mut lines = Vec::new();
        let mut bytes = vec![0; MARGIN];
        while lines.len() < self.hunt.context && start > 0 {
            let from = start.saturating_sub(MARGIN as u64);
            let room = &mut bytes[..(start - from) as usize];
            let Ok(count) = self.content.read_at(from, room) else { break };
            let part = &room[..count];
            let part = part.strip_suffix(b"\n").unwrap_or(part);
            let begins = memchr::memrchr(b'\n', part).map(|at| at + 1);
            let is_cut = begins.is_none() && from > 0;
            let line = &part[begins.unwrap_or(0)..];
            let text = String::from_utf8_lossy(line);
            let text = text.trim_end_matches('\r');
            lines.push(if is_cut {
                format!("…{}", last_chars(text, HIT_CHARS - 1))
            } else {
                clipped(text)
            });
            if is_cut {
                break;
            }
            start = from + begins.unwrap_or(0) as u64;
        }
        lines.reverse();
        lines
    }

    /// The lines behind the one that a byte of the window is in.
    fn lines_after(&self, window: &[u8], at: usize) -> Vec<String> {
        let mut lines = Vec::new();
        if self.hunt.context == 0 {
            return lines;
        }
        let rest = &window[at..];
        let Some(end) = memchr::memchr(b'\n', rest) else { return lines };
        let mut start = self.base + (at + end + 1) as u64;
        let mut bytes = vec![0; MARGIN];
        while lines.len() < self.hunt.context && start < self.content.len() {
            let Ok(count) = self.content.read_at(start, &mut bytes) else { break };
            let part = &bytes[..count];
            let end = memchr::memchr(b'\n', part);
            let line = &part[..end.unwrap_or(count)];
            lines.push(clipped(String::from_utf8_lossy(line).trim_end_matches('\r')));
            let Some(end) = end else { break };
            start += end as u64 + 1;
        }
        lines
    }
}

/// The line around a match, in at most [`HIT_CHARS`] characters, and the byte of the line behind
/// what is shown.
fn excerpt(line: &[u8], range: &std::ops::Range<usize>, begins_before: bool) -> (String, usize) {
    let before = String::from_utf8_lossy(&line[range.start.saturating_sub(4 * HIT_CHARS)..range.start]);
    let whole = String::from_utf8_lossy(&line[..line.len().min(4 * HIT_CHARS + 4)]);
    if !begins_before && line.len() <= 4 * HIT_CHARS && whole.chars().count() <= HIT_CHARS {
        return (whole.into_owned(), line.len());
    }
    let kept = last_chars(&before, BEFORE);
    let is_cut = begins_before || kept.len() < before.len() || range.start > 4 * HIT_CHARS;
    let mut text = if is_cut { format!("…{kept}") } else { kept.to_owned() };
    let room = HIT_CHARS.saturating_sub(text.chars().count() + 1);
    let rest = &line[range.start..];
    let end = nth_char(rest, room as u64).unwrap_or(rest.len());
    text.push_str(&String::from_utf8_lossy(&rest[..end]));
    if end < rest.len() {
        text.push('…');
    }
    (text, range.start + end)
}

/// A line in at most [`HIT_CHARS`] characters.
fn clipped(text: &str) -> String {
    if first(text, HIT_CHARS).len() == text.len() {
        return text.to_owned();
    }
    format!("{}…", first(text, HIT_CHARS - 1))
}

/// The last so many characters.
fn last_chars(text: &str, most: usize) -> &str {
    let start = text.char_indices().rev().nth(most.saturating_sub(1)).map_or(0, |(start, _)| start);
    &text[start..]
}
