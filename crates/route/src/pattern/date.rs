//! Relative days and their formats.

use jiff::civil::Weekday as FirstDay;
use jiff::{ToSpan, Zoned};
use trommel_base::text::display_name;

use crate::error::{Error, ErrorKind, PatternFault, Result};

/// The names of the days of the week, starting with Monday.
pub(super) const DAYS: [&str; 7] =
    ["monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"];

/// A day relative to today.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Day {
    Today,
    Yesterday,
    Tomorrow,
    ThisWeek,
    LastWeek,
    NextWeek,
    ThisMonth,
    LastMonth,
    Weekday,
    Month,
}

impl Day {
    pub(super) const NAMES: [(&'static str, Self); 10] = [
        ("today", Self::Today),
        ("yesterday", Self::Yesterday),
        ("tomorrow", Self::Tomorrow),
        ("this-week", Self::ThisWeek),
        ("last-week", Self::LastWeek),
        ("next-week", Self::NextWeek),
        ("this-month", Self::ThisMonth),
        ("last-month", Self::LastMonth),
        ("day-name", Self::Weekday),
        ("month-name", Self::Month),
    ];

    pub(super) fn from_name(name: &str) -> Option<Self> {
        Self::NAMES.iter().find(|(known, _)| *known == name).map(|(_, day)| *day)
    }

    /// The default format.
    pub(super) fn default_format(self) -> Format {
        let directives = match self {
            Self::ThisMonth | Self::LastMonth => "%Y-%m",
            Self::Weekday => "%A",
            Self::Month => "%B",
            _ => "%Y-%m-%d",
        };
        Format(directives.to_owned())
    }

    /// The date of the day, or the first day of the week or month. Dates outside the calendar
    /// become today.
    pub(super) fn resolve(self, now: &Zoned, week_starts: FirstDay) -> Zoned {
        let since = i64::from(now.weekday().since(week_starts));
        let span = match self {
            Self::Today | Self::Weekday | Self::Month | Self::ThisMonth => return now.clone(),
            Self::Yesterday => (-1).days(),
            Self::Tomorrow => 1.days(),
            Self::ThisWeek => (-since).days(),
            Self::LastWeek => (-since - 7).days(),
            Self::NextWeek => (7 - since).days(),
            // Months differ in length, but the previous one always ends the day before the first of
            // this month.
            Self::LastMonth => (-i64::from(now.day())).days(),
        };
        now.checked_add(span).unwrap_or_else(|_| now.clone())
    }
}

/// The format of a day: words for its parts, and literal text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Format(String);

/// The words and their directives for `strftime`. A word comes before its prefixes.
const WORDS: [(&str, &str); 13] = [
    ("YYYY", "%Y"),
    ("YY", "%y"),
    ("MMMM", "%B"),
    ("MMM", "%b"),
    ("MM", "%m"),
    ("M", "%-m"),
    ("DD", "%d"),
    ("D", "%-d"),
    ("dddd", "%A"),
    ("ddd", "%a"),
    ("HH", "%H"),
    ("mm", "%M"),
    ("ss", "%S"),
];

impl Format {
    /// Parses a format. Letters that are not part of a word must be in brackets, as in `[week]`.
    /// Otherwise `yyyy-mm` would silently become the minutes of a year. The `T` between a date and
    /// a time needs no brackets.
    pub(super) fn parse(text: &str) -> Result<Self> {
        let mut directives = String::new();
        let mut rest = text;
        let mut before = "";
        while let Some(c) = rest.chars().next() {
            let literal = rest.strip_prefix('[').and_then(|inside| inside.split_once(']'));
            if let Some((inside, after)) = literal {
                directives.push_str(&inside.replace('%', "%%"));
                (rest, before) = (after, "");
                continue;
            }
            let word = WORDS.iter().find(|(word, _)| rest.starts_with(word));
            if word.is_some_and(|(word, _)| *word == "mm" && is_for_months(text)) {
                return Err(refused(text, "`mm` is minutes, and the month is `MM`"));
            }
            let (length, directive) =
                word.map_or((c.len_utf8(), ""), |(word, directive)| (word.len(), *directive));
            let after = &rest[length..];
            let is_time = c == 'T' && before.ends_with('D') && after.starts_with("HH");
            if directive.is_empty() && c.is_ascii_alphabetic() && !is_time {
                let run = rest.len() - rest.trim_start_matches(c).len();
                let run = display_name(&rest[..run]);
                return Err(refused(text, format!("`{run}` is not a word of date formats")));
            }
            directives.push_str(directive);
            if directive.is_empty() {
                directives.push_str(if c == '%' { "%%" } else { &rest[..length] });
            }
            before = &rest[..length];
            rest = after;
        }
        Ok(Self(directives))
    }

    pub(super) fn write(&self, day: &Zoned) -> String {
        day.strftime(&self.0).to_string()
    }
}

/// True if a format has days but no hours, so that minutes make no sense.
fn is_for_months(text: &str) -> bool {
    !text.contains("HH") && text.contains(['Y', 'y', 'D', 'M'])
}

fn refused(text: &str, why: impl Into<String>) -> Error {
    let near = corrected(text).filter(|corrected| corrected != text && Format::parse(corrected).is_ok());
    let words = WORDS.iter().map(|(word, _)| *word).collect();
    let format = text.to_owned();
    ErrorKind::Pattern(PatternFault::Date { format, why: why.into(), near, words }).into()
}

/// Translates the letters of other programs, as in `yyyy-mm-dd`.
fn corrected(text: &str) -> Option<String> {
    let mut corrected = String::new();
    let mut rest = text;
    while let Some(c) = rest.chars().next() {
        let length = rest.len() - rest.trim_start_matches(c).len();
        let run = rest.get(..length)?;
        corrected.push_str(&match (c, length) {
            ('Y' | 'y', 1 | 3) => "YYYY".to_owned(),
            ('y' | 'h', _) | ('d', 1 | 2) => run.to_ascii_uppercase(),
            ('H', 1) => "HH".to_owned(),
            ('S' | 's', _) => "ss".to_owned(),
            ('m', _) if is_for_months(text) => "MM".to_owned(),
            _ => run.to_owned(),
        });
        rest = rest.get(length..)?;
    }
    Some(corrected)
}
