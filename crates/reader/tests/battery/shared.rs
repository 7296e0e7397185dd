//! Long containers that others help to skip: the results are those of the cursor alone.

use std::sync::atomic::{AtomicU32, Ordering};

use trommel_reader::{Config, Cursor, Framing, LongSkip, Names, Result, SkipHelper, Validation, View};
use trommel_testkit::generate::Random;

/// Joins the stretches in order, some time after they were skipped.
#[derive(Default)]
struct InOrder {
    joined: AtomicU32,
}

impl SkipHelper for InOrder {
    fn skip(&self, long: &mut LongSkip<'_, '_>) -> Result<()> {
        let reader = long.reader();
        loop {
            let spans: Vec<_> = (0..5).map_while(|_| long.next_stretch()).collect();
            let skipped: Vec<_> = spans.iter().rev().map(|span| reader.skip(*span)).collect();
            if skipped.is_empty() {
                return Ok(());
            }
            for stretch in skipped.iter().rev() {
                if !long.join(stretch)? {
                    return Ok(());
                }
                self.joined.fetch_add(1, Ordering::Relaxed);
            }
        }
    }
}

/// An object with a long value, whose elements may be strings with the bytes of names and brackets.
fn document(bytes: usize, random: &mut Random) -> String {
    let mut text = String::from("{\"first\":0,\"long\":[0");
    while text.len() < bytes {
        let element = match random.below(4) {
            0 => format!("\"{}\"", "\\\":[{}x".repeat(random.below(300))),
            1 => format!("{{\"a\":[{},null,true],\"b\":{{}}}}", random.below(1000)),
            2 => "-1.5e9".to_owned(),
            _ => format!("[[\"{}\"]]", "é".repeat(random.below(50))),
        };
        text.extend([",", &element]);
    }
    text + "],\"last\":7}"
}

fn cursor<'a>(text: &'a str, helper: Option<&'a InOrder>) -> Cursor<'a> {
    let config = Config::new().validation(Validation::Structural);
    let mut cursor = Cursor::from_view(View::new(text.as_bytes()), Framing::Single, &config);
    if let Some(helper) = helper {
        cursor = cursor.helped_by(helper);
    }
    cursor.count_chars();
    assert!(cursor.next_record().unwrap());
    cursor
}

/// Calls `work` with and without a helper, which must have helped.
fn same<T: PartialEq + std::fmt::Debug>(text: &str, work: impl Fn(&mut Cursor<'_>) -> T) -> T {
    let helper = InOrder::default();
    let alone = work(&mut cursor(text, None));
    assert_eq!(work(&mut cursor(text, Some(&helper))), alone);
    assert!(helper.joined.load(Ordering::Relaxed) > 4);
    alone
}

#[test]
fn others_help_to_skip_long_values() {
    let random = &mut Random::new(1);
    let whole = document(26 << 20, random);
    let tally = same(&whole, |cursor| {
        let tally = cursor.tally_value().unwrap();
        (tally, cursor.offset(), cursor.chars(cursor.offset()))
    });
    assert_eq!((tally.0.names > 1000, tally.1), (true, whole.len() as u64));
    same(&whole, |cursor| (cursor.skip_value().unwrap(), cursor.chars(cursor.offset())));
    let names = Names::new(["last"]);
    let last = same(&whole, |cursor| {
        cursor.begin_value().unwrap();
        (cursor.next_named(&names).unwrap(), cursor.skip_value().unwrap(), cursor.next_named(&names).unwrap())
    });
    assert_eq!((last.0, last.2), (Some(0), None));
}

#[test]
fn errors_after_help_are_those_of_one_cursor() {
    let random = &mut Random::new(2);
    let whole = document(26 << 20, random);
    let near_end = whole.len() - 100_000;
    let at = whole.ceil_char_boundary(near_end);
    for malformed in [
        whole[..at].to_owned(),
        whole.replace("],\"last\":7}", "},\"last\":7}"),
        format!("{}{}", &whole[..at], "[".repeat(10_000)),
    ] {
        let error = same(&malformed, |cursor| {
            let error = cursor.skip_value().unwrap_err();
            (error.kind(), error.offset(), error.line_column())
        });
        assert!(error.1 >= near_end as u64, "{error:?}");
    }
}

#[test]
fn a_monitor_sees_the_progress_and_ends_it() {
    let whole = document(26 << 20, &mut Random::new(3));
    let (helper, config) = (InOrder::default(), Config::new().validation(Validation::Structural));
    let mut seen = Vec::new();
    let cursor = Cursor::from_view(View::new(whole.as_bytes()), Framing::Single, &config).helped_by(&helper);
    let mut cursor = cursor.monitored(Box::new(|offset| {
        seen.push(offset);
        if offset < 20 << 20 {
            return Ok(());
        }
        Err(trommel_reader::Error::io(std::io::Error::other("enough"), offset))
    }));
    assert!(cursor.next_record().unwrap());
    let error = cursor.skip_value().unwrap_err();
    assert!(error.to_string().contains("enough"), "{error}");
    assert_eq!(cursor.skip_value().unwrap_err().to_string(), error.to_string());
    drop(cursor);
    assert!(seen.is_sorted() && seen.len() > 20, "{seen:?}");
}
