//! `trommel group`: groups records by values.

use std::io;

use trommel::groups::{AggregateKind, GroupRow};
use trommel::path::Query;
use trommel::{Answer, Group, Groups};
use trommel_hints::UnmatchedQuery;
use trommel_toolbox::outputs::GroupsText;

use super::matched;
use crate::args::{FigureArgs, GroupArgs, NamedQuery};
use crate::errors::{Failure, QueryError};
use crate::input::Options;
use crate::job::{Filters, Job};
use crate::output::size::grouped;
use crate::output::{Out, Screen, Target, tables};

/// The number of groups in a table, unless `--top` asks for more.
const MAX_ROWS: usize = 1_000;

pub(crate) fn run(args: &GroupArgs, screen: &Screen) -> Result<(), Failure> {
    let group = request(args)?;
    let sort = group.order(&args.sort).ok_or_else(|| {
        let message = format!("unknown order {}; use one of {}", args.sort, group.orders().join(", "));
        Failure::Usage { command: "group", message }
    })?;
    let filters = Filters::parse(&args.records.filters)?;
    let texts: Vec<&str> = queries(args).map(|(_, named)| named.query.as_str()).collect();
    let parsed = group.keys.iter().map(|key| &key.query);
    let parsed = parsed.chain(group.aggregates.iter().map(|figure| &figure.query));
    let asked: Vec<_> =
        texts.iter().zip(parsed).map(|(text, query)| UnmatchedQuery::new(text, query)).collect();
    let options = Options::new(&args.source, &args.engine, args.engine.validation(), args.bad_records);
    let mut job = Job::open(options, screen)?;
    job.filter(filters);
    job.note_patterns(&asked);
    job.configure(|analysis| analysis.group(group.clone()));
    let report = job.answer()?;
    #[expect(clippy::expect_used, reason = "the engine answers every measure in its kind")]
    let groups = report.answers.iter().find_map(groups).expect("the measure is a grouping");
    let out = job.out()?;
    let top = args.top.map(std::num::NonZeroUsize::get);
    if args.json || !screen.out.is_terminal {
        print_json(&group, groups, &groups.rows(sort, top), &out)?;
    } else {
        let rows = groups.rows(sort, Some(top.unwrap_or(MAX_ROWS)));
        out.write(tables::groups(&group, groups, &rows, screen.out).as_bytes())?;
        if top.is_none() && groups.len() > rows.len() {
            let (shown, all) = (grouped(rows.len() as u64), grouped(groups.len() as u64));
            job.notes().note(&format!("only {shown} of {all} groups are shown; use --top N or --json"));
        }
    }
    out.finish()?;
    let keys = (0..group.keys.len()).map(|key| groups.has_key(key));
    let any = keys.clone().any(|matched| matched);
    let found = keys.chain((0..group.aggregates.len()).map(|figure| groups.has_values(figure)));
    let empty = asked.iter().zip(found).filter(|(_, found)| !found).map(|(asked, _)| *asked);
    job.note_hints(&empty.collect::<Vec<_>>());
    matched(any, args.exit_status)
}

/// The queries in the order of the request: those of keys, then those of figures.
fn queries(args: &GroupArgs) -> impl Iterator<Item = (Option<AggregateKind>, &NamedQuery)> {
    let FigureArgs { sum, mean, min, max, distinct } = &args.figures;
    let figures = AggregateKind::ALL.into_iter().zip([sum, mean, min, max, distinct]);
    let figures = figures.flat_map(|(kind, named)| named.iter().map(move |named| (Some(kind), named)));
    args.keys.iter().map(|key| (None, key)).chain(figures)
}

/// Builds the request.
fn request(args: &GroupArgs) -> Result<Group, Failure> {
    let max_bytes = usize::try_from(args.max_group_bytes).unwrap_or(usize::MAX);
    let mut group = Group::new().max_groups(args.max_groups).max_bytes(max_bytes);
    group = group.approximate(args.approximate);
    for (kind, named) in queries(args) {
        let query = QueryError::parse(&named.query)?;
        let name = name_of(named, &query);
        group = match kind {
            None => group.by(name, query),
            Some(kind) => group.aggregate(kind, name, query),
        };
    }
    match group.repeated_name() {
        None => Ok(group),
        Some(name) => {
            let message = format!("two keys or figures are named {name}; rename one with NAME=QUERY");
            Err(Failure::Usage { command: "group", message })
        }
    }
}

/// The given name of a query, or the last name in it, or else its text.
fn name_of(named: &NamedQuery, query: &Query) -> String {
    let is_unnamed = named.name == named.query;
    let last = query.last_name().filter(|_| is_unnamed);
    last.unwrap_or(&named.name).to_owned()
}

fn groups(answer: &Answer) -> Option<&Groups> {
    match answer {
        Answer::Group(groups) => Some(groups),
        _ => None,
    }
}

/// Prints `{"groups":[…],"total":…,"total_groups":…}`, group by group.
fn print_json(group: &Group, groups: &Groups, rows: &[GroupRow<'_>], out: &Out) -> io::Result<()> {
    let text = GroupsText::new(group, groups);
    out.write(b"{\"groups\":[")?;
    for (number, row) in rows.iter().enumerate() {
        let mut page = out.page();
        if number > 0 {
            page.bytes().push(b',');
        }
        text.push_row(row, page.bytes());
        page.flush_if_full()?;
    }
    let mut page = out.page();
    page.bytes().extend_from_slice(b"],");
    text.push_totals(page.bytes());
    page.bytes().extend_from_slice(b"}\n");
    page.flush_if_full()
}
