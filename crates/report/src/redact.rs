//! Removes secrets from statistics.

use serde_json::{Value, json};
use trommel::StatsAnswer;
use trommel::reader::{Config, Cursor, Event, Payload};
use trommel::statistics::{ScalarValue, Schema, Summary, ValuesSummary};
use trommel_tool::{REDACTED, Redaction};

use crate::rows;

/// Removes the secrets from all values, and from names. Returns true if the schema was dropped,
/// because one of its names has the form of a secret.
pub(crate) fn statistics(stats: &mut StatsAnswer, redaction: &Redaction) -> bool {
    let summary = &mut stats.summary;
    summary.values.iter_mut().flatten().for_each(|row| values(row, redaction));
    let schema = summary.schema.take();
    let had_schema = schema.is_some();
    summary.schema = schema.filter(|schema| has_safe_names(schema, redaction));
    paths(summary, redaction);
    had_schema && summary.schema.is_none()
}

fn values(row: &mut ValuesSummary, redaction: &Redaction) {
    let secrets: Vec<String> =
        rows::names(&row.path).into_iter().filter(|name| redaction.is_secret(name)).collect();
    let hides_numbers = secrets.iter().any(|name| hides_numbers(name, redaction));
    if hides_numbers {
        (row.numbers, row.quantiles, row.histogram) = (None, None, None);
    }
    for frequent in &mut row.frequent.values {
        match &mut frequent.value {
            ScalarValue::String(text) if !secrets.is_empty() => *text = REDACTED.into(),
            ScalarValue::String(text) => *text = redaction.text(text).into(),
            value @ ScalarValue::Number(_) if hides_numbers => *value = ScalarValue::String(REDACTED.into()),
            _ => {}
        }
    }
}

/// True if numbers under the name of a secret are secrets: a password is one, and a number of
/// tokens is not.
fn hides_numbers(name: &str, redaction: &Redaction) -> bool {
    redaction.value(&json!({ name: 1234 })).get(name).is_some_and(Value::is_string)
}

/// Names that have the form of a secret occur in objects used as maps.
fn paths(summary: &mut Summary, redaction: &Redaction) {
    let clean = |path: &mut String| {
        if let std::borrow::Cow::Owned(safe) = redaction.text(path) {
            *path = safe;
        }
    };
    summary.bytes.iter_mut().flatten().for_each(|row| clean(&mut row.path));
    summary.fields.iter_mut().flatten().for_each(|row| clean(&mut row.path));
    summary.arrays.iter_mut().flatten().for_each(|row| clean(&mut row.path));
    summary.objects.iter_mut().flatten().for_each(|row| clean(&mut row.path));
    summary.values.iter_mut().flatten().for_each(|row| clean(&mut row.path));
}

/// True if no name in a schema has the form of a secret.
fn has_safe_names(schema: &Schema, redaction: &Redaction) -> bool {
    let mut cursor = Cursor::new(schema.as_json().as_bytes(), &Config::new());
    let is_safe = |cursor: &mut Cursor<'_>| {
        cursor.next_record()?;
        while let Some(event) = cursor.advance()? {
            if event == Event::Name
                && let Payload::Name(name) = cursor.payload()
                && matches!(redaction.text(&name.decode()), std::borrow::Cow::Owned(_))
            {
                return Ok(false);
            }
        }
        Ok::<bool, trommel::reader::Error>(true)
    };
    // A schema deeper than the reader's limit cannot be checked, so it is left out.
    is_safe(&mut cursor).unwrap_or(false)
}
