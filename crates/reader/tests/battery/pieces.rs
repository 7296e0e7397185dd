//! Strings read piece by piece, compared with strings read whole.

use trommel_reader::{Config, Cursor, Error, Framing, Kind, Payload, Scalar};
use trommel_testkit::chunks::Chunks;
use trommel_testkit::effort::cases;
use trommel_testkit::generate::Random;

/// A text, the offset after it, and the next text in the array.
type ObservedText = (String, u64, Option<String>);

fn whole(cursor: &mut Cursor<'_>) -> Result<ObservedText, Error> {
    let text = text(cursor)?;
    let end = cursor.offset();
    let next = if cursor.next_element()? { Some(self::text(cursor)?) } else { None };
    Ok((text, end, next))
}

fn text(cursor: &mut Cursor<'_>) -> Result<String, Error> {
    cursor.begin_value()?;
    match cursor.payload() {
        Payload::Scalar(Scalar::String(text)) => Ok(text.decode().into_owned()),
        other => panic!("{other:?}"),
    }
}

fn pieces(cursor: &mut Cursor<'_>) -> Result<ObservedText, Error> {
    let mut all = String::new();
    let mut pieces = cursor.text_pieces()?.unwrap();
    while let Some(piece) = pieces.next_piece()? {
        assert!(!piece.is_empty());
        all.push_str(piece);
    }
    assert_eq!(pieces.next_piece()?, None, "after the end");
    drop(pieces);
    assert!(cursor.span().is_empty() && matches!(cursor.payload(), Payload::None));
    let end = cursor.offset();
    let next = if cursor.next_element()? { Some(text(cursor)?) } else { None };
    Ok((all, end, next))
}

/// Reads the first of several strings only in part.
fn abandoned(cursor: &mut Cursor<'_>) -> Result<Option<String>, Error> {
    let mut pieces = cursor.text_pieces()?.unwrap();
    pieces.next_piece()?;
    drop(pieces);
    Ok(if cursor.next_element()? { Some(text(cursor)?) } else { None })
}

fn in_array(
    mut cursor: Cursor<'_>,
    read: impl Fn(&mut Cursor<'_>) -> Result<ObservedText, Error>,
) -> Result<ObservedText, String> {
    let read = |cursor: &mut Cursor<'_>| {
        cursor.begin_value()?;
        cursor.next_element()?;
        read(cursor)
    };
    read(&mut cursor).map_err(|error| format!("{error:?}"))
}

/// A part of a string as written; rarely an invalid one.
fn part(random: &mut Random) -> Vec<u8> {
    const ESCAPES: [&str; 9] =
        [r"\n", r"\u0041", r"\ud83d\ude00", r"\\", r#"\""#, r"\u00e9", "é", "日", "😀"];
    const INVALID: [&[u8]; 8] =
        [br"\x", br"\ud800", br"\udc00", br"\ud800\u0041", b"\x01", b"\xff", b"\xe6\x97", br"\u00"];
    match random.weighted(&[60, 10, 30, 1]) {
        0 => "a plain text of some words".as_bytes()[..random.between(1, 26)].to_vec(),
        1 => "long ".repeat(random.between(50, 140)).into_bytes(),
        2 => random.pick(&ESCAPES).as_bytes().to_vec(),
        _ => random.pick(&INVALID).to_vec(),
    }
}

#[test]
fn pieces_are_the_text() {
    for seed in 0..cases(3_000, 200_000) {
        let random = &mut Random::new(seed);
        let mut json = b"[\"".to_vec();
        for _ in 0..random.below(40) {
            json.extend(part(random));
        }
        json.extend(b"\" , \"next\"]");
        if random.chance(20) {
            json.truncate(random.between(2, 400));
        }
        let (chunk, window) = (random.between(1, 200), random.between(1, 400));
        let expected = in_array(Cursor::new(&json, &Config::new()), whole);
        assert_eq!(in_array(Cursor::new(&json, &Config::new()), pieces), expected, "{seed}");
        let config = Config::new().window(window);
        let stream = || Cursor::from_reader(Chunks::new(&json[..], &[chunk]), Framing::Single, &config);
        assert_eq!(in_array(stream(), whole), expected, "{seed}");
        assert_eq!(in_array(stream(), pieces), expected, "{seed}");
        // Abandoning a string does not hide an error in its rest.
        let mut cursor = stream();
        cursor.begin_value().unwrap();
        cursor.next_element().unwrap();
        let rest = abandoned(&mut cursor).map_err(|error| format!("{error:?}"));
        assert_eq!(rest, expected.map(|(.., next)| next), "{seed}");
    }
}

#[test]
fn other_values_are_left() {
    let mut cursor = Cursor::new(br#"{"a": [1], "b": ""}"#, &Config::new());
    cursor.begin_value().unwrap();
    assert!(cursor.next_member().unwrap());
    assert!(cursor.text_pieces().unwrap().is_none());
    assert!(cursor.name().unwrap().eq_str("a"));
    assert_eq!(cursor.peek().unwrap(), Some(Kind::Array));
    assert!(cursor.next_member().unwrap());
    assert_eq!(cursor.text_pieces().unwrap().unwrap().next_piece().unwrap(), None);
    assert!(!cursor.next_member().unwrap() && cursor.is_at_end());
}
