//! Values of options that are more than a word or a number.

use bytesize::ByteSize;
use trommel::reader::{Config, Cursor, compact};

/// A size in bytes: a number, or a number with a unit such as `MB` (1000s) or `MiB` (1024s).
pub(super) fn size(text: &str) -> Result<u64, String> {
    let size = text.parse::<ByteSize>().ok();
    size.map(|size| size.as_u64()).ok_or_else(|| "expected a size, such as 1000000, 500MB or 2GiB".into())
}

/// A seed: any whole number of 64 bits; a negative one stands for its two's complement.
pub(super) fn seed(text: &str) -> Result<u64, String> {
    let signed = || text.parse::<i64>().map(i64::cast_unsigned).ok();
    let seed = text.parse::<u64>().ok().or_else(signed);
    seed.ok_or_else(|| "expected a whole number of at most 64 bits".into())
}

/// A JSON text, kept without insignificant white space.
pub(super) fn json(text: &str) -> Result<String, String> {
    let mut cursor = Cursor::new(text.as_bytes(), &Config::new());
    while cursor.advance().map_err(|error| error.to_string())?.is_some() {}
    let mut value = Vec::with_capacity(text.len());
    compact(text.as_bytes(), &mut value);
    String::from_utf8(value).map_err(|error| error.to_string())
}

/// `NAME=QUERY`, or a query alone, which begins with `$` and is its own name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct NamedQuery {
    pub(crate) name: String,
    pub(crate) query: String,
}

pub(super) fn named_query(text: &str) -> Result<NamedQuery, String> {
    if text.starts_with('$') {
        return Ok(NamedQuery { name: text.into(), query: text.into() });
    }
    // A name may hold `=`, and a query is known by its `$`.
    let split = text.find("=$").or_else(|| text.find('='));
    match split.and_then(|at| Some((text.get(..at)?, text.get(at + 1..)?))) {
        Some(("", _)) => Err("the name before the = is empty".into()),
        Some((name, query)) => Ok(NamedQuery { name: name.into(), query: query.into() }),
        None => Err("expected a query, which begins with $, or NAME=QUERY".into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_have_units_of_both_kinds() {
        for (text, bytes) in [("0", 0), ("10", 10), ("8GiB", 8 << 30), ("1 MB", 1_000_000), ("1.5KiB", 1536)]
        {
            assert_eq!(size(text), Ok(bytes), "{text}");
        }
        for text in ["", "much", "-1", "1 parsec"] {
            assert!(size(text).is_err(), "{text}");
        }
    }

    #[test]
    fn seeds_are_any_64_bits() {
        assert_eq!(seed("18446744073709551615"), Ok(u64::MAX));
        assert_eq!(seed("-1"), Ok(u64::MAX));
        assert!(seed("1.5").is_err() && seed("18446744073709551616").is_err());
    }

    #[test]
    fn names_end_where_the_query_begins() {
        let named = |name: &str, query: &str| Ok(NamedQuery { name: name.into(), query: query.into() });
        assert_eq!(named_query("$.a"), named("$.a", "$.a"));
        assert_eq!(named_query("$[?@.a=='b=$']"), named("$[?@.a=='b=$']", "$[?@.a=='b=$']"));
        assert_eq!(named_query("n=$.a"), named("n", "$.a"));
        assert_eq!(named_query("a=b=$.a"), named("a=b", "$.a"));
        assert_eq!(named_query("n=.a"), named("n", ".a"));
        assert!(named_query("=$.a").is_err() && named_query("users").is_err());
    }

    #[test]
    fn defaults_are_json() {
        assert_eq!(json(" {\"a\": [1.0 , \"b c\"]} "), Ok("{\"a\":[1.0,\"b c\"]}".into()));
        assert!(json("N/A").is_err() && json("").is_err() && json("1 2").is_err());
    }
}
