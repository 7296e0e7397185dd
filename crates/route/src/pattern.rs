//! Names with patterns in braces, such as `results/{today}`, and what they stand for at some time.

mod date;

use std::fmt;

use jiff::Zoned;
use jiff::civil::Weekday;
use trommel_base::nearest_one;

use crate::error::{Error, ErrorKind, PatternFault, Result};
use date::{Day, Format};

/// Files that `{latest}` and `{pending}` stand for unless a number follows.
const FILES: usize = 10;

/// Bytes of a name at most.
const LONGEST: usize = 1_024;

/// A path or a name with patterns in braces.
///
/// Dates: `{today}`, `{yesterday}`, `{tomorrow}`; `{this-week}`, `{last-week}`, `{next-week}`, the
/// first day of the week; `{this-month}`, `{last-month}`; `{day-name}`, `{month-name}`. Each takes
/// a format behind a colon, `{today:YYYYMMDD}`, of the words `YYYY YY MMMM MMM MM M DD D dddd ddd
/// HH mm ss`; other letters go in brackets, `[week]`. In inputs, `{latest}` and `{pending}` select
/// files. A literal brace is doubled: `{{`, `}}`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pattern {
    text: String,
    pieces: Vec<Piece>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Piece {
    Literal(String),
    Date(Day, Format),
    Files(Files),
}

/// Which files of a folder a pattern stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Files {
    /// The newest so many.
    Latest(usize),
    /// The oldest so many that no run has had yet.
    Pending(usize),
}

/// The time that patterns are about.
#[derive(Clone, Debug)]
pub struct Now {
    time: Zoned,
    week_starts: Weekday,
}

impl Now {
    /// This moment, in the local time zone; weeks begin on Monday.
    pub fn local() -> Self {
        Self::at(Zoned::now())
    }

    /// Another moment.
    pub fn at(time: Zoned) -> Self {
        Self { time, week_starts: Weekday::Monday }
    }

    /// Lets weeks begin on another day, by its English name. An error names the days.
    pub fn week_starts(mut self, day: &str) -> Result<Self> {
        let days = Weekday::Monday.cycle_forward().take(7);
        let named = days.zip(date::DAYS).find(|(_, name)| name.eq_ignore_ascii_case(day.trim()));
        let Some((day, _)) = named else {
            return refuse(PatternFault::Weekday { day: day.to_owned(), known: &date::DAYS });
        };
        self.week_starts = day;
        Ok(self)
    }

    /// The moment.
    pub fn time(&self) -> &Zoned {
        &self.time
    }
}

impl Pattern {
    /// Reads a name. An error names the pattern that does not exist, and those that do.
    pub fn parse(text: &str) -> Result<Self> {
        if text.len() > LONGEST {
            return refuse(PatternFault::Long { bytes: text.len(), limit: LONGEST });
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
            let Some((inside, behind)) = inside else {
                return refuse(PatternFault::Brace(text.to_owned()));
            };
            if !literal.is_empty() {
                pieces.push(Piece::Literal(std::mem::take(&mut literal)));
            }
            pieces.push(Piece::parse(inside)?);
            rest = behind;
        }
        literal.push_str(rest);
        if !literal.is_empty() {
            pieces.push(Piece::Literal(literal));
        }
        if pieces.iter().filter(|piece| matches!(piece, Piece::Files(_))).count() > 1 {
            return refuse(PatternFault::Twice(text.to_owned()));
        }
        Ok(Self { text: text.to_owned(), pieces })
    }

    /// A name in which every brace is meant.
    pub fn literal(name: &str) -> Self {
        let text = name.replace('{', "{{").replace('}', "}}");
        Self { text, pieces: vec![Piece::Literal(name.to_owned())] }
    }

    /// The name as it was written.
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// Which files it asks for, if it does.
    pub fn files(&self) -> Option<Files> {
        self.pieces.iter().find_map(|piece| match piece {
            Piece::Files(files) => Some(*files),
            _ => None,
        })
    }

    /// The name at some time. Where it asks for files, `*` stands.
    pub fn resolve(&self, now: &Now) -> String {
        let text = |piece: &Piece| match piece {
            Piece::Literal(text) => text.clone(),
            Piece::Date(day, format) => format.write(&day.of(&now.time, now.week_starts)),
            Piece::Files(_) => "*".to_owned(),
        };
        self.pieces.iter().map(text).collect()
    }
}

impl fmt::Display for Pattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl Piece {
    fn parse(inside: &str) -> Result<Self> {
        let (name, detail) = match inside.split_once(':') {
            Some((name, detail)) => (name.trim(), Some(detail)),
            None => (inside.trim(), None),
        };
        let name = name.replace('_', "-").to_ascii_lowercase();
        if let Some(day) = Day::of_name(&name) {
            let format = detail.map_or_else(|| Ok(day.usual()), Format::parse)?;
            return Ok(Self::Date(day, format));
        }
        let files: fn(usize) -> Files = match name.as_str() {
            "latest" => Files::Latest,
            "pending" => Files::Pending,
            _ => return Err(unknown(&name)),
        };
        let number = detail.map_or(Ok(FILES), |detail| detail.trim().parse());
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
    fn every_pattern_has_its_date() {
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
    fn weeks_begin_where_they_are_said_to() {
        let sunday = now().week_starts("Sunday").unwrap();
        assert_eq!(Pattern::parse("{this-week}").unwrap().resolve(&sunday), "2026-03-01");
        let error = now().week_starts("someday").unwrap_err();
        assert!(matches!(error.kind(), ErrorKind::Pattern(PatternFault::Weekday { .. })));
        assert!(error.to_string().contains("monday"), "{error}");
    }

    #[test]
    fn r45_what_is_no_pattern_is_explained() {
        let said = |text: &str| Pattern::parse(text).unwrap_err().to_string();
        assert!(said("{todya}").contains("Did you mean {today}?"), "{}", said("{todya}"));
        assert!(said("a{today").contains("has no partner"));
        assert!(said("a}").contains("has no partner"));
        assert!(said("{latest:0}").contains("from 1 to 1000"));
        assert!(said("{latest}/{pending}").contains("twice"));
        assert!(said(&"x".repeat(2_000)).contains("1024"));
    }

    #[test]
    fn refuses_date_formats_that_would_be_taken_as_text() {
        let said = |text: &str| Pattern::parse(text).unwrap_err().to_string();
        for (format, hint) in [
            ("yyyy-mm-dd", "Did you mean `YYYY-MM-DD`?"),
            ("YYYY-mm-DD", "Did you mean `YYYY-MM-DD`?"),
            ("YYYY-MM-dd", "Did you mean `YYYY-MM-DD`?"),
            ("yyyymmdd", "Did you mean `YYYYMMDD`?"),
            ("hh:mm", "Did you mean `HH:mm`?"),
            ("QQ", "`QQ` is not a word of date formats"),
            ("YYYY-Www", "put other letters in brackets"),
            ("mm-YYYY", "`mm` is minutes"),
        ] {
            let message = said(&format!("{{today:{format}}}"));
            assert!(message.contains(hint), "{format}: {message}");
        }
        assert_eq!(resolved("{today:YYYY-MM-DDTHH-mm-ss}"), "2026-03-04T05-06-07");
        assert_eq!(resolved("{today:[week of] D. MMM [100%]}"), "week of 4. Mar 100%");
        assert_eq!(resolved("{today:mm-ss} {today:HHmm}"), "06-07 0506");
    }

    #[test]
    fn a_literal_is_taken_as_it_stands() {
        let pattern = Pattern::literal("a{today}");
        assert_eq!(pattern.resolve(&now()), "a{today}");
        assert_eq!(Pattern::parse(pattern.as_str()).unwrap().resolve(&now()), "a{today}");
    }
}
