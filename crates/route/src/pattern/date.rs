//! Days and how they are written.

use jiff::civil::Weekday as FirstDay;
use jiff::{ToSpan, Zoned};

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

    /// How it is written where nothing else is said.
    pub(super) fn usual(self) -> Format {
        Format::parse(match self {
            Self::ThisMonth | Self::LastMonth => "YYYY-MM",
            Self::Weekday => "dddd",
            Self::Month => "MMMM",
            _ => "YYYY-MM-DD",
        })
    }

    /// The day; the first of the week or month where it is about one. At the ends of the calendar it is today.
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
    pub(super) fn parse(text: &str) -> Self {
        let mut directives = String::new();
        let mut rest = text;
        while let Some(c) = rest.chars().next() {
            let word = WORDS.iter().find(|(word, _)| rest.starts_with(word));
            let (length, directive) =
                word.map_or((c.len_utf8(), ""), |(word, directive)| (word.len(), *directive));
            directives.push_str(directive);
            if directive.is_empty() {
                directives.push_str(if c == '%' { "%%" } else { rest.get(..length).unwrap_or_default() });
            }
            rest = rest.get(length..).unwrap_or_default();
        }
        Self(directives)
    }

    pub(super) fn write(&self, day: &Zoned) -> String {
        day.strftime(&self.0).to_string()
    }
}
