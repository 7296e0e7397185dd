//! Runs plans over documents that are fed in all ways, and computes the expected nodes.

use std::io::{self, Read};

use trommel_path::{
    Duplicates, HeldRows, Matcher, Order, Plan, PlanOptions, Query, QueryId, QueryLimits, Scratch, Step,
    Wants,
};
use trommel_reader::{Backend, Config, Cursor, Framing, Result, Validation};
use trommel_testkit::chunks::{Chunks, SIZES};
use trommel_testkit::evaluate::{self, Node, evaluate, in_document_order};
use trommel_testkit::{effort, naive};

/// A normalized path, and the span of the value.
pub(crate) type PathNode = (String, (u64, u64));

/// The nodes of a query.
pub(crate) type Nodes = Vec<PathNode>;

/// Parses a query with a raised length limit.
pub(crate) fn query(text: &str) -> Query {
    let mut limits = QueryLimits::default();
    limits.text = 1 << 20;
    Query::parse_with(text, &limits).unwrap_or_else(|error| panic!("{text}: {error}"))
}

/// Compiles a plan of these queries in RFC order.
pub(crate) fn plan(queries: &[&str]) -> Plan {
    plan_with(queries, PlanOptions::new())
}

pub(crate) fn plan_with(queries: &[&str], options: PlanOptions) -> Plan {
    let queries: Vec<Query> = queries.iter().map(|text| query(text)).collect();
    Plan::new(&queries, options)
}

/// Returns the wants of a consumer that needs bytes and locations of all nodes.
pub(crate) fn wants_all(plan: &Plan) -> Wants {
    let mut wants = Wants::default();
    wants.bytes = vec![true; plan.ids().len()];
    wants.location = true;
    wants
}

/// Returns the nodes of each query in a single document.
pub(crate) fn run(plan: &Plan, cursor: &mut Cursor<'_>) -> Result<Vec<Nodes>> {
    let (mut scratch, wants) = (Scratch::new(), wants_all(plan));
    let mut matcher = plan.matcher(&mut scratch, cursor, &wants);
    assert!(matcher.next_record()?);
    record(plan, &mut matcher)
}

/// Like [`run`], but without locations, so that all paths are empty.
pub(crate) fn run_without_locations(plan: &Plan, cursor: &mut Cursor<'_>) -> Result<Vec<Nodes>> {
    let (mut scratch, mut wants) = (Scratch::new(), wants_all(plan));
    wants.location = false;
    let mut matcher = plan.matcher(&mut scratch, cursor, &wants);
    assert!(matcher.next_record()?);
    record(plan, &mut matcher)
}

/// Like [`run_without_locations`], for a consumer that takes nodes late, several at a time if
/// `together` is true. Also returns the largest number of them.
pub(crate) fn run_late(plan: &Plan, cursor: &mut Cursor<'_>, together: bool) -> Result<(Vec<Nodes>, usize)> {
    let (mut scratch, mut wants) = (Scratch::new(), wants_all(plan));
    wants.location = false;
    (wants.enter, wants.late_leave) = (vec![false; plan.ids().len()], vec![true; plan.ids().len()]);
    let mut matcher = plan.matcher(&mut scratch, cursor, &wants);
    assert!(matcher.next_record()?);
    take_record(plan, &mut matcher, together)
}

/// Returns the nodes of each query in the current record, sorted as they settle.
pub(crate) fn record(plan: &Plan, matcher: &mut Matcher<'_, '_>) -> Result<Vec<Nodes>> {
    Ok(take_record(plan, matcher, false)?.0)
}

fn take_record(plan: &Plan, matcher: &mut Matcher<'_, '_>, together: bool) -> Result<(Vec<Nodes>, usize)> {
    let mut most = 0;
    let mut collectors: Vec<NodeCollector> = plan.ids().map(|_| NodeCollector::default()).collect();
    while let Some(step) = matcher.advance()? {
        match step {
            Step::Leave { mut query, mut times, mut span } => {
                let mut number = 0;
                loop {
                    assert!(matcher.cursor().bytes(span).is_some(), "the bytes of {span} are held");
                    let node = (matcher.location().to_string(), (span.start, span.end));
                    collectors[query.index()].push(&node, times, query, matcher);
                    let Some(next) = together.then(|| matcher.next_left()).flatten() else { break };
                    ((query, span), times, number) = (next, 1, number + 1);
                }
                most = most.max(number);
            }
            Step::Settled(query) => collectors[query.index()].flush(),
            Step::Enter { .. } | Step::Event(_) => {}
        }
    }
    assert_eq!(matcher.open_regions(), 0);
    let nodes = collectors.into_iter().map(|mut collector| {
        collector.flush();
        collector.nodes
    });
    Ok((nodes.collect(), most))
}

/// The nodes of one query, which may be held until they settle.
pub(crate) struct NodeCollector {
    held: HeldRows,
    waiting: Nodes,
    pub(crate) nodes: Nodes,
}

impl Default for NodeCollector {
    fn default() -> Self {
        Self { held: HeldRows::new(1 << 20), waiting: Nodes::new(), nodes: Nodes::new() }
    }
}

impl NodeCollector {
    /// Adds the node that was just left, `times` times.
    pub(crate) fn push(&mut self, node: &PathNode, times: u64, query: QueryId, matcher: &Matcher<'_, '_>) {
        let at_once = matcher.is_settled(query) && self.held.is_empty();
        for _ in 0..times {
            if at_once {
                self.nodes.push(node.clone());
                continue;
            }
            let span = trommel_reader::Span::new(node.1.0, node.1.1);
            self.held.push(matcher.key(), span, self.waiting.len() as u64).unwrap();
            self.waiting.push(node.clone());
        }
    }

    pub(crate) fn flush(&mut self) {
        let Self { held, waiting, nodes } = self;
        held.drain(|row| {
            nodes.push(waiting[row.tag as usize].clone());
            io::Result::Ok(())
        })
        .unwrap();
        waiting.clear();
    }
}

/// Returns a cursor for every way to feed a document, with a description: as a slice and in reads
/// of every size, on every backend. Large documents are fed as a stream in only one way, except in
/// deep runs.
pub(crate) fn feedings(
    document: &[u8],
    validation: Validation,
    mut check: impl FnMut(&str, &mut Cursor<'_>),
) {
    let thorough = document.len() < 50_000 || effort::cases(0, 1) == 1;
    for backend in Backend::available() {
        let config = Config::new().backend(backend).validation(validation);
        check(&format!("slice, {backend:?}"), &mut Cursor::new(document, &config));
        for size in SIZES {
            if thorough || size == 4096 && backend == Backend::detect() {
                let reader = Chunks::new(document, &[size]);
                let how = format!("reads of {size}, {backend:?}");
                check(&how, &mut Cursor::from_reader(reader, Framing::Single, &config.window(64)));
            }
        }
    }
}

/// Returns a cursor over a stream with a small window.
pub(crate) fn stream<'a>(
    reader: impl Read + Send + 'a,
    framing: Framing,
    validation: Validation,
) -> Cursor<'a> {
    Cursor::from_reader(reader, framing, &Config::new().validation(validation).window(64))
}

/// Returns the nodes that the evaluator of the test kit finds.
pub(crate) fn expected(
    document: &naive::Document,
    query: &Query,
    order: Order,
    duplicates: Duplicates,
) -> Nodes {
    let nodes = evaluate(document, query.segments(), policy(duplicates));
    let nodes = if order == Order::Document { in_document_order(nodes) } else { nodes };
    nodes.into_iter().map(node).collect()
}

pub(crate) fn policy(duplicates: Duplicates) -> evaluate::Duplicates {
    match duplicates {
        Duplicates::All => evaluate::Duplicates::All,
        Duplicates::Last => evaluate::Duplicates::Last,
        _ => evaluate::Duplicates::First,
    }
}

pub(crate) fn node(node: Node) -> PathNode {
    (node.path, (node.span.start, node.span.end))
}

/// Returns the normalized paths of nodes.
pub(crate) fn paths(nodes: &Nodes) -> Vec<&str> {
    nodes.iter().map(|(path, _)| path.as_str()).collect()
}

/// Returns the bytes of nodes as text.
pub(crate) fn texts<'d>(nodes: &Nodes, document: &'d [u8]) -> Vec<&'d str> {
    let text = |&(_, (start, end)): &PathNode| &document[start as usize..end as usize];
    nodes.iter().map(|node| std::str::from_utf8(text(node)).unwrap()).collect()
}

/// Returns the nodes of one query as text, in RFC order.
pub(crate) fn select<'d>(document: &'d str, query: &str) -> Vec<&'d str> {
    select_with(document, query, PlanOptions::new())
}

pub(crate) fn select_with<'d>(document: &'d str, query: &str, options: PlanOptions) -> Vec<&'d str> {
    let plan = plan_with(&[query], options);
    let nodes = run(&plan, &mut Cursor::new(document.as_bytes(), &Config::new()));
    texts(&nodes.unwrap_or_else(|error| panic!("{query} on {document}: {error}"))[0], document.as_bytes())
}

/// A reader that must not be read beyond a limit. If it is, the test fails.
pub(crate) struct Fence<'a> {
    bytes: &'a [u8],
    at: usize,
    allowed: &'a std::sync::atomic::AtomicUsize,
}

impl<'a> Fence<'a> {
    pub(crate) fn new(bytes: &'a [u8], allowed: &'a std::sync::atomic::AtomicUsize) -> Self {
        Self { bytes, at: 0, allowed }
    }
}

impl Read for Fence<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let rest = &self.bytes[self.at..];
        if rest.is_empty() {
            return Ok(0);
        }
        let allowed = self.allowed.load(std::sync::atomic::Ordering::Relaxed);
        assert!(
            self.at < allowed,
            "read beyond byte {allowed}: {}",
            String::from_utf8_lossy(&rest[..rest.len().min(40)])
        );
        // Like a pipe, a read returns at most one written piece.
        let count = buffer.len().min(allowed - self.at).min(rest.len());
        buffer[..count].copy_from_slice(&rest[..count]);
        self.at += count;
        Ok(count)
    }
}
