//! Line-based search in a content, through a moving window.
//!
//! Each line is searched separately, so a match never spans lines. A line that is longer than the
//! window is searched in overlapping pieces. Matches of up to 64 KiB are found at any position.

use regex::bytes::{Regex, RegexBuilder};
use trommel_base::files::Op;
use trommel_base::text::{count_chars, first, nth_char};

use super::position::{OnProgress, char_offset, check_cancelled};
use crate::buffers::{BufferInfo, Content};
use crate::error::{Error, ErrorKind, Result};

/// Maximum number of hits per search.
pub const MAX_HITS: usize = 100;

/// Maximum length of a hit, and of each context line, in characters.
pub const MAX_HIT_CHARS: usize = 300;

/// Maximum number of context lines before and after a hit.
pub const MAX_CONTEXT_LINES: usize = 10;

/// Size of the part of the window in which matches may start.
const WINDOW_BYTES: usize = 1 << 20;

/// Size of the part after it, into which matches may extend.
const MARGIN_BYTES: usize = 64 << 10;

/// Size of the part before it, which provides the text around a match.
const LOOKBACK_BYTES: usize = 4 << 10;

/// Number of characters shown before a match.
const CHARS_BEFORE: usize = 100;

/// Maximum number of characters of all hits together.
const MAX_TOTAL_CHARS: usize = 30_000;

/// Maximum size of a compiled expression in bytes.
const MAX_COMPILED_BYTES: usize = 1 << 20;

/// An expression to search for.
#[derive(Clone, Debug)]
pub struct Expression(Regex);

impl Expression {
    /// Compiles a regular expression in the syntax of the crate `regex`. Searching takes linear
    /// time for any text. `^` and `$` match at the ends of a line. Expressions that match the empty
    /// text are refused.
    pub fn regex(text: &str) -> Result<Self> {
        let built = RegexBuilder::new(text)
            .multi_line(true)
            .crlf(true)
            .size_limit(MAX_COMPILED_BYTES)
            .dfa_size_limit(MAX_COMPILED_BYTES)
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

    /// An expression that matches a text verbatim.
    pub fn plain(text: &str) -> Result<Self> {
        if text.is_empty() {
            return Err(ErrorKind::EmptyText.into());
        }
        Self::regex(&regex::escape(text))
    }
}

/// A match of a search.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Hit {
    /// The line, starting at 1.
    pub line: u64,
    /// The character within the line at which the match starts, starting at 1.
    pub column: u64,
    /// The character within the content at which the match starts, starting at 0.
    pub offset: u64,
    /// The line, or the text around the match. At most [`MAX_HIT_CHARS`] characters, with `…` where
    /// it was truncated.
    pub text: String,
    /// The preceding lines, truncated as well.
    pub before: Vec<String>,
    /// The following lines, truncated as well.
    pub after: Vec<String>,
}

/// The result of a search.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct SearchResult {
    /// The hits, in order. A match that is visible in the text of a previous hit is not listed
    /// again.
    pub hits: Vec<Hit>,
    /// The character to continue from, if the search stopped at a limit.
    pub next: Option<u64>,
}

/// A search for an expression.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Search<'a> {
    /// The expression.
    pub expression: &'a Expression,
    /// The character to start at.
    pub offset: u64,
    /// The number of context lines before and after a hit.
    pub context: usize,
}

impl<'a> Search<'a> {
    /// Creates a search from the start, without context lines.
    pub fn new(expression: &'a Expression) -> Self {
        Self { expression, offset: 0, context: 0 }
    }

    /// Sets the character to start at.
    #[must_use]
    pub fn from(mut self, offset: u64) -> Self {
        self.offset = offset;
        self
    }

    /// Sets the number of context lines, at most [`MAX_CONTEXT_LINES`].
    #[must_use]
    pub fn context(mut self, lines: usize) -> Self {
        self.context = lines.min(MAX_CONTEXT_LINES);
        self
    }

    /// Searches a content, using a few MiB of memory. Stops at [`MAX_HITS`] hits, or when their
    /// total length reaches its limit.
    pub fn run(
        &self,
        info: &BufferInfo,
        content: &Content,
        on_progress: OnProgress<'_>,
    ) -> Result<SearchResult> {
        let start = if self.offset == 0 { 0 } else { char_offset(info, content, self.offset, on_progress)? };
        let mut searcher = Searcher::new(self, content);
        searcher.run(start, on_progress)?;
        Ok(searcher.found)
    }
}

/// Counters up to a byte of the content.
#[derive(Clone, Copy, Debug, Default)]
struct Counters {
    byte: u64,
    chars: u64,
    lines: u64,
    /// Number of characters before the current line.
    line_chars: u64,
}

struct Searcher<'a> {
    query: &'a Search<'a>,
    content: &'a Content,
    found: SearchResult,
    shown_chars: usize,
    counters: Counters,
    window: Vec<u8>,
    /// The byte offset of the window.
    base: u64,
}

impl<'a> Searcher<'a> {
    fn new(query: &'a Search<'a>, content: &'a Content) -> Self {
        Self {
            query,
            content,
            found: SearchResult::default(),
            shown_chars: 0,
            counters: Counters::default(),
            window: Vec::new(),
            base: 0,
        }
    }

    fn run(&mut self, start: u64, on_progress: OnProgress<'_>) -> Result<()> {
        let mut next = start;
        self.base = 0;
        while self.base < self.content.len() {
            self.fill()?;
            let reach = self.base + self.window.len() as u64;
            let is_last = reach == self.content.len();
            // A match starts before `end`, so that at least `MARGIN_BYTES` follow its start. The
            // last window has no next one to leave matches to.
            let end = if is_last { self.window.len() } else { LOOKBACK_BYTES + WINDOW_BYTES };
            if reach > next {
                next = self.search_window(next, end);
            }
            if self.is_full() || is_last {
                return Ok(());
            }
            self.advance_to(self.base + (end - LOOKBACK_BYTES) as u64);
            self.base += (end - LOOKBACK_BYTES) as u64;
            check_cancelled(on_progress, self.base)?;
        }
        Ok(())
    }

    fn fill(&mut self) -> Result<()> {
        self.window.resize(LOOKBACK_BYTES + WINDOW_BYTES + MARGIN_BYTES, 0);
        let count = self.content.read_at(self.base, &mut self.window);
        let count = count.map_err(|cause| Error::file(Op::Read, "the buffer", cause))?;
        self.window.truncate(count);
        Ok(())
    }

    fn is_full(&self) -> bool {
        self.found.next.is_some()
    }

    /// Searches the window from byte `from` of the content for matches that start before `end`.
    /// Returns the byte to continue from.
    fn search_window(&mut self, from: u64, end: usize) -> u64 {
        let window = std::mem::take(&mut self.window);
        let mut at = usize::try_from(from.saturating_sub(self.base)).unwrap_or(usize::MAX);
        while at < end {
            // A match in a line is also one in the window, so this skips lines without any.
            let Some(first) =
                self.query.expression.0.find_at(&window, at).filter(|first| first.start() < end)
            else {
                break;
            };
            let line_start = memchr::memrchr(b'\n', &window[..first.start()]).map_or(0, |at| at + 1);
            // Search the line again by itself: within the window, `[^x]*` can match line ends.
            let rest = &window[first.start()..];
            let line_end = memchr::memchr(b'\n', rest).map_or(window.len(), |length| first.start() + length);
            let line = &window[line_start..line_end];
            let line = line.strip_suffix(b"\r").unwrap_or(line);
            let own = self
                .query
                .expression
                .0
                .find_at(line, at.max(line_start).min(line_start + line.len()) - line_start);
            match own {
                // The rest of the line is searched in the next window.
                Some(own) if line_start + own.start() >= end => break,
                None if line_end == window.len() => break,
                None => at = line_end + 1,
                Some(own) => {
                    at = (line_start + self.record_hit(&window, line_start, line, own.range())).max(at + 1);
                    if self.is_full() {
                        break;
                    }
                }
            }
        }
        self.window = window;
        // The last match may extend beyond `end`.
        self.base + at.max(end) as u64
    }

    /// Records a hit. Returns the byte of the line after the text that the hit shows.
    fn record_hit(
        &mut self,
        window: &[u8],
        line_start: usize,
        line: &[u8],
        range: std::ops::Range<usize>,
    ) -> usize {
        self.advance_in(window, self.base + (line_start + range.start) as u64);
        let Counters { chars, lines, line_chars, .. } = self.counters;
        if self.found.hits.len() == MAX_HITS || self.shown_chars > MAX_TOTAL_CHARS {
            self.found.next = Some(chars);
            return line.len();
        }
        let (text, end) = excerpt(line, &range, line_start == 0 && self.base > 0);
        let absolute = self.base + line_start as u64;
        let before = self.lines_before(absolute);
        let after = self.lines_after(window, line_start + range.start);
        self.shown_chars +=
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

    /// Advances the counters to a byte of the content, which must be in the window.
    fn advance_to(&mut self, byte: u64) {
        let window = std::mem::take(&mut self.window);
        self.advance_in(&window, byte);
        self.window = window;
    }

    fn advance_in(&mut self, window: &[u8], byte: u64) {
        // The hits near the end of a window have already advanced the counters beyond the start of
        // the next one.
        if byte <= self.counters.byte {
            return;
        }
        let at = |byte: u64| {
            usize::try_from(byte.saturating_sub(self.base)).unwrap_or(usize::MAX).min(window.len())
        };
        let part = &window[at(self.counters.byte)..at(byte)];
        if let Some(last) = memchr::memrchr(b'\n', part) {
            self.counters.lines += memchr::memchr_iter(b'\n', part).count() as u64;
            self.counters.line_chars = self.counters.chars + count_chars(&part[..=last]);
        }
        self.counters.chars += count_chars(part);
        self.counters.byte = byte;
    }

    /// The lines before the one that starts at a byte, in order.
    fn lines_before(&self, mut start: u64) -> Vec<String> {
        let mut lines = Vec::new();
        let mut bytes = vec![0; MARGIN_BYTES];
        while lines.len() < self.query.context && start > 0 {
            let from = start.saturating_sub(MARGIN_BYTES as u64);
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
                format!("…{}", last_chars(text, MAX_HIT_CHARS - 1))
            } else {
                truncated(text)
            });
            if is_cut {
                break;
            }
            start = from + begins.unwrap_or(0) as u64;
        }
        lines.reverse();
        lines
    }

    /// The lines after the one that contains byte `at` of the window.
    fn lines_after(&self, window: &[u8], at: usize) -> Vec<String> {
        let mut lines = Vec::new();
        if self.query.context == 0 {
            return lines;
        }
        let rest = &window[at..];
        let Some(end) = memchr::memchr(b'\n', rest) else { return lines };
        let mut start = self.base + (at + end + 1) as u64;
        let mut bytes = vec![0; MARGIN_BYTES];
        while lines.len() < self.query.context && start < self.content.len() {
            let Ok(count) = self.content.read_at(start, &mut bytes) else { break };
            let part = &bytes[..count];
            let end = memchr::memchr(b'\n', part);
            let line = &part[..end.unwrap_or(count)];
            lines.push(truncated(String::from_utf8_lossy(line).trim_end_matches('\r')));
            let Some(end) = end else { break };
            start += end as u64 + 1;
        }
        lines
    }
}

/// The text around a match, in at most [`MAX_HIT_CHARS`] characters, and the byte of the line after
/// it.
fn excerpt(line: &[u8], range: &std::ops::Range<usize>, begins_before: bool) -> (String, usize) {
    let before = String::from_utf8_lossy(&line[range.start.saturating_sub(4 * MAX_HIT_CHARS)..range.start]);
    let whole = String::from_utf8_lossy(&line[..line.len().min(4 * MAX_HIT_CHARS + 4)]);
    if !begins_before && line.len() <= 4 * MAX_HIT_CHARS && whole.chars().count() <= MAX_HIT_CHARS {
        return (whole.into_owned(), line.len());
    }
    let kept = last_chars(&before, CHARS_BEFORE);
    let is_cut = begins_before || kept.len() < before.len() || range.start > 4 * MAX_HIT_CHARS;
    let mut text = if is_cut { format!("…{kept}") } else { kept.to_owned() };
    let room = MAX_HIT_CHARS.saturating_sub(text.chars().count() + 1);
    let rest = &line[range.start..];
    let end = nth_char(rest, room as u64).unwrap_or(rest.len());
    text.push_str(&String::from_utf8_lossy(&rest[..end]));
    if end < rest.len() {
        text.push('…');
    }
    (text, range.start + end)
}

/// Truncates a line to [`MAX_HIT_CHARS`] characters.
fn truncated(text: &str) -> String {
    if first(text, MAX_HIT_CHARS).len() == text.len() {
        return text.to_owned();
    }
    format!("{}…", first(text, MAX_HIT_CHARS - 1))
}

/// The last `max_chars` characters.
fn last_chars(text: &str, max_chars: usize) -> &str {
    let start = text.char_indices().rev().nth(max_chars.saturating_sub(1)).map_or(0, |(start, _)| start);
    &text[start..]
}
