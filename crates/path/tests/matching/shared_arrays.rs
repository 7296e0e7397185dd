//! Several matchers share the elements of an array. Each one starts where the previous one stopped.

use trommel_path::{Matcher, Order, PlanOptions, Scratch, Step, Wants};
use trommel_reader::{Config, Cursor, Framing, Span, Validation, View};

use crate::support::plan_with;

/// Returns a document, and the offsets at which the elements of its long array end.
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

/// Adds the spans of nodes until the matcher pauses or ends.
fn walk(matcher: &mut Matcher<'_, '_>, into: &mut Vec<Span>) {
    while let Some(step) = matcher.advance().unwrap() {
        if let Step::Leave { span, .. } = step {
            into.push(span);
        }
    }
}

/// Matches with one matcher up to the pause, with others for a few elements each, and with the
/// first one again. Returns the nodes and the number of other matchers. The last of them reaches
/// the end of the array.
fn match_shared(queries: &[&str], order: Order, validation: Validation) -> (Vec<Span>, usize) {
    match_with(queries, order, validation, true)
}

fn match_alone(queries: &[&str], order: Order, validation: Validation) -> Vec<Span> {
    match_with(queries, order, validation, false).0
}

fn match_with(queries: &[&str], order: Order, validation: Validation, pausing: bool) -> (Vec<Span>, usize) {
    let (text, ends) = document();
    let (plan, config) =
        (plan_with(queries, PlanOptions::new().order(order)), Config::new().validation(validation));
    let (wants, mut scratch, mut nodes) = (Wants::default(), Scratch::new(), Vec::new());
    let mut cursor = Cursor::from_view(View::new(text.as_bytes()), Framing::Single, &config);
    let mut matcher = plan.matcher(&mut scratch, &mut cursor, &wants);
    assert!(matcher.next_record().unwrap());
    if pausing {
        matcher.pause_between_elements();
    }
    walk(&mut matcher, &mut nodes);
    let Some(mut at) = matcher.paused() else { return (nodes, 0) };
    let checkpoint = matcher.checkpoint().unwrap();
    let first = ends.iter().position(|end| *end == at).unwrap();
    let (mut others, mut other) = (0, Scratch::new());
    for ends in ends[first + 1..].chunks(997) {
        let until = *ends.last().unwrap();
        let view = View::new(text.as_bytes()).narrow(Span::new(at, text.len() as u64)).unwrap();
        let mut cursor = Cursor::from_between(view, checkpoint.between(), &config);
        let mut matcher = plan.matcher(&mut other, &mut cursor, &wants);
        matcher.resume_at(&checkpoint, until);
        walk(&mut matcher, &mut nodes);
        assert_eq!(matcher.paused(), Some(until), "the matcher pauses exactly there");
        (at, others) = (until, others + 1);
    }
    matcher.resume_after(at, 0, Box::new(|_| Ok(())));
    walk(&mut matcher, &mut nodes);
    assert_eq!(matcher.paused(), None, "no other array is long");
    (nodes, others)
}

#[test]
fn several_matchers_find_the_nodes_of_one() {
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
            let (nodes, others) = match_shared(queries, Order::Any, validation);
            assert!(others >= 10, "{queries:?} {validation:?}: {others}");
            assert!(nodes == match_alone(queries, Order::Any, validation), "{queries:?} {validation:?}");
        }
    }
    for queries in [["$..id"], ["$..in"]] {
        let (nodes, others) = match_shared(&queries, Order::Rfc, Validation::Structural);
        assert!(
            others >= 10 && nodes == match_alone(&queries, Order::Rfc, Validation::Structural),
            "{queries:?}"
        );
    }
}

/// A matcher does not pause if the queries treat elements differently, or if the others would find
/// nodes out of order.
#[test]
fn does_not_share_elements_that_differ() {
    for query in ["$.data[7].id", "$.data[:100].id", "$.data[?@.id == $.id]", "$.data[-1]", "$.data[*,0]"] {
        let (nodes, others) = match_shared(&[query], Order::Any, Validation::Strict);
        assert_eq!(others, 0, "{query}");
        assert_eq!(nodes, match_alone(&[query], Order::Any, Validation::Strict), "{query}");
    }
    assert_eq!(match_shared(&["$..[?@.id > 8]"], Order::Rfc, Validation::Strict).1, 0);
}
