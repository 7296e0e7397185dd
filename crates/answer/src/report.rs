//! All answers of a run.

use std::fmt;
use std::io::Write;

use trommel::groups::GroupSort;
use trommel::reader::{self, Config, Cursor, Framing, Validation, View};
use trommel::{Answer, Group, Groups, Measure, SampleAnswer};

use crate::{GroupsText, StatsText};

/// The reason why an answer has no JSON text.
#[derive(Debug)]
#[non_exhaustive]
pub enum AnswerError {
    /// A sampled value is not valid JSON: the run validated only its brackets and strings.
    Sampled(reader::Error),
    /// The answer is that of another measure.
    OtherMeasure,
    /// A defect: the figures cannot be written.
    Defect(serde_json::Error),
}

impl fmt::Display for AnswerError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Sampled(error) => write!(formatter, "a sampled value is not valid JSON: {error}"),
            Self::OtherMeasure => formatter.write_str("the answer is that of another measure"),
            Self::Defect(error) => write!(formatter, "the answer cannot be written as JSON: {error}"),
        }
    }
}

impl std::error::Error for AnswerError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Sampled(error) => Some(error),
            Self::OtherMeasure => None,
            Self::Defect(error) => Some(error),
        }
    }
}

impl From<serde_json::Error> for AnswerError {
    fn from(error: serde_json::Error) -> Self {
        Self::Defect(error)
    }
}

/// Appends an answer: a number for a count or an extraction, otherwise an object.
///
/// - A sample is `{"sample":[value,…],"total_items":n,"sample_size":n,"indices":[n,…]}`, and
///   `"strata"` if it is stratified.
/// - Statistics are a [`StatsText`].
/// - Groups are `{"groups":[…],"total":n,"total_groups":n}`, the most frequent first, as
///   [`GroupsText`] writes them.
///
/// # Errors
/// If a sampled value is malformed, or if the answer does not belong to the measure. The text is
/// then incomplete.
pub fn push_answer(measure: &Measure, answer: &Answer, out: &mut Vec<u8>) -> Result<(), AnswerError> {
    match (measure, answer) {
        (Measure::Extract(_), Answer::Extracted(count)) | (Measure::Count(_), Answer::Count(count)) => {
            push_number(*count, out);
        }
        (Measure::Sample(_), Answer::Sample(sample)) => push_sample(sample, out)?,
        (Measure::Stats(_), Answer::Stats(stats)) => serde_json::to_writer(out, &StatsText::new(stats)?)?,
        (Measure::Group(group), Answer::Group(groups)) => {
            push_groups(group, groups, GroupSort::Count, None, out);
        }
        _ => return Err(AnswerError::OtherMeasure),
    }
    Ok(())
}

/// Appends `{"groups":[…],"total":n,"total_groups":n}`, with the first groups in an order, or all.
pub fn push_groups(group: &Group, groups: &Groups, sort: GroupSort, top: Option<usize>, out: &mut Vec<u8>) {
    let text = GroupsText::new(group, groups);
    out.extend_from_slice(br#"{"groups":["#);
    for (number, row) in groups.rows(sort, top).iter().enumerate() {
        if number > 0 {
            out.push(b',');
        }
        text.push_row(row, out);
    }
    out.extend_from_slice(b"],");
    text.push_totals(out);
    out.push(b'}');
}

fn push_sample(sample: &SampleAnswer, out: &mut Vec<u8>) -> Result<(), AnswerError> {
    out.extend_from_slice(br#"{"sample":"#);
    push_list(&sample.items, out, |item, out| {
        check(&item.value).map_err(AnswerError::Sampled)?;
        out.extend_from_slice(&item.value);
        Ok(())
    })?;
    out.extend_from_slice(br#","total_items":"#);
    push_number(sample.total, out);
    out.extend_from_slice(br#","sample_size":"#);
    push_number(sample.items.len() as u64, out);
    out.extend_from_slice(br#","indices":"#);
    push_list(&sample.items, out, |item, out| {
        push_number(item.index, out);
        Ok(())
    })?;
    if let Some(strata) = &sample.strata {
        out.extend_from_slice(br#","strata":"#);
        push_list(strata, out, |stratum, out| {
            let value = stratum.value.as_deref();
            value.map_or(Ok(()), check).map_err(AnswerError::Sampled)?;
            out.extend_from_slice(br#"{"value":"#);
            out.extend_from_slice(value.unwrap_or(b"null"));
            out.extend_from_slice(br#","total":"#);
            push_number(stratum.total, out);
            out.extend_from_slice(br#","sampled":"#);
            push_number(stratum.sampled, out);
            // A missing value is different from null.
            let end: &[u8] = if value.is_none() { br#","missing":true}"# } else { b"}" };
            out.extend_from_slice(end);
            Ok(())
        })?;
    }
    out.push(b'}');
    Ok(())
}

/// Appends `[item,…]`.
pub(crate) fn push_list<T>(
    items: impl IntoIterator<Item = T>,
    out: &mut Vec<u8>,
    push: impl Fn(T, &mut Vec<u8>) -> Result<(), AnswerError>,
) -> Result<(), AnswerError> {
    out.push(b'[');
    for (number, item) in items.into_iter().enumerate() {
        if number > 0 {
            out.push(b',');
        }
        push(item, out)?;
    }
    out.push(b']');
    Ok(())
}

fn push_number(number: u64, out: &mut Vec<u8>) {
    // Writing to memory cannot fail.
    let _ = write!(out, "{number}");
}

/// Validates a value strictly: under structural validation the run skipped it.
fn check(value: &[u8]) -> reader::Result<()> {
    let config = Config::new().validation(Validation::Strict);
    let mut cursor = Cursor::from_view(View::new(value), Framing::Single, &config);
    cursor.next_record()?;
    cursor.skip_value()?;
    cursor.next_record().map(|_| ())
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};
    use trommel::Document;

    use super::*;
    use crate::{PartialAnswers, Questions};

    const ORDERS: &str = r#"{"orders": [{"id": 1, "by": "ada"}, {"id": 2}, {"id": 3, "by": "ada"}]}"#;

    fn questions(json: &Value) -> Questions {
        serde_json::from_value(json.clone()).unwrap()
    }

    fn report(questions: &Questions, input: &str) -> Result<Value, AnswerError> {
        let mut document = Document::from_bytes(input.to_owned());
        let report = questions.analysis().unwrap().run(&mut document).unwrap();
        let mut out = Vec::new();
        questions.push_report(&report, &mut out)?;
        Ok(serde_json::from_slice(&out).unwrap())
    }

    #[test]
    fn every_answer_has_a_text() {
        let questions = questions(&json!({"strict": true, "requests": [
            {"kind": "count", "query": "$.orders[*]"},
            {"kind": "values", "query": "$..by"},
            {"kind": "sample", "query": "$.orders", "size": 5, "strategy": "stratified", "by": "$.by"},
            {"kind": "stats"},
            {"kind": "group", "by": ["$.orders[*].by"], "sum": [["ids", "$.orders[*].id"]]},
            {"kind": "schema"},
        ]}));
        let report = report(&questions, ORDERS).unwrap();
        let answers = &report["answers"];
        assert_eq!((&answers[0], &answers[1]), (&json!(3), &json!(2)));
        assert_eq!(answers[2]["indices"], json!([0, 1, 2]));
        assert_eq!(answers[2]["sample"][1], json!({"id": 2}));
        let strata = json!([
            {"value": "ada", "total": 2, "sampled": 2}, {"value": null, "total": 1, "sampled": 1, "missing": true},
        ]);
        assert_eq!(answers[2]["strata"], strata);
        assert_eq!(answers[3]["size"], json!({"bytes": 71, "characters": 71, "formatted": "71 B"}));
        assert_eq!(answers[3]["structure"]["total_values"], json!(10));
        let groups = json!([{"key": {"by": ["ada", "ada"]}, "count": 1, "sum": {"ids": 6}}]);
        assert_eq!(answers[4], json!({"groups": groups, "total": 1, "total_groups": 1}));
        assert_eq!(answers[5]["type"], json!("object"));
        assert_eq!(report["coverage"]["complete"], json!(true));
    }

    #[test]
    fn a_malformed_sampled_value_is_an_error() {
        let sample = json!({"kind": "sample", "query": "$.orders", "size": 5, "strategy": "first"});
        let questions = questions(&json!({"requests": [sample]}));
        let malformed = report(&questions, r#"{"orders": [1, [01], {"a" 2}]}"#);
        let error = malformed.unwrap_err();
        assert!(matches!(error, AnswerError::Sampled(_)), "{error:?}");
        assert!(error.to_string().starts_with("a sampled value is not valid JSON: "), "{error}");
        assert!(std::error::Error::source(&error).is_some());
    }

    #[test]
    fn partial_answers_know_their_questions() {
        let requests = json!([{"kind": "count", "query": "$.a"}, {"kind": "stats", "values": true}]);
        let questions = questions(&json!({"requests": requests, "filters": ["@.a > 1"]}));
        let lines = ["{\"a\":1}\n{\"a\":2}\n", "{\"a\":3}\n"];
        let part = |(number, text): (usize, &str)| {
            let mut document = Document::from_bytes(text.to_owned()).framing(Framing::Lines);
            let analysis = questions.analysis().unwrap();
            let sink = &mut |_: &trommel::Match<'_>| Ok(());
            let partial = analysis.run_part(&mut document, number as u64, sink).unwrap();
            let partial = PartialAnswers { questions: questions.clone(), partial };
            PartialAnswers::from_bytes(&partial.to_bytes().unwrap()).unwrap()
        };
        let merged = lines.into_iter().enumerate().map(part).reduce(|a, b| a.merge(b).unwrap()).unwrap();
        let mut out = Vec::new();
        merged.questions.push_report(&merged.clone().finish().unwrap(), &mut out).unwrap();
        let merged: Value = serde_json::from_slice(&out).unwrap();
        let mut document = Document::from_bytes(lines.concat()).framing(Framing::Lines);
        let whole = questions.analysis().unwrap().run(&mut document).unwrap();
        let mut out = Vec::new();
        questions.push_report(&whole, &mut out).unwrap();
        assert_eq!(merged["answers"], serde_json::from_slice::<Value>(&out).unwrap()["answers"]);
        assert_eq!(merged["answers"][0], json!(2));
    }

    #[test]
    fn wrong_requests_are_errors() {
        for wrong in [
            json!({"kind": "count"}),
            json!({"kind": "count", "query": "$", "path": "$"}),
            json!({"kind": "sample", "query": "$", "size": 0}),
            json!({"kind": "sample", "query": "$", "size": 1, "strategy": "best"}),
            json!({"kind": "stats", "value": true}),
            json!({"kind": "group"}),
        ] {
            let read = serde_json::from_value::<Questions>(json!({"requests": [wrong]}));
            assert!(read.is_err(), "{wrong}");
        }
        for (wrong, why) in [
            (json!({"kind": "count", "query": "$["}), "expected"),
            (json!({"kind": "sample", "query": "$", "size": 1, "strategy": "stratified"}), "needs `by`"),
            (
                json!({"kind": "sample", "query": "$", "size": 1, "stride": 2}),
                "`stride` needs the strategy `systematic`",
            ),
            (
                json!({"kind": "sample", "query": "$", "size": 1, "by": "$.a"}),
                "`by` needs the strategy `stratified`",
            ),
            (json!({"kind": "group", "by": []}), "no query to group by"),
            (json!({"kind": "group", "by": ["$.a", "$.b.a"]}), "named \"a\"; give one of them another name"),
            (json!({"kind": "group", "by": ["$.a"], "sort": "sum"}), "no order \"sum\"; sort by one of "),
        ] {
            let questions = questions(&json!({"requests": [wrong]}));
            let error = questions.analysis().unwrap_err().to_string();
            assert!(error.contains(why), "{wrong}: {error}");
        }
    }

    #[test]
    fn an_answer_to_another_measure_is_an_error() {
        let count = Measure::Count(trommel::Count::new("$".parse().unwrap()));
        let mut out = Vec::new();
        let pushed = push_answer(&count, &Answer::Extracted(1), &mut out);
        let error = pushed.unwrap_err();
        assert_eq!(error.to_string(), "the answer is that of another measure");
        assert!(std::error::Error::source(&error).is_none());
        // The report of fewer questions.
        let one = questions(&json!({"requests": [{"kind": "count", "query": "$"}]}));
        let two = questions(&json!({"requests": [{"kind": "count", "query": "$"}, {"kind": "stats"}]}));
        let mut document = Document::from_bytes(ORDERS.to_owned());
        let report = one.analysis().unwrap().run(&mut document).unwrap();
        assert!(matches!(two.push_report(&report, &mut Vec::new()), Err(AnswerError::OtherMeasure)));
        let defect = AnswerError::from(serde_json::from_str::<u8>("x").unwrap_err());
        assert!(defect.to_string().starts_with("the answer cannot be written as JSON: "), "{defect}");
        assert!(std::error::Error::source(&defect).is_some());
    }

    /// Approximate groups have the bounds of their errors.
    #[test]
    fn approximate_groups_say_so() {
        let record = |n: u32| format!("{{\"k\":{},\"v\":{n}}}\n", n % 40_000);
        let input = (0..80_000).map(record).collect::<Vec<_>>().concat();
        let questions = questions(&json!({"requests": [
            {"kind": "group", "by": ["$.k"], "approximate": true, "max_groups": 100},
            {"kind": "group", "by": ["$.none"], "distinct": ["$.v"], "approximate": true},
        ]}));
        let mut document = Document::from_bytes(input).framing(Framing::Lines);
        let report = questions.analysis().unwrap().run(&mut document).unwrap();
        let mut out = Vec::new();
        questions.push_report(&report, &mut out).unwrap();
        let report: Value = serde_json::from_slice(&out).unwrap();
        let groups = &report["answers"][0];
        assert_eq!((&groups["approximate"], &groups["total"]), (&json!(true), &json!(80_000)), "{groups}");
        assert!(groups["total_groups_error"].as_f64().is_some_and(|error| error < 0.1), "{groups}");
        assert!(groups["error"].as_u64() > Some(0), "{groups}");
        let group = &report["answers"][1]["groups"][0];
        let (distinct, error) = (&group["distinct"]["v"], &group["distinct_error"]["v"]);
        let off = (distinct.as_f64().unwrap() / 80_000.0 - 1.0).abs();
        assert!(off < error.as_f64().unwrap() * 4.0, "{group}");
    }
}
