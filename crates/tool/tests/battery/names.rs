//! Promise R28: exported names are legal everywhere, and map back.

use std::collections::BTreeSet;

use proptest::collection::vec;
use proptest::prelude::*;
use trommel_tool::names::{Names, is_legal};

/// Generates typical names, and names that are likely to collide: few letters, replaced characters,
/// lengths around the limit.
fn name() -> impl Strategy<Value = String> {
    prop_oneof![
        4 => "[aA._ -]{1,4}",
        2 => "[a-z_]{1,8}\\.[a-z_]{1,8}",
        1 => "[aA]{60,66}[.]?[bB]{0,3}",
        1 => "a_a_[0-9a-f]{8}",
        1 => "\\PC{0,80}",
        1 => Just(String::new()),
    ]
}

proptest! {
    #[test]
    fn r28_names_are_legal_unique_and_lead_back(names in vec(name(), 0..60)) {
        let map = Names::of(names.iter().map(String::as_str));
        let distinct: BTreeSet<&String> = names.iter().collect();
        prop_assert_eq!(map.len(), distinct.len());
        let mut lower = BTreeSet::new();
        for name in &distinct {
            let spelling = map.exported(name).unwrap();
            prop_assert!(is_legal(spelling), "{:?} is {:?}", name, spelling);
            prop_assert!(lower.insert(spelling.to_ascii_lowercase()), "{:?} twice", spelling);
            prop_assert_eq!(map.original(spelling), Some(name.as_str()));
        }
    }

    #[test]
    fn r28_spellings_do_not_depend_on_the_order(names in vec(name(), 0..30), turn in 0_usize..30) {
        let mut turned = names.clone();
        turned.rotate_left(turn.min(names.len()));
        prop_assert_eq!(Names::of(names.iter().map(String::as_str)), Names::of(turned.iter().map(String::as_str)));
    }

    #[test]
    fn r28_legal_names_that_differ_by_more_than_case_stay(names in vec("[a-z_][a-z0-9_]{0,62}", 0..30)) {
        let map = Names::of(names.iter().map(String::as_str));
        for name in &names {
            prop_assert_eq!(map.exported(name), Some(name.as_str()));
        }
    }
}

#[test]
fn r28_our_own_names_are_not_changed() {
    let names = Names::of(["tool_outputs.list", "tool_outputs.extract", "buffer_ops", "session"]);
    let spellings: Vec<_> = names.iter().map(|(_, spelling)| spelling).collect();
    assert_eq!(spellings, ["buffer_ops", "session", "tool_outputs_extract", "tool_outputs_list"]);
}

#[test]
fn r28_suffixes_are_the_same_in_every_release() {
    let long = "x".repeat(80);
    let names = Names::of(["a.b", "a b", long.as_str()]);
    let spellings: Vec<_> = names.iter().map(|(_, spelling)| spelling.to_owned()).collect();
    let expected = FROZEN.map(str::to_owned);
    assert_eq!(spellings, expected);
}

/// Spellings of `a b`, `a.b` and a long name.
const FROZEN: [&str; 3] =
    ["a_b_a91b02ec", "a_b_fea8bb08", "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx_72411190"];
