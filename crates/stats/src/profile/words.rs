//! Compares names by words.

/// True if two slices begin with the same `length` bytes. Most names are short, and both slices go
/// on after them, so a few words are compared without a call.
#[inline]
pub(super) fn is_equal(left: &[u8], right: &[u8], length: usize) -> bool {
    let padded = length.next_multiple_of(8);
    let (Some(left), Some(right)) = (left.get(..padded), right.get(..padded)) else {
        return left.get(..length) == right.get(..length);
    };
    let words = left.as_chunks::<8>().0.iter().zip(right.as_chunks::<8>().0);
    let mut rest = length;
    for (left, right) in words {
        let difference = u64::from_le_bytes(*left) ^ u64::from_le_bytes(*right);
        // Bytes beyond the end are shifted out.
        let unused = 8_usize.saturating_sub(rest) as u32 * 8;
        if difference << unused != 0 {
            return false;
        }
        rest = rest.saturating_sub(8);
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
