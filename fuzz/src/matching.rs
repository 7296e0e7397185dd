//! Inputs for a matcher, and functions that collect its answers.

use std::io;

use trommel_path::{HeldRows, Plan, QueryId, Scratch, Step, Wants};
use trommel_reader::{Config, Cursor, Error, Event, Span};
use trommel_testkit::generate::{QueryOptions, Shape, document, query};
use trommel_testkit::naive;

/// For each node, its normalized path, and the start and end offsets of its value.
pub type Nodes = Vec<(String, u64, u64)>;

/// A query, a document, and a number that selects options.
pub struct MatchInput {
    /// The query.
    pub text: String,
    /// The document.
    pub bytes: Vec<u8>,
    /// Any number.
    pub choice: u64,
}

impl MatchInput {
    /// Parses an input. It is a query, a zero byte, and a document; without a zero byte it is an
    /// 8-byte seed that generates both.
    pub fn read(input: &[u8]) -> Option<Self> {
        let choice = input.iter().map(|&byte| u64::from(byte)).sum();
        if let Some(at) = input.iter().position(|&byte| byte == 0) {
            let (text, bytes) = input.split_at(at);
            return Some(Self {
                text: String::from_utf8(text.to_vec()).ok()?,
                bytes: bytes[1..].to_vec(),
                choice,
            });
        }
        let seed = u64::from_le_bytes(*input.first_chunk::<8>()?);
        let bytes = document(seed, &Shape { duplicates: seed % 2 == 0, ..Shape::default() });
        let text = query(seed, &naive::parse(&bytes).ok()?, &QueryOptions::default());
        Some(Self { text, bytes, choice })
    }
}

/// A region that is open: its query, its start, and the events in it.
struct Open(QueryId, u64, Vec<(Event, String)>);

/// Returns the nodes of each query for the only document, in the order of the plan. Asserts that
/// the events of each region are those of its bytes.
pub fn run(plan: &Plan, mut cursor: Cursor<'_>, document: &[u8]) -> Vec<Nodes> {
    let count = plan.ids().len();
    let mut wants = Wants::default();
    wants.bytes = vec![true; count];
    wants.events = vec![true; count];
    wants.location = true;
    let mut scratch = Scratch::new();
    let mut matcher = plan.matcher(&mut scratch, &mut cursor, &wants);
    let mut held: Vec<_> = (0..count).map(|_| HeldRows::new(1 << 20)).collect();
    let (mut paths, mut nodes, mut open) = (Vec::new(), vec![Nodes::new(); count], Vec::<Open>::new());
    assert!(matcher.next_record().unwrap());
    while let Some(step) = matcher.advance().unwrap() {
        match step {
            Step::Enter { query, .. } => open.push(Open(query, matcher.start(), Vec::new())),
            Step::Event(event) => {
                let event = (event, crate::text(matcher.cursor()));
                open.iter_mut().for_each(|Open(_, _, events)| events.push(event.clone()));
            }
            Step::Leave { query, times, span } => {
                let is_it = |Open(other, start, _): &Open| (*other, *start) == (query, span.start);
                let Open(_, _, found) = open.swap_remove(open.iter().position(is_it).unwrap());
                assert_eq!(found, events(document, span), "events of {span}");
                assert_eq!(
                    matcher.cursor().bytes(span),
                    document.get(span.start as usize..span.end as usize)
                );
                for _ in 0..times {
                    held[query.index()].push(matcher.key(), span, paths.len() as u64).unwrap();
                    paths.push(matcher.location().to_string());
                }
            }
            Step::Settled(query) => drain(&mut held[query.index()], &paths, &mut nodes[query.index()]),
        }
    }
    held.iter_mut().zip(&mut nodes).for_each(|(held, nodes)| drain(held, &paths, nodes));
    nodes
}

/// Returns the spans of the only query's nodes, in the order of the plan, from a matcher that
/// reports nothing else.
pub fn spans(plan: &Plan, mut cursor: Cursor<'_>) -> Vec<(u64, u64)> {
    let (mut scratch, mut wants) = (Scratch::new(), Wants::default());
    wants.bytes = vec![true];
    let mut matcher = plan.matcher(&mut scratch, &mut cursor, &wants);
    let (mut held, mut spans) = (HeldRows::new(1 << 20), Vec::new());
    let mut push = |held: &mut HeldRows| {
        let push = |row: trommel_path::HeldMatch| io::Result::Ok(spans.push((row.span.start, row.span.end)));
        held.drain(push).unwrap();
    };
    assert!(matcher.next_record().unwrap());
    while let Some(step) = matcher.advance().unwrap() {
        match step {
            Step::Leave { query, times, span } => {
                assert!(matcher.cursor().bytes(span).is_some());
                let in_place = matcher.is_settled(query) && held.is_empty();
                (0..times).for_each(|_| held.push(matcher.key(), span, 0).unwrap());
                if in_place {
                    push(&mut held);
                }
            }
            Step::Settled(_) => push(&mut held),
            Step::Enter { .. } | Step::Event(_) => {}
        }
    }
    push(&mut held);
    spans
}

fn drain(held: &mut HeldRows, paths: &[String], nodes: &mut Nodes) {
    let push = |row: trommel_path::HeldMatch| {
        nodes.push((paths[row.tag as usize].clone(), row.span.start, row.span.end));
        io::Result::Ok(())
    };
    held.drain(push).unwrap();
}

fn events(document: &[u8], span: Span) -> Vec<(Event, String)> {
    let mut cursor = Cursor::new(&document[span.start as usize..span.end as usize], &Config::new());
    let mut events = Vec::new();
    while let Some(event) = cursor.advance().unwrap() {
        events.push((event, crate::text(&cursor)));
    }
    events
}

/// Returns the number of nodes of the only query, with multiplicity, and the number of `Enter`
/// steps.
pub fn counts(plan: &Plan, mut cursor: Cursor<'_>) -> (u64, usize) {
    let (mut scratch, wants) = (Scratch::new(), Wants::default());
    let mut matcher = plan.matcher(&mut scratch, &mut cursor, &wants);
    assert!(matcher.next_record().unwrap());
    let mut counts = (0, 0);
    while let Some(step) = matcher.advance().unwrap() {
        if let Step::Enter { times, .. } = step {
            counts = (counts.0 + times, counts.1 + 1);
        }
    }
    counts
}

/// Returns the error that a query meets, if any, and the offset that the matcher reached.
pub fn outcome(plan: &Plan, mut cursor: Cursor<'_>) -> (Option<Error>, u64) {
    let (mut scratch, wants) = (Scratch::new(), Wants::default());
    let mut matcher = plan.matcher(&mut scratch, &mut cursor, &wants);
    let error = match matcher.next_record() {
        Err(error) => Some(error),
        Ok(false) => None,
        Ok(true) => loop {
            match matcher.advance() {
                Ok(Some(_)) => {}
                Ok(None) => break matcher.next_record().err(),
                Err(error) => break Some(error),
            }
        },
    };
    (error, matcher.cursor().offset())
}

/// Returns the first error of a document that is read without a query.
pub fn walk(bytes: &[u8]) -> Option<Error> {
    let mut cursor = Cursor::new(bytes, &Config::new());
    loop {
        match cursor.advance() {
            Ok(Some(_)) => {}
            Ok(None) => return None,
            Err(error) => return Some(error),
        }
    }
}

/// The wants of a consumer of values, which it takes at once or late.
pub fn late(plan: &Plan, late: bool) -> Wants {
    let count = plan.ids().len();
    let mut wants = Wants::default();
    wants.bytes = vec![true; count];
    wants.enter = vec![false; count];
    wants.late_leave = vec![late; count];
    wants
}

/// The nodes of all records, each with its record and query, and the errors.
pub type LineNodes = (Vec<(u64, u64, u64, usize)>, Vec<String>);

/// Returns the nodes of all records. Matches lines as a whole if the wants allow it.
pub fn line_nodes(plan: &Plan, wants: &Wants, cursor: &mut Cursor<'_>) -> LineNodes {
    let mut scratch = Scratch::new();
    let mut matcher = plan.matcher(&mut scratch, cursor, wants);
    let (mut nodes, mut errors) = (Vec::new(), Vec::new());
    while errors.len() < 8 {
        match matcher.next_record() {
            Ok(false) => break,
            Ok(true) => {}
            Err(error) => {
                errors.push(error.to_string());
                continue;
            }
        }
        let lines = matcher.follow_lines();
        if lines > 0 {
            let first = matcher.cursor().record() + 1 - lines;
            for (queries, span, line) in matcher.line_nodes() {
                let are_needed = queries.iter().any(|query| wants.bytes[query.index()]);
                assert!(!are_needed || matcher.cursor().bytes(span).is_some());
                nodes.extend(queries.iter().map(|query| (first + line, span.start, span.end, query.index())));
            }
            continue;
        }
        let record = matcher.cursor().record();
        loop {
            match matcher.advance() {
                Ok(Some(Step::Leave { query, span, .. })) => {
                    assert!(!wants.bytes[query.index()] || matcher.cursor().bytes(span).is_some());
                    nodes.push((record, span.start, span.end, query.index()));
                }
                Ok(Some(_)) => {}
                Ok(None) => break,
                Err(error) => {
                    errors.push(error.to_string());
                    break;
                }
            }
        }
    }
    (nodes, errors)
}
