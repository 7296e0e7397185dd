//! Timestamps in the formats of logs, and date ranges.

use jiff::civil::{Date, DateTime};
use jiff::tz::TimeZone;
use jiff::{Timestamp, ToSpan, Unit, Zoned};

use crate::error::{Error, RequestFault, Result};

/// The bound between timestamps in seconds and in milliseconds.
const MAX_SECONDS: f64 = 1e11;

/// Parses a timestamp of a log: RFC 3339, with UTC as the default offset, or a number of seconds or
/// milliseconds since 1970.
pub(crate) fn parse(text: &str) -> Option<Timestamp> {
    let text = text.trim();
    if let Ok(time) = text.parse::<Timestamp>() {
        return Some(time);
    }
    if let Ok(time) = text.parse::<DateTime>() {
        return time.to_zoned(TimeZone::UTC).ok().map(|zoned| zoned.timestamp());
    }
    let number: f64 = text.parse().ok()?;
    let milliseconds = if number.abs() > MAX_SECONDS { number } else { number * 1000.0 };
    let fits = milliseconds.is_finite() && milliseconds.abs() < 1e15;
    if fits { Timestamp::from_millisecond(milliseconds as i64).ok() } else { None }
}

/// Parses a time requested by a caller: a timestamp like those of [`parse`], or a day, which means
/// its start in `zone`.
pub(crate) fn parse_requested(text: &str, zone: &TimeZone) -> Result<Timestamp> {
    let day = || if text.trim().len() == 10 { text.trim().parse::<Date>().ok() } else { None };
    let start = day().and_then(|day| day.to_zoned(zone.clone()).ok()).map(|zoned| zoned.timestamp());
    start.or_else(|| parse(text)).ok_or_else(|| RequestFault::Time { given: text.to_owned() }.into())
}

/// Formats a time as RFC 3339 in UTC, with as many fractional digits as it has.
pub(crate) fn to_rfc3339(time: Timestamp) -> String {
    time.to_string()
}

/// Returns the milliseconds between two times.
pub(crate) fn milliseconds(from: Timestamp, to: Timestamp) -> i64 {
    to.as_millisecond() - from.as_millisecond()
}

/// A range of whole days, as half-open interval of times.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Days {
    from: Option<Timestamp>,
    before: Option<Timestamp>,
}

impl Days {
    /// Parses `today`, `yesterday`, `this_week`, `last_week` (the seven days before today),
    /// `last_month`, a day, or `A:B` with both days included, where either may be omitted.
    pub(crate) fn parse(text: &str, now: &Zoned) -> Result<Self> {
        let (first, last) = range(text.trim(), now.date()).ok_or_else(|| invalid_range(text))?;
        if let (Some(first), Some(last)) = (first, last)
            && first > last
        {
            return Err(
                RequestFault::ReversedDays { first: first.to_string(), last: last.to_string() }.into()
            );
        }
        let start = |day: Date| day.to_zoned(now.time_zone().clone()).map(|zoned| zoned.timestamp());
        let invalid = |_: jiff::Error| invalid_range(text);
        let from = first.map(start).transpose().map_err(invalid)?;
        let next = last.map(|last| last.checked_add(1.day()).and_then(start));
        Ok(Self { from, before: next.transpose().map_err(invalid)? })
    }

    /// True if the interval `from..=to` overlaps the range. A missing end equals the other one. An
    /// interval without ends never overlaps.
    pub(crate) fn overlaps(&self, from: Option<Timestamp>, to: Option<Timestamp>) -> bool {
        let (Some(from), Some(to)) = (from.or(to), to.or(from)) else { return false };
        self.before.is_none_or(|before| from < before) && self.from.is_none_or(|start| to >= start)
    }
}

type DayBounds = (Option<Date>, Option<Date>);

fn range(text: &str, today: Date) -> Option<DayBounds> {
    let back = |days: i64| today.checked_sub(days.days()).ok();
    Some(match text {
        "today" => (Some(today), Some(today)),
        "yesterday" => (back(1), back(1)),
        "last_week" => (back(7), back(1)),
        "this_week" => (back(i64::from(today.weekday().to_monday_zero_offset())), Some(today)),
        "last_month" => {
            let last = today.first_of_month().checked_sub(1.day()).ok()?;
            (Some(last.first_of_month()), Some(last))
        }
        _ => match text.split_once(':') {
            Some((first, last)) => (end(first).ok()?, end(last).ok()?),
            None => (Some(text.parse().ok()?), Some(text.parse().ok()?)),
        },
    })
}

/// Parses one end of a range. Empty means open.
fn end(text: &str) -> std::result::Result<Option<Date>, jiff::Error> {
    if text.trim().is_empty() { Ok(None) } else { text.trim().parse().map(Some) }
}

fn invalid_range(text: &str) -> Error {
    RequestFault::Days { given: text.to_owned() }.into()
}

/// Formats a time, rounded to seconds, as fourteen digits: `20260301090000`.
pub(crate) fn compact_timestamp(time: Timestamp) -> String {
    let whole = time.round(Unit::Second).unwrap_or(time);
    whole.strftime("%Y%m%d%H%M%S").to_string()
}

/// Parses a time of fourteen digits.
pub(crate) fn parse_compact_timestamp(text: &str) -> Option<Timestamp> {
    let time = DateTime::strptime("%Y%m%d%H%M%S", text).ok()?;
    time.to_zoned(TimeZone::UTC).ok().map(|zoned| zoned.timestamp())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn days(text: &str, now: &str) -> Result<Days> {
        Days::parse(text, &now.parse().unwrap())
    }

    /// Whether it is the days from one to another.
    fn is(text: &str, now: &str, first: &str, last: &str) -> bool {
        days(text, now).unwrap() == days(&format!("{first}:{last}"), now).unwrap()
    }

    #[test]
    fn parses_times_in_all_forms() {
        let time = parse("2026-03-01T09:00:02.562+00:00").unwrap();
        for text in [
            "2026-03-01T09:00:02.562Z",
            "2026-03-01T10:00:02.562+01:00",
            "2026-03-01T09:00:02.562",
            "1772355602.562",
            "1772355602562",
        ] {
            assert_eq!(parse(text), Some(time), "{text}");
        }
        for text in ["", "soon", "nan", "1e300", "-inf"] {
            assert_eq!(parse(text), None, "{text}");
        }
    }

    #[test]
    fn relative_ranges_cross_month_borders() {
        let now = "2026-03-03T12:00[UTC]";
        assert!(is("today", now, "2026-03-03", "2026-03-03"));
        assert!(is("yesterday", now, "2026-03-02", "2026-03-02"));
        assert!(is("last_week", now, "2026-02-24", "2026-03-02"));
        assert!(is("this_week", now, "2026-03-02", "2026-03-03"));
        assert!(is("last_month", now, "2026-02-01", "2026-02-28"));
        assert!(is("last_month", "2026-01-31T00:00[UTC]", "2025-12-01", "2025-12-31"));
        assert!(is("last_week", "2026-01-01T00:00[UTC]", "2025-12-25", "2025-12-31"));
        assert!(is("2026-02-28", now, "2026-02-28", "2026-02-28"));
    }

    #[test]
    fn ranges_include_both_days_and_may_be_open() {
        let now = "2026-03-03T12:00[Europe/Berlin]";
        let time = |text: &str| parse(text);
        let range = days("2026-03-01:2026-03-02", now).unwrap();
        assert!(range.overlaps(time("2026-02-28T23:00:00Z"), None), "midnight in Berlin");
        assert!(!range.overlaps(time("2026-02-28T22:59:59Z"), None));
        assert!(range.overlaps(time("2026-03-02T22:59:59Z"), None));
        assert!(!range.overlaps(time("2026-03-02T23:00:00Z"), None));
        assert!(range.overlaps(time("2026-01-01T00:00:00Z"), time("2026-04-01T00:00:00Z")));
        assert!(!range.overlaps(None, None));
        assert!(days("2026-03-01:", now).unwrap().overlaps(time("2030-01-01T00:00:00Z"), None));
        assert!(days(":2026-03-01", now).unwrap().overlaps(time("1999-01-01T00:00:00Z"), None));
    }

    #[test]
    fn r45_explains_invalid_ranges() {
        for text in ["", "tomorrow", "2026-13-01", "2026-01-01:x", "a:b:c"] {
            let error = days(text, "2026-03-03T12:00[UTC]").unwrap_err().to_string();
            assert!(error.contains("write today"), "{error}");
        }
        let error = days("2026-03-02:2026-03-01", "2026-03-03T12:00[UTC]").unwrap_err().to_string();
        assert_eq!(error, "the range ends before it begins; write 2026-03-01:2026-03-02");
    }

    #[test]
    fn compact_timestamps_round_trip() {
        let time = parse("2026-03-01T09:05:07Z").unwrap();
        assert_eq!(compact_timestamp(time), "20260301090507");
        assert_eq!(parse_compact_timestamp("20260301090507"), Some(time));
        assert_eq!(parse_compact_timestamp("0"), None);
    }

    #[test]
    fn day_starts_in_the_given_zone() {
        let zone = TimeZone::get("Europe/Berlin").unwrap();
        assert_eq!(parse_requested("2026-03-01", &zone).unwrap(), parse("2026-02-28T23:00:00Z").unwrap());
        assert_eq!(
            parse_requested("2026-03-01T00:00:00Z", &zone).unwrap(),
            parse("2026-03-01T00:00:00Z").unwrap()
        );
        assert!(
            parse_requested("soon", &zone).unwrap_err().to_string().contains("like 2026-03-01T09:00:00Z")
        );
    }
}
