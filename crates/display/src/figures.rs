//! Counts, durations, and times as people read them.

use std::time::Duration;

use jiff::Timestamp;
use jiff::tz::TimeZone;
use trommel_base::text::grouped;

/// A number with its unit: `1 tool`, `0 tools`.
pub(crate) fn counted(number: usize, unit: &str) -> String {
    format!("{} {unit}{}", grouped(number as u64), if number == 1 { "" } else { "s" })
}

/// Whole milliseconds: `12ms`.
pub(crate) fn milliseconds(milliseconds: f64) -> String {
    format!("{:.0}ms", milliseconds.max(0.0))
}

/// Seconds, with a fraction where there is one: `120s`, `1.5s`, `none`.
pub(crate) fn seconds(duration: Duration) -> String {
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
pub(crate) fn clock(moment: Timestamp, zone: &TimeZone) -> String {
    moment.to_zoned(zone.clone()).strftime("%Y-%m-%d %H:%M:%S").to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_have_units() {
        assert_eq!((counted(1, "tool"), counted(0, "tool")), ("1 tool".into(), "0 tools".into()));
        assert_eq!(counted(1_000, "tool"), "1,000 tools");
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
