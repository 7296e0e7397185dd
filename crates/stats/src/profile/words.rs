//! Compares names by words.

/// True if two slices begin with the same `length` bytes. Most names are short, and both slices go
/// on after them, so a few words are compared without a call.
#[inline]
pub(super) fn is_equal(left: &[u8], right: &[u8], length: usize) -> bool {
    let word = |bytes: &[u8], at: usize| {
        bytes.get(at..).and_then(|rest| rest.first_chunk::<8>()).map(|word| u64::from_le_bytes(*word))
    };
    let mut at = 0;
    while at < length {
        let (Some(left_word), Some(right_word)) = (word(left, at), word(right, at)) else {
            return left.get(at..length) == right.get(at..length);
        };
        let rest = length - at;
        // Bytes beyond the end are shifted out.
        let unused = if rest < 8 { 64 - 8 * rest as u32 } else { 0 };
        if (left_word ^ right_word) << unused != 0 {
            return false;
        }
        at += 8;
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_compared_up_to_the_length() {
        let text = b"0123456789abcdefghijklmnopqrstuvwxyz";
        for length in 0..text.len() {
            for changed in 0..text.len() {
                let mut other = *text;
                other[changed] = b'!';
                for end in length..=text.len() {
                    assert_eq!(is_equal(text, &other[..end], length), changed >= length);
                }
            }
        }
    }
}
