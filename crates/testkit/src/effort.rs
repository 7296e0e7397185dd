//! How much a randomised test does.

/// `deep` when the environment variable `TROMMEL_DEEP` is set, `ci` otherwise: the number of random cases a test tries.
///
/// ```
/// let pairs = trommel_testkit::effort::cases(10_000, 1_000_000);
/// assert!(pairs == 10_000 || std::env::var_os("TROMMEL_DEEP").is_some());
/// ```
pub fn cases(ci: u64, deep: u64) -> u64 {
    if std::env::var_os("TROMMEL_DEEP").is_some() { deep } else { ci }
}
