//! The events that a matcher forwards are those of the regions, complete and in order, even if
//! other queries and filters run between them.

use trommel_path::{Order, Plan, PlanOptions, QueryId, Scratch, Step, Wants};
use trommel_reader::{Config, Cursor, Event, Framing, Payload, Scalar, Validation};
use trommel_testkit::chunks::{Chunks, SIZES};
use trommel_testkit::effort::cases;
use trommel_testkit::generate::{self, QueryOptions, Random};

use crate::random::{document, options};
use crate::support::{plan, query};

/// An event with its payload.
type EventText = (Event, String);

fn with_payload(event: Event, cursor: &Cursor<'_>) -> EventText {
    let text = match cursor.payload() {
        Payload::None => String::new(),
        Payload::Name(name) => name.decode().into_owned(),
        Payload::Scalar(Scalar::Null) => "null".into(),
        Payload::Scalar(Scalar::Bool(value)) => value.to_string(),
        Payload::Scalar(Scalar::Number(number)) => number.lexeme().into(),
        Payload::Scalar(Scalar::String(text)) => format!("{:?}", text.decode()),
    };
    (event, text)
}

/// Returns the events of a value that is a document of its own.
fn events(value: &[u8]) -> Vec<EventText> {
    let mut cursor = Cursor::new(value, &Config::new());
    let mut events = Vec::new();
    while let Some(event) = cursor.advance().unwrap() {
        events.push(with_payload(event, &cursor));
    }
    events
}

/// An open region.
struct Open {
    query: QueryId,
    start: u64,
    events: Vec<EventText>,
}

/// Runs a plan, and compares the events forwarded inside each region with those of its bytes.
/// Returns the number of compared regions and of forwarded events.
fn compare(plan: &Plan, wants: &Wants, cursor: &mut Cursor<'_>, document: &[u8]) -> (usize, usize) {
    let mut scratch = Scratch::new();
    let mut matcher = plan.matcher(&mut scratch, cursor, wants);
    matcher.next_record().unwrap();
    let (mut open, mut compared, mut forwarded): (Vec<Open>, _, _) = (Vec::new(), 0, 0);
    while let Some(step) = matcher.advance().unwrap() {
        match step {
            Step::Enter { query, .. } => {
                open.push(Open { query, start: matcher.start(), events: Vec::new() });
            }
            Step::Event(event) => {
                forwarded += 1;
                let wanted = open.iter_mut().filter(|region| wants.events[region.query.index()]);
                let event = with_payload(event, matcher.cursor());
                assert_eq!(
                    wanted.map(|region| region.events.push(event.clone())).count().min(1),
                    1,
                    "{event:?}"
                );
            }
            Step::Leave { query, span, .. } => {
                let is_it = |region: &Open| region.query == query && region.start == span.start;
                let region = open.swap_remove(open.iter().position(is_it).unwrap());
                let expected = events(&document[span.start as usize..span.end as usize]);
                if wants.events[query.index()] {
                    assert_eq!(region.events, expected, "{query:?} at {span}");
                    compared += 1;
                }
            }
            Step::Settled(_) => {}
        }
        let mut regions: Vec<_> = open.iter().map(|region| (region.query, region.start)).collect();
        regions.sort_unstable();
        regions.dedup();
        assert_eq!(regions.len(), matcher.open_regions());
    }
    assert!(open.is_empty());
    (compared, forwarded)
}

/// Random documents with several queries at once, whose nodes are nested or selected several times,
/// with filters in between.
#[test]
fn regions_get_their_events() {
    let mut total = 0;
    for seed in 0..cases(4_000, 200_000) {
        let (document, tree) = document(seed);
        let mut random = Random::new(seed);
        let texts: Vec<String> = (0..random.between(1, 3))
            .map(|salt| generate::query(seed * 3 + salt as u64, &tree, &QueryOptions::default()))
            .collect();
        let queries: Vec<_> = texts.iter().map(|text| query(text)).collect();
        let (options, validation) = options(seed);
        let options = if seed.is_multiple_of(3) { options.order(Order::Any) } else { options };
        let plan = Plan::new(&queries, options);
        let mut wants = Wants::default();
        wants.events = queries.iter().map(|_| random.chance(70)).collect();
        wants.bytes = queries.iter().map(|_| random.chance(30)).collect();
        wants.location = random.chance(50);
        let config = Config::new().validation(validation);
        let slice = compare(&plan, &wants, &mut Cursor::new(&document, &config), &document);
        let reader = Chunks::new(&document[..], &[SIZES[seed as usize % SIZES.len()]]);
        let mut stream = Cursor::from_reader(reader, Framing::Single, &config.window(64));
        assert_eq!(compare(&plan, &wants, &mut stream, &document), slice, "seed {seed}: {texts:?}");
        total += slice.0;
    }
    assert!(total > 4_000, "{total} regions with events");
}

/// Only events inside a region that wants them are forwarded.
#[test]
fn forwards_only_requested_events() {
    let document = br#"{"a":{"b":[1,2]},"c":[3,{"d":null}],"e":"f"}"#;
    let forwarded = |queries: &[&str], events: &[bool]| {
        let plan = plan(queries);
        let mut wants = Wants::default();
        wants.events = events.to_vec();
        compare(&plan, &wants, &mut Cursor::new(document, &Config::new()), document).1
    };
    assert_eq!(forwarded(&["$.a", "$.c"], &[false, false]), 0);
    assert_eq!(forwarded(&["$.a", "$.c"], &[true, false]), 7);
    assert_eq!(forwarded(&["$.a.b", "$.a"], &[true, false]), 4);
    assert_eq!(forwarded(&["$.a.b", "$.a"], &[false, true]), 7);
    assert_eq!(forwarded(&["$.e", "$.c[1].d"], &[true, true]), 2);
    assert_eq!(forwarded(&["$", "$..*"], &[true, false]), 20);
}

/// The name of a member is readable even after a filter has read its value.
#[test]
fn names_survive_filters() {
    let long = "x".repeat(300);
    let document = format!(r#"{{"o":{{"{long}":{{"k":[1,2,3]}},"b\n":{{"k":[]}},"c":5}}}}"#);
    let plan = plan(&["$.o", "$.o[?@.k[-1] == 3]", "$.o[?length(@.k) == 0]"]);
    let mut wants = Wants::default();
    wants.events = vec![true, false, true];
    wants.location = true;
    let mut scratch = Scratch::new();
    let reader = Chunks::new(document.as_bytes(), &[7]);
    let config = Config::new().validation(Validation::Structural).window(64);
    let mut cursor = Cursor::from_reader(reader, Framing::Single, &config);
    let mut matcher = plan.matcher(&mut scratch, &mut cursor, &wants);
    matcher.next_record().unwrap();
    let (mut names, mut entered) = (Vec::new(), Vec::new());
    while let Some(step) = matcher.advance().unwrap() {
        match step {
            Step::Event(Event::Name) => names.push(with_payload(Event::Name, matcher.cursor()).1),
            Step::Enter { .. } => entered.push(matcher.location().to_string()),
            _ => {}
        }
    }
    assert_eq!(names, [&long, "k", "b\n", "k", "c"]);
    assert_eq!(entered, ["$['o']", &format!("$['o']['{long}']"), r"$['o']['b\n']"]);
}

/// Kind and start are those of the value that was entered.
#[test]
fn reports_kind_and_start_of_entered_values() {
    let document = br#" [ {"a" : [1]}, "x", -1, true, null ]"#;
    let plan = plan_any(&["$[*]", "$"]);
    let (mut scratch, wants) = (Scratch::new(), Wants::default());
    let mut cursor = Cursor::new(document, &Config::new());
    let mut matcher = plan.matcher(&mut scratch, &mut cursor, &wants);
    matcher.next_record().unwrap();
    let mut entered = Vec::new();
    while let Some(step) = matcher.advance().unwrap() {
        if let Step::Enter { .. } = step {
            entered.push((matcher.kind().map_or("", trommel_reader::Kind::name), matcher.start()));
        }
    }
    let expected =
        [("array", 1), ("object", 3), ("string", 16), ("number", 21), ("boolean", 25), ("null", 31)];
    assert_eq!(entered, expected);
}

fn plan_any(queries: &[&str]) -> Plan {
    crate::support::plan_with(queries, PlanOptions::new().order(Order::Any))
}
