//! Sizes for people.

/// Formats a size in units of 1024, with at most one decimal and no `.0`: `512 KB`, `1.5 MB`.
pub fn size(bytes: u64) -> String {
    const UNITS: [&str; 7] = ["B", "KB", "MB", "GB", "TB", "PB", "EB"];
    let mut unit = 0;
    // Tenths of the unit, rounded half up. Integers keep every size exact.
    let mut tenths = u128::from(bytes) * 10;
    let mut scale = 1_u128;
    while tenths >= 10_240 && unit + 1 < UNITS.len() {
        unit += 1;
        scale *= 1024;
        tenths = (u128::from(bytes) * 10 + scale / 2) / scale;
    }
    let name = UNITS[unit];
    match (tenths / 10, tenths % 10) {
        (whole, 0) => format!("{whole} {name}"),
        (whole, tenth) => format!("{whole}.{tenth} {name}"),
    }
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
            assert_eq!(size(bytes), text, "{bytes}");
        }
    }
}
