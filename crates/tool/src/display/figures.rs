//! Figures as people read them.

use std::time::Duration;

use jiff::Timestamp;
use jiff::tz::TimeZone;

/// With commas between thousands: `100,000`.
pub fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::with_capacity(digits.len() * 4 / 3);
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// A number with what it counts: `1 tool`, `0 tools`.
pub(super) fn counted(number: usize, unit: &str) -> String {
    format!("{} {unit}{}", grouped(number as u64), if number == 1 { "" } else { "s" })
}

/// Whole milliseconds: `12ms`.
pub(super) fn milliseconds(milliseconds: f64) -> String {
    format!("{:.0}ms", milliseconds.max(0.0))
}

/// Seconds, with a fraction where there is one: `120s`, `1.5s`, `none`.
pub(super) fn seconds(duration: Duration) -> String {
    if duration == Duration::MAX {
        return "none".to_owned();
    }
    if duration.subsec_nanos() == 0 {
        return format!("{}s", duration.as_secs());
    }
    let fraction = format!("{:09}", duration.subsec_nanos());
    format!("{}.{}s", duration.as_secs(), fraction.trim_end_matches('0'))
}

/// A moment, to the second: `2024-01-15 10:23:45`.
pub(super) fn clock(moment: Timestamp, zone: &TimeZone) -> String {
    moment.to_zoned(zone.clone()).strftime("%Y-%m-%d %H:%M:%S").to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn thousands_are_grouped() {
        let cases =
            [(0, "0"), (999, "999"), (1_000, "1,000"), (100_000, "100,000"), (1_234_567, "1,234,567")];
        for (number, text) in cases {
            assert_eq!(grouped(number), text);
        }
        assert_eq!(grouped(u64::MAX), "18,446,744,073,709,551,615");
        assert_eq!((counted(1, "tool"), counted(0, "tool")), ("1 tool".into(), "0 tools".into()));
    }

    #[test]
    fn durations_have_units() {
        assert_eq!(milliseconds(12.4), "12ms");
        assert_eq!(milliseconds(120_000.0), "120000ms");
        assert_eq!(milliseconds(-1.0), "0ms");
        assert_eq!(seconds(Duration::from_mins(2)), "120s");
        assert_eq!(seconds(Duration::from_millis(1_500)), "1.5s");
        assert_eq!(seconds(Duration::from_nanos(1)), "0.000000001s");
        assert_eq!(seconds(Duration::MAX), "none");
    }
}
