//! Parsers of option values.

use std::num::{IntErrorKind, ParseIntError};
use std::str::FromStr;
use std::time::Duration;

use bytesize::ByteSize;
use jiff::Timestamp;
use jiff::civil::Date;
use jiff::tz::TimeZone;
use serde_json::Value;
use trommel::reader::{Config, Cursor, compact};

use super::{NamedQuery, output_id};

/// Parses a size in bytes: a number, or a number with a unit such as `MB` (1000s) or `MiB` (1024s).
pub(super) fn size(text: &str) -> Result<u64, String> {
    let size = text.parse::<ByteSize>().ok();
    size.map(|size| size.as_u64()).ok_or_else(|| "expected a size, such as 1000000, 500MB, or 2GiB".into())
}

/// Parses a query with an optional name.
#[expect(clippy::unnecessary_wraps, reason = "the command parses the query")]
pub(super) fn named_query(text: &str) -> Result<NamedQuery, String> {
    // A name may contain `=`, so the first `=$` separates name and query.
    let named = text.split_once("=$").filter(|(name, _)| !name.is_empty() && !text.starts_with('$'));
    Ok(match named {
        Some((name, query)) => NamedQuery { name: Some(name.into()), query: format!("${query}") },
        None => NamedQuery { name: None, query: text.into() },
    })
}

/// Parses a positive integer.
pub(super) fn at_least_one<N: FromStr<Err = ParseIntError>>(text: &str) -> Result<N, String> {
    text.parse().map_err(|error: ParseIntError| match error.kind() {
        IntErrorKind::Zero => "must be at least 1".into(),
        IntErrorKind::PosOverflow => "is too large".into(),
        _ => "expected an integer of at least 1".into(),
    })
}

/// Lines of a text, both included. Negative numbers count from the end.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct LineRange {
    pub(crate) start: i64,
    /// `None` for the last line.
    pub(crate) end: Option<i64>,
}

/// Parses a range of lines: `A:B`, `A:`, `:B`, or `A`.
pub(super) fn lines(text: &str) -> Result<LineRange, String> {
    let number = |text: &str| text.parse::<i64>().ok().filter(|line| *line != 0);
    let range = match text.split_once(':') {
        None => number(text).map(|line| LineRange { start: line, end: Some(line) }),
        Some((start, end)) => {
            let start = if start.is_empty() { Some(1) } else { number(start) };
            let end = if end.is_empty() { Some(None) } else { number(end).map(Some) };
            start.zip(end).map(|(start, end)| LineRange { start, end })
        }
    };
    range.ok_or_else(|| "expected lines, such as 5:9, 100:, :20, or -20:; they count from 1".into())
}

/// Parses a seed: any 64-bit integer. A negative seed means its two's complement.
pub(super) fn seed(text: &str) -> Result<u64, String> {
    let signed = || text.parse::<i64>().map(i64::cast_unsigned).ok();
    let seed = text.parse::<u64>().ok().or_else(signed);
    seed.ok_or_else(|| "expected a 64-bit integer".into())
}

/// Parses a JSON text and removes insignificant white space. Numbers stay as written, which
/// `serde_json` would not guarantee.
pub(super) fn json(text: &str) -> Result<String, String> {
    let mut cursor = Cursor::new(text.as_bytes(), &Config::new());
    while cursor.advance().map_err(|error| error.to_string())?.is_some() {}
    let mut value = Vec::with_capacity(text.len());
    compact(text.as_bytes(), &mut value);
    String::from_utf8(value).map_err(|error| error.to_string())
}

/// Parses a JSON text into a value.
pub(super) fn value(text: &str) -> Result<Value, String> {
    serde_json::from_str(text).map_err(|error| error.to_string())
}

/// Parses an output ID, with or without a leading `output:`.
#[expect(clippy::unnecessary_wraps, reason = "the store validates IDs")]
pub(super) fn id(text: &str) -> Result<String, String> {
    Ok(output_id(text).unwrap_or(text).to_owned())
}

/// Parses a time: Unix time in seconds or milliseconds, a date (midnight in the local time zone),
/// or an RFC 3339 time. Times become seconds unless they have a fraction of a second, because small
/// milliseconds would be mistaken for seconds.
pub(super) fn time(text: &str) -> Result<i64, String> {
    let time = || text.parse::<Timestamp>().ok();
    let date = || Some(text.parse::<Date>().ok()?.to_zoned(TimeZone::system()).ok()?.timestamp());
    let unix = |time: Timestamp| match time.subsec_millisecond() {
        0 => time.as_second(),
        _ => time.as_millisecond(),
    };
    let found = text.parse().ok().or_else(|| time().or_else(date).map(unix));
    found.ok_or_else(|| "expected a time, such as 2026-01-31, 2026-01-31T12:00:00Z, or 1769817600".into())
}

/// Parses a time span in seconds, with an optional fraction.
pub(super) fn seconds(text: &str) -> Result<Duration, String> {
    let seconds = text.parse().ok().and_then(|seconds| Duration::try_from_secs_f64(seconds).ok());
    seconds.filter(|span| !span.is_zero()).ok_or_else(|| "expected seconds, such as 30 or 0.5".into())
}

/// Parses a time span in days, with an optional fraction.
pub(super) fn days(text: &str) -> Result<Duration, String> {
    const DAY: f64 = 86_400.0;
    let days: Option<f64> = text.parse().ok();
    let span = days.and_then(|days| Duration::try_from_secs_f64(days * DAY).ok());
    span.ok_or_else(|| "expected days, such as 30 or 0.5".into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_have_units_of_both_kinds() {
        for (text, bytes) in [("0", 0), ("10", 10), ("8GiB", 8 << 30), ("1 MB", 1_000_000), ("1.5KiB", 1536)]
        {
            assert_eq!(size(text), Ok(bytes), "{text}");
        }
        for text in ["", "much", "-1", "1 parsec"] {
            assert!(size(text).is_err(), "{text}");
        }
    }

    #[test]
    fn counts_are_at_least_one() {
        let number = at_least_one::<std::num::NonZeroU32>;
        assert_eq!(number("7").map(std::num::NonZeroU32::get), Ok(7));
        for (text, message) in [
            ("0", "must be at least 1"),
            ("-1", "expected an integer of at least 1"),
            ("many", "expected an integer of at least 1"),
            ("4294967296", "is too large"),
        ] {
            assert_eq!(number(text), Err(message.into()), "{text}");
        }
    }

    #[test]
    fn seeds_are_any_64_bits() {
        assert_eq!(seed("18446744073709551615"), Ok(u64::MAX));
        assert_eq!(seed("-1"), Ok(u64::MAX));
        assert!(seed("1.5").is_err() && seed("18446744073709551616").is_err());
    }

    #[test]
    fn times_are_numbers_dates_or_rfc_3339() {
        assert_eq!(time("1700000000"), Ok(1_700_000_000));
        assert_eq!(time("-5"), Ok(-5));
        assert_eq!(time("2023-11-14T22:13:20Z"), Ok(1_700_000_000));
        assert_eq!(time("2023-11-14T22:13:20.5Z"), Ok(1_700_000_000_500));
        let midnight = time("2023-11-14").unwrap();
        assert!((1_699_833_600..1_700_006_400).contains(&midnight), "{midnight}");
        assert!(time("yesterday").is_err() && time("2023-13-01").is_err());
    }

    #[test]
    fn seconds_are_positive_and_days_not_negative() {
        assert_eq!(seconds("0.5"), Ok(Duration::from_millis(500)));
        assert_eq!(days("0"), Ok(Duration::ZERO));
        assert_eq!(days("2"), Ok(Duration::from_hours(48)));
        for text in ["0", "-1", "NaN", "inf", "1e300", "soon"] {
            assert!(seconds(text).is_err(), "{text}");
        }
        assert!(days("-1").is_err() && days("inf").is_err());
    }

    #[test]
    fn ids_may_have_the_prefix_of_inputs() {
        assert_eq!((id("output:abc"), id("abc")), (Ok("abc".into()), Ok("abc".into())));
    }

    #[test]
    fn default_values_are_json() {
        assert_eq!(json(" {\"a\": [1.0 , \"b c\"]} "), Ok("{\"a\":[1.0,\"b c\"]}".into()));
        assert!(json("N/A").is_err() && json("").is_err() && json("1 2").is_err());
    }
}
