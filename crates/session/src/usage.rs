//! Tokens of a model's requests and answers.

use serde::ser::{Serialize, SerializeStruct, Serializer};
use trommel::reader::{self, Cursor, Kind, Names, Payload, Scalar};

/// Tokens, by one definition for the logs of every program: the four figures do not overlap, so
/// that their sum is the total.
///
/// The APIs of models and the programs that write logs differ: some count what came from the cache
/// as input as well. That is subtracted. A log whose cache reads exceed its input did not count
/// them as input, and its input is taken as it is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Usage {
    /// Tokens that were sent, without those that came from the cache.
    pub input: u64,
    /// Tokens of the answers.
    pub output: u64,
    /// Tokens that were sent and came from the cache.
    pub cache_read: u64,
    /// Tokens that were written to the cache.
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

/// The meaning of a member.
#[derive(Clone, Copy)]
enum Member {
    Input,
    Output,
    /// What came from the cache, counted as input too or not.
    CacheRead {
        is_input: bool,
    },
    CacheWrite,
    /// An object with parts of the input.
    InputDetails,
}

/// The spellings of Amplifier, of older logs, and of the APIs of Anthropic and `OpenAI`.
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
    /// The sum of all figures.
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

    /// The larger of each: the parts of one response say what it had used so far.
    pub(crate) fn most(self, other: Self) -> Self {
        Self {
            input: self.input.max(other.input),
            output: self.output.max(other.output),
            cache_read: self.cache_read.max(other.cache_read),
            cache_write: self.cache_write.max(other.cache_write),
        }
    }
}

/// Figures as they are read, before input and cache are told apart.
#[derive(Default)]
struct Figures {
    input: Option<u64>,
    output: Option<u64>,
    cache_read: Option<(u64, bool)>,
    cache_write: Option<u64>,
}

impl Figures {
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

    /// The usage; nothing where no figure was there.
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

/// Reads the value that comes next; nothing where it is not a usage.
pub(crate) fn look_at_usage(cursor: &mut Cursor<'_>) -> reader::Result<Option<Usage>> {
    thread_local! {
        static MEMBERS: Names = Names::new(NAMES.map(|(name, _)| name));
    }
    if cursor.peek()? != Some(Kind::Object) {
        return cursor.skip_value().map(|_| None);
    }
    cursor.begin_value()?;
    let mut figures = Figures::default();
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

/// The cached tokens among the details of the input.
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
    fn spellings_of_old_and_new_logs_are_known() {
        let read = |json: &str| look_at_usage(&mut Cursor::new(json.as_bytes(), &config())).unwrap();
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
        // The input cannot be meant with the cache.
        assert_eq!(read(r#"{"input": 5, "cache_read": 70}"#), Some(usage(5, 0, 70, 0)));
        assert_eq!(read("null"), None);
    }
}
