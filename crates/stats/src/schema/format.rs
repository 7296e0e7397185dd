//! String formats of JSON Schema. The checks are strict: a doubtful string has no format.

use std::net::{Ipv4Addr, Ipv6Addr};
use std::str::FromStr;
use trommel_reader::Text;

type Check = fn(&[u8]) -> bool;

/// The formats in order of preference. The index of a format is its bit.
const FORMATS: [(&str, Check); 7] = [
    ("date-time", is_date_time),
    ("date", is_date),
    ("uuid", is_uuid),
    ("email", is_email),
    ("ipv4", is_parsed::<Ipv4Addr>),
    ("ipv6", is_parsed::<Ipv6Addr>),
    ("uri", is_uri),
];

/// Longer strings, in bytes as written, have no format. They are not decoded, so the result does
/// not depend on whether they are held.
const MAX_BYTES: u64 = 64 << 10;

/// Returns those candidates that a string has, one bit each.
pub(crate) fn matching(text: &Text<'_>, candidates: u8) -> u8 {
    if text.is_cut() || text.byte_len() > MAX_BYTES {
        return 0;
    }
    // No format has a backslash, so a text that has one as written can only match when decoded.
    let found = matching_bytes(text.raw(), candidates);
    if found != 0 || !text.is_escaped() {
        return found;
    }
    matching_bytes(text.decode().as_bytes(), candidates)
}

fn matching_bytes(bytes: &[u8], candidates: u8) -> u8 {
    let (mut found, mut left) = (0, candidates);
    while let Some((_, check)) = FORMATS.get(left.trailing_zeros() as usize) {
        let bit = left & left.wrapping_neg();
        if check(bytes) {
            found |= bit;
        }
        left ^= bit;
    }
    found
}

/// Returns the name of the most preferred format of a set.
pub(crate) fn name(formats: u8) -> Option<&'static str> {
    FORMATS.iter().enumerate().find(|&(bit, _)| formats & 1 << bit != 0).map(|(_, &(name, _))| name)
}

fn is_parsed<T: FromStr>(bytes: &[u8]) -> bool {
    str::from_utf8(bytes).is_ok_and(|text| text.parse::<T>().is_ok())
}

/// Returns true if `bytes` match `pattern`, where `0` is any digit and `x` any hexadecimal digit.
fn has_form(bytes: &[u8], pattern: &[u8]) -> bool {
    bytes.len() == pattern.len()
        && bytes.iter().zip(pattern).all(|(byte, form)| match form {
            b'0' => byte.is_ascii_digit(),
            b'x' => byte.is_ascii_hexdigit(),
            _ => byte == form,
        })
}

/// Parses the digits in a range.
fn digits(bytes: &[u8], range: std::ops::Range<usize>) -> u32 {
    bytes[range].iter().fold(0, |value, digit| value * 10 + u32::from(digit.wrapping_sub(b'0')))
}

/// RFC 3339 `full-date`.
fn is_date(bytes: &[u8]) -> bool {
    if !has_form(bytes, b"0000-00-00") {
        return false;
    }
    let (year, month, day) = (digits(bytes, 0..4), digits(bytes, 5..7), digits(bytes, 8..10));
    let is_leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    let days = match month {
        2 => 28 + u32::from(is_leap),
        4 | 6 | 9 | 11 => 30,
        1..=12 => 31,
        _ => 0,
    };
    (1..=days).contains(&day)
}

/// RFC 3339 `date-time`. Leap seconds are valid only at 23:59:60 UTC.
fn is_date_time(bytes: &[u8]) -> bool {
    let Some((date, time)) = bytes.split_at_checked(10) else { return false };
    let Some((clock, rest)) = time.split_at_checked(9) else { return false };
    if !is_date(date) || !(has_form(clock, b"T00:00:00") || has_form(clock, b"t00:00:00")) {
        return false;
    }
    let (hour, minute, second) = (digits(clock, 1..3), digits(clock, 4..6), digits(clock, 7..9));
    let zone = match rest.strip_prefix(b".") {
        Some(fraction) => match fraction.iter().take_while(|byte| byte.is_ascii_digit()).count() {
            0 => return false,
            digits => &fraction[digits..],
        },
        None => rest,
    };
    let Some(offset) = zone_minutes(zone) else { return false };
    let utc = (hour * 60 + minute + 1440 - offset) % 1440;
    hour < 24 && minute < 60 && (second < 60 || (second == 60 && utc == 1439))
}

/// Returns the offset of a zone from UTC in minutes, modulo a day.
fn zone_minutes(bytes: &[u8]) -> Option<u32> {
    if matches!(bytes, b"Z" | b"z") {
        return Some(0);
    }
    let sign = bytes.first().filter(|sign| matches!(sign, b'+' | b'-'))?;
    if !has_form(&bytes[1..], b"00:00") {
        return None;
    }
    let (hour, minute) = (digits(bytes, 1..3), digits(bytes, 4..6));
    let is_valid = hour < 24 && minute < 60;
    is_valid.then(|| match (sign, hour * 60 + minute) {
        (b'+', offset) => offset,
        (_, offset) => (1440 - offset) % 1440,
    })
}

/// RFC 9562 text form.
fn is_uuid(bytes: &[u8]) -> bool {
    has_form(bytes, b"xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx")
}

/// RFC 5321 `Mailbox` with an unquoted local part and a domain name of at least two labels.
fn is_email(bytes: &[u8]) -> bool {
    let Some(at) = bytes.iter().rposition(|&byte| byte == b'@') else { return false };
    let (local, domain) = (&bytes[..at], &bytes[at + 1..]);
    let is_atom = |atom: &[u8]| !atom.is_empty() && run(atom, ATEXT) == atom.len();
    local.len() <= 64 && local.split(|&byte| byte == b'.').all(is_atom) && is_domain(domain)
}

fn is_domain(domain: &[u8]) -> bool {
    let is_label = |label: &[u8]| {
        let ends_well = |byte: Option<&u8>| byte.is_some_and(u8::is_ascii_alphanumeric);
        (1..=63).contains(&label.len())
            && ends_well(label.first())
            && ends_well(label.last())
            // `--` here is reserved for encoded names, which would have to be decoded.
            && label.get(2..4) != Some(b"--")
            && label.iter().all(|&byte| byte.is_ascii_alphanumeric() || byte == b'-')
    };
    domain.len() <= 253 && domain.contains(&b'.') && domain.split(|&byte| byte == b'.').all(is_label)
}

/// RFC 3986 `URI`. Without an authority, only `urn:` and `mailto:` are accepted, because any word
/// before a colon could be a scheme.
fn is_uri(bytes: &[u8]) -> bool {
    let (scheme, rest) = bytes.split_at(run(bytes, SCHEME));
    let Some(rest) = rest.strip_prefix(b":") else { return false };
    if !scheme.first().is_some_and(u8::is_ascii_alphabetic) {
        return false;
    }
    let path = match rest.strip_prefix(b"//") {
        Some(rest) => {
            let host = run(rest, HOST);
            let ends = |byte: &u8| matches!(byte, b'/' | b'?' | b'#');
            // Most hosts are plain names. Only the rest needs the parts of an authority.
            if rest.get(host).is_none_or(ends) {
                rest.get(host..)
            } else {
                let end = rest.iter().position(ends).unwrap_or(rest.len());
                let (authority, path) = rest.split_at(end);
                is_authority(authority).then_some(path)
            }
        }
        None if [&b"urn"[..], b"mailto"].iter().any(|known| scheme.eq_ignore_ascii_case(known)) => Some(rest),
        None => None,
    };
    let Some(path) = path else { return false };
    let rest = &path[run(path, PATH)..];
    let rest = match rest.strip_prefix(b"?") {
        Some(query) => &query[run(query, QUERY)..],
        None => rest,
    };
    match rest.strip_prefix(b"#") {
        Some(fragment) => run(fragment, QUERY) == fragment.len(),
        None => rest.is_empty(),
    }
}

/// Returns true for an authority with user, port, or literal address.
fn is_authority(authority: &[u8]) -> bool {
    let (user, host_and_port) = match authority.iter().rposition(|&byte| byte == b'@') {
        Some(at) => (&authority[..at], &authority[at + 1..]),
        None => (&b""[..], authority),
    };
    let after_host = match host_and_port.strip_prefix(b"[") {
        Some(literal) => {
            let Some(end) = literal.iter().position(|&byte| byte == b']') else { return false };
            if !is_parsed::<Ipv6Addr>(&literal[..end]) {
                return false;
            }
            &literal[end + 1..]
        }
        None => &host_and_port[run(host_and_port, HOST)..],
    };
    let has_valid_port = match after_host {
        [] => true,
        [b':', port @ ..] => port.iter().all(u8::is_ascii_digit),
        _ => false,
    };
    has_valid_port && run(user, USER) == user.len()
}

/// The parts of a URI or an email address, one bit each, for the table of allowed bytes (RFC 3986,
/// sections 2 and 3; RFC 5322, section 3.2.3).
const SCHEME: u8 = 1;
const HOST: u8 = 2;
const USER: u8 = 4;
const PATH: u8 = 8;
const QUERY: u8 = 16;
const ATEXT: u8 = 32;

const PARTS: [u8; 256] = {
    let mut parts = [0; 256];
    let mut byte = 0;
    while byte < 256 {
        let mut found = 0;
        let is_alphanumeric = (byte as u8).is_ascii_alphanumeric();
        if is_alphanumeric || is_in(byte as u8, b"+-.") {
            found |= SCHEME;
        }
        if is_alphanumeric || is_in(byte as u8, b"-._~!$&'()*+,;=") {
            found |= HOST | USER | PATH | QUERY;
        }
        if is_alphanumeric || is_in(byte as u8, b"!#$%&'*+-/=?^_`{|}~") {
            found |= ATEXT;
        }
        match byte as u8 {
            b':' => found |= USER | PATH | QUERY,
            b'@' | b'/' => found |= PATH | QUERY,
            b'?' => found |= QUERY,
            _ => {}
        }
        parts[byte] = found;
        byte += 1;
    }
    parts
};

const fn is_in(byte: u8, bytes: &[u8]) -> bool {
    let mut at = 0;
    while at < bytes.len() {
        if bytes[at] == byte {
            return true;
        }
        at += 1;
    }
    false
}

/// Returns the length of the longest prefix allowed in a part, percent-encoded bytes included where
/// the part allows them.
fn run(bytes: &[u8], part: u8) -> usize {
    let is_allowed = |byte: &u8| PARTS[usize::from(*byte)] & part != 0;
    let mut at = 0;
    loop {
        // Most parts are longer than a scheme, and have no other bytes.
        while part != SCHEME
            && let Some(eight) = bytes[at..].first_chunk::<8>()
            && eight.iter().fold(part, |allowed, &byte| allowed & PARTS[usize::from(byte)]) != 0
        {
            at += eight.len();
        }
        while bytes.get(at).is_some_and(is_allowed) {
            at += 1;
        }
        let encoded = bytes.get(at..at + 3).filter(|encoded| encoded[0] == b'%' && part != SCHEME);
        if !encoded.is_some_and(|encoded| encoded[1..].iter().all(u8::is_ascii_hexdigit)) {
            return at;
        }
        at += 3;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn format(text: &str) -> Option<&'static str> {
        name(matching(&Text::plain(text), u8::MAX))
    }

    #[test]
    fn recognizes_well_formed_strings() {
        let cases = [
            (
                "date-time",
                &["2024-02-29T23:59:59Z", "1990-12-31T15:59:60-08:00", "2020-01-01t00:00:00.123456789+23:59"]
                    as &[_],
            ),
            ("date", &["2024-02-29", "2000-02-29", "1999-12-31"]),
            ("uuid", &["2eb8aa08-AA98-11ea-b4aa-73b441d16380"]),
            ("email", &["joe.o'x+tag@example.co.uk", "a@b.c"]),
            ("ipv4", &["127.0.0.1", "255.255.255.255"]),
            ("ipv6", &["::1", "2001:db8::ff00:42:8329", "::ffff:1.2.3.4"]),
            (
                "uri",
                &[
                    "https://user:x@[::1]:80/a%20b?q=1/2#f",
                    "urn:isbn:1",
                    "mailto:a@b",
                    "http://",
                    "file:///etc",
                ],
            ),
        ];
        for (expected, texts) in cases {
            for text in texts {
                assert_eq!(format(text), Some(expected), "{text}");
            }
        }
    }

    #[test]
    fn rejects_malformed_strings() {
        let texts = [
            "",
            "2023-02-29",
            "2023-13-01",
            "2023-1-01",
            "2024-02-29T24:00:00Z",
            "2024-02-29T12:00:60Z",
            "2024-02-29T12:00:00",
            "2024-02-29T12:00:00.Z",
            "2024-02-29T12:00:00+24:00",
            "2024-02-29 12:00:00Z",
            "2eb8aa08aa9811eab4aa73b441d16380",
            "a@b",
            "a..b@c.d",
            "@a.b",
            "a@-b.c",
            "a@b_.c",
            "a b@c.d",
            "01.2.3.4",
            "1.2.3",
            "1::2::3",
            "note: x",
            "note:x",
            "http://a b",
            "http://a/%2",
            "1http://a",
            "http://a:x",
            "http://[::1",
            "http://[::1]x",
            "é://a",
            "2024-02-29é",
        ];
        for text in texts {
            assert_eq!(format(text), None, "{text}");
        }
    }

    #[test]
    fn uris_agree_with_a_naive_parser() {
        let mut random = trommel_testkit::generate::Random::new(7);
        let mut found = 0;
        for _ in 0..200_000 {
            let mut text =
                String::from(random.pick::<str>(&["http://", "x:", "urn:", "h2+t.p-s://", "1:", "ab"]));
            for _ in 0..random.below(12) {
                text.push_str(random.pick::<str>(&[
                    "a", "0", ":", "@", "/", "?", "#", "[", "]", "::1", "%2f", "%", "%4", ".", "-", "+", "é",
                    " ", "\"", "//",
                ]));
            }
            let expected = naive_uri(&text);
            found += u32::from(expected);
            assert_eq!(is_uri(text.as_bytes()), expected, "{text}");
        }
        assert!(found > 10_000, "{found}");
    }

    /// A second implementation of `is_uri`, which splits the text at its delimiters.
    fn naive_uri(text: &str) -> bool {
        let Some((scheme, rest)) = text.split_once(':') else { return false };
        let is_scheme = scheme.starts_with(|c: char| c.is_ascii_alphabetic())
            && scheme.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"+-.".contains(&byte));
        let (rest, fragment) = rest.split_once('#').unwrap_or((rest, ""));
        let (rest, query) = rest.split_once('?').unwrap_or((rest, ""));
        let path = match rest.strip_prefix("//") {
            Some(rest) => {
                let (authority, path) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
                naive_authority(authority).then_some(path)
            }
            None if ["urn", "mailto"].iter().any(|known| scheme.eq_ignore_ascii_case(known)) => Some(rest),
            None => None,
        };
        is_scheme
            && path.is_some_and(|path| is_made_of(path, b":@/"))
            && [query, fragment].iter().all(|part| is_made_of(part, b":@/?"))
    }

    fn naive_authority(authority: &str) -> bool {
        let (user, host_and_port) = authority.rsplit_once('@').unwrap_or(("", authority));
        let (host, port) = match host_and_port.strip_prefix('[') {
            Some(literal) => match literal.split_once(']') {
                Some((address, "")) => (Err(address), ""),
                Some((address, rest)) => (Err(address), rest.strip_prefix(':').unwrap_or("?")),
                None => return false,
            },
            None => match host_and_port.split_once(':') {
                Some((host, port)) => (Ok(host), port),
                None => (Ok(host_and_port), ""),
            },
        };
        let host_is_valid = match host {
            Ok(name) => is_made_of(name, b""),
            Err(address) => address.parse::<Ipv6Addr>().is_ok(),
        };
        host_is_valid && is_made_of(user, b":") && port.bytes().all(|byte| byte.is_ascii_digit())
    }

    /// Returns true if text consists of unreserved characters, sub-delimiters, percent-encoded
    /// bytes, and `others` (RFC 3986, section 2).
    fn is_made_of(text: &str, others: &[u8]) -> bool {
        let bytes = text.as_bytes();
        bytes.iter().enumerate().all(|(at, byte)| match byte {
            b'%' => bytes.get(at + 1..at + 3).is_some_and(|hex| hex.iter().all(u8::is_ascii_hexdigit)),
            byte => {
                byte.is_ascii_alphanumeric() || b"-._~!$&'()*+,;=".contains(byte) || others.contains(byte)
            }
        })
    }

    #[test]
    fn long_strings_have_no_format() {
        let uri = |length: usize| format!("http://{}", "a".repeat(length - 7));
        assert_eq!(format(&uri(MAX_BYTES as usize)), Some("uri"));
        assert_eq!(format(&uri(MAX_BYTES as usize + 1)), None);
    }

    #[test]
    fn decodes_escapes() {
        assert_eq!(name(matching(&Text::from_raw(br"http:\/\/a\u002fb", true), u8::MAX)), Some("uri"));
        assert_eq!(matching(&Text::plain("::1"), 1), 0);
    }
}
