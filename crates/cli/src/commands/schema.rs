//! `trommel schema`: infers a JSON Schema.

use trommel::reader::Validation;
use trommel::{Answer, Measure, Report, Stats};

use crate::args::SchemaArgs;
use crate::arguments::Inputs;
use crate::errors::Failure;
use crate::input::Options;
use crate::job::{Filters, Job};
use crate::output::{self, JsonStyle, Screen, json_string};

pub(crate) fn run(args: &SchemaArgs, screen: &Screen) -> Result<(), Failure> {
    let filters = Filters::parse(&args.records)?;
    let options = Options::new(&args.source, &args.engine, Validation::Strict, args.bad_records);
    let mut job = Job::open(Inputs::files(&args.files.arguments, "schema")?, options, screen)?;
    job.filter(filters);
    job.configure(|analysis| {
        let mut stats = Stats::new();
        stats.item_types = false;
        stats.schema = true;
        stats.max_depth = args.max_depth.map(std::num::NonZeroU32::get);
        analysis.ask(Measure::Stats(stats))
    });
    let schema = if args.by_file {
        let mut files = Vec::new();
        let report = job.run_by_input(&mut |job, report| {
            files.push(format!("{{\"file\":{},\"schema\":{}}}", json_string(&job.name()), schema_of(report)));
            Ok(())
        })?;
        format!("{{\"files\":[{}],\"total\":{}}}", files.join(","), schema_of(report))
    } else {
        schema_of(job.answer()?)
    };
    let terminal = screen.out.is_terminal;
    let schema = output::for_reader(schema, terminal);
    let style = JsonStyle {
        indented: terminal && !args.json,
        colored: screen.out.is_colored,
        ..JsonStyle::default()
    };
    let out = job.out()?.styled(style);
    out.write(schema.as_bytes())?;
    out.write(b"\n")?;
    out.finish()?;
    job.end(true, false)
}

fn schema_of(report: Report) -> String {
    let schema = report.answers.into_iter().find_map(|answer| match answer {
        Answer::Stats(stats) => stats.summary.schema,
        _ => None,
    });
    schema.map_or_else(|| "true".into(), trommel::statistics::Schema::into_json)
}
