//! Plans and a matcher over a cursor.

use std::hint::black_box;

use trommel::path::{Order, Plan, PlanOptions, Query, Scratch, Step, Wants};
use trommel::reader::{Config, Cursor, Result, Validation};

use crate::engine::{STRICT, STRUCTURAL};
use crate::{Column, Task};

pub(super) fn columns<'a>(task: &'a Task, bytes: &'a [u8]) -> Vec<Column<'a>> {
    let structural = Config::new().validation(Validation::Structural);
    [(STRICT, Config::new()), (STRUCTURAL, structural)]
        .into_iter()
        .map(|(name, config)| column(name, task, bytes, config))
        .collect()
}

/// Reads the nodes in document order, with their bytes, or only the nodes for a count.
fn column<'a>(name: &'static str, task: &Task, bytes: &'a [u8], config: Config) -> Column<'a> {
    let queries: Vec<Query> =
        task.queries.iter().map(|query| query.parse().expect("the query is in order")).collect();
    let order = if task.count { Order::Any } else { Order::Document };
    let plan = Plan::new(&queries, PlanOptions::new().order(order));
    let mut wants = Wants::default();
    wants.bytes = vec![!task.count; queries.len()];
    wants.enter = vec![task.count; queries.len()];
    wants.leave = vec![!task.count; queries.len()];
    wants.only_count = vec![task.count; queries.len()];
    wants.late_leave = vec![!task.count; queries.len()];
    let mut scratch = Scratch::new();
    Column::reads(name, move || {
        nodes(&plan, &mut scratch, &wants, Cursor::new(bytes, &config)).expect("the input is valid")
    })
}

fn nodes(plan: &Plan, scratch: &mut Scratch, wants: &Wants, mut cursor: Cursor<'_>) -> Result<u64> {
    let mut matcher = plan.matcher(scratch, &mut cursor, wants);
    let mut nodes = 0;
    while matcher.next_record()? {
        while let Some(step) = matcher.advance()? {
            match step {
                Step::Enter { times, .. } => nodes += times,
                Step::Leave { times, span, .. } => {
                    nodes += times;
                    black_box(matcher.cursor().bytes(span));
                    while let Some((_, span)) = matcher.next_left() {
                        nodes += 1;
                        black_box(matcher.cursor().bytes(span));
                    }
                }
                Step::Event(_) | Step::Settled(_) => {}
            }
        }
    }
    Ok(nodes)
}
