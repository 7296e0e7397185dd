//! Token usage of model requests and responses.

use serde::ser::{Serialize, SerializeStruct, Serializer};
use trommel::reader::{self, Cursor, Kind, Names, Payload, Scalar};

/// Token counts, by one definition for the logs of every program: the four counts do not overlap,
/// so their sum is the total.
///
/// APIs and programs differ: some include tokens read from the cache in the input. These are
/// subtracted. If a log's cache reads exceed its input, the input cannot include them, and is left
/// unchanged.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Usage {
    /// Tokens sent, without those read from the cache.
    pub input: u64,
    /// Tokens received.
    pub output: u64,
    /// Tokens read from the cache.
    pub cache_read: u64,
    /// Tokens written to the cache.
    pub cache_write: u64,
}

impl Serialize for Usage {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut fields = serializer.serialize_struct("Usage", 5)?;
        fields.serialize_field("input", &self.input)?;
        fields.serialize_field("output", &self.output)?;
        fields.serialize_field("cache_read", &self.cache_read)?;
        fields.serialize_field("cache_write", &self.cache_write)?;
        fields.serialize_field("total", &self.total())?;
        fields.end()
    }
}

/// The meaning of a member's name.
#[derive(Clone, Copy)]
enum Member {
    Input,
    Output,
    /// Tokens read from the cache, which are also part of the input or not.
    CacheRead {
        is_input: bool,
    },
    CacheWrite,
    /// An object with the parts of the input.
    InputDetails,
}

/// The names used by Amplifier, by older logs, and by the APIs of Anthropic and `OpenAI`.
const NAMES: [(&str, Member); 14] = [
    ("input_tokens", Member::Input),
    ("input", Member::Input),
    ("prompt_tokens", Member::Input),
    ("output_tokens", Member::Output),
    ("output", Member::Output),
    ("completion_tokens", Member::Output),
    ("cache_read_tokens", Member::CacheRead { is_input: true }),
    ("cache_read_input_tokens", Member::CacheRead { is_input: false }),
    ("cache_read", Member::CacheRead { is_input: true }),
    ("cache_write_tokens", Member::CacheWrite),
    ("cache_creation_input_tokens", Member::CacheWrite),
    ("cache_write", Member::CacheWrite),
    ("input_tokens_details", Member::InputDetails),
    ("prompt_tokens_details", Member::InputDetails),
];

impl Usage {
    /// The sum of all counts.
    pub fn total(&self) -> u64 {
        [self.output, self.cache_read, self.cache_write].into_iter().fold(self.input, u64::saturating_add)
    }

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

    /// Returns the maximum of each count. Each part of a response has the usage so far.
    pub(crate) fn max_counts(self, other: Self) -> Self {
        Self {
            input: self.input.max(other.input),
            output: self.output.max(other.output),
            cache_read: self.cache_read.max(other.cache_read),
            cache_write: self.cache_write.max(other.cache_write),
        }
    }
}

/// Counts as read, before cache reads are subtracted from the input.
#[derive(Default)]
struct RawUsage {
    input: Option<u64>,
    output: Option<u64>,
    cache_read: Option<(u64, bool)>,
    cache_write: Option<u64>,
}

impl RawUsage {
    fn member(&mut self, cursor: &mut Cursor<'_>, member: Member) -> reader::Result<()> {
        match member {
            Member::Input => self.input = self.input.or(tokens(cursor)?),
            Member::Output => self.output = self.output.or(tokens(cursor)?),
            Member::CacheRead { is_input } => {
                let read = tokens(cursor)?.map(|count| (count, is_input));
                self.cache_read = self.cache_read.or(read);
            }
            Member::CacheWrite => self.cache_write = self.cache_write.or(tokens(cursor)?),
            Member::InputDetails => {
                let read = cached(cursor)?.map(|count| (count, true));
                self.cache_read = self.cache_read.or(read);
            }
        }
        Ok(())
    }

    /// Returns the usage. None if no count was read.
    fn usage(&self) -> Option<Usage> {
        let known = [self.input, self.output, self.cache_read.map(|(read, _)| read), self.cache_write];
        if known.iter().all(Option::is_none) {
            return None;
        }
        let [input, output, cache_read, cache_write] = known.map(Option::unwrap_or_default);
        let is_input = self.cache_read.is_some_and(|(_, is_input)| is_input);
        let input = if is_input { input.checked_sub(cache_read).unwrap_or(input) } else { input };
        Some(Usage { input, output, cache_read, cache_write })
    }
}

/// Reads the next value as a usage. None if it is not one.
pub(crate) fn read_usage(cursor: &mut Cursor<'_>) -> reader::Result<Option<Usage>> {
    thread_local! {
        static MEMBERS: Names = Names::new(NAMES.map(|(name, _)| name));
    }
    if cursor.peek()? != Some(Kind::Object) {
        return cursor.skip_value().map(|_| None);
    }
    cursor.begin_value()?;
    let mut figures = RawUsage::default();
    MEMBERS.with(|names| {
        while let Some(number) = cursor.next_named(names)? {
            if let Some((_, member)) = NAMES.get(number) {
                figures.member(cursor, *member)?;
            }
        }
        Ok(())
    })?;
    Ok(figures.usage())
}

/// Reads the cached tokens from the details of the input.
fn cached(cursor: &mut Cursor<'_>) -> reader::Result<Option<u64>> {
    if cursor.peek()? != Some(Kind::Object) {
        return cursor.skip_value().map(|_| None);
    }
    cursor.begin_value()?;
    let (names, mut cached) = (Names::new(["cached_tokens"]), None);
    while cursor.next_named(&names)?.is_some() {
        cached = cached.or(tokens(cursor)?);
    }
    Ok(cached)
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
    fn reads_usage_of_all_formats() {
        let read = |json: &str| read_usage(&mut Cursor::new(json.as_bytes(), &config())).unwrap();
        let usage = |input, output, cache_read, cache_write| Usage { input, output, cache_read, cache_write };
        assert_eq!(
            read(r#"{"input_tokens": 5, "output_tokens": 2, "cache_read_tokens": 1}"#),
            Some(usage(4, 2, 1, 0))
        );
        assert_eq!(read(r#"{"input": 5, "output": 2}"#), Some(usage(5, 2, 0, 0)));
        let claude = r#"{"input_tokens":1,"cache_creation_input_tokens":4,"cache_read_input_tokens":null,"output_tokens":9}"#;
        assert_eq!(read(claude), Some(usage(1, 9, 0, 4)));
        assert_eq!(read(r#"{"service_tier": "standard"}"#), None);
        let openai =
            r#"{"prompt_tokens":9,"prompt_tokens_details":{"cached_tokens":4},"completion_tokens":2}"#;
        assert_eq!(read(openai), Some(usage(5, 2, 4, 0)));
        // The input cannot include these cache reads.
        assert_eq!(read(r#"{"input": 5, "cache_read": 70}"#), Some(usage(5, 0, 70, 0)));
        assert_eq!(read("null"), None);
    }
}
