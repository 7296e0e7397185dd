//! Times and durations.

use jiff::Timestamp;
use jiff::civil::DateTime;
use jiff::tz::TimeZone;

use crate::output::escape;

/// Formats times in one time zone.
pub(crate) struct Clock(TimeZone);

impl Clock {
    /// Uses the user's time zone, or UTC.
    pub(crate) fn new(utc: bool) -> Self {
        Self(if utc { TimeZone::UTC } else { TimeZone::system() })
    }

    /// Reformats a time. Text that is not a time stays as written, and a missing one is empty.
    fn format(&self, time: Option<&str>, form: &str) -> String {
        let Some(text) = time else { return String::new() };
        match text.parse::<Timestamp>() {
            Ok(time) => time.to_zoned(self.0.clone()).strftime(form).to_string(),
            Err(_) => escape::short(text, 40),
        }
    }

    pub(super) fn minute(&self, time: Option<&str>) -> String {
        self.format(time, "%Y-%m-%d %H:%M")
    }

    pub(super) fn second(&self, time: Option<&str>) -> String {
        self.format(time, "%Y-%m-%d %H:%M:%S")
    }

    pub(super) fn millisecond(&self, time: Option<&str>) -> String {
        self.format(time, "%Y-%m-%d %H:%M:%S%.3f")
    }

    pub(super) fn day(&self, time: Option<&str>) -> String {
        self.format(time, "%Y-%m-%d")
    }

    pub(super) fn of_day(&self, time: Option<&str>) -> String {
        self.format(time, "%H:%M:%S")
    }

    /// Formats a time of fourteen digits in UTC.
    pub(super) fn stamp(&self, digits: &str) -> String {
        let time = DateTime::strptime("%Y%m%d%H%M%S", digits).and_then(|time| time.to_zoned(TimeZone::UTC));
        match time {
            Ok(time) => self.second(Some(&time.timestamp().to_string())),
            Err(_) => escape::short(digits, 40),
        }
    }
}

/// Formats a duration in its two most significant units.
pub(super) fn format_duration(milliseconds: i64) -> String {
    let sign = if milliseconds < 0 { "-" } else { "" };
    let milliseconds = milliseconds.unsigned_abs();
    let (seconds, minutes, hours) = (milliseconds / 1000, milliseconds / 60_000, milliseconds / 3_600_000);
    let text = match milliseconds {
        0..1_000 => format!("{milliseconds} ms"),
        1_000..60_000 => format!("{seconds}.{} s", milliseconds % 1000 / 100),
        60_000..3_600_000 => format!("{minutes} m {:02} s", seconds % 60),
        3_600_000..172_800_000 => format!("{hours} h {:02} m", minutes % 60),
        _ => format!("{} d {:02} h", hours / 24, hours % 24),
    };
    format!("{sign}{text}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_have_two_units() {
        for (milliseconds, shown) in [
            (0, "0 ms"),
            (999, "999 ms"),
            (3_049, "3.0 s"),
            (59_999, "59.9 s"),
            (125_000, "2 m 05 s"),
            (7_320_000, "2 h 02 m"),
            (183_600_000, "2 d 03 h"),
            (-1_500, "-1.5 s"),
        ] {
            assert_eq!(format_duration(milliseconds), shown);
        }
    }

    #[test]
    fn times_are_shown_in_the_zone() {
        let clock = Clock(TimeZone::fixed(jiff::tz::offset(2)));
        assert_eq!(clock.second(Some("2026-03-01T23:00:00.5Z")), "2026-03-02 01:00:00");
        assert_eq!(clock.millisecond(Some("2026-03-01T23:00:00.5Z")), "2026-03-02 01:00:00.500");
        assert_eq!(clock.stamp("20260301230000"), "2026-03-02 01:00:00");
        assert_eq!(clock.second(Some("soon\u{1b}")), "soon\\u001b");
        assert_eq!(clock.second(None), "");
    }
}
