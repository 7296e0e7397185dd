//! Formats of strings, as JSON Schema names them: strict checks, which refuse rather than guess.

use std::borrow::Cow;
use std::net::{Ipv4Addr, Ipv6Addr};
use trommel_reader::Text;

type Check = fn(&str) -> bool;

/// The formats in order of preference; the place is the bit.
const FORMATS: [(&str, Check); 7] = [
    ("date-time", is_date_time),
    ("date", is_date),
    ("uuid", is_uuid),
    ("email", is_email),
    ("ipv4", |text| text.parse::<Ipv4Addr>().is_ok()),
    ("ipv6", |text| text.parse::<Ipv6Addr>().is_ok()),
    ("uri", is_uri),
];

/// Which of the candidates a string has, a bit each. A string that is not held whole has none.
pub(crate) fn matching(text: &Text<'_>, candidates: u8) -> u8 {
    if text.is_cut() {
        return 0;
    }
    let decoded = match str::from_utf8(text.raw()) {
        Ok(plain) if !text.is_escaped() => Cow::Borrowed(plain),
        _ => text.decode(),
    };
    let has = |(bit, &(_, check)): (usize, &(&str, Check))| candidates & 1 << bit != 0 && check(&decoded);
    FORMATS.iter().enumerate().filter(|&format| has(format)).fold(0, |found, (bit, _)| found | 1 << bit)
}

/// The preferred one of some formats.
pub(crate) fn name(formats: u8) -> Option<&'static str> {
    FORMATS.iter().enumerate().find(|&(bit, _)| formats & 1 << bit != 0).map(|(_, &(name, _))| name)
}

/// Whether `bytes` has the form of `pattern`, where `0` stands for a digit and `x` for a hexadecimal one.
fn has_form(bytes: &[u8], pattern: &[u8]) -> bool {
    bytes.len() == pattern.len()
        && bytes.iter().zip(pattern).all(|(byte, form)| match form {
            b'0' => byte.is_ascii_digit(),
            b'x' => byte.is_ascii_hexdigit(),
            _ => byte == form,
        })
}

/// The value of the digits at a place.
fn digits(bytes: &[u8], range: std::ops::Range<usize>) -> u32 {
    let digits = bytes.get(range).unwrap_or_default();
    digits.iter().fold(0, |value, digit| value * 10 + u32::from(digit.wrapping_sub(b'0')))
}

/// RFC 3339 `full-date`.
fn is_date(text: &str) -> bool {
    let bytes = text.as_bytes();
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

/// RFC 3339 `date-time`, leap seconds only where they can be: at 23:59:60 UTC.
fn is_date_time(text: &str) -> bool {
    let Some((date, time)) = text.split_at_checked(10) else { return false };
    let Some((clock, rest)) = time.split_at_checked(9) else { return false };
    let clock = clock.as_bytes();
    if !is_date(date) || !(has_form(clock, b"T00:00:00") || has_form(clock, b"t00:00:00")) {
        return false;
    }
    let (hour, minute, second) = (digits(clock, 1..3), digits(clock, 4..6), digits(clock, 7..9));
    let zone = match rest.strip_prefix('.') {
        Some(fraction) => {
            let zone = fraction.trim_start_matches(|c: char| c.is_ascii_digit());
            if zone.len() == fraction.len() {
                return false;
            }
            zone
        }
        None => rest,
    };
    let Some(offset) = zone_minutes(zone) else { return false };
    let utc = (hour * 60 + minute + 1440 - offset) % 1440;
    hour < 24 && minute < 60 && (second < 60 || (second == 60 && utc == 1439))
}

/// The offset of a zone from UTC in minutes, modulo a day.
fn zone_minutes(zone: &str) -> Option<u32> {
    let bytes = zone.as_bytes();
    if matches!(bytes, b"Z" | b"z") {
        return Some(0);
    }
    let sign = bytes.first().filter(|sign| matches!(sign, b'+' | b'-'))?;
    let (hour, minute) = (digits(bytes, 1..3), digits(bytes, 4..6));
    let is_valid = has_form(&bytes[1..], b"00:00") && hour < 24 && minute < 60;
    let offset = hour * 60 + minute;
    is_valid.then_some(if *sign == b'+' { offset } else { (1440 - offset) % 1440 })
}

/// RFC 9562 text form.
fn is_uuid(text: &str) -> bool {
    has_form(text.as_bytes(), b"xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx")
}

/// RFC 5321 `Mailbox` with an unquoted local part and a domain name of at least two labels.
fn is_email(text: &str) -> bool {
    let Some((local, domain)) = text.rsplit_once('@') else { return false };
    let is_atom = |atom: &str| !atom.is_empty() && atom.bytes().all(is_atext);
    local.len() <= 64 && local.split('.').all(is_atom) && is_domain(domain)
}

/// RFC 5322 `atext`.
fn is_atext(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"!#$%&'*+-/=?^_`{|}~".contains(&byte)
}

fn is_domain(domain: &str) -> bool {
    let is_label = |label: &str| {
        let bytes = label.as_bytes();
        let ends_well = |byte: Option<&u8>| byte.is_some_and(u8::is_ascii_alphanumeric);
        (1..=63).contains(&bytes.len())
            && ends_well(bytes.first())
            && ends_well(bytes.last())
            // Reserved for encoded names, which would have to be decoded.
            && bytes.get(2..4) != Some(b"--")
            && bytes.iter().all(|&byte| byte.is_ascii_alphanumeric() || byte == b'-')
    };
    domain.len() <= 253 && domain.contains('.') && domain.split('.').all(is_label)
}

/// RFC 3986 `URI`. Without an authority only `urn:` and `mailto:`, because any word before a colon could be a scheme.
fn is_uri(text: &str) -> bool {
    let Some((scheme, rest)) = text.split_once(':') else { return false };
    let is_scheme = scheme.starts_with(|c: char| c.is_ascii_alphabetic())
        && scheme.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"+-.".contains(&byte));
    let (rest, fragment) = rest.split_once('#').unwrap_or((rest, ""));
    let (rest, query) = rest.split_once('?').unwrap_or((rest, ""));
    let path = match rest.strip_prefix("//") {
        Some(rest) => {
            let (authority, path) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
            is_authority(authority).then_some(path)
        }
        None if ["urn", "mailto"].iter().any(|known| scheme.eq_ignore_ascii_case(known)) => Some(rest),
        None => None,
    };
    is_scheme
        && path.is_some_and(|path| is_made_of(path, b":@/"))
        && [query, fragment].iter().all(|part| is_made_of(part, b":@/?"))
}

fn is_authority(authority: &str) -> bool {
    let (user, place) = authority.rsplit_once('@').unwrap_or(("", authority));
    let (host, port) = match place.strip_prefix('[') {
        Some(literal) => match literal.split_once(']') {
            Some((address, "")) => (Err(address), ""),
            Some((address, rest)) => (Err(address), rest.strip_prefix(':').unwrap_or("?")),
            None => return false,
        },
        None => match place.split_once(':') {
            Some((host, port)) => (Ok(host), port),
            None => (Ok(place), ""),
        },
    };
    let host_is_valid = match host {
        Ok(name) => is_made_of(name, b""),
        Err(address) => address.parse::<Ipv6Addr>().is_ok(),
    };
    host_is_valid && is_made_of(user, b":") && port.bytes().all(|byte| byte.is_ascii_digit())
}

/// Whether text consists of unreserved characters, sub-delimiters, percent-encoded bytes and some others (RFC 3986, 2).
fn is_made_of(text: &str, others: &[u8]) -> bool {
    let bytes = text.as_bytes();
    bytes.iter().enumerate().all(|(at, byte)| match byte {
        b'%' => bytes.get(at + 1..at + 3).is_some_and(|hex| hex.iter().all(u8::is_ascii_hexdigit)),
        byte => byte.is_ascii_alphanumeric() || b"-._~!$&'()*+,;=".contains(byte) || others.contains(byte),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn format(text: &str) -> Option<&'static str> {
        name(matching(&Text::plain(text), u8::MAX))
    }

    #[test]
    fn recognises_what_is_well_formed() {
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
    fn refuses_what_is_not() {
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
    fn escapes_are_undone() {
        assert_eq!(name(matching(&Text::from_raw(br"http:\/\/a\u002fb", true), u8::MAX)), Some("uri"));
        assert_eq!(matching(&Text::plain("::1"), 1), 0);
    }
}
