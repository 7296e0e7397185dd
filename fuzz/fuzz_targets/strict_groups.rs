//! The strict kernel that validates four blocks at once gives the results of the kernel of single
//! blocks. A stream with a small window never shows it four blocks.
#![no_main]

use libfuzzer_sys::fuzz_target;
use trommel_fuzz::trace;
use trommel_reader::{Backend, Config, Cursor, Framing, Kind, Listener, Scalar, Text, Validation, View};
use trommel_testkit::chunks::Chunks;

/// Names and brackets, which have a kernel of their own.
#[derive(Default)]
struct Names(Vec<(u64, String)>);

impl Listener for Names {
    fn wants_scalars(&self) -> bool {
        false
    }

    fn begin(&mut self, kind: Kind, at: u64) {
        self.0.push((at, format!("{kind:?}")));
    }

    fn end(&mut self, kind: Kind, at: u64) {
        self.0.push((at, format!("end of {kind:?}")));
    }

    fn name(&mut self, name: Text<'_>, at: u64) {
        self.0.push((at, name.decode().into_owned()));
    }

    fn scalar(&mut self, _: Scalar<'_>, _: u64) {}
}

fuzz_target!(|input: &[u8]| {
    let [choice, bytes @ ..] = input else { return };
    // Blanks before and between move the tokens across blocks.
    let bytes = [&vec![b' '; usize::from(choice % 70)], bytes].concat();
    for backend in Backend::available() {
        let config = Config::new().validation(Validation::Strict).backend(backend);
        let groups = || Cursor::from_view(View::new(&bytes), Framing::Single, &config);
        let small = config.window(64);
        let blocks = || Cursor::from_reader(Chunks::new(&bytes[..], &[64]), Framing::Single, &small);
        for skip in [false, true] {
            assert_eq!(trace(groups(), skip), trace(blocks(), skip), "{backend:?}, skip: {skip}");
        }
        let names = |mut cursor: Cursor<'_>| {
            let mut names = Names::default();
            let listened = cursor.listen(0, u64::MAX, &mut names);
            (names.0, listened.map_err(|error| error.to_string()))
        };
        assert_eq!(names(groups()), names(blocks()), "{backend:?}, names");
    }
});
