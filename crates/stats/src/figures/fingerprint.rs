//! Fingerprints of values that are the same on every machine.

use trommel_reader::word;

/// Returns a 64-bit fingerprint: SipHash-1-3 (Aumasson and Bernstein, 2012) with a constant key.
/// Different `domain`s give different fingerprints of the same bytes.
///
/// Partial states of different processes merge, so the key cannot be random. An attacker who
/// searches for collisions can make two values count as one. Hash tables that such collisions would
/// slow down use a random key instead.
pub(crate) const fn fingerprint(domain: u8, bytes: &[u8]) -> u64 {
    sip13(0x7472_6F6D_6D65_6C00 | domain as u64, 0x7374_6174_6973_7469, bytes)
}

const fn sip13(k0: u64, k1: u64, bytes: &[u8]) -> u64 {
    let mut state = [
        k0 ^ 0x736F_6D65_7073_6575,
        k1 ^ 0x646F_7261_6E64_6F6D,
        k0 ^ 0x6C79_6765_6E65_7261,
        k1 ^ 0x7465_6462_7974_6573,
    ];
    let mut rest = bytes;
    while let Some((word, after)) = rest.split_first_chunk() {
        absorb(&mut state, u64::from_le_bytes(*word));
        rest = after;
    }
    let last = match bytes.last_chunk() {
        Some(_) if rest.is_empty() => 0,
        // The rest, and bytes before it, which are shifted out.
        Some(last) => u64::from_le_bytes(*last) >> (64 - 8 * rest.len()),
        None => word(rest),
    };
    absorb(&mut state, last | (bytes.len() as u64) << 56);
    state[2] ^= 0xFF;
    round(&mut state);
    round(&mut state);
    round(&mut state);
    state[0] ^ state[1] ^ state[2] ^ state[3]
}

const fn absorb(state: &mut [u64; 4], word: u64) {
    state[3] ^= word;
    round(state);
    state[0] ^= word;
}

const fn round([a, b, c, d]: &mut [u64; 4]) {
    *a = a.wrapping_add(*b);
    *b = b.rotate_left(13) ^ *a;
    *a = a.rotate_left(32);
    *c = c.wrapping_add(*d);
    *d = d.rotate_left(16) ^ *c;
    *a = a.wrapping_add(*d);
    *d = d.rotate_left(21) ^ *a;
    *c = c.wrapping_add(*b);
    *b = b.rotate_left(17) ^ *c;
    *c = c.rotate_left(32);
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::hash::{DefaultHasher, Hasher};

    /// The standard library's hasher is SipHash-1-3 with a key of zeros.
    #[test]
    fn is_siphash() {
        let bytes: Vec<u8> = (0..100).collect();
        for length in 0..bytes.len() {
            let mut hasher = DefaultHasher::new();
            hasher.write(&bytes[..length]);
            assert_eq!(sip13(0, 0, &bytes[..length]), hasher.finish(), "{length}");
        }
    }

    /// R47: stored partial states hold fingerprints, so these can never change.
    #[test]
    fn fingerprints_are_frozen() {
        assert_eq!(fingerprint(b's', b"trommel"), 16_426_994_934_120_471_830);
        assert_eq!(fingerprint(0x80, b"[1,2]"), 8_826_708_697_302_414_505);
    }
}
