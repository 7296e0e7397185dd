//! Tokens that a model was asked and answered with.

use serde::Serialize;
use trommel::reader::{self, Cursor, Kind, Names, Payload, Scalar};

/// Tokens, as the log says them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Usage {
    /// What was sent. Claude Code writes it without what came from the cache, Amplifier with it.
    pub input: u64,
    /// What was answered.
    pub output: u64,
    /// Of what was sent, what came from the cache.
    pub cache_read: u64,
    /// What was put into the cache.
    pub cache_write: u64,
}

/// Spellings of the four, and the place of each.
const NAMES: [(&str, usize); 12] = [
    ("input_tokens", 0),
    ("input", 0),
    ("prompt_tokens", 0),
    ("output_tokens", 1),
    ("output", 1),
    ("completion_tokens", 1),
    ("cache_read_tokens", 2),
    ("cache_read_input_tokens", 2),
    ("cache_read", 2),
    ("cache_write_tokens", 3),
    ("cache_creation_input_tokens", 3),
    ("cache_write", 3),
];

impl Usage {
    pub(crate) fn add(&mut self, other: Self) {
        let pairs = [
            (&mut self.input, other.input),
            (&mut self.output, other.output),
            (&mut self.cache_read, other.cache_read),
            (&mut self.cache_write, other.cache_write),
        ];
        for (sum, more) in pairs {
            *sum = sum.saturating_add(more);
        }
    }

    /// The larger of each: records of one response say what it had used so far.
    pub(crate) fn most(self, other: Self) -> Self {
        Self {
            input: self.input.max(other.input),
            output: self.output.max(other.output),
            cache_read: self.cache_read.max(other.cache_read),
            cache_write: self.cache_write.max(other.cache_write),
        }
    }
}

/// Looks at the value that comes next; nothing where it is no usage.
pub(crate) fn look_at_usage(cursor: &mut Cursor<'_>) -> reader::Result<Option<Usage>> {
    thread_local! {
        static MEMBERS: Names = Names::new(NAMES.map(|(name, _)| name));
    }
    if cursor.peek()? != Some(Kind::Object) {
        return cursor.skip_value().map(|_| None);
    }
    cursor.begin_value()?;
    let mut figures = [None; 4];
    MEMBERS.with(|names| {
        while let Some(number) = cursor.next_named(names)? {
            let place = NAMES.get(number).map_or(0, |(_, place)| *place);
            let value = tokens(cursor)?;
            if let Some(figure) = figures.get_mut(place) {
                *figure = figure.or(value);
            }
        }
        Ok(())
    })?;
    let known = figures.iter().any(Option::is_some);
    let [input, output, cache_read, cache_write] = figures.map(Option::unwrap_or_default);
    Ok(known.then_some(Usage { input, output, cache_read, cache_write }))
}

fn tokens(cursor: &mut Cursor<'_>) -> reader::Result<Option<u64>> {
    if cursor.peek()? != Some(Kind::Number) {
        return cursor.skip_value().map(|_| None);
    }
    cursor.begin_value()?;
    Ok(match cursor.payload() {
        Payload::Scalar(Scalar::Number(number)) => {
            number.as_i64().and_then(|count| u64::try_from(count).ok())
        }
        _ => None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::records::config;

    #[test]
    fn spellings_of_old_and_new_logs_are_known() {
        let read = |json: &str| look_at_usage(&mut Cursor::new(json.as_bytes(), &config())).unwrap();
        let usage = |input, output, cache_read, cache_write| Usage { input, output, cache_read, cache_write };
        assert_eq!(
            read(r#"{"input_tokens": 5, "output_tokens": 2, "cache_read_tokens": 1}"#),
            Some(usage(5, 2, 1, 0))
        );
        assert_eq!(read(r#"{"input": 5, "output": 2}"#), Some(usage(5, 2, 0, 0)));
        let claude = r#"{"input_tokens":1,"cache_creation_input_tokens":4,"cache_read_input_tokens":null,"output_tokens":9}"#;
        assert_eq!(read(claude), Some(usage(1, 9, 0, 4)));
        assert_eq!(read(r#"{"service_tier": "standard"}"#), None);
        assert_eq!(read("null"), None);
    }
}
