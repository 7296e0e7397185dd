//! Elements of an array matched by several matchers: each begins where the one before it has come
//! to.

use trommel_path::{Matcher, Order, PlanOptions, Scratch, Step, Wants};
use trommel_reader::{Config, Cursor, Framing, Span, Validation, View};

use crate::support::plan_with;

/// A document of some length; and where each element of its long array ends.
fn document() -> (String, Vec<u64>) {
    let (mut text, mut ends) = (String::from(r#"{"id":0,"x":[{"id":1}],"data":["#), Vec::new());
    for number in 0..30_000 {
        let comma = if number == 0 { "" } else { "," };
        let inner = format!(r#"[{{"id":7}},{{"x":[]}},[{number}]]"#);
        text.extend([
            comma,
            r#"{"id":"#,
            &number.to_string(),
            r#","in":"#,
            &inner,
            r#","text":"}]\"id\":"}"#,
        ]);
        ends.push(text.len() as u64);
    }
    (text + r#"],"after":[{"id":2}]}"#, ends)
}

/// Adds the spans of the nodes that are left until the matcher pauses or ends.
fn walk(matcher: &mut Matcher<'_, '_>, into: &mut Vec<Span>) {
    while let Some(step) = matcher.advance().unwrap() {
        if let Step::Leave { span, .. } = step {
            into.push(span);
        }
    }
}

/// One matcher up to the pause, others for a few elements each, and the first one again. What they
/// find, and how many there were; the last of the others comes to the end of the array.
fn in_turns(queries: &[&str], order: Order, validation: Validation) -> (Vec<Span>, usize) {
    match_once(queries, order, validation, true)
}

fn at_once(queries: &[&str], order: Order, validation: Validation) -> Vec<Span> {
    match_once(queries, order, validation, false).0
}

fn match_once(queries: &[&str], order: Order, validation: Validation, pausing: bool) -> (Vec<Span>, usize) {
    let (text, ends) = document();
    let (plan, config) =
        (plan_with(queries, PlanOptions::new().order(order)), Config::new().validation(validation));
    let (wants, mut scratch, mut found) = (Wants::default(), Scratch::new(), Vec::new());
    let mut cursor = Cursor::from_view(View::new(text.as_bytes()), Framing::Single, &config);
    let mut matcher = plan.matcher(&mut scratch, &mut cursor, &wants);
    assert!(matcher.next_record().unwrap());
    if pausing {
        matcher.pause_between_elements();
    }
    walk(&mut matcher, &mut found);
    let Some(mut at) = matcher.paused() else { return (found, 0) };
    let checkpoint = matcher.checkpoint().unwrap();
    let first = ends.iter().position(|end| *end == at).unwrap();
    let (mut others, mut other) = (0, Scratch::new());
    for ends in ends[first + 1..].chunks(997) {
        let until = *ends.last().unwrap();
        let view = View::new(text.as_bytes()).narrow(Span::new(at, text.len() as u64)).unwrap();
        let mut cursor = Cursor::from_between(view, checkpoint.between(), &config);
        let mut matcher = plan.matcher(&mut other, &mut cursor, &wants);
        matcher.resume_at(&checkpoint, until);
        walk(&mut matcher, &mut found);
        assert_eq!(matcher.paused(), Some(until), "it pauses exactly there");
        (at, others) = (until, others + 1);
    }
    matcher.resume_after(at, 0, Box::new(|_| Ok(())));
    walk(&mut matcher, &mut found);
    assert_eq!(matcher.paused(), None, "there is no other long array");
    (found, others)
}

#[test]
fn elements_matched_apart_are_those_of_one_matcher() {
    let alike: [&[&str]; 8] = [
        &["$.data[*].id"],
        &["$.*[*].in[*].id", "$.data[*].text"],
        &["$.data[?@.id > 100].text", "$.data"],
        &["$.data[::1]['id', 'text']", "$.after[0]"],
        &["$..id"],
        &["$.data..id", "$.data..id"],
        &["$..nothing"],
        &["$..[?@.id == 7].id"],
    ];
    for queries in alike {
        for validation in [Validation::Structural, Validation::Strict] {
            let (found, others) = in_turns(queries, Order::Any, validation);
            assert!(others >= 10, "{queries:?} {validation:?}: {others}");
            assert!(found == at_once(queries, Order::Any, validation), "{queries:?} {validation:?}");
        }
    }
    for queries in [["$..id"], ["$..in"]] {
        let (found, others) = in_turns(&queries, Order::Rfc, Validation::Structural);
        assert!(
            others >= 10 && found == at_once(&queries, Order::Rfc, Validation::Structural),
            "{queries:?}"
        );
    }
}

/// Where elements are not alike to the queries, or what others find comes in another order, nobody
/// pauses.
#[test]
fn elements_that_differ_are_matched_by_one() {
    for query in ["$.data[7].id", "$.data[:100].id", "$.data[?@.id == $.id]", "$.data[-1]", "$.data[*,0]"] {
        let (found, others) = in_turns(&[query], Order::Any, Validation::Strict);
        assert_eq!(others, 0, "{query}");
        assert_eq!(found, at_once(&[query], Order::Any, Validation::Strict), "{query}");
    }
    assert_eq!(in_turns(&["$..[?@.id > 8]"], Order::Rfc, Validation::Strict).1, 0);
}
