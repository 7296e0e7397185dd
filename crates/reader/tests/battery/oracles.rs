//! Compares random and damaged documents with a naive parser and two independent ones.

use struson::reader::{JsonReader, JsonStreamReader, ReaderSettings};
use trommel_reader::{Config, Cursor, ErrorKind, Event, Framing, Kind, Limit, Span, Syntax, View};
use trommel_testkit::chunks::Chunks;
use trommel_testkit::effort::cases;
use trommel_testkit::generate::{Layout, Shape, damage, document};
use trommel_testkit::naive::{self, Data, ErrorKind as Naive};

use super::trace::{TraceEvent, Walk, assert_same, trace};

/// The events of a tree.
fn events(tree: &naive::Document) -> Vec<TraceEvent> {
    let mut seen = vec![TraceEvent::Record { number: 0, start: tree[tree.root()].span.start }];
    let mut open = Vec::new();
    enter(tree, tree.root(), &mut open, &mut seen);
    while let Some((id, next)) = open.pop() {
        let Some(&child) = tree.children(id).get(next) else {
            let end = tree[id].span.end;
            push(&mut seen, Event::End(kind(tree, id)), Span::new(end - 1, end), open.len(), Vec::new());
            continue;
        };
        open.push((id, next + 1));
        if let Some(member) = tree.members(id).get(next) {
            let span = Span::new(member.name_span.start, member.name_span.end);
            push(&mut seen, Event::Name, span, open.len(), member.name.clone().into_bytes());
        }
        enter(tree, child, &mut open, &mut seen);
    }
    seen.push(TraceEvent::End);
    seen
}

fn enter(
    tree: &naive::Document,
    id: naive::ValueId,
    open: &mut Vec<(naive::ValueId, usize)>,
    seen: &mut Vec<TraceEvent>,
) {
    let (span, kind) = (Span::new(tree[id].span.start, tree[id].span.end), kind(tree, id));
    let payload = match &tree[id].data {
        Data::Null => "null".to_owned(),
        Data::Bool(value) => value.to_string(),
        Data::Number(text) | Data::String(text) => text.clone(),
        Data::Array(_) | Data::Object(_) => {
            open.push((id, 0));
            let span = Span::new(span.start, span.start + 1);
            return push(seen, Event::Begin(kind), span, open.len(), Vec::new());
        }
    };
    push(seen, Event::Scalar(kind), span, open.len(), payload.into_bytes());
}

fn push(seen: &mut Vec<TraceEvent>, event: Event, span: Span, depth: usize, payload: Vec<u8>) {
    seen.push(TraceEvent::Event { event, span, depth: depth as u32, payload });
}

fn kind(tree: &naive::Document, id: naive::ValueId) -> Kind {
    let name = tree[id].data.kind().name();
    Kind::ALL.into_iter().find(|kind| kind.name() == name).unwrap()
}

/// Random texts, every second one damaged.
fn texts(count: u64) -> impl Iterator<Item = (u64, Vec<u8>)> {
    let layouts = [Layout::Compact, Layout::Pretty, Layout::Random, Layout::OneLine];
    (0..count).map(move |seed| {
        let layout = layouts[(seed / 2) as usize % 4];
        let shape = if seed % 10 == 0 { Shape::deep(60) } else { Shape::default() };
        let text = document(seed, &Shape { layout, duplicates: true, ..shape });
        (seed, if seed % 2 == 0 { text } else { damage(seed, &text) })
    })
}

fn read(text: &[u8], framing: Framing) -> Vec<TraceEvent> {
    trace(Cursor::from_view(View::new(text), framing, &Config::new()), Walk::Events)
}

fn error(seen: &[TraceEvent]) -> Option<(ErrorKind, u64)> {
    seen.iter().find_map(|seen| {
        if let TraceEvent::Error { kind, offset, .. } = seen { Some((*kind, *offset)) } else { None }
    })
}

/// R2: accepts and refuses the same texts as the naive parser, event for event, with the same
/// offset.
#[test]
fn naive_parser() {
    let (mut good, mut bad) = (0, 0);
    for (seed, text) in texts(cases(12_000, 1_000_000)) {
        let seen = read(&text, Framing::Single);
        match naive::parse(&text) {
            Ok(tree) => {
                assert_same(&seen, &events(&tree), &format_args!("seed {seed}"));
                good += 1;
            }
            Err(expected) => {
                assert_refused_alike(&text, &seen, &expected, seed);
                bad += 1;
            }
        }
    }
    assert!(good > 5000 && bad > 3000, "{good} {bad}");
}

/// Asserts the same refusal, with three intended differences: an invalid literal is reported at its
/// start; an input that ends within a character of a string has an open string, not invalid UTF-8;
/// and UTF-16 is recognized.
fn assert_refused_alike(text: &[u8], trace: &[TraceEvent], expected: &naive::Error, seed: u64) {
    let context = format!("seed {seed}: {expected}, text {:?}", String::from_utf8_lossy(text));
    let Some((kind, offset)) = error(trace) else { panic!("taken: {context}") };
    let ErrorKind::Syntax(syntax) = kind else { panic!("{kind:?}: {context}") };
    match (syntax, expected.kind) {
        (Syntax::Encoding, _) => assert!(offset == 0 && text[..4].contains(&0), "{context}"),
        // For the naive parser, a literal with more letters has ended, and other data follows.
        (Syntax::Literal, Naive::Literal | Naive::Byte | Naive::Trailing) if offset < expected.offset => {
            let right = &text[offset as usize..expected.offset as usize];
            let is_prefix = ["null", "true", "false"].iter().any(|word| word.as_bytes().starts_with(right));
            assert!(is_prefix && !right.is_empty(), "at {offset}: {context}");
        }
        (Syntax::UnterminatedString, Naive::Utf8) => {
            let tail = &text[expected.offset as usize..];
            let cut = std::str::from_utf8(tail).unwrap_err().error_len().is_none();
            assert!(cut && offset == text.len() as u64, "at {offset}: {context}");
        }
        _ => {
            assert_eq!(offset, expected.offset, "{syntax:?}: {context}");
            assert!(may_be(syntax, expected.kind), "{syntax:?}: {context}");
        }
    }
}

/// True if the naive parser's coarser kind matches a syntax error.
fn may_be(syntax: Syntax, naive: Naive) -> bool {
    match naive {
        Naive::Empty => syntax == Syntax::Empty,
        Naive::End => matches!(syntax, Syntax::UnexpectedEnd | Syntax::UnterminatedString),
        // For the naive parser, an invalid number has ended, and other data follows.
        Naive::Trailing => matches!(syntax, Syntax::TrailingData | Syntax::Number),
        Naive::Utf8 => syntax == Syntax::Utf8,
        Naive::Control => syntax == Syntax::ControlCharacter,
        Naive::Escape => syntax == Syntax::Escape,
        Naive::Surrogate => syntax == Syntax::LoneSurrogate,
        Naive::Number => syntax == Syntax::Number,
        Naive::Byte => matches!(
            syntax,
            Syntax::ExpectedValue
                | Syntax::ExpectedName
                | Syntax::ExpectedColon
                | Syntax::ExpectedCommaOrEnd
                | Syntax::TrailingComma
                | Syntax::MismatchedBracket
                | Syntax::Literal
                | Syntax::Number
        ),
        _ => false,
    }
}

/// R2: accepts and refuses the same texts as `serde_json`, except for numbers beyond a double and
/// byte order marks, which that refuses.
#[test]
fn serde_json() {
    for (seed, text) in texts(cases(6_000, 500_000)) {
        let taken = match serde_json::from_slice::<serde_json::Value>(&text) {
            Ok(_) => true,
            Err(error) if error.to_string().starts_with("number out of range") => continue,
            Err(_) if text.starts_with(b"\xEF\xBB\xBF") => continue,
            Err(_) => false,
        };
        assert_eq!(error(&read(&text, Framing::Single)).is_none(), taken, "seed {seed}");
    }
}

/// R2: accepts and refuses the same texts as struson, which also reads streams, and refuses byte
/// order marks.
#[test]
fn struson() {
    let settings = ReaderSettings {
        max_nesting_depth: None,
        restrict_number_values: false,
        ..ReaderSettings::default()
    };
    for (seed, text) in texts(cases(6_000, 500_000)) {
        let mut other = JsonStreamReader::new_custom(text.as_slice(), settings.clone());
        let taken = other.skip_value().is_ok() && other.consume_trailing_whitespace().is_ok();
        let cursor =
            Cursor::from_reader(Chunks::new(text.as_slice(), &[7, 64, 1]), Framing::Single, &Config::new());
        let seen = trace(cursor, Walk::Events);
        if !text.starts_with(b"\xEF\xBB\xBF") {
            assert_eq!(error(&seen).is_none(), taken, "seed {seed}");
        }
    }
}

/// R2, R8: the depth limit refuses at the bracket that exceeds it, like the naive parser.
#[test]
fn depth_limit() {
    for seed in 0..200 {
        let text = document(seed, &Shape::deep(40));
        for depth in [0, 1, 2, 10, 39, 40] {
            let mut limits = trommel_reader::Limits::default();
            limits.depth = depth;
            let seen = trace(Cursor::new(&text, &Config::new().limits(limits)), Walk::Events);
            match naive::parse_within(&text, depth as usize) {
                Ok(tree) => assert_same(&seen, &events(&tree), &seed),
                Err(expected) => {
                    let limit = ErrorKind::Limit(Limit::Depth(u64::from(depth)));
                    assert_eq!(error(&seen), Some((limit, expected.offset)), "seed {seed}");
                }
            }
        }
    }
}

/// R1, R2: reads lines and text sequences record by record, valid and malformed, like the naive
/// parser.
#[test]
fn naive_records() {
    use trommel_testkit::generate::stream;
    let framings = [(Framing::Lines, naive::Framing::Lines), (Framing::JsonSeq, naive::Framing::JsonSeq)];
    let mut bad = 0;
    for seed in 0..cases(1_500, 100_000) {
        let (framing, same) = framings[seed as usize % 2];
        let text = damage(seed, &stream(seed, &Shape { values: 12, ..Shape::default() }, same, 8));
        let seen = read(&text, framing);
        if error(&seen).is_some_and(|(kind, _)| kind == ErrorKind::Syntax(Syntax::Encoding)) {
            continue;
        }
        let mut rest = seen.as_slice();
        let expected = naive::records(&text, same);
        for (number, record) in expected.iter().enumerate() {
            let next = rest.iter().skip(1).position(|seen| matches!(seen, TraceEvent::Record { .. }));
            // Data before the first separator does not start a value.
            let begun = usize::from(matches!(rest.first(), Some(TraceEvent::Record { .. })));
            let (these, after) = rest.split_at(next.map_or(rest.len(), |next| next + 1));
            rest = after;
            match &record.outcome {
                Ok(tree) => {
                    let mut events = events(tree);
                    events[0] =
                        TraceEvent::Record { number: number as u64, start: tree[tree.root()].span.start };
                    assert_same(these, &events, &format_args!("seed {seed} record {number}"));
                }
                Err(refused) => {
                    assert_eq!(begun, usize::from(refused.kind != Naive::Separator), "seed {seed}");
                    assert_record_refused(
                        &text,
                        these,
                        record,
                        &format!("seed {seed} record {number}: {refused}"),
                    );
                    bad += 1;
                }
            }
        }
        assert!(rest.is_empty(), "seed {seed}: {rest:?}");
    }
    assert!(bad > 500);
}

fn assert_record_refused(text: &[u8], seen: &[TraceEvent], record: &naive::Record, context: &str) {
    let expected = record.outcome.as_ref().unwrap_err();
    let Some((ErrorKind::Syntax(syntax), offset)) = error(seen) else { panic!("taken: {context}") };
    match expected.kind {
        Naive::Truncated => {
            assert_eq!((syntax, offset), (Syntax::TruncatedRecord, expected.offset), "{context}");
        }
        Naive::Separator => {
            assert_eq!((syntax, offset), (Syntax::ExpectedSeparator, expected.offset), "{context}");
        }
        Naive::Trailing if syntax != Syntax::Literal => {
            let kinds = [Syntax::TrailingData, Syntax::ValuesTouch, Syntax::Number];
            assert!(kinds.contains(&syntax) && offset == expected.offset, "{syntax:?} {context}");
        }
        _ => assert_refused_alike(&text[..record.span.end as usize], seen, expected, 0),
    }
}
