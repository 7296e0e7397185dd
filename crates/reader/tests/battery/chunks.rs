//! Checks that the window never changes events, payloads, spans, or errors.

use trommel_reader::{Backend, Config, Cursor, Framing, Validation};
use trommel_testkit::chunks::{Chunks, Interrupting, SIZES};
use trommel_testkit::effort::cases;
use trommel_testkit::generate::{Layout, Random, Shape, damage, document};

use super::corpus::{Text, own, real};
use super::trace::{Walk, assert_same, trace};

const WALKS: [(Walk, Validation); 3] = [
    (Walk::Events, Validation::Strict),
    (Walk::Moves(1), Validation::Strict),
    (Walk::Moves(2), Validation::Structural),
];

/// Compares the slice with streams in reads and windows of all the sizes.
fn compare(text: &Text, sizes: &[usize], backends: &[Backend]) {
    for (walk, validation) in WALKS {
        let config = Config::new().validation(validation);
        let expected = trace(Cursor::from_view(text.view(), text.framing, &config), walk);
        for &backend in backends {
            let config = config.backend(backend);
            let whole = trace(Cursor::from_view(text.view(), text.framing, &config), walk);
            assert_same(&whole, &expected, &format_args!("{} {walk:?} {backend:?}", text.name));
            for &size in sizes {
                let reader = Chunks::new(text.bytes.as_slice(), &[size]);
                let cursor = Cursor::from_reader(reader, text.framing, &config.window(size));
                let context = format_args!("{} {walk:?} {backend:?} reads of {size}", text.name);
                assert_same(&trace(cursor, walk), &expected, &context);
            }
        }
    }
}

/// R1: all documents of the corpus, all windows from 1 to 129 bytes, all backends.
#[test]
fn chunk_invariance() {
    let backends: Vec<_> = Backend::available().collect();
    let sizes: Vec<_> = (1..=129).collect();
    for text in own() {
        compare(&text, &sizes, &backends);
    }
}

/// R1: third-party documents, as large as time allows.
#[test]
fn chunk_invariance_of_real_documents() {
    let most = cases(70_000, 4_000_000) as usize;
    for text in real(most) {
        compare(&text, &SIZES, &[Backend::detect()]);
    }
}

/// R1: random documents, valid and damaged, in reads of random sizes with interruptions.
#[test]
fn chunk_invariance_of_random_documents() {
    let framings = [Framing::Single, Framing::Auto, Framing::Lines, Framing::Concatenated, Framing::JsonSeq];
    for seed in 0..cases(1_500, 200_000) {
        let mut random = Random::new(seed);
        let layout = if seed % 2 == 0 { Layout::Random } else { Layout::Compact };
        let mut bytes = document(seed, &Shape { layout, ..Shape::default() });
        if seed % 3 != 0 {
            bytes = damage(seed, &bytes);
        }
        let framing = framings[random.below(framings.len())];
        let validation = if random.chance(50) { Validation::Strict } else { Validation::Structural };
        let walk = if random.chance(30) { Walk::Events } else { Walk::Moves(seed) };
        let config = Config::new().validation(validation);
        let expected = trace(Cursor::from_view(trommel_reader::View::new(&bytes), framing, &config), walk);
        let sizes = [random.between(1, 20), random.between(1, 200), 1];
        let reader = Interrupting::new(Chunks::new(bytes.as_slice(), &sizes), 3);
        let cursor = Cursor::from_reader(reader, framing, &config.window(random.between(16, 300)));
        assert_same(
            &trace(cursor, walk),
            &expected,
            &format_args!("seed {seed} {framing:?} {walk:?} {sizes:?}"),
        );
    }
}
