//! Hints for queries with misspellings. The oracle confirms that every suggestion selects
//! something.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use trommel::path::Query;
use trommel::{Analysis, Document};
use trommel_hints::{Length, Reason, UnmatchedQuery, hints, outline};
use trommel_testkit::effort::cases;
use trommel_testkit::evaluate::{Duplicates, evaluate};
use trommel_testkit::generate::Random;
use trommel_testkit::naive;

fn query(text: &str) -> Query {
    text.parse().unwrap()
}

/// Names of different lengths, some of them similar.
const NAMES: [&str; 12] = [
    "id",
    "name",
    "nape",
    "price",
    "prices",
    "level",
    "email",
    "status",
    "created_at",
    "userName",
    "user_name",
    "a b",
];

/// A random value with nested values up to `depth`.
fn value(random: &mut Random, depth: usize) -> String {
    match if depth == 0 { 2 } else { random.below(5) } {
        0 | 1 => {
            let mut names = NAMES.to_vec();
            let members = (0..random.between(0, 4)).map(|_| {
                let name = names.remove(random.below(names.len()));
                format!("{name:?}: {}", value(random, depth - 1))
            });
            format!("{{{}}}", members.collect::<Vec<_>>().join(", "))
        }
        2 => random.below(9).to_string(),
        3 => "\"error\"".to_owned(),
        _ => {
            let elements = (0..random.between(0, 4)).map(|_| value(random, depth - 1));
            format!("[{}]", elements.collect::<Vec<_>>().join(", "))
        }
    }
}

/// Changes, drops, doubles, or swaps a letter of a name, or changes its case; sometimes leaves it
/// as it is.
fn misspelling(random: &mut Random, name: &str) -> String {
    let mut letters: Vec<char> = name.chars().collect();
    let at = random.below(letters.len());
    match random.below(6) {
        0 => drop(letters.remove(at)),
        1 => letters[at] = 'x',
        2 => letters.insert(at, letters[at]),
        3 => letters[at] = letters[at].to_ascii_uppercase(),
        4 if at > 0 => letters.swap(at - 1, at),
        _ => {}
    }
    letters.into_iter().collect()
}

/// A random query whose names may be misspelled.
fn slipped(random: &mut Random) -> String {
    let mut text = String::from("$");
    for _ in 0..random.between(1, 4) {
        let name = NAMES[random.below(NAMES.len())];
        let name = misspelling(random, name);
        let step = match random.below(8) {
            0 => "[*]".to_owned(),
            1 => format!("[{}]", random.below(5)),
            2 => format!("[{}:]", random.below(3)),
            3 => format!("..[{name:?}]"),
            4 => format!("[?@[{name:?}] > {}]", random.below(6)),
            5 => format!("[?@[{name:?}] == \"error\" || @[\"id\"]]"),
            _ => format!("[{name:?}]"),
        };
        text.push_str(&step);
    }
    text
}

fn selects(document: &naive::Document, text: &str) -> bool {
    !evaluate(document, query(text).segments(), Duplicates::First).is_empty()
}

/// The number of elements in the longest array that a query selects.
fn longest(document: &naive::Document, text: &str) -> Option<u64> {
    let nodes = evaluate(document, query(text).segments(), Duplicates::First);
    let arrays = nodes.iter().filter(|node| matches!(document[node.value].data, naive::Data::Array(_)));
    arrays.map(|node| document.children(node.value).len() as u64).max()
}

#[test]
fn every_suggestion_selects_something() {
    let mut hinted = 0;
    for seed in 0..cases(20_000, 1_000_000) {
        let mut random = Random::new(seed);
        let (text, asked) = (value(&mut random, 4), slipped(&mut random));
        let tree = naive::parse(text.as_bytes()).unwrap();
        let parsed = query(&asked);
        let analysis = Analysis::new();
        let mut document = Document::from_bytes(text.as_str());
        if selects(&tree, &asked) {
            continue;
        }
        let outline = outline(&analysis, &document);
        for hint in hints(&analysis, &mut document, &outline, &[UnmatchedQuery::new(&asked, &parsed)]) {
            hinted += 1;
            match &hint.reason {
                Reason::Path(path) | Reason::Name { nearest: path, .. } => {
                    assert!(selects(&tree, path), "{asked} in {text}: {path}");
                }
                Reason::Index { path, length } => {
                    let longest = longest(&tree, path).unwrap_or_else(|| panic!("{asked} in {text}: {path}"));
                    let is_right = match length {
                        Length::Exactly(length) | Length::AtMost(length) => *length == longest,
                        _ => true,
                    };
                    assert!(is_right, "{asked} in {text}: {path} has {longest}, not {length:?}");
                }
                other => panic!("{asked} in {text}: {other:?}"),
            }
        }
    }
    assert!(hinted > 100, "{hinted} hints");
}
