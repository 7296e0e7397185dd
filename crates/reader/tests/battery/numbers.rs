//! Tests of numbers: every lexeme as written, and read with a single rounding.

use trommel_reader::{Config, Cursor, Framing, Number, Payload, Scalar};
use trommel_testkit::chunks::Chunks;
use trommel_testkit::effort::cases;
use trommel_testkit::generate::Random;

/// A random number in one of its many forms.
fn lexeme(random: &mut Random) -> String {
    let sign = if random.chance(40) { "-" } else { "" };
    match random.below(5) {
        0 => (random.bits() >> random.below(64)).cast_signed().to_string(),
        1 => loop {
            let double = f64::from_bits(random.bits());
            if double.is_finite() {
                return format!("{double:e}");
            }
        },
        2 => format!("{sign}{}.{}", random.below(100), digits(random, 1, 40)),
        3 => {
            let exponent = random.below(700);
            let e = random.pick(&["e", "E", "e+", "E-"]);
            format!("{sign}{}.{}{e}{exponent}", random.below(10), digits(random, 1, 25))
        }
        _ => format!("{sign}{}{}", random.between(1, 9), digits(random, 0, 60)),
    }
}

fn digits(random: &mut Random, least: usize, most: usize) -> String {
    (0..random.between(least, most)).map(|_| char::from(b'0' + random.below(10) as u8)).collect()
}

/// R6: lexemes are returned byte for byte, and as doubles equal those of the standard library and
/// `serde_json`.
#[test]
fn lexemes_round_trip() {
    let mut random = Random::new(6);
    for round in 0..cases(150, 50_000) {
        let lexemes: Vec<_> = (0..200).map(|_| lexeme(&mut random)).collect();
        let text = format!("[{}]", lexemes.join(","));
        let sizes = [random.between(1, 80), random.between(1, 80)];
        let reader = Chunks::new(text.as_bytes(), &sizes);
        let config = Config::new().window(random.between(16, 100));
        let mut cursor = Cursor::from_reader(reader, Framing::Single, &config);
        cursor.begin_value().unwrap();
        for lexeme in &lexemes {
            assert!(cursor.next_element().unwrap(), "round {round}");
            cursor.begin_value().unwrap();
            let Payload::Scalar(Scalar::Number(number)) = cursor.payload() else { panic!("{lexeme}") };
            assert_eq!(number.lexeme(), lexeme);
            check_value(number, lexeme);
        }
        assert!(!cursor.next_element().unwrap());
    }
}

fn check_value(number: Number<'_>, lexeme: &str) {
    let expected: f64 = lexeme.parse().unwrap();
    assert_eq!(number.as_f64().to_bits(), expected.to_bits(), "{lexeme}");
    if let Ok(other) = serde_json::from_str::<f64>(lexeme) {
        assert_eq!(number.as_f64().to_bits(), other.to_bits(), "{lexeme}");
    }
    let integer = !lexeme.contains(['.', 'e', 'E']);
    assert_eq!(number.is_integer(), integer, "{lexeme}");
    assert_eq!(number.as_i64(), lexeme.parse().ok());
    assert_eq!(number.as_i128(), lexeme.parse().ok());
}

/// R6: exactly the numbers are accepted: all texts of up to six of the bytes that numbers consist
/// of, compared with a separate implementation.
#[test]
fn every_short_text() {
    const ALPHABET: &[u8] = b"019-+.eE";
    let mut texts = vec![String::new()];
    let mut from = 0;
    for _ in 0..6 {
        let to = texts.len();
        for index in from..to {
            for &byte in ALPHABET {
                texts.push(format!("{}{}", texts[index], char::from(byte)));
            }
        }
        from = to;
    }
    let mut numbers = 0;
    for text in texts.iter().filter(|text| !text.is_empty()) {
        let expected = is_number(text);
        numbers += u32::from(expected);
        assert_eq!(Number::parse(text).is_some(), expected, "{text}");
        let document = format!("[{text}]");
        let mut cursor = Cursor::new(document.as_bytes(), &Config::new());
        assert_eq!(cursor.skip_value().is_ok(), expected, "{text}");
    }
    assert!(numbers > 1000);
}

/// RFC 8259, section 6, implemented by splitting the text.
fn is_number(text: &str) -> bool {
    let all_digits = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let text = text.strip_prefix('-').unwrap_or(text);
    let (mantissa, exponent) = text.split_once(['e', 'E']).map_or((text, None), |(m, e)| (m, Some(e)));
    let (whole, fraction) = mantissa.split_once('.').map_or((mantissa, None), |(w, f)| (w, Some(f)));
    all_digits(whole)
        && (whole == "0" || !whole.starts_with('0'))
        && fraction.is_none_or(all_digits)
        && exponent.is_none_or(|exponent| all_digits(exponent.strip_prefix(['+', '-']).unwrap_or(exponent)))
}
