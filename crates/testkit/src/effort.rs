//! The effort of randomized tests: the number of cases and the size of stacks.

/// Returns the number of random cases of a test: `deep` if the environment variable `TROMMEL_DEEP`
/// is set, else `ci`.
///
/// ```
/// let pairs = trommel_testkit::effort::cases(10_000, 1_000_000);
/// assert!(pairs == 10_000 || std::env::var_os("TROMMEL_DEEP").is_some());
/// ```
pub fn cases(ci: u64, deep: u64) -> u64 {
    if std::env::var_os("TROMMEL_DEEP").is_some() { deep } else { ci }
}

/// Returns the size of a stack too small for one frame a level of deep input: 256 KiB. Frames under
/// a sanitizer are many times as large, so `TROMMEL_SANITIZED` makes it 4 MiB.
pub fn small_stack() -> usize {
    if std::env::var_os("TROMMEL_SANITIZED").is_some() { 4 << 20 } else { 256 << 10 }
}
