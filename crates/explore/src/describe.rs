//! The description of a value: its size, its types, and its fields.

use trommel::reader::Span;
use trommel::statistics::{FieldRow, TypeCounts};
use trommel::{Answer, Measure, Stats, StatsAnswer};
use trommel_base::text::{excerpt, grouped};
use trommel_guide::Guide;

use crate::size::bytes as size;
use crate::task::Task;

/// Characters of a path.
const PATH_CHARS: usize = 80;

impl Task {
    /// Describes a value. The whole input is described by its guide, if that knows the answer.
    pub(crate) fn describe(&self, value: Span, is_root: bool) -> Result<Vec<String>, String> {
        let mut stats = Stats::new();
        stats.fields = true;
        let analysis = self.analysis().ask(Measure::Stats(stats));
        let source = &self.source;
        // An input that has grown has more values than its guide knows.
        let is_known = |guide: &Guide| source.length().is_ok_and(|length| length == guide.index().length());
        let guide = if is_root { source.guide() } else { None };
        let known = guide.filter(|guide| is_known(guide));
        let known = known.and_then(|guide| guide.report(&analysis, source.framing()));
        let report = if let Some(report) = known {
            report
        } else {
            let document = if is_root { source.document() } else { source.document_of(value) };
            let mut document = document.map_err(|error| error.to_string())?;
            analysis.run(&mut document).map_err(|error| error.to_string())?
        };
        let malformed = report.coverage.bad_records;
        let answer = report.answers.into_iter().find_map(|answer| match answer {
            Answer::Stats(answer) => Some(answer),
            _ => None,
        });
        answer.map(|answer| lines(&answer, malformed)).ok_or_else(|| "the run has no statistics".to_owned())
    }
}

fn lines(answer: &StatsAnswer, malformed: u64) -> Vec<String> {
    let summary = &answer.summary;
    let structure = &summary.structure;
    let mut lines = vec![
        format!("size        {} ({} bytes)", size(answer.bytes), grouped(answer.bytes)),
        format!("characters  {}", grouped(answer.characters)),
        format!("depth       {}", grouped(structure.max_depth)),
        format!("values      {}", grouped(structure.total_values)),
        format!("members     {}", grouped(structure.total_keys)),
        format!("types       {}", types(summary.types)),
    ];
    if let Some(records) = answer.records {
        lines.push(format!("records     {}", grouped(records)));
    }
    if malformed > 0 {
        lines.push(format!("malformed   {}, which are left out", grouped(malformed)));
    }
    if structure.duplicate_names > 0 {
        let (names, occur) =
            if structure.duplicate_names == 1 { ("name", "occurs") } else { ("names", "occur") };
        let count = grouped(structure.duplicate_names);
        lines.push(format!("duplicates  {count} {names} {occur} twice in an object"));
    }
    let fields = summary.fields.as_deref().unwrap_or(&[]);
    if !fields.is_empty() {
        lines.push(String::new());
        lines.push(format!("{:>12} {:>12}  {:<30} path", "values", "missing", "types"));
        lines.extend(fields.iter().map(field));
    }
    if let Some(rows) = summary.capped.fields {
        lines.push(format!("{} of {} paths", grouped(rows.shown), grouped(rows.total)));
    }
    lines
}

fn field(row: &FieldRow) -> String {
    let missing = if row.missing == 0 { String::new() } else { grouped(row.missing) };
    let path = excerpt(&row.path, PATH_CHARS);
    format!("{:>12} {missing:>12}  {:<30} {path}", grouped(row.count), types(row.types))
}

fn types(types: TypeCounts) -> String {
    let names = types.occurring().map(|(name, count)| format!("{name} {}", grouped(count)));
    names.collect::<Vec<_>>().join(", ")
}
