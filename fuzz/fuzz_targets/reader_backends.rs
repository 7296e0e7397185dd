//! All backends say the same of any bytes, in any framing, whatever is skipped.
#![no_main]

use libfuzzer_sys::fuzz_target;
use trommel_fuzz::{framing, trace};
use trommel_reader::{Backend, Config, Cursor, Validation, View};

fuzz_target!(|input: &[u8]| {
    let Some((&choice, bytes)) = input.split_first() else { return };
    for validation in [Validation::Strict, Validation::Structural] {
        let mut expected = None;
        for backend in Backend::available() {
            let config = Config::new().backend(backend).validation(validation);
            let found = trace(Cursor::from_view(View::new(bytes), framing(choice), &config), choice > 127);
            match &expected {
                None => expected = Some(found),
                Some(expected) => assert_eq!(expected, &found, "{backend:?} {validation:?}"),
            }
        }
    }
});
