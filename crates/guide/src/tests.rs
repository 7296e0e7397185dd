//! Tests of what only the crate can see: stored bytes, and guides that lie.

use std::sync::Arc;

use trommel::reader::{Framing, Guide as _, NameOrder};
use trommel::{Analysis, Document};
use trommel_testkit::effort::cases;
use trommel_testkit::generate::{Random, Shape as Look, document};

use crate::index::{Container, NONE, Point};
use crate::{Error, Guide, Identity, Index, IndexBuilder, Shape};

fn index(text: &[u8], spacing: u64) -> Index {
    Index::build(&Document::from_bytes(text), IndexBuilder::new(spacing), Box::new(|_| Ok(()))).unwrap()
}

fn guide(text: &[u8], spacing: u64) -> Guide {
    let shape = Shape::build(&mut Document::from_bytes(text), &Analysis::new()).unwrap();
    Guide::new(Identity::Output([7; 32]), Framing::Auto, index(text, spacing), shape)
}

const TEXT: &[u8] =
    br#"{"a":[{"id":1,"b":[1,2,3]},{"id":2,"b":[4,5,6]},{"id":3}],"c":{"d":"text","e":null}}"#;

#[test]
fn stored_guides_are_read_again() {
    for seed in 0..cases(200, 5_000) {
        let text = document(seed, &Look::wide(30));
        let guide = guide(&text, 16 + seed % 64);
        let bytes = guide.to_bytes();
        let read = Guide::from_bytes(&bytes).unwrap_or_else(|error| panic!("seed {seed}: {error}"));
        assert_eq!(read.index(), guide.index(), "seed {seed}");
        assert_eq!(read.identity(), guide.identity());
        assert_eq!(read.to_bytes(), bytes, "seed {seed}");
    }
}

#[test]
fn every_flipped_bit_and_every_cut_is_noticed() {
    let bytes = guide(TEXT, 16).to_bytes();
    assert!(Guide::from_bytes(&bytes).is_ok());
    for at in 0..bytes.len() {
        for bit in 0..8 {
            let mut flipped = bytes.clone();
            flipped[at] ^= 1 << bit;
            assert!(Guide::from_bytes(&flipped).is_err(), "bit {bit} of byte {at}");
        }
        assert!(Guide::from_bytes(&bytes[..at]).is_err(), "cut at {at}");
    }
    let mut longer = bytes.clone();
    longer.push(0);
    assert!(Guide::from_bytes(&longer).is_err());
    let mut newer = bytes;
    newer[8] = 2;
    assert!(matches!(Guide::from_bytes(&newer), Err(Error::Version(2))));
}

/// The stored form of a small guide is that of version 1: the bytes are those that were written
/// when the format was published.
#[test]
fn the_format_is_stable() {
    let guide = Guide::new(Identity::Output([7; 32]), Framing::Auto, index(TEXT, 16), Shape::default());
    let hash = blake3::hash(&guide.to_bytes()).to_hex();
    assert_eq!(&hash[..16], "07f3bda69cd0c006", "a change of the format needs a new version");
}

#[test]
fn contradictions_are_refused() {
    let whole = index(TEXT, 16);
    assert_eq!(whole.contradiction(), None);
    assert!(whole.containers.len() > 1 && whole.points.len() > 2);
    let lies: [fn(&mut Index); 10] = [
        |index| index.containers[1].order = Some(NameOrder::Bytes),
        |index| index.containers[1].parent = 1,
        |index| index.containers[1].parent = 7,
        |index| index.containers[0].end = u64::MAX,
        |index| index.containers[1].depth = 9,
        |index| index.containers[1].child_start = 0,
        |index| index.points[1].offset = 1 << 40,
        |index| index.points[1].container = 99,
        |index| index.points[1].filter = u32::MAX,
        |index| index.points.clear(),
    ];
    for (number, lie) in lies.into_iter().enumerate() {
        let mut index = whole.clone();
        lie(&mut index);
        assert!(index.contradiction().is_some(), "lie {number}");
    }
}

/// A guide that lies without contradicting itself can change an answer, but never ends in a panic
/// or without an end.
#[test]
fn lies_never_panic() {
    for seed in 0..cases(2_000, 100_000) {
        let mut random = Random::new(seed);
        let text = document(seed, &Look::wide(20));
        let mut forged = index(&text, random.between(8, 64) as u64);
        for _ in 0..random.between(1, 4) {
            forge(&mut forged, &mut random);
        }
        if forged.contradiction().is_some() {
            continue;
        }
        let guide = Arc::new(forged) as Arc<dyn trommel::reader::Guide>;
        for query in ["$[*]", "$[3]", "$[-1]", "$..id", "$.name", "$[2:9:2]", "$[*][*]"] {
            let analysis = Analysis::new().window(random.between(1, 99)).count(query.parse().unwrap());
            let mut guided = Document::from_bytes(&text).guided_by(Arc::clone(&guide));
            let _ = analysis.run(&mut guided);
            let mut stream =
                Document::from_seekable(std::io::Cursor::new(&text)).unwrap().guided_by(Arc::clone(&guide));
            let _ = analysis.run(&mut stream);
        }
    }
}

/// Changes one fact.
fn forge(index: &mut Index, random: &mut Random) {
    let length = index.length as usize + 1;
    if random.chance(50) && !index.containers.is_empty() {
        let number = random.below(index.containers.len());
        let container = &mut index.containers[number];
        match random.below(4) {
            0 => container.end = random.below(length) as u64,
            1 => container.start = random.below(length) as u64,
            2 => container.children = random.below(100) as u64,
            _ => container.index = random.below(100) as u64,
        }
    } else {
        let number = random.below(index.points.len());
        let point = &mut index.points[number];
        match random.below(3) {
            0 => point.offset = random.below(length) as u64,
            1 => point.index = random.below(100) as u64,
            _ => point.filter = 0,
        }
    }
}

#[test]
fn places_are_between_children() {
    let text = br#"[[1,2,3,4,5,6,7,8,9],{"aa":1,"bb":2,"cc":3,"dd":4},[10]]"#;
    let index = index(text, 8);
    for Point { offset, container, .. } in &index.points[1..] {
        let before = text[*offset as usize - 1];
        assert!(before == b',' || before == b'[', "{offset}");
        assert_ne!(*container, NONE);
    }
    let Container { start, end, children, .. } = index.containers[0];
    assert_eq!((start, end, children), (0, text.len() as u64, 3));
    let inner = index.end(2, 2).map(|end| (end.offset, end.children));
    assert_eq!(inner, Some((20, 9)));
    assert_eq!(index.waypoint(2, 2, 100).map(|waypoint| (waypoint.offset, waypoint.index)), Some((8, 3)));
    assert_eq!(index.end(2, 3), None);
}
