//! Sizes and shares in few characters.

/// A number of bytes with three digits.
pub(crate) fn bytes(bytes: u64) -> String {
    const UNITS: [&str; 6] = ["B", "KB", "MB", "GB", "TB", "PB"];
    let mut value = bytes as f64;
    let mut unit = 0;
    while value >= 999.5 && unit + 1 < UNITS.len() {
        value /= 1000.0;
        unit += 1;
    }
    let digits = if unit == 0 || value >= 99.95 { 0 } else { usize::from(value < 9.995) + 1 };
    format!("{value:.digits$} {}", UNITS[unit])
}

/// A part of a whole, in percent.
pub(crate) fn share(part: u64, whole: u64) -> String {
    if whole == 0 {
        return String::new();
    }
    let percent = 100.0 * part as f64 / whole as f64;
    if percent < 0.05 { "<0.1%".into() } else { format!("{percent:.1}%") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_have_three_digits() {
        let sizes = [0, 999, 1000, 9_994, 9_996, 99_940, 99_960, 999_400, 999_600, u64::MAX];
        let shown = sizes.map(bytes);
        let expected = [
            "0 B", "999 B", "1.00 KB", "9.99 KB", "10.0 KB", "99.9 KB", "100 KB", "999 KB", "1.00 MB",
            "18447 PB",
        ];
        assert_eq!(shown, expected);
        assert_eq!([share(1, 0), share(0, 9), share(1, 3), share(3, 3)], ["", "<0.1%", "33.3%", "100.0%"]);
    }
}
