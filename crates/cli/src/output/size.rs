//! Sizes and numbers for people.

/// Formats a size in units of 1024, as `size.formatted` of an answer: `1.5 MB`.
pub(crate) use trommel_answer::size as formatted;

/// Formats a size in units of 1024 with their own names: `1.5 MiB`.
pub(crate) fn binary(bytes: u64) -> String {
    let size = formatted(bytes);
    match size.strip_suffix('B') {
        Some(figure) if !figure.ends_with(' ') => format!("{figure}iB"),
        _ => size,
    }
}

/// Formats a number with thousands separators: `1,234,567`.
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
    fn sizes_for_people_name_binary_units() {
        for (bytes, text) in
            [(0, "0 B"), (1023, "1023 B"), (1536, "1.5 KiB"), (29_874_354, "28.5 MiB"), (1 << 40, "1 TiB")]
        {
            assert_eq!(binary(bytes), text);
        }
    }

    #[test]
    fn numbers_are_grouped_by_three() {
        for (number, text) in [(0, "0"), (999, "999"), (1000, "1,000"), (1_234_567, "1,234,567")] {
            assert_eq!(grouped(number), text);
        }
    }
}
