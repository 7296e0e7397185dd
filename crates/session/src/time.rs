//! Times as logs spell them, and ranges of days.

use jiff::civil::{Date, DateTime};
use jiff::tz::TimeZone;
use jiff::{Timestamp, ToSpan, Unit, Zoned};

use crate::error::{Error, RequestFault, Result};

/// Above it a number of a time counts milliseconds, else seconds.
const SECONDS: f64 = 1e11;

/// A time as logs spell it: RFC 3339, or without an offset, which is then UTC; or a number of
/// seconds or milliseconds since 1970.
pub(crate) fn parse(text: &str) -> Option<Timestamp> {
    let text = text.trim();
    if let Ok(time) = text.parse::<Timestamp>() {
        return Some(time);
    }
    if let Ok(time) = text.parse::<DateTime>() {
        return time.to_zoned(TimeZone::UTC).ok().map(|zoned| zoned.timestamp());
    }
    let number: f64 = text.parse().ok()?;
    let milliseconds = if number.abs() > SECONDS { number } else { number * 1000.0 };
    let fits = milliseconds.is_finite() && milliseconds.abs() < 1e15;
    if fits { Timestamp::from_millisecond(milliseconds as i64).ok() } else { None }
}

/// A time asked for by a caller: as [`parse`] takes it, or a day, which is its beginning in this
/// zone.
pub(crate) fn asked(text: &str, zone: &TimeZone) -> Result<Timestamp> {
    let day = || if text.trim().len() == 10 { text.trim().parse::<Date>().ok() } else { None };
    let begins = day().and_then(|day| day.to_zoned(zone.clone()).ok()).map(|zoned| zoned.timestamp());
    begins.or_else(|| parse(text)).ok_or_else(|| RequestFault::Time { given: text.to_owned() }.into())
}

/// RFC 3339 in UTC, with as many digits as the time has.
pub(crate) fn spelt(time: Timestamp) -> String {
    time.to_string()
}

/// Milliseconds between two times.
pub(crate) fn milliseconds(from: Timestamp, to: Timestamp) -> i64 {
    to.as_millisecond() - from.as_millisecond()
}

/// Whole days, as times: from the first until before the last.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Days {
    from: Option<Timestamp>,
    before: Option<Timestamp>,
}

impl Days {
    /// `today`, `yesterday`, `this_week`, `last_week` (the seven days before today), `last_month`,
    /// a day, or `A:B` with both days included, either of which may be left out.
    pub(crate) fn parse(text: &str, now: &Zoned) -> Result<Self> {
        let (first, last) = range(text.trim(), now.date()).ok_or_else(|| wrong(text))?;
        if let (Some(first), Some(last)) = (first, last)
            && first > last
        {
            return Err(
                RequestFault::ReversedDays { first: first.to_string(), last: last.to_string() }.into()
            );
        }
        let begins = |day: Date| day.to_zoned(now.time_zone().clone()).map(|zoned| zoned.timestamp());
        let wrong = |_: jiff::Error| wrong(text);
        let from = first.map(begins).transpose().map_err(wrong)?;
        let next = last.map(|last| last.checked_add(1.day()).and_then(begins));
        Ok(Self { from, before: next.transpose().map_err(wrong)? })
    }

    /// Whether something that lasted from one time to another lies in it, be it in part. What has
    /// no times lies in none.
    pub(crate) fn touches(&self, from: Option<Timestamp>, to: Option<Timestamp>) -> bool {
        let (Some(from), Some(to)) = (from.or(to), to.or(from)) else { return false };
        self.before.is_none_or(|before| from < before) && self.from.is_none_or(|start| to >= start)
    }
}

type Ends = (Option<Date>, Option<Date>);

fn range(text: &str, today: Date) -> Option<Ends> {
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

/// One end of a range, which may be open.
fn end(text: &str) -> std::result::Result<Option<Date>, jiff::Error> {
    if text.trim().is_empty() { Ok(None) } else { text.trim().parse().map(Some) }
}

fn wrong(text: &str) -> Error {
    RequestFault::Days { given: text.to_owned() }.into()
}

/// A time rounded to whole seconds, as fourteen digits: `20260301090000`.
pub(crate) fn digits(time: Timestamp) -> String {
    let whole = time.round(Unit::Second).unwrap_or(time);
    whole.strftime("%Y%m%d%H%M%S").to_string()
}

/// The time that fourteen digits stand for.
pub(crate) fn undigits(text: &str) -> Option<Timestamp> {
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
    fn times_are_read_as_logs_spell_them() {
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
    fn weeks_and_months_cross_their_borders() {
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
    fn both_days_are_included_and_ends_may_be_open() {
        let now = "2026-03-03T12:00[Europe/Berlin]";
        let time = |text: &str| parse(text);
        let range = days("2026-03-01:2026-03-02", now).unwrap();
        assert!(range.touches(time("2026-02-28T23:00:00Z"), None), "midnight in Berlin");
        assert!(!range.touches(time("2026-02-28T22:59:59Z"), None));
        assert!(range.touches(time("2026-03-02T22:59:59Z"), None));
        assert!(!range.touches(time("2026-03-02T23:00:00Z"), None));
        assert!(range.touches(time("2026-01-01T00:00:00Z"), time("2026-04-01T00:00:00Z")));
        assert!(!range.touches(None, None));
        assert!(days("2026-03-01:", now).unwrap().touches(time("2030-01-01T00:00:00Z"), None));
        assert!(days(":2026-03-01", now).unwrap().touches(time("1999-01-01T00:00:00Z"), None));
    }

    #[test]
    fn r45_what_is_no_range_is_explained() {
        for text in ["", "tomorrow", "2026-13-01", "2026-01-01:x", "a:b:c"] {
            let error = days(text, "2026-03-03T12:00[UTC]").unwrap_err().to_string();
            assert!(error.contains("write today"), "{error}");
        }
        let error = days("2026-03-02:2026-03-01", "2026-03-03T12:00[UTC]").unwrap_err().to_string();
        assert_eq!(error, "the range ends before it begins; write 2026-03-01:2026-03-02");
    }

    #[test]
    fn digits_lead_back() {
        let time = parse("2026-03-01T09:05:07Z").unwrap();
        assert_eq!(digits(time), "20260301090507");
        assert_eq!(undigits("20260301090507"), Some(time));
        assert_eq!(undigits("0"), None);
    }

    #[test]
    fn a_day_is_asked_for_in_its_zone() {
        let zone = TimeZone::get("Europe/Berlin").unwrap();
        assert_eq!(asked("2026-03-01", &zone).unwrap(), parse("2026-02-28T23:00:00Z").unwrap());
        assert_eq!(asked("2026-03-01T00:00:00Z", &zone).unwrap(), parse("2026-03-01T00:00:00Z").unwrap());
        assert!(asked("soon", &zone).unwrap_err().to_string().contains("like 2026-03-01T09:00:00Z"));
    }
}
