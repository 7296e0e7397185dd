//! The results do not depend on the sizes in which the bytes arrive.
#![no_main]

use libfuzzer_sys::fuzz_target;
use trommel_fuzz::{framing, trace};
use trommel_reader::{Config, Cursor, Validation, View};
use trommel_testkit::chunks::Chunks;

fuzz_target!(|input: &[u8]| {
    let [choice, first, second, bytes @ ..] = input else { return };
    let sizes = [usize::from(*first).max(1), usize::from(*second).max(1)];
    let skip = *choice > 127;
    for validation in [Validation::Strict, Validation::Structural] {
        let config = Config::new().validation(validation).window(16 + usize::from(*second));
        let whole = trace(Cursor::from_view(View::new(bytes), framing(*choice), &config), skip);
        let pieces = trace(Cursor::from_reader(Chunks::new(bytes, &sizes), framing(*choice), &config), skip);
        assert_eq!(whole, pieces, "{validation:?} {sizes:?}");
    }
});
