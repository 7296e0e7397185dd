//! `trommel group`: groups records by values.

use std::io;

use trommel::groups::{AggregateKind, GroupSort};
use trommel::{Answer, Group, Groups, Report};
use trommel_answer::GroupsText;
use trommel_hints::UnmatchedQuery;

use crate::args::{FigureArgs, GroupArgs, NamedQuery};
use crate::arguments::Inputs;
use crate::errors::{Failure, QueryError};
use crate::input::Options;
use crate::job::{Filters, Job};
use crate::output::size::grouped;
use crate::output::{Out, Screen, Target, escape, for_reader, json_string, tables};

/// The number of groups in a table, unless `--top` asks for more.
const MAX_ROWS: usize = 1_000;

pub(crate) fn run(args: &GroupArgs, screen: &Screen) -> Result<(), Failure> {
    let Inputs { files, queries } = Inputs::split(&args.arguments.arguments, "group")?;
    let named = named_queries(&queries, &args.figures);
    let group = request(args, &named)?;
    let sort = group.order(&args.sort).ok_or_else(|| {
        let known = group.orders().join(", ");
        usage(format!("there is no order {}; sort by one of {known}", args.sort))
    })?;
    let filters = Filters::parse(&args.records)?;
    let parsed = group.keys.iter().map(|key| &key.query);
    let parsed = parsed.chain(group.aggregates.iter().map(|figure| &figure.query));
    let asked = named.iter().zip(parsed).map(|((_, named), query)| UnmatchedQuery::new(&named.query, query));
    let asked: Vec<_> = asked.collect();
    let options = Options::new(&args.source, &args.engine, args.engine.validation(), args.bad_records);
    let mut job = Job::open(files, options, screen)?;
    job.filter(filters);
    job.note_patterns(&asked);
    job.configure(|analysis| analysis.group(group.clone()));
    let top = args.top.map(std::num::NonZeroUsize::get);
    let as_json = args.json || !screen.out.is_terminal;
    let form = Form { group: &group, sort, top, as_json, screen };
    let out = if as_json { job.json_out()? } else { job.out()? };
    let report = if args.by_file { by_file(&mut job, &form, &out)? } else { job.answer()? };
    let groups = groups_of(&report);
    let cut = form.write(groups, &out)?;
    out.write(if !as_json {
        b""
    } else if args.by_file {
        b"}\n"
    } else {
        b"\n"
    })?;
    out.finish()?;
    if let Some(shown) = cut {
        let (shown, all) = (grouped(shown as u64), grouped(groups.len() as u64));
        job.notes().note(&format!("only {shown} of {all} groups are shown; use --top N or --json"));
    }
    job.note_is_one_record(&report, "group");
    let keys = (0..group.keys.len()).map(|key| groups.has_key(key));
    let any = keys.clone().any(|matched| matched);
    let found = keys.chain((0..group.aggregates.len()).map(|figure| groups.has_values(figure)));
    let empty = asked.iter().zip(found).filter(|(_, found)| !found).map(|(asked, _)| *asked);
    job.note_hints(&empty.collect::<Vec<_>>());
    job.end(any, args.exit_status)
}

fn usage(message: String) -> Failure {
    Failure::Usage { command: "group", message }
}

/// The queries in the order of the request: those of keys, then those of figures.
fn named_queries<'a>(
    keys: &'a [NamedQuery],
    figures: &'a FigureArgs,
) -> Vec<(Option<AggregateKind>, &'a NamedQuery)> {
    let FigureArgs { sum, mean, min, max, distinct } = figures;
    let figures = AggregateKind::ALL.into_iter().zip([sum, mean, min, max, distinct]);
    let figures = figures.flat_map(|(kind, named)| named.iter().map(move |named| (Some(kind), named)));
    keys.iter().map(|key| (None, key)).chain(figures).collect()
}

/// Builds the request.
fn request(args: &GroupArgs, named: &[(Option<AggregateKind>, &NamedQuery)]) -> Result<Group, Failure> {
    if !named.iter().any(|(kind, _)| kind.is_none()) {
        return Err(usage("no query to group by; add one, such as '$.level'".into()));
    }
    let max_bytes = usize::try_from(args.max_group_bytes).unwrap_or(usize::MAX);
    let mut group = Group::new().max_groups(args.max_groups).max_bytes(max_bytes);
    group = group.approximate(args.approximate);
    for (kind, named) in named {
        let query = QueryError::parse(&named.query)?;
        let name = named.name_in_answers(&query);
        group = match kind {
            None => group.by(name, query),
            Some(kind) => group.aggregate(*kind, name, query),
        };
    }
    match group.repeated_name() {
        None => Ok(group),
        Some(name) => Err(usage(format!("two keys or figures are named {name}; rename one with NAME=QUERY"))),
    }
}

#[expect(clippy::expect_used, reason = "the engine answers every measure in its kind")]
fn groups_of(report: &Report) -> &Groups {
    let groups = report.answers.iter().find_map(|answer| match answer {
        Answer::Group(groups) => Some(&**groups),
        _ => None,
    });
    groups.expect("the measure is a grouping")
}

/// Writes the groups of each file. Returns the report over all of them.
fn by_file(job: &mut Job, form: &Form<'_>, out: &Out) -> Result<Report, Failure> {
    let mut first = true;
    let report = job.run_by_input(&mut |job, report| {
        let (file, first) = (job.name(), std::mem::take(&mut first));
        let begin = match (form.as_json, first) {
            (true, true) => format!("{{\"files\":[{{\"file\":{},\"groups\":[", json_string(&file)),
            (true, false) => format!(",{{\"file\":{},\"groups\":[", json_string(&file)),
            (false, _) => tables::heading(&escape::short(&file, 200), form.screen.out),
        };
        let begin = for_reader(begin, form.as_json && form.screen.out.is_terminal);
        out.write(begin.as_bytes())?;
        form.write_rest(groups_of(&report), out)?;
        Ok(out.write(if form.as_json { b"" } else { b"\n" })?)
    })?;
    let begin =
        if form.as_json { "],\"total\":".into() } else { tables::heading("all files", form.screen.out) };
    out.write(begin.as_bytes())?;
    Ok(report)
}

/// The form of an answer.
struct Form<'a> {
    group: &'a Group,
    sort: GroupSort,
    top: Option<usize>,
    as_json: bool,
    screen: &'a Screen,
}

impl Form<'_> {
    /// Writes groups. Returns the number of rows if there are more groups than rows.
    fn write(&self, groups: &Groups, out: &Out) -> io::Result<Option<usize>> {
        if self.as_json {
            out.write(b"{\"groups\":[")?;
        }
        self.write_rest(groups, out)
    }

    /// Writes groups, after the start of the JSON document.
    fn write_rest(&self, groups: &Groups, out: &Out) -> io::Result<Option<usize>> {
        if self.as_json {
            return self.write_json(groups, out).map(|()| None);
        }
        let rows = groups.rows(self.sort, Some(self.top.unwrap_or(MAX_ROWS)));
        out.write(tables::groups(self.group, groups, &rows, self.screen.out).as_bytes())?;
        Ok((self.top.is_none() && groups.len() > rows.len()).then_some(rows.len()))
    }

    /// Writes `…],"total":…,"total_groups":…}`, group by group.
    fn write_json(&self, groups: &Groups, out: &Out) -> io::Result<()> {
        let text = GroupsText::new(self.group, groups);
        let mut line = Vec::new();
        let write = |line: &mut Vec<u8>| {
            let mut page = out.page();
            if self.screen.out.is_terminal {
                escape::json(line, page.bytes());
            } else {
                page.bytes().extend_from_slice(line);
            }
            line.clear();
            page.flush_if_full()
        };
        for (number, row) in groups.rows(self.sort, self.top).iter().enumerate() {
            if number > 0 {
                line.push(b',');
            }
            text.push_row(row, &mut line);
            write(&mut line)?;
        }
        line.extend_from_slice(b"],");
        text.push_totals(&mut line);
        line.push(b'}');
        write(&mut line)
    }
}
