//! Leaving out `Enter` or `Leave` steps does not change the other steps.

use trommel_path::{Order, PlanOptions, Scratch, Step, Wants};
use trommel_reader::{Config, Cursor, Validation};

use crate::support::plan_with;

const TEXT: &str = r#"{"a":[1,{"b":[2,{"b":3}]},[4,[]],"x"],"b":{"a":[{"b":null}],"c":true},"c":{}}"#;

/// Returns the steps as text: `+` or `-`, the query, and the start or the span of the node.
fn steps(queries: &[&str], validation: Validation, change: impl Fn(&mut Wants)) -> Vec<String> {
    let plan = plan_with(queries, PlanOptions::new().order(Order::Document));
    let config = Config::new().validation(validation);
    let (mut wants, mut scratch) = (Wants::default(), Scratch::new());
    change(&mut wants);
    let mut cursor = Cursor::new(TEXT.as_bytes(), &config);
    let mut matcher = plan.matcher(&mut scratch, &mut cursor, &wants);
    let mut steps = Vec::new();
    while matcher.next_record().unwrap() {
        while let Some(step) = matcher.advance().unwrap() {
            match step {
                Step::Enter { query, times } => {
                    steps.push(format!("+{} {times} {}", query.index(), matcher.start()));
                }
                Step::Leave { query, times, span } => {
                    let bytes = matcher.cursor().bytes(span).is_some();
                    steps.push(format!("-{} {times} {span} {bytes}", query.index()));
                }
                Step::Event(_) | Step::Settled(_) => {}
            }
        }
    }
    steps
}

#[test]
fn skips_unrequested_steps() {
    let plans: [&[&str]; 7] = [
        &["$.a[*]"],
        &["$.a[*].b", "$.b.a", "$.c"],
        &["$.*", "$.*"],
        &["$..b"],
        &["$..b", "$..b"],
        &["$..*", "$.a[?@.b]"],
        &["$", "$.a", "$.a[1].b[*].b"],
    ];
    for queries in plans {
        for validation in [Validation::Structural, Validation::Strict] {
            let all = steps(queries, validation, |wants| wants.bytes = vec![true; 3]);
            assert!(all.len() >= 6 || queries == ["$.a[*]"], "{queries:?}: {all:?}");
            for query in ["0", "1", "2"] {
                for (sign, number) in [('+', 0), ('-', 1)] {
                    let others: Vec<bool> = (0..3).map(|other| query != other.to_string()).collect();
                    let selected = steps(queries, validation, |wants| {
                        wants.bytes = vec![true; 3];
                        if number == 0 {
                            wants.enter = others.clone();
                        } else {
                            wants.leave = others.clone();
                        }
                    });
                    let expected = all.iter().filter(|step| !step.starts_with(&format!("{sign}{query}")));
                    assert!(expected.eq(&selected), "{queries:?} without {sign}{query}: {selected:?}");
                }
            }
        }
    }
}
