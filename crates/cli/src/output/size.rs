//! Sizes and numbers for people.

/// A size in units of 1024, with at most one decimal and no `.0`: `512 KB`, `1.5 MB`.
pub(crate) fn formatted(bytes: u64) -> String {
    const UNITS: [&str; 7] = ["B", "KB", "MB", "GB", "TB", "PB", "EB"];
    let mut unit = 0;
    // Tenths of the unit, rounded half up; integers, so that every size is exact.
    let mut tenths = u128::from(bytes) * 10;
    let mut scale = 1_u128;
    while tenths >= 10_240 && unit + 1 < UNITS.len() {
        unit += 1;
        scale *= 1024;
        tenths = (u128::from(bytes) * 10 + scale / 2) / scale;
    }
    let name = UNITS.get(unit).copied().unwrap_or_default();
    match (tenths / 10, tenths % 10) {
        (whole, 0) => format!("{whole} {name}"),
        (whole, tenth) => format!("{whole}.{tenth} {name}"),
    }
}

/// A number with its thousands set apart: `1,234,567`.
pub(crate) fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::with_capacity(digits.len() + digits.len() / 3);
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_have_at_most_one_decimal() {
        for (bytes, text) in [
            (0, "0 B"),
            (1023, "1023 B"),
            (1024, "1 KB"),
            (1536, "1.5 KB"),
            (524_288, "512 KB"),
            (1_572_864, "1.5 MB"),
            (1_048_575, "1 MB"),
            (1_048_000, "1023.4 KB"),
            (u64::MAX, "16 EB"),
        ] {
            assert_eq!(formatted(bytes), text, "{bytes}");
        }
    }

    #[test]
    fn numbers_are_grouped_by_three() {
        for (number, text) in [(0, "0"), (999, "999"), (1000, "1,000"), (1_234_567, "1,234,567")] {
            assert_eq!(grouped(number), text);
        }
    }
}
