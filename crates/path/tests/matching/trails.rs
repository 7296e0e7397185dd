//! Plain paths are followed by masks if their nodes may be reported late. The matcher that moves
//! from child to child is the oracle: nodes and errors must be the same.

use trommel_path::{Duplicates, Order, Plan, PlanOptions, Query, QueryId, Scratch, Step, Wants};
use trommel_reader::{Backend, Config, Cursor, Framing, Limits, Span, Validation};
use trommel_testkit::chunks::Chunks;
use trommel_testkit::effort::cases;
use trommel_testkit::generate::{self, Layout, Names, Random, Shape};
use trommel_testkit::naive::{self, Document};

use crate::support::query;

/// The nodes of a document, each with its query; the counts of the queries; and the error, if
/// one ended the matching.
#[derive(Debug, PartialEq, Eq)]
struct Answers {
    nodes: Vec<(QueryId, u64, u64)>,
    counts: Vec<u64>,
    error: Option<String>,
}

/// The consumer's needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Needs {
    /// Nodes, one step at a time.
    Nodes,
    /// Nodes, several at a time.
    Together,
    /// The number of nodes of the queries with an even number, and the other nodes.
    Both,
    /// The number of nodes of all queries.
    Counts,
}

impl Needs {
    const ALL: [Self; 4] = [Self::Nodes, Self::Together, Self::Both, Self::Counts];

    /// Returns the wants of a consumer that takes nodes late, or at once.
    fn wants(self, paths: &Paths, late: bool) -> Wants {
        let plan = &paths.plan;
        let counts = |query: QueryId| {
            let is_counted = self == Self::Counts || self == Self::Both && query.index().is_multiple_of(2);
            is_counted && paths.marker != Some(query)
        };
        let each = |what: &dyn Fn(QueryId) -> bool| plan.ids().map(what).collect();
        let mut wants = Wants::default();
        wants.enter = each(&counts);
        wants.leave = each(&|query| !counts(query));
        wants.bytes = each(&|query| !counts(query) && paths.marker != Some(query));
        wants.only_count = each(&|query| late && counts(query));
        wants.late_leave = each(&|query| late && !counts(query));
        wants
    }
}

/// A plan of plain paths.
struct Paths {
    plan: Plan,
    /// The query whose values only mark where they end, without their bytes.
    marker: Option<QueryId>,
}

impl Paths {
    fn is_readable(&self, query: QueryId, span: Span, cursor: &Cursor<'_>) -> bool {
        self.marker == Some(query) || cursor.bytes(span).is_some()
    }
}

/// Returns the answers, and the largest number of nodes that were left together.
fn find(paths: &Paths, needs: Needs, late: bool, cursor: &mut Cursor<'_>) -> (Answers, usize) {
    let (mut scratch, wants) = (Scratch::new(), needs.wants(paths, late));
    let plan = &paths.plan;
    let mut matcher = plan.matcher(&mut scratch, cursor, &wants);
    let mut found = Answers { nodes: Vec::new(), counts: vec![0; plan.ids().len()], error: None };
    let mut together = 0;
    let mut next = matcher.next_record().map(|_| ());
    while next.is_ok() {
        let step = match matcher.advance() {
            Ok(Some(step)) => step,
            Ok(None) => return (found, together),
            Err(error) => {
                next = Err(error);
                break;
            }
        };
        match step {
            Step::Leave { query, times, span } => {
                assert_eq!(times, 1);
                assert!(paths.is_readable(query, span, matcher.cursor()), "the bytes of {span} are readable");
                found.nodes.push((query, span.start, span.end));
                let before = found.nodes.len();
                if needs == Needs::Together {
                    while let Some((query, span)) = matcher.next_left() {
                        let is_readable = paths.is_readable(query, span, matcher.cursor());
                        assert!(is_readable, "the bytes of {span} are readable");
                        assert!(!matcher.bytes_still_needed() && matcher.is_settled(query));
                        found.nodes.push((query, span.start, span.end));
                    }
                }
                together = together.max(found.nodes.len() - before);
            }
            Step::Enter { query, times } => found.counts[query.index()] += times,
            Step::Event(_) | Step::Settled(_) => panic!("unexpected step: {step:?}"),
        }
    }
    found.error = next.err().map(|error| error.to_string());
    (found, together)
}

/// Random plain paths that lead to values of the document.
fn paths(random: &mut Random, document: &Document) -> Vec<String> {
    let ids: Vec<_> = document.ids().collect();
    let count = random.between(1, 5);
    let mut paths: Vec<String> = (0..count)
        .map(|_| {
            let path = document.path(ids[random.below(ids.len())]);
            // Elements become wildcards, so that there is more to find.
            let mut general = String::new();
            for step in path.split_inclusive(']') {
                let (before, index) =
                    step.split_once('[').map_or((step, ""), |(before, index)| (before, index));
                let is_index = index.ends_with(']') && index.starts_with(|byte: char| byte.is_ascii_digit());
                match (is_index, random.below(4)) {
                    (true, 0..=2) => general.extend([before, "[:]"]),
                    _ => general.push_str(step),
                }
            }
            general
        })
        .collect();
    // A node with a query, and one of the same or a longer path.
    if random.chance(20) {
        let more = random.pick(&["", "[:]", "['a']", "[0]"]);
        paths.push(format!("{}{more}", paths[0]));
    }
    paths
}

/// Plans that the matcher can follow as a tree, or not if the paths do not combine. In the first
/// one, a query may mark ends; in the second one it is reported as the others are.
fn plans(random: &mut Random, document: &Document) -> [Paths; 2] {
    let paths = paths(random, document);
    let duplicates = if random.chance(25) { Duplicates::All } else { Duplicates::First };
    let order = if random.chance(50) { Order::Document } else { Order::Rfc };
    let mut queries: Vec<_> = paths.iter().map(|path| query(path)).collect();
    let marks = random.chance(40);
    if marks {
        // The ends of containers on one of the paths.
        let path = queries[random.below(queries.len())].clone();
        let segments = path.segments().iter().take(random.below(path.segments().iter().len() + 1));
        let outer =
            segments.fold(Query::root(), |outer, segment| outer.with_child(segment.selectors[0].clone()));
        queries.push(outer);
    }
    let plan = || Plan::new(&queries, PlanOptions::new().duplicates(duplicates).order(order));
    let last = plan().ids().last().filter(|_| marks);
    let marking = last.and_then(|last| plan().marking_ends(last));
    let marker = last.filter(|_| marking.is_some());
    [marking.unwrap_or_else(plan), plan()].map(|plan| Paths { plan, marker })
}

fn check([paths, oracle]: &[Paths; 2], bytes: &[u8], random: &mut Random, what: &str) -> usize {
    let mut together = 0;
    let mut config = Config::new().validation(Validation::Structural).window(64 << random.below(5));
    if random.chance(10) {
        let mut limits = Limits::default();
        limits.depth = random.between(1, 6) as u32;
        config = config.limits(limits);
    }
    let size = [1, 7, 64, 100, 4096][random.below(5)];
    for needs in Needs::ALL {
        let at_once = find(oracle, needs, false, &mut Cursor::new(bytes, &config)).0;
        for backend in Backend::available() {
            let (found, most) = find(paths, needs, true, &mut Cursor::new(bytes, &config.backend(backend)));
            assert_eq!(found, at_once, "{what}, {needs:?}, {backend:?}\n{}", bytes.escape_ascii());
            together = together.max(most);
        }
        let stream = |late| {
            let reader = Chunks::new(bytes, &[size]);
            find(
                if late { paths } else { oracle },
                needs,
                late,
                &mut Cursor::from_reader(reader, Framing::Single, &config),
            )
            .0
        };
        let (found, at_once) = (stream(true), stream(false));
        assert_eq!(found, at_once, "{what}, {needs:?}, reads of {size}\n{}", bytes.escape_ascii());
    }
    together
}

/// A memory that another matcher has used does not change the answers.
#[test]
fn memory_is_reused() {
    let text = br#"[{"a":1,"b":2},{"b":3,"a":4}]"#;
    let plan = Plan::new(&[query("$[:].a"), query("$[:].b")], PlanOptions::new());
    let paths = Paths { plan, marker: None };
    let config = Config::new().validation(Validation::Structural);
    let mut scratch = Scratch::new();
    for needs in [Needs::Nodes, Needs::Counts, Needs::Nodes, Needs::Counts] {
        let wants = needs.wants(&paths, true);
        let mut cursor = Cursor::new(text, &config);
        let mut matcher = paths.plan.matcher(&mut scratch, &mut cursor, &wants);
        assert!(matcher.next_record().unwrap());
        let mut nodes = 0;
        while let Some(step) = matcher.advance().unwrap() {
            nodes += match step {
                Step::Leave { times, .. } | Step::Enter { times, .. } => times,
                Step::Event(_) | Step::Settled(_) => 0,
            };
        }
        assert_eq!(nodes, 4, "{needs:?}");
    }
}

/// R4: documents of all shapes, and damaged ones, on slices and streams.
#[test]
fn finds_what_single_moves_find() {
    let mut together = 0;
    for seed in 0..cases(3_000, 200_000) {
        let mut random = Random::new(seed);
        let shape = Shape {
            values: random.between(5, 150),
            depth: random.between(2, 7),
            width: random.between(2, 12),
            text: random.between(1, 40),
            names: if random.chance(50) { Names::Odd } else { Names::Plain },
            layout: [Layout::Compact, Layout::Pretty, Layout::Random][random.below(3)],
            duplicates: random.chance(30),
            ..Shape::default()
        };
        let bytes = generate::document(seed, &shape);
        let tree = naive::parse(&bytes).unwrap();
        let plans = plans(&mut random, &tree);
        together = together.max(check(&plans, &bytes, &mut random, &format!("seed {seed}")));
        for number in 0..4 {
            let damaged = generate::damage(seed * 4 + number, &bytes);
            check(&plans, &damaged, &mut random, &format!("seed {seed}, damaged"));
        }
    }
    assert!(together > 10, "{together} nodes at a time: the trail is followed");
}

/// The answers of a stream of lines: nodes with their record, errors, and the number of records.
#[derive(Debug, Default, PartialEq, Eq)]
struct LineAnswers {
    nodes: Vec<(u64, QueryId, u64, u64)>,
    errors: Vec<String>,
    records: u64,
    lines: Vec<(u64, u64)>,
}

/// Matches a stream of lines. Returns the answers, and the number of lines that were matched as a
/// whole.
fn find_in_lines(paths: &Paths, whole: bool, cursor: &mut Cursor<'_>) -> (LineAnswers, u64) {
    let (mut scratch, wants) = (Scratch::new(), Needs::Nodes.wants(paths, whole));
    let mut matcher = paths.plan.matcher(&mut scratch, cursor, &wants);
    let (mut answers, mut passed) = (LineAnswers::default(), 0);
    let mut errors = 0;
    while errors < 20 {
        match matcher.next_record() {
            Ok(false) => break,
            Ok(true) => {}
            Err(error) => {
                errors += 1;
                answers.errors.push(error.to_string());
                continue;
            }
        }
        let lines = if whole { matcher.follow_lines() } else { 0 };
        if lines > 0 {
            let first = matcher.cursor().record() + 1 - lines;
            for (queries, span, line) in matcher.line_nodes() {
                assert!(matcher.cursor().bytes(span).is_some(), "the bytes of {span} are readable");
                let node = |&query| (first + line, query, span.start, span.end);
                answers.nodes.extend(queries.iter().map(node));
            }
            passed += lines;
            answers.records += lines;
        } else {
            answers.records += 1;
            let record = matcher.cursor().record();
            loop {
                match matcher.advance() {
                    Ok(Some(Step::Leave { query, span, .. })) => {
                        answers.nodes.push((record, query, span.start, span.end));
                    }
                    Ok(Some(_)) => {}
                    Ok(None) => break,
                    Err(error) => {
                        errors += 1;
                        answers.errors.push(error.to_string());
                        break;
                    }
                }
            }
        }
        answers.lines.push((matcher.cursor().record(), matcher.cursor().record_start()));
    }
    (answers, passed)
}

/// R4: streams of lines, whole and damaged, on slices and streams. Lines that need a closer look
/// are among lines that are matched as a whole.
#[test]
fn finds_in_whole_lines_what_single_moves_find() {
    let mut passed = 0;
    for seed in 0..cases(2_000, 100_000) {
        let mut random = Random::new(seed);
        let shape = Shape {
            values: random.between(2, 40),
            width: random.between(2, 9),
            text: random.between(1, 60),
            names: if random.chance(30) { Names::Odd } else { Names::Plain },
            layout: [Layout::Compact, Layout::OneLine][random.below(2)],
            duplicates: random.chance(30),
            ..Shape::default()
        };
        let count = random.between(1, 30);
        let stream = generate::stream(seed, &shape, naive::Framing::Lines, count);
        let first = stream.split(|byte| *byte == b'\n').find_map(|line| naive::parse(line).ok());
        let Some(tree) = first else { continue };
        let [paths, oracle] = plans(&mut random, &tree);
        for number in 0..3 {
            let bytes = match number {
                0 => stream.clone(),
                _ => generate::damage(seed * 2 + number, &stream),
            };
            let config = Config::new().validation(Validation::Structural).window(64 << random.below(6));
            let what = format!("seed {seed}, {number}: {}", bytes.escape_ascii());
            let slice = |whole, backend| {
                let view = trommel_reader::View::new(&bytes);
                find_in_lines(
                    if whole { &paths } else { &oracle },
                    whole,
                    &mut Cursor::from_view(view, Framing::Lines, &config.backend(backend)),
                )
            };
            let expected = without_position(slice(false, Backend::Scalar).0);
            for backend in Backend::available() {
                let (found, lines) = slice(true, backend);
                assert_eq!(without_position(found), expected, "{backend:?}, {what}");
                passed += lines;
            }
            let size = [1, 64, 100, 4096][random.below(4)];
            let stream = |whole| {
                let reader = Chunks::new(&bytes[..], &[size]);
                let paths = if whole { &paths } else { &oracle };
                find_in_lines(paths, whole, &mut Cursor::from_reader(reader, Framing::Lines, &config)).0
            };
            assert_eq!(without_position(stream(true)), without_position(stream(false)), "{size}, {what}");
        }
    }
    assert!(passed > 10_000, "{passed} lines are matched as a whole");
}

/// Removes what differs if several records are passed at once: the positions in between.
fn without_position(mut answers: LineAnswers) -> LineAnswers {
    answers.lines = answers.lines.pop().into_iter().collect();
    answers
}
