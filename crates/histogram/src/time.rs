//! Times as milliseconds, and the units that divide them.

use std::fmt;

const SECOND: i64 = 1000;
const MINUTE: i64 = 60 * SECOND;
const HOUR: i64 = 60 * MINUTE;
const DAY: i64 = 24 * HOUR;

/// Widths of buckets in milliseconds. Each is a multiple of the one before.
const WIDTHS: [i64; 22] = [
    1,
    10,
    100,
    SECOND,
    5 * SECOND,
    15 * SECOND,
    30 * SECOND,
    MINUTE,
    5 * MINUTE,
    15 * MINUTE,
    30 * MINUTE,
    HOUR,
    3 * HOUR,
    6 * HOUR,
    12 * HOUR,
    DAY,
    7 * DAY,
    28 * DAY,
    364 * DAY,
    3640 * DAY,
    36_400 * DAY,
    364_000 * DAY,
];

/// The width of buckets at a level, in milliseconds.
pub(super) fn width(level: u32) -> i64 {
    WIDTHS.get(level as usize).or(WIDTHS.last()).copied().unwrap_or(i64::MAX)
}

/// The number of buckets of a level in one of the next.
pub(super) fn factor(level: u32) -> i64 {
    // RFC 3339 has years of four digits, which are at most 12 buckets of the last width: only
    // damaged states have higher levels.
    if level as usize + 1 < WIDTHS.len() { width(level + 1) / width(level) } else { 2 }
}

/// The number of a time's bucket at a level.
pub(super) fn bucket(time: i64, level: u32) -> i64 {
    let halved = (level + 1).saturating_sub(WIDTHS.len() as u32);
    time.div_euclid(width(level)) >> halved.min(63)
}

/// The milliseconds from 1970 to a date or time of RFC 3339, rounded down. `None` for other texts.
pub(super) fn milliseconds(text: &[u8]) -> Option<i64> {
    let (date, time) = text.split_at_checked(10)?;
    let [y0, y1, y2, y3, b'-', m0, m1, b'-', d0, d1] = *date else { return None };
    let year = 100 * pair(y0, y1)? + pair(y2, y3)?;
    let (month, day) = (pair(m0, m1)?, pair(d0, d1)?);
    let is_leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    let days = match month {
        2 => 28 + i64::from(is_leap),
        4 | 6 | 9 | 11 => 30,
        1 | 3 | 5 | 7 | 8 | 10 | 12 => 31,
        _ => return None,
    };
    if day < 1 || day > days {
        return None;
    }
    let midnight = days_before(year, month, day) * DAY;
    if time.is_empty() {
        return Some(midnight);
    }
    let (clock, rest) = time.split_at_checked(9)?;
    let [b'T' | b't' | b' ', h0, h1, b':', n0, n1, b':', s0, s1] = *clock else { return None };
    let (hour, minute, second) = (pair(h0, h1)?, pair(n0, n1)?, pair(s0, s1)?);
    // A leap second counts as the second after.
    if hour > 23 || minute > 59 || second > 60 {
        return None;
    }
    let (fraction, zone) = fraction(rest)?;
    Some(midnight + hour * HOUR + minute * MINUTE + second * SECOND + fraction - offset(zone)?)
}

/// Two digits.
fn pair(tens: u8, ones: u8) -> Option<i64> {
    let digit = |byte: u8| byte.is_ascii_digit().then(|| i64::from(byte - b'0'));
    Some(10 * digit(tens)? + digit(ones)?)
}

/// The milliseconds of a fraction, if there is one, and the rest.
fn fraction(text: &[u8]) -> Option<(i64, &[u8])> {
    let Some(digits) = text.strip_prefix(b".") else { return Some((0, text)) };
    let count = digits.iter().take_while(|byte| byte.is_ascii_digit()).count();
    let first = digits[..count].iter().chain([&b'0', &b'0', &b'0']).take(3);
    let milliseconds = first.fold(0, |sum, digit| 10 * sum + i64::from(digit - b'0'));
    (count > 0).then_some((milliseconds, &digits[count..]))
}

/// The milliseconds of a time zone's offset.
fn offset(zone: &[u8]) -> Option<i64> {
    let (sign, h0, h1, m0, m1) = match *zone {
        [b'Z' | b'z'] => return Some(0),
        [b'+', h0, h1, b':', m0, m1] => (1, h0, h1, m0, m1),
        [b'-', h0, h1, b':', m0, m1] => (-1, h0, h1, m0, m1),
        _ => return None,
    };
    let (hour, minute) = (pair(h0, h1)?, pair(m0, m1)?);
    (hour < 24 && minute < 60).then_some(sign * (hour * HOUR + minute * MINUTE))
}

/// The days from 1970 to a date of the Gregorian calendar. Years begin in March, so that the leap
/// day is the last one.
fn days_before(year: i64, month: i64, day: i64) -> i64 {
    let year = if month > 2 { year } else { year - 1 };
    let months = (month + 9) % 12;
    let days = (153 * months + 2) / 5 + day - 1;
    365 * year + year.div_euclid(4) - year.div_euclid(100) + year.div_euclid(400) + days - 719_468
}

/// A bound between buckets of times, in milliseconds from 1970. Displayed as RFC 3339 in UTC,
/// without a fraction if it is zero.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[expect(clippy::exhaustive_structs, reason = "a time is a number")]
pub struct TimeBound(pub i64);

impl fmt::Display for TimeBound {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (days, time) = (self.0.div_euclid(DAY), self.0.rem_euclid(DAY));
        // The inverse of `days_before`, with eras of 400 years.
        let days = days + 719_468;
        let (era, day_of_era) = (days.div_euclid(146_097), days.rem_euclid(146_097));
        let year = (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
        let day_of_year = day_of_era - (365 * year + year / 4 - year / 100);
        let months = (5 * day_of_year + 2) / 153;
        let (day, month) = (day_of_year - (153 * months + 2) / 5 + 1, (months + 2) % 12 + 1);
        let year = era * 400 + year + i64::from(month <= 2);
        let (hour, minute, second) = (time / HOUR, time / MINUTE % 60, time / SECOND % 60);
        write!(f, "{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}")?;
        match time % SECOND {
            0 => write!(f, "Z"),
            milliseconds => write!(f, ".{milliseconds:03}Z"),
        }
    }
}

#[cfg(feature = "serde")]
impl serde::Serialize for TimeBound {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A bucket consists of `factor` buckets of the level before.
    #[test]
    fn buckets_consist_of_finer_ones() {
        for time in [i64::MIN, -62_167_219_200_000, -1, 0, 1, 1_790_000_000_001, i64::MAX] {
            let mut at = time;
            for level in 0..=2045 {
                assert_eq!(bucket(time, level), at, "{time} {level}");
                at = at.div_euclid(factor(level));
            }
        }
    }

    #[test]
    fn times_are_read_and_written() {
        for (text, expected) in [
            ("1970-01-01T00:00:00Z", "1970-01-01T00:00:00Z"),
            ("1970-01-01", "1970-01-01T00:00:00Z"),
            ("2000-02-29T23:59:59.9999Z", "2000-02-29T23:59:59.999Z"),
            ("1999-12-31t23:30:00-01:30", "2000-01-01T01:00:00Z"),
            ("2024-03-01 00:00:00+00:30", "2024-02-29T23:30:00Z"),
            ("2016-12-31T23:59:60Z", "2017-01-01T00:00:00Z"),
            ("0000-01-01T00:00:00Z", "0000-01-01T00:00:00Z"),
            ("9999-12-31T23:59:59.5Z", "9999-12-31T23:59:59.500Z"),
        ] {
            let found = milliseconds(text.as_bytes()).unwrap_or_else(|| panic!("{text}"));
            assert_eq!(TimeBound(found).to_string(), expected, "{text}");
        }
        for text in [
            "",
            "2024",
            "2023-02-29",
            "2024-13-01",
            "2024-00-10",
            "2024-01-00",
            "2024-1-01",
            "2024-01-01T",
            "2024-01-01T24:00:00Z",
            "2024-01-01T00:00:00",
            "2024-01-01T00:00:00.Z",
            "2024-01-01T00:00:00+1:00",
            "2024-01-01T00:60:00Z",
            "2024-01-01X00:00:00Z",
            "2024-01-01T00:00:00+24:00",
            "20240101T000000Z!",
        ] {
            assert_eq!(milliseconds(text.as_bytes()), None, "{text}");
        }
    }

    /// Every day of 4,000 years has the number after that of the day before.
    #[test]
    fn days_are_counted() {
        let mut expected = milliseconds(b"0001-01-01").unwrap();
        for year in 1..4001 {
            for month in 1..=12 {
                for day in 1..=31 {
                    let text = format!("{year:04}-{month:02}-{day:02}");
                    if let Some(found) = milliseconds(text.as_bytes()) {
                        assert_eq!(found, expected, "{text}");
                        assert_eq!(TimeBound(found).to_string(), format!("{text}T00:00:00Z"));
                        expected += DAY;
                    }
                }
            }
        }
    }

    #[test]
    fn widths_divide_each_other() {
        assert!(WIDTHS.windows(2).all(|pair| pair[1] % pair[0] == 0 && pair[1] > pair[0]));
    }
}
