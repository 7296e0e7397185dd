//! Streams of records: moving from one record to the next and past malformed ones, with one
//! scratch.

use trommel_path::{Order, Plan, PlanOptions, Scratch};
use trommel_reader::{Config, Cursor, ErrorKind, Framing, Syntax, Validation};
use trommel_testkit::chunks::{Chunks, SIZES};
use trommel_testkit::effort::cases;
use trommel_testkit::generate::{self, Layout, QueryOptions, Shape};
use trommel_testkit::naive;

use crate::support::{
    expected, paths, plan, plan_with, query, record, run, select, stream, texts, wants_all,
};

/// R1: records in every framing find the same nodes as separate documents, in reads of any size.
#[test]
fn records_are_documents() {
    let framings = [
        (Framing::Lines, naive::Framing::Lines),
        (Framing::Concatenated, naive::Framing::Concatenated),
        (Framing::JsonSeq, naive::Framing::JsonSeq),
    ];
    for seed in 0..cases(1_500, 50_000) {
        let (framing, theirs) = framings[seed as usize % 3];
        let shape = Shape { layout: Layout::OneLine, duplicates: seed.is_multiple_of(4), ..Shape::default() };
        let text = generate::stream(seed, &shape, theirs, 4);
        let records: Vec<_> =
            naive::records(&text, theirs).into_iter().map(|record| record.outcome.unwrap()).collect();
        let Some(first) = records.first() else { continue };
        let query = query(&generate::query(seed, first, &QueryOptions::default()));
        let order = if seed.is_multiple_of(2) { Order::Rfc } else { Order::Document };
        let plan = Plan::new(std::slice::from_ref(&query), PlanOptions::new().order(order));
        let (mut scratch, wants) = (Scratch::new(), wants_all(&plan));
        let mut cursor = stream(
            Chunks::new(&text[..], &[SIZES[seed as usize % SIZES.len()]]),
            framing,
            if seed % 5 < 2 { Validation::Strict } else { Validation::Structural },
        );
        let mut matcher = plan.matcher(&mut scratch, &mut cursor, &wants);
        for tree in &records {
            assert!(matcher.next_record().unwrap(), "seed {seed}");
            let found = record(&plan, &mut matcher).unwrap();
            let wanted = expected(tree, &query, order, trommel_path::Duplicates::First);
            assert_eq!(found[0], wanted, "seed {seed}: {query}");
        }
        assert!(!matcher.next_record().unwrap(), "seed {seed}");
    }
}

/// A malformed line is an error until the next record is requested, and does not affect other
/// records.
#[test]
fn skips_malformed_lines() {
    let lines = "{\"a\":1}\n{\"a\":tru}\n{\"b\":}\n[\n{\"a\":{\"a\":2}}\n";
    let plan = plan(&["$..a"]);
    let (mut scratch, wants) = (Scratch::new(), wants_all(&plan));
    let mut cursor = stream(lines.as_bytes(), Framing::Lines, Validation::Strict);
    let mut matcher = plan.matcher(&mut scratch, &mut cursor, &wants);
    let mut outcomes = Vec::new();
    while matcher.next_record().unwrap() {
        let outcome = record(&plan, &mut matcher);
        if let Err(error) = &outcome {
            let again = matcher.advance().unwrap_err();
            assert_eq!((again.kind(), again.offset()), (error.kind(), error.offset()));
            assert!(matcher.advance().is_err());
        }
        outcomes.push(
            outcome.map(|nodes| paths(&nodes[0]).join(" ")).map_err(|error| (error.kind(), error.offset())),
        );
    }
    let syntax = |syntax, offset| Err((ErrorKind::Syntax(syntax), offset));
    assert_eq!(
        outcomes,
        [
            Ok("$['a']".to_owned()),
            syntax(Syntax::Literal, 13),
            syntax(Syntax::ExpectedValue, 23),
            syntax(Syntax::UnexpectedEnd, 26),
            Ok("$['a'] $['a']['a']".to_owned()),
        ]
    );
}

/// If no record can follow, the error is final.
#[test]
fn an_error_in_a_single_document_is_final() {
    let plan = plan(&["$..a"]);
    for framing in [Framing::Single, Framing::Concatenated, Framing::Auto] {
        let (mut scratch, wants) = (Scratch::new(), wants_all(&plan));
        let mut cursor = stream(&b"{\"a\":1,}\n{\"a\":2}"[..], framing, Validation::Strict);
        let mut matcher = plan.matcher(&mut scratch, &mut cursor, &wants);
        assert!(matcher.next_record().unwrap());
        let error = record(&plan, &mut matcher).unwrap_err();
        for _ in 0..3 {
            assert_eq!(matcher.next_record().unwrap_err().offset(), error.offset(), "{framing:?}");
            assert_eq!(matcher.advance().unwrap_err().offset(), error.offset(), "{framing:?}");
        }
    }
}

/// An error that only a comparison finds, in a skipped value, is as final as any other.
#[test]
fn an_error_in_a_compared_value_is_final() {
    let plan = plan(&["$[?@.a == $[0].a]"]);
    let document = "[{\"a\":[1,\n  2 x]},\n{\"a\":[1]}]";
    let (mut scratch, wants) = (Scratch::new(), wants_all(&plan));
    let mut cursor = stream(document.as_bytes(), Framing::Single, Validation::Structural);
    let mut matcher = plan.matcher(&mut scratch, &mut cursor, &wants);
    assert!(matcher.next_record().unwrap());
    for _ in 0..3 {
        let error = matcher.advance().unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Syntax(Syntax::ExpectedCommaOrEnd));
        let place = error.line_column().unwrap();
        assert_eq!((error.offset(), place.line, place.column), (14, 2, 5));
    }
    assert!(matcher.next_record().is_err());
    // In a stream of lines, the next record is matched.
    let lines = "[{\"a\":[tru]}]\n[{\"a\":[1]}]";
    let mut cursor = stream(lines.as_bytes(), Framing::Lines, Validation::Structural);
    let mut matcher = plan.matcher(&mut scratch, &mut cursor, &wants);
    assert!(matcher.next_record().unwrap());
    assert_eq!(record(&plan, &mut matcher).unwrap_err().offset(), 7);
    assert!(matcher.next_record().unwrap());
    assert_eq!(record(&plan, &mut matcher).unwrap()[0].len(), 1);
    assert!(!matcher.next_record().unwrap());
}

/// A scratch can be reused with other plans and inputs, even after errors and after records that
/// were left.
#[test]
fn a_scratch_is_reusable() {
    let mut scratch = Scratch::new();
    let plans = [
        plan(&["$..*..*", "$.a", "$['b','a']"]),
        plan(&["$[?count(@..x) == $.y]"]),
        plan(&[]),
        plan(&["$[-1]"]),
    ];
    for seed in 0..300 {
        let plan = &plans[seed as usize % plans.len()];
        let shape = Shape::default();
        let mut text = generate::document(seed, &shape);
        if seed.is_multiple_of(3) {
            text = generate::damage(seed, &text);
        }
        let alone = run_with(plan, &text, &mut Scratch::new());
        assert_eq!(run_with(plan, &text, &mut scratch), alone, "seed {seed}");
        if seed.is_multiple_of(5) {
            // Leaves the record in the middle.
            let wants = wants_all(plan);
            let mut cursor = Cursor::new(&text, &Config::new());
            let mut matcher = plan.matcher(&mut scratch, &mut cursor, &wants);
            if matcher.next_record().is_ok_and(|found| found) {
                let _ = matcher.advance();
                let _ = matcher.advance();
            }
        }
    }
}

fn run_with(plan: &Plan, text: &[u8], scratch: &mut Scratch) -> Result<Vec<crate::support::Nodes>, u64> {
    let wants = wants_all(plan);
    let mut cursor = Cursor::new(text, &Config::new());
    let mut matcher = plan.matcher(scratch, &mut cursor, &wants);
    match matcher.next_record() {
        Ok(true) => record(plan, &mut matcher).map_err(|error| error.offset()),
        Ok(false) => Ok(Vec::new()),
        Err(error) => Err(error.offset()),
    }
}

/// A matcher can start with the record at which the cursor is, and search the value it has entered.
#[test]
fn begins_at_a_record_and_searches_values() {
    let text = b"[{\"k\":{\"b\":1},\"v\":[1,2]},{\"v\":[3]}]\n";
    let (plan, key) = (plan(&["$[*]"]), plan_with(&["$.k.b"], PlanOptions::new().order(Order::Any)));
    let (mut scratch, mut aside, wants) = (Scratch::new(), Scratch::new(), wants_all(&plan));
    let mut cursor = stream(&text[..], Framing::Lines, Validation::Strict);
    assert!(cursor.next_record().unwrap());
    let mut matcher = plan.matcher(&mut scratch, &mut cursor, &wants);
    matcher.begin_record().unwrap();
    let (mut seen, mut left) = (Vec::new(), Vec::new());
    while let Some(step) = matcher.advance().unwrap() {
        match step {
            trommel_path::Step::Enter { .. } => {
                let found = matcher.find_first(&key, &mut aside).unwrap();
                seen.push(found.map(|span| matcher.cursor().bytes(span).unwrap().to_vec()));
            }
            trommel_path::Step::Leave { span, .. } => left.push((span.start, span.end)),
            _ => {}
        }
    }
    assert_eq!(seen, [Some(b"1".to_vec()), None]);
    assert_eq!(left, [(1, 24), (25, 34)]);
}

/// A query from `$` has no document there and finds nothing.
#[test]
fn searches_inside_a_value_have_no_root() {
    let (plan, key) = (plan(&["$"]), plan_with(&["$[?$.a]", "$[?@.b]"], PlanOptions::new()));
    let (mut scratch, mut aside, wants) = (Scratch::new(), Scratch::new(), wants_all(&plan));
    let mut cursor = Cursor::new(br#"{"a":[],"c":{"b":1}}"#, &Config::new());
    let mut matcher = plan.matcher(&mut scratch, &mut cursor, &wants);
    assert!(matcher.next_record().unwrap());
    matcher.advance().unwrap();
    let span = matcher.find_first(&key, &mut aside).unwrap().unwrap();
    assert_eq!((span.start, span.end), (12, 19));
}

#[test]
fn byte_order_marks_and_white_space() {
    let found = select("\u{feff} \r\n\t[1 , 2]\n", "$[*]");
    assert_eq!(found, ["1", "2"]);
    let plan = plan(&["$[*]"]);
    let nodes = run(&plan, &mut Cursor::new("\u{feff}[1]".as_bytes(), &Config::new())).unwrap();
    assert_eq!(texts(&nodes[0], "\u{feff}[1]".as_bytes()), ["1"]);
}

/// Plans can be shared between threads, and a scratch can be sent to another thread.
#[test]
fn plans_are_sync_and_scratches_are_send() {
    fn shared<T: Send + Sync>() {}
    fn moved<T: Send>() {}
    shared::<Plan>();
    moved::<Scratch>();
    moved::<trommel_path::HeldRows>();
}
