//! Names with patterns in braces, such as `results/{today}`, and their resolution at a point in
//! time.

mod date;

use std::fmt;

use jiff::Zoned;
use jiff::civil::Weekday;
use trommel_base::nearest_one;

use crate::error::{Error, ErrorKind, PatternFault, Result};
use date::{Day, Format};

/// Default number of files selected by `{latest}` and `{pending}`.
const DEFAULT_FILES: usize = 10;

/// Maximum length of a name in bytes.
const MAX_BYTES: usize = 1_024;

/// A path or a name with patterns in braces.
///
/// Dates are `{today}`, `{yesterday}`, and `{tomorrow}`; `{this-week}`, `{last-week}`, and
/// `{next-week}` for the first day of a week; `{this-month}` and `{last-month}`; `{day-name}` and
/// `{month-name}`. A format may follow after a colon, as in `{today:YYYYMMDD}`. Its words are `YYYY
/// YY MMMM MMM MM M DD D dddd ddd HH mm ss`; other letters must be in brackets, as in `[week]`.
///
/// In inputs, `{latest}` and `{pending}` select files. Double a literal brace: `{{`, `}}`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pattern {
    text: String,
    pieces: Vec<Excerpt>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Excerpt {
    Literal(String),
    Date(Day, Format),
    Files(Files),
}

/// The files that a pattern selects.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Files {
    /// The newest `n`.
    Latest(usize),
    /// The oldest `n` that no run has read yet.
    Pending(usize),
}

/// The point in time that patterns are resolved at.
#[derive(Clone, Debug)]
pub struct Now {
    time: Zoned,
    week_starts: Weekday,
}

impl Now {
    /// The current time in the local time zone. Weeks start on Monday.
    pub fn local() -> Self {
        Self::at(Zoned::now())
    }

    /// The given time. Weeks start on Monday.
    pub fn at(time: Zoned) -> Self {
        Self { time, week_starts: Weekday::Monday }
    }

    /// Sets the first day of the week by its English name. The error for an unknown name lists the
    /// valid ones.
    pub fn week_starts(mut self, day: &str) -> Result<Self> {
        let days = Weekday::Monday.cycle_forward().take(7);
        let named = days.zip(date::DAYS).find(|(_, name)| name.eq_ignore_ascii_case(day.trim()));
        let Some((day, _)) = named else {
            return refuse(PatternFault::Weekday { day: day.to_owned(), known: &date::DAYS });
        };
        self.week_starts = day;
        Ok(self)
    }

    /// The point in time.
    pub fn time(&self) -> &Zoned {
        &self.time
    }
}

impl Pattern {
    /// Parses a name. The error for an unknown pattern lists the valid ones.
    pub fn parse(text: &str) -> Result<Self> {
        if text.len() > MAX_BYTES {
            return refuse(PatternFault::Long { bytes: text.len(), limit: MAX_BYTES });
        }
        let mut pieces = Vec::new();
        let mut literal = String::new();
        let mut rest = text;
        while let Some(at) = rest.find(['{', '}']) {
            let (before, brace) = rest.split_at(at);
            literal.push_str(before);
            let doubled = brace.get(..2).filter(|two| matches!(*two, "{{" | "}}"));
            if let Some(two) = doubled {
                literal.push_str(&two[..1]);
                rest = &brace[2..];
                continue;
            }
            let inside = brace.strip_prefix('{').and_then(|inside| inside.split_once('}'));
            let Some((inside, after)) = inside else {
                return refuse(PatternFault::Brace(text.to_owned()));
            };
            if !literal.is_empty() {
                pieces.push(Excerpt::Literal(std::mem::take(&mut literal)));
            }
            pieces.push(Excerpt::parse(inside)?);
            rest = after;
        }
        literal.push_str(rest);
        if !literal.is_empty() {
            pieces.push(Excerpt::Literal(literal));
        }
        if pieces.iter().filter(|piece| matches!(piece, Excerpt::Files(_))).count() > 1 {
            return refuse(PatternFault::Twice(text.to_owned()));
        }
        Ok(Self { text: text.to_owned(), pieces })
    }

    /// A name whose braces are all literal.
    pub fn literal(name: &str) -> Self {
        let text = name.replace('{', "{{").replace('}', "}}");
        Self { text, pieces: vec![Excerpt::Literal(name.to_owned())] }
    }

    /// The text of the name, with its patterns.
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// The files selected by the name, if it has such a pattern.
    pub fn files(&self) -> Option<Files> {
        self.pieces.iter().find_map(|piece| match piece {
            Excerpt::Files(files) => Some(*files),
            _ => None,
        })
    }

    /// Resolves the name at a point in time. A pattern that selects files becomes `*`.
    pub fn resolve(&self, now: &Now) -> String {
        let text = |piece: &Excerpt| match piece {
            Excerpt::Literal(text) => text.clone(),
            Excerpt::Date(day, format) => format.write(&day.resolve(&now.time, now.week_starts)),
            Excerpt::Files(_) => "*".to_owned(),
        };
        self.pieces.iter().map(text).collect()
    }
}

impl fmt::Display for Pattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl Excerpt {
    fn parse(inside: &str) -> Result<Self> {
        let (name, detail) = match inside.split_once(':') {
            Some((name, detail)) => (name.trim(), Some(detail)),
            None => (inside.trim(), None),
        };
        let name = name.replace('_', "-").to_ascii_lowercase();
        if let Some(day) = Day::from_name(&name) {
            let format = detail.map_or_else(|| Ok(day.default_format()), Format::parse)?;
            return Ok(Self::Date(day, format));
        }
        let files: fn(usize) -> Files = match name.as_str() {
            "latest" => Files::Latest,
            "pending" => Files::Pending,
            _ => return Err(unknown(&name)),
        };
        let number = detail.map_or(Ok(DEFAULT_FILES), |detail| detail.trim().parse());
        match number {
            Ok(number) if (1..=1_000).contains(&number) => Ok(Self::Files(files(number))),
            _ => refuse(PatternFault::Number(inside.to_owned())),
        }
    }
}

fn refuse<T>(fault: PatternFault) -> Result<T> {
    Err(ErrorKind::Pattern(fault).into())
}

fn unknown(name: &str) -> Error {
    let known: Vec<_> = Day::NAMES.iter().map(|(name, _)| *name).chain(["latest", "pending"]).collect();
    let near = nearest_one(name, known.iter().copied());
    ErrorKind::Pattern(PatternFault::Unknown { name: name.to_owned(), near, known }).into()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn now() -> Now {
        // A Wednesday.
        Now::at("2026-03-04T05:06:07[UTC]".parse().unwrap())
    }

    fn resolved(text: &str) -> String {
        Pattern::parse(text).unwrap().resolve(&now())
    }

    #[test]
    fn resolves_every_pattern() {
        for (pattern, date) in [
            ("{today}", "2026-03-04"),
            ("{yesterday}", "2026-03-03"),
            ("{tomorrow}", "2026-03-05"),
            ("{this-week}", "2026-03-02"),
            ("{last-week}", "2026-02-23"),
            ("{next-week}", "2026-03-09"),
            ("{this-month}", "2026-03"),
            ("{last-month}", "2026-02"),
            ("{day-name}", "Wednesday"),
            ("{month-name}", "March"),
            ("{today:YYYY/MM/DD HH-mm-ss}", "2026/03/04 05-06-07"),
            ("{today:YY M D MMM MMMM ddd dddd}", "26 3 4 Mar March Wed Wednesday"),
            ("{day_name:ddd}", "Wed"),
            ("{Today}", "2026-03-04"),
            ("a{{b}}c", "a{b}c"),
            ("results/{today}-{last-month:MM}.md", "results/2026-03-04-02.md"),
            ("notes/{latest:3}", "notes/*"),
        ] {
            assert_eq!(resolved(pattern), date, "{pattern}");
        }
    }

    #[test]
    fn weeks_start_on_the_configured_day() {
        let sunday = now().week_starts("Sunday").unwrap();
        assert_eq!(Pattern::parse("{this-week}").unwrap().resolve(&sunday), "2026-03-01");
        let error = now().week_starts("someday").unwrap_err();
        assert!(matches!(error.kind(), ErrorKind::Pattern(PatternFault::Weekday { .. })));
        assert!(error.to_string().contains("monday"), "{error}");
    }

    #[test]
    fn r45_invalid_patterns_are_explained() {
        let message = |text: &str| Pattern::parse(text).unwrap_err().to_string();
        assert!(message("{todya}").contains("did you mean {today}?"), "{}", message("{todya}"));
        assert!(message("a{today").contains("unbalanced brace"));
        assert!(message("a}").contains("unbalanced brace"));
        assert!(message("{latest:0}").contains("from 1 to 1000"));
        assert!(message("{latest}/{pending}").contains("twice"));
        assert!(message(&"x".repeat(2_000)).contains("1024"));
    }

    #[test]
    fn refuses_ambiguous_date_formats() {
        let error_text = |text: &str| Pattern::parse(text).unwrap_err().to_string();
        for (format, hint) in [
            ("yyyy-mm-dd", "did you mean `YYYY-MM-DD`?"),
            ("YYYY-mm-DD", "did you mean `YYYY-MM-DD`?"),
            ("YYYY-MM-dd", "did you mean `YYYY-MM-DD`?"),
            ("yyyymmdd", "did you mean `YYYYMMDD`?"),
            ("hh:mm", "did you mean `HH:mm`?"),
            ("QQ", "`QQ` is not a word of date formats"),
            ("YYYY-Www", "put other letters in brackets"),
            ("mm-YYYY", "`mm` is minutes"),
        ] {
            let message = error_text(&format!("{{today:{format}}}"));
            assert!(message.contains(hint), "{format}: {message}");
        }
        assert_eq!(resolved("{today:YYYY-MM-DDTHH-mm-ss}"), "2026-03-04T05-06-07");
        assert_eq!(resolved("{today:[week of] D. MMM [100%]}"), "week of 4. Mar 100%");
        assert_eq!(resolved("{today:mm-ss} {today:HHmm}"), "06-07 0506");
    }

    #[test]
    fn literals_are_not_resolved() {
        let pattern = Pattern::literal("a{today}");
        assert_eq!(pattern.resolve(&now()), "a{today}");
        assert_eq!(Pattern::parse(pattern.as_str()).unwrap().resolve(&now()), "a{today}");
    }
}
