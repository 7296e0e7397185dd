//! The lexical grammar of RFC 8259 on plain bytes: white space, numbers, literals.

/// Whether `byte` is insignificant white space (RFC 8259, section 2).
pub(crate) const fn is_space(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\n' | b'\r')
}

/// Whether a number could go on with `byte`; a number token ends at the first byte for which this is false.
pub(crate) const fn continues_number(byte: u8) -> bool {
    matches!(byte, b'0'..=b'9' | b'+' | b'-' | b'.' | b'e' | b'E')
}

/// Length of the longest prefix of `bytes` that is a number (RFC 8259, section 6), or `None` when none is.
pub(crate) fn number_length(bytes: &[u8]) -> Option<usize> {
    let digits = |from: usize| bytes.get(from..).unwrap_or_default().iter().take_while(|b| b.is_ascii_digit()).count();
    let mut at = usize::from(bytes.first() == Some(&b'-'));
    at += match digits(at) {
        0 => return None,
        _ if bytes.get(at) == Some(&b'0') => 1,
        count => count,
    };
    if bytes.get(at) == Some(&b'.') {
        match digits(at + 1) {
            0 => return Some(at),
            count => at += 1 + count,
        }
    }
    if matches!(bytes.get(at), Some(b'e' | b'E')) {
        let sign = usize::from(matches!(bytes.get(at + 1), Some(b'+' | b'-')));
        match digits(at + 1 + sign) {
            0 => return Some(at),
            count => at += 1 + sign + count,
        }
    }
    Some(at)
}
