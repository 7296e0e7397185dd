//! Engines that take a query.

use std::convert::Infallible;
use std::hint::black_box;

use jaq_core::load::{Arena, File, Loader};
use jaq_core::{Compiler as Jaq, Ctx, Vars, data, unwrap_valr};
use jaq_json::{Val, read};
use rsonpath::engine::{Compiler as _, Engine as _, RsonpathEngine};
use rsonpath::input::BorrowedBytes;
use rsonpath::result::{Match, Sink};
use serde_json_path::JsonPath;
use trommel_benches::{Column, Input, Task};

pub(super) fn columns<'a>(task: &'a Task, bytes: &'a [u8]) -> Vec<Column<'a>> {
    let mut columns = Vec::new();
    if task.stage() == "path" || task.name == "facade/descendants" {
        columns.extend(rsonpath(task, bytes));
        columns.push(over_tree(task, bytes));
    }
    columns.extend(task.jq.as_deref().map(|filter| jaq(filter, task.input == Input::Lines, bytes)));
    columns
}

/// The number of matches received.
#[derive(Default)]
struct Taken(u64);

impl Sink<Match> for Taken {
    type Error = Infallible;

    fn add_match(&mut self, found: Match) -> Result<(), Infallible> {
        self.0 += u64::from(!black_box(found.bytes()).is_empty());
        Ok(())
    }
}

/// One run per query, because rsonpath takes one query at a time. `None` if it does not support one
/// of them.
fn rsonpath<'a>(task: &'a Task, bytes: &'a [u8]) -> Option<Column<'a>> {
    let compile = |query: &String| RsonpathEngine::compile_query(&rsonpath_syntax::parse(query).ok()?).ok();
    let engines = task.queries.iter().map(compile).collect::<Option<Vec<_>>>()?;
    let count = task.count;
    Some(Column::reads("rsonpath", move || {
        let input = BorrowedBytes::new(bytes);
        let answer = |engine: &RsonpathEngine| {
            if count {
                return engine.count(&input).unwrap();
            }
            let mut taken = Taken::default();
            engine.matches(&input, &mut taken).unwrap();
            taken.0
        };
        engines.iter().map(answer).sum()
    }))
}

fn over_tree<'a>(task: &'a Task, bytes: &'a [u8]) -> Column<'a> {
    let queries: Vec<_> = task.queries.iter().map(|query| JsonPath::parse(query).unwrap()).collect();
    Column::reads("serde_json_path", move || {
        let tree: serde_json::Value = serde_json::from_slice(bytes).unwrap();
        queries.iter().map(|query| black_box(query.query(&tree)).len() as u64).sum()
    })
}

fn jaq<'a>(filter: &str, lines: bool, bytes: &'a [u8]) -> Column<'a> {
    let definitions = jaq_core::defs().chain(jaq_std::defs()).chain(jaq_json::defs());
    let functions = jaq_core::funs().chain(jaq_std::funs()).chain(jaq_json::funs());
    let arena = Arena::default();
    let modules = Loader::new(definitions).load(&arena, File { code: filter, path: () }).unwrap();
    let filter = Jaq::default().with_funs(functions).compile(modules).unwrap();
    Column::reads("jaq", move || {
        let answers = |value| {
            let context = Ctx::<data::JustLut<Val>>::new(&filter.lut, Vars::new([]));
            let mut answers = 0;
            for answer in filter.id.run((context, value)) {
                black_box(unwrap_valr(answer).unwrap());
                answers += 1;
            }
            answers
        };
        if lines {
            return read::parse_many(bytes).map(|line| answers(line.unwrap())).sum();
        }
        answers(read::parse_single(bytes).unwrap())
    })
}
