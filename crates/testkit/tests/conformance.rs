//! Every suite loads completely.

use trommel_testkit::conformance::{self, Expected, Verdict};
use trommel_testkit::naive::parse;

#[test]
fn loads_all_suites() {
    let Some(root) = conformance::root() else { return };
    let compliance = conformance::compliance(&root);
    assert_eq!(compliance.iter().filter(|test| test.expectation.is_none()).count(), 247);
    assert_eq!(
        compliance
            .iter()
            .flat_map(|test| &test.expectation)
            .map(|expectation| expectation.answers.len())
            .max(),
        Some(6)
    );
    let cases = conformance::path_cases(&root);
    assert_eq!(cases.iter().filter(|case| case.selection.is_none()).count(), 109);
    assert_eq!(conformance::real_documents(&root).iter().filter(|case| case.selection.is_none()).count(), 0);
    assert_eq!(
        (conformance::normalized_paths(&root).len(), conformance::canonical_paths(&root).len()),
        (15, 26)
    );
    let texts: Vec<_> = conformance::parsing(&root).into_iter().chain(conformance::checker(&root)).collect();
    let count = |verdict| texts.iter().filter(|text| text.verdict == verdict).count();
    assert_eq!(texts.len(), 318 + 72);
    assert_eq!(count(Verdict::Either), 35);
    assert!(count(Verdict::Accept) > 95 && count(Verdict::Refuse) > 188);
    assert_eq!(conformance::figures(&root).len(), 28);
    let documents = conformance::documents(&root);
    assert!(documents.len() == 13 && documents.iter().all(|document| parse(&document.bytes).is_ok()));
    let schemas = conformance::schema_cases(&root);
    assert_eq!(schemas.len(), 24);
    for case in schemas {
        for text in case.inputs.iter().chain([&case.expected_schema]) {
            assert!(parse(text).is_ok(), "{}", case.name);
        }
    }
}

/// The digests are those that `sha256sum` computes for the same lists in the suite's notation.
#[test]
fn digests_match_lists() {
    let paths = ["$['a']", "$[0]"].map(String::from);
    let digest = |text: &str| Expected::Digest(text.into());
    assert!(digest("91a34d313f5e5eeeeee5d1fc37c49f893628f46b6d4d9c136a7ba81ef70e11d1").agrees(&paths));
    assert!(!digest("91a34d313f5e5eeeeee5d1fc37c49f893628f46b6d4d9c136a7ba81ef70e11d1").agrees(&paths[..1]));
    let digest = Expected::Digest("03a4cc702aa6e4f169ff34dd055714141eae3d2d7c50f6f053150cc72ef12638".into());
    assert!(digest.agrees(&[(1_u64, 2_u64), (3, 4)]) && !digest.agrees(&[(1, 2), (3, 5)]));
    assert!(
        Expected::Listed(paths.to_vec()).agrees(&paths)
            && !Expected::Listed(paths.to_vec()).agrees(&paths[1..])
    );
}
