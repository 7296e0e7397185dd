//! `trommel du`: shows which paths take the bytes of an input.

use trommel::reader::Validation;
use trommel::{Measure, Stats};
use trommel_hints::UnmatchedQuery;

use super::stats::{Input, InputName, answer_of, json, values};
use crate::args::DuArgs;
use crate::arguments::Inputs;
use crate::errors::{Failure, QueryError};
use crate::input::Options;
use crate::job::{Filters, Job};
use crate::output::{self, Screen, tables};

/// Paths in a table.
const TABLE_ROWS: usize = 40;

pub(crate) fn run(args: &DuArgs, screen: &Screen) -> Result<(), Failure> {
    let inputs = Inputs::split(&args.arguments.arguments, "du")?;
    let texts: Vec<String> = inputs.queries.into_iter().map(|named| named.query).collect();
    let queries = texts.iter().map(|text| QueryError::parse(text)).collect::<Result<Vec<_>, _>>()?;
    let is_json = args.json || !screen.out.is_terminal;
    let filters = Filters::parse(&args.records)?;
    let options = Options::new(&args.source, &args.engine, Validation::Strict, args.bad_records);
    let count = inputs.files.len();
    let mut job = Job::open(inputs.files, options, screen)?;
    job.filter(filters);
    let asked = texts.iter().zip(&queries).map(|(text, query)| UnmatchedQuery::new(text, query));
    let asked = asked.collect::<Vec<_>>();
    job.note_patterns(&asked);
    job.configure(|analysis| {
        let mut stats = Stats::new();
        stats.queries.clone_from(&queries);
        (stats.bytes, stats.item_types) = (true, false);
        stats.max_depth = args.depth.map(std::num::NonZeroU32::get);
        let top = args.top.map(std::num::NonZeroUsize::get);
        stats.rows = top.or((!is_json).then_some(TABLE_ROWS));
        analysis.ask(Measure::Stats(stats))
    });
    let mut answer = answer_of(job.answer()?);
    // The sizes of containers are another question.
    let summaries = answer.by_path.iter_mut().map(|path| &mut path.summary);
    for summary in summaries.chain([&mut answer.summary]) {
        (summary.arrays, summary.objects) = (None, None);
        (summary.capped.arrays, summary.capped.objects) = (None, None);
    }
    let several = format!("{count} inputs");
    let name = if count > 1 { several } else { job.name() };
    let text = if is_json {
        let (id, stored) = (job.id(), job.stored());
        let member = InputName::Id(stored.map_or(&id, |stored| &stored.id));
        let input = Input { name: &name, member: (count == 1).then_some(member), stored };
        output::for_reader(json(input, &answer)?, screen.out.is_terminal) + "\n"
    } else {
        tables::bytes(&name, &answer, screen.out)
    };
    let out = if is_json { job.json_out()? } else { job.out()? };
    out.write(text.as_bytes())?;
    out.finish()?;
    let empty = asked.iter().zip(values(&answer)).filter(|(_, values)| *values == 0);
    job.note_hints(&empty.map(|(asked, _)| *asked).collect::<Vec<_>>());
    job.end(true, false)
}
