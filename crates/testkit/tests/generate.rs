//! The generators are reproducible and produce variety.

use std::collections::BTreeSet;
use trommel_query::Query;
use trommel_testkit::generate::{Layout, Names, QueryOptions, Shape, damage, document, query};
use trommel_testkit::naive::{Data, parse};

#[test]
fn output_depends_on_the_seed_alone() {
    let shape = Shape::default();
    let text = document(11, &shape);
    let tree = parse(&text).unwrap();
    assert_eq!(text, document(11, &shape));
    assert_eq!(query(11, &tree, &QueryOptions::default()), query(11, &tree, &QueryOptions::default()));
    assert_eq!(damage(11, &text), damage(11, &text));
    let different: BTreeSet<_> = (0..100).map(|seed| document(seed, &shape)).collect();
    assert!(different.len() > 95, "{}", different.len());
}

#[test]
fn documents_respect_their_shape() {
    for seed in 0..100 {
        let deep = parse(&document(seed, &Shape::deep(300))).unwrap();
        assert!(deep.ids().all(|id| deep[id].depth <= 301));
        let wide = parse(&document(seed, &Shape::wide(500))).unwrap();
        assert!(wide.ids().all(|id| wide.children(id).len() <= 500));
        let compact = Shape { layout: Layout::Compact, names: Names::Plain, ..Shape::default() };
        let names = parse(&document(seed, &compact)).unwrap();
        for id in names.ids() {
            let distinct: BTreeSet<_> = names.members(id).iter().map(|member| &member.name).collect();
            assert_eq!(distinct.len(), names.members(id).len());
        }
    }
    let deepest = (0..100).map(|seed| {
        let tree = parse(&document(seed, &Shape::deep(300))).unwrap();
        tree.ids().map(|id| tree[id].depth).max().unwrap()
    });
    assert!(deepest.max().unwrap() > 290);
    let longest = (0..100).map(|seed| {
        let tree = parse(&document(seed, &Shape::wide(500))).unwrap();
        tree.children(tree.root()).len()
    });
    assert!(longest.max().unwrap() > 400);
}

/// Backslash runs of either parity occur at every offset around the edge of a block.
#[test]
fn backslashes_cover_block_edges() {
    let mut seen = BTreeSet::new();
    for seed in 0..2000 {
        let text = document(seed, &Shape::default());
        for start in (0..text.len()).filter(|&at| text[at] == b'\\' && (at == 0 || text[at - 1] != b'\\')) {
            let run = text[start..].iter().take_while(|&&byte| byte == b'\\').count();
            if start / 64 != (start + run) / 64 {
                seen.insert((start % 64, run % 2));
            }
        }
    }
    for start in 56..64 {
        assert!(seen.contains(&(start, 0)) && seen.contains(&(start, 1)), "{start}: {seen:?}");
    }
}

#[test]
fn repeats_names_only_on_request() {
    let repeats = |duplicates: bool| {
        let shape = Shape { duplicates, ..Shape::default() };
        let count = |seed| {
            let tree = parse(&document(seed, &shape)).unwrap();
            let again = |id| {
                let distinct: BTreeSet<_> = tree.members(id).iter().map(|member| &member.name).collect();
                tree.members(id).len() - distinct.len()
            };
            tree.ids().map(again).sum::<usize>()
        };
        (0..50).map(count).sum::<usize>()
    };
    assert_eq!(repeats(false), 0);
    assert!(repeats(true) > 50);
}

/// Every random query is valid and well-typed, and every form of the grammar occurs.
#[test]
fn queries_are_valid_and_varied() {
    let mut all = String::new();
    for seed in 0..3000 {
        let tree = parse(&document(seed % 100, &Shape::default())).unwrap();
        let text = query(seed, &tree, &QueryOptions::default());
        if let Err(error) = text.parse::<Query>() {
            panic!("{error}: {text}");
        }
        all.push_str(&text);
    }
    for part in [
        "..*", "..[", "::", "length(", "count(", "value(", "match(", "search(", "!match", "!(", "&&", "||",
        "<=", "!=", "[-", "$[", "?$", "?@", "null", "true", "\\u", "\"",
    ] {
        assert!(all.contains(part), "{part}");
    }
}

#[test]
fn options_are_respected() {
    let plain = QueryOptions { descendants: false, filters: 0, lists: false, ..QueryOptions::default() };
    for seed in 0..500 {
        let tree = parse(&document(seed, &Shape::plain())).unwrap();
        let text = query(seed, &tree, &plain);
        assert!(!text.contains("..") && !text.contains('?') && !text.contains(','), "{text}");
    }
}

#[test]
fn documents_can_be_scalars() {
    let is_scalar = |seed| {
        let tree = parse(&document(seed, &Shape::default())).unwrap();
        !matches!(tree[tree.root()].data, Data::Array(_) | Data::Object(_))
    };
    assert!((0..200).any(is_scalar));
}
