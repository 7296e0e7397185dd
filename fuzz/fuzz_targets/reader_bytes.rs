//! Compares the cursor with the naive parser: both accept or refuse the input, and find the same
//! scalars in the same order.
#![no_main]

use libfuzzer_sys::fuzz_target;
use trommel_reader::{Config, Cursor, Event, Limits, Payload, Scalar};
use trommel_testkit::naive::{self, Data};

fuzz_target!(|bytes: &[u8]| {
    let mut limits = Limits::default();
    limits.depth = 10_000;
    let mut cursor = Cursor::new(bytes, &Config::new().limits(limits));
    let mut scalars = Vec::new();
    let outcome = loop {
        match cursor.advance() {
            Ok(Some(Event::Scalar(_))) => scalars.push(match cursor.payload() {
                Payload::Scalar(Scalar::String(text)) => Data::String(text.decode().into_owned()),
                Payload::Scalar(Scalar::Number(number)) => Data::Number(number.lexeme().to_owned()),
                Payload::Scalar(Scalar::Bool(value)) => Data::Bool(value),
                _ => Data::Null,
            }),
            Ok(Some(_)) => {}
            Ok(None) => break Ok(()),
            Err(error) => break Err(error),
        }
    };
    match naive::parse_within(bytes, 10_000) {
        Ok(tree) => {
            assert!(outcome.is_ok(), "refused: {outcome:?}");
            let expected: Vec<_> = tree
                .ids()
                .map(|id| tree[id].data.clone())
                .filter(|data| !matches!(data, Data::Array(_) | Data::Object(_)))
                .collect();
            assert_eq!(scalars, expected);
        }
        Err(error) => assert!(outcome.is_err(), "accepted, but the oracle reports {error:?}"),
    }
});
