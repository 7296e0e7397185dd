//! Days and how they are written.

use jiff::civil::Weekday as FirstDay;
use jiff::{ToSpan, Zoned};
use trommel_base::text::shown_name;

use crate::error::{Error, ErrorKind, PatternFault, Result};

/// The days from Monday on, as a week may be said to begin with.
pub(super) const DAYS: [&str; 7] =
    ["monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"];

/// A day by its place before or after today.
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

    pub(super) fn of_name(name: &str) -> Option<Self> {
        Self::NAMES.iter().find(|(known, _)| *known == name).map(|(_, day)| *day)
    }

    /// The format where none is given.
    pub(super) fn usual(self) -> Format {
        let directives = match self {
            Self::ThisMonth | Self::LastMonth => "%Y-%m",
            Self::Weekday => "%A",
            Self::Month => "%B",
            _ => "%Y-%m-%d",
        };
        Format(directives.to_owned())
    }

    /// The day; the first of the week or month where it is about one. At the ends of the calendar
    /// it is today.
    pub(super) fn of(self, now: &Zoned, week_starts: FirstDay) -> Zoned {
        let since = i64::from(now.weekday().since(week_starts));
        let span = match self {
            Self::Today | Self::Weekday | Self::Month | Self::ThisMonth => return now.clone(),
            Self::Yesterday => (-1).days(),
            Self::Tomorrow => 1.days(),
            Self::ThisWeek => (-since).days(),
            Self::LastWeek => (-since - 7).days(),
            Self::NextWeek => (7 - since).days(),
            // Of any length, it ends the day before the first of this one.
            Self::LastMonth => (-i64::from(now.day())).days(),
        };
        now.checked_add(span).unwrap_or_else(|_| now.clone())
    }
}

/// How a day is written: words that stand for a part of it, and what stands between them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Format(String);

/// The words, those before others that they begin with, and what they are for the formatter.
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
    /// Reads a format. Letters that are no word of it must be in brackets, `[week]`: `yyyy-mm`
    /// would otherwise be the minutes of a year. The `T` between a date and a time needs none.
    pub(super) fn parse(text: &str) -> Result<Self> {
        let mut directives = String::new();
        let mut rest = text;
        let mut before = "";
        while let Some(c) = rest.chars().next() {
            let literal = rest.strip_prefix('[').and_then(|inside| inside.split_once(']'));
            if let Some((inside, behind)) = literal {
                directives.push_str(&inside.replace('%', "%%"));
                (rest, before) = (behind, "");
                continue;
            }
            let word = WORDS.iter().find(|(word, _)| rest.starts_with(word));
            if word.is_some_and(|(word, _)| *word == "mm" && is_for_months(text)) {
                return Err(refused(text, "`mm` is minutes, and the month is `MM`"));
            }
            let (length, directive) =
                word.map_or((c.len_utf8(), ""), |(word, directive)| (word.len(), *directive));
            let behind = &rest[length..];
            let is_time = c == 'T' && before.ends_with('D') && behind.starts_with("HH");
            if directive.is_empty() && c.is_ascii_alphabetic() && !is_time {
                let run = rest.len() - rest.trim_start_matches(c).len();
                let run = shown_name(&rest[..run]);
                return Err(refused(text, format!("`{run}` is not a word of date formats")));
            }
            directives.push_str(directive);
            if directive.is_empty() {
                directives.push_str(if c == '%' { "%%" } else { &rest[..length] });
            }
            before = &rest[..length];
            rest = behind;
        }
        Ok(Self(directives))
    }

    pub(super) fn write(&self, day: &Zoned) -> String {
        day.strftime(&self.0).to_string()
    }
}

/// True if a format is about days and has no hours, so that minutes in it make no sense.
fn is_for_months(text: &str) -> bool {
    !text.contains("HH") && text.contains(['Y', 'y', 'D', 'M'])
}

fn refused(text: &str, why: impl Into<String>) -> Error {
    let near = respelled(text).filter(|spelled| spelled != text && Format::parse(spelled).is_ok());
    let words = WORDS.iter().map(|(word, _)| *word).collect();
    let format = text.to_owned();
    ErrorKind::Pattern(PatternFault::Date { format, why: why.into(), near, words }).into()
}

/// A format in the letters of other programs, such as `yyyy-mm-dd`, in ours.
fn respelled(text: &str) -> Option<String> {
    let mut spelled = String::new();
    let mut rest = text;
    while let Some(c) = rest.chars().next() {
        let length = rest.len() - rest.trim_start_matches(c).len();
        let run = rest.get(..length)?;
        spelled.push_str(&match (c, length) {
            ('Y' | 'y', 1 | 3) => "YYYY".to_owned(),
            ('y' | 'h', _) | ('d', 1 | 2) => run.to_ascii_uppercase(),
            ('H', 1) => "HH".to_owned(),
            ('S' | 's', _) => "ss".to_owned(),
            ('m', _) if is_for_months(text) => "MM".to_owned(),
            _ => run.to_owned(),
        });
        rest = rest.get(length..)?;
    }
    Some(spelled)
}
