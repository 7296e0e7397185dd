//! One session: what it says of itself, and on request its messages and what its events were.

use serde::Serialize;

use crate::analyze::Summary;
use crate::error::{ErrorClass, Result};
use crate::format::{EVENTS, TRANSCRIPT};
use crate::formats::Format;
use crate::metadata::Described;
use crate::project::Nested;
use crate::session::{Session, Source};
use crate::transcript::{Transcript, TranscriptQuery};
use crate::watch::Watch;

/// What to get of a session besides its description.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct GetQuery {
    /// A page of its messages.
    pub transcript: Option<TranscriptQuery>,
    /// What its events were.
    pub events_summary: bool,
}

/// What was got.
#[derive(Clone, Debug, Serialize)]
#[non_exhaustive]
pub struct Details {
    /// Its id.
    pub session_id: String,
    /// Its project.
    pub project: String,
    /// Its description, verbatim; of a session of Claude Code the members that its records have.
    pub metadata: Option<Nested>,
    /// Members of the description that are too long to be shown.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub omitted: Vec<String>,
    /// Its messages, where they were asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub transcript: Option<Transcript>,
    /// What its events were, where that was asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub events_summary: Option<Summary>,
    /// What could not be got, and why.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub problems: Vec<String>,
    /// Where it lies.
    pub source: Source,
    /// What wrote it.
    pub format: Format,
    /// Its folder or file; none where it lies in the cloud only.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
}

impl Session {
    /// What is known of it. What is missing or damaged is told, and keeps nothing else back.
    pub fn get(&self, query: &GetQuery, watch: &Watch<'_>) -> Result<Details> {
        let messages = query.transcript.as_ref().map_or(0, |_| self.bytes(TRANSCRIPT));
        let events = if query.events_summary { self.bytes(EVENTS) } else { 0 };
        let described = if self.profile().counts_turns { self.bytes(TRANSCRIPT) } else { 0 };
        let job = watch.job(described + messages + events)?;
        let mut problems = Vec::new();
        let described = or_problem(self.described(watch), &mut problems)?;
        let Described { members: metadata, omitted } = described.unwrap_or_default();
        let transcript = match &query.transcript {
            Some(query) => or_problem(self.messages(query, watch), &mut problems)?,
            None => None,
        };
        let events_summary =
            if query.events_summary { or_problem(self.summary(watch), &mut problems)? } else { None };
        job.done();
        let path = (self.source != Source::Cloud).then(|| self.path.to_string_lossy().into_owned());
        let (session_id, project) = (self.id.clone(), self.project.clone());
        let (format, source) = (self.format, self.source);
        Ok(Details {
            session_id,
            project,
            metadata,
            omitted,
            transcript,
            events_summary,
            problems,
            source,
            format,
            path,
        })
    }
}

impl Session {
    /// Its description, with the number of its turns.
    fn described(&self, watch: &Watch<'_>) -> Result<Described> {
        let mut described = self.format.log().description(self.place())?;
        if self.profile().counts_turns
            && let Some(members) = &mut described.members
        {
            members.put(&["turn_count".to_owned()], &self.count_turns(watch)?.to_string());
        }
        Ok(described)
    }
}

/// What the files are to blame for is told beside the rest; what was asked wrongly ends it.
fn or_problem<T>(found: Result<T>, problems: &mut Vec<String>) -> Result<Option<T>> {
    match found {
        Ok(found) => Ok(Some(found)),
        Err(error) if matches!(error.class(), ErrorClass::Request | ErrorClass::Cancelled) => Err(error),
        Err(error) => {
            problems.push(error.to_string());
            Ok(None)
        }
    }
}
