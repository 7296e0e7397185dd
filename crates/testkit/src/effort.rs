//! How much a randomised test does, and with how little.

/// `deep` when the environment variable `TROMMEL_DEEP` is set, `ci` otherwise: the number of random
/// cases a test tries.
///
/// ```
/// let pairs = trommel_testkit::effort::cases(10_000, 1_000_000);
/// assert!(pairs == 10_000 || std::env::var_os("TROMMEL_DEEP").is_some());
/// ```
pub fn cases(ci: u64, deep: u64) -> u64 {
    if std::env::var_os("TROMMEL_DEEP").is_some() { deep } else { ci }
}

/// Bytes of a stack that would not hold a frame a level of deep input: 256 KiB. Under a sanitizer,
/// whose frames are many times as large, `TROMMEL_SANITIZED` makes it 4 MiB.
pub fn small_stack() -> usize {
    if std::env::var_os("TROMMEL_SANITIZED").is_some() { 4 << 20 } else { 256 << 10 }
}
