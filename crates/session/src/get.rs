//! Details of one session: its description and, on request, messages and a summary of its events.

use serde::Serialize;

use crate::analyze::Summary;
use crate::error::{ErrorClass, Result};
use crate::fields::Nested;
use crate::format::{EVENTS, TRANSCRIPT};
use crate::formats::Format;
use crate::metadata::DescriptionMembers;
use crate::session::{Session, Source};
use crate::transcript::{Transcript, TranscriptQuery};
use crate::watch::Watch;

/// The parts of a session to return in addition to its description.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct GetQuery {
    /// The page of messages to return.
    pub transcript: Option<TranscriptQuery>,
    /// True to summarize the events.
    pub events_summary: bool,
}

/// Details of a session.
#[derive(Clone, Debug, Serialize)]
#[non_exhaustive]
pub struct Details {
    /// The session's ID.
    pub session_id: String,
    /// The session's project.
    pub project: String,
    /// The description, verbatim. For Claude Code, the members found in its records.
    pub metadata: Option<Nested>,
    /// Members of the description that are omitted because they are too long.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub omitted: Vec<String>,
    /// The messages, if requested.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub transcript: Option<Transcript>,
    /// The summary of the events, if requested.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub events_summary: Option<Summary>,
    /// The parts that could not be read, and the reasons.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub problems: Vec<String>,
    /// The session's location.
    pub source: Source,
    /// The session's format.
    pub format: Format,
    /// The session's folder or file. None if it is only in the cloud.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
}

impl Session {
    /// Returns the session's details. A missing or damaged part is reported, and does not affect
    /// the others.
    pub fn get(&self, query: &GetQuery, watch: &Watch<'_>) -> Result<Details> {
        let messages = query.transcript.as_ref().map_or(0, |_| self.bytes(TRANSCRIPT));
        let events = if query.events_summary { self.bytes(EVENTS) } else { 0 };
        let described = if self.profile().counts_turns { self.bytes(TRANSCRIPT) } else { 0 };
        let job = watch.job(described + messages + events)?;
        let mut problems = Vec::new();
        let described = or_problem(self.described(watch), &mut problems)?;
        let DescriptionMembers { members: metadata, omitted } = described.unwrap_or_default();
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
    /// Returns the description, including the number of turns.
    fn described(&self, watch: &Watch<'_>) -> Result<DescriptionMembers> {
        let mut described = self.format.log().description(self.session_ref())?;
        if self.profile().counts_turns
            && let Some(members) = &mut described.members
        {
            members.put(&["turn_count".to_owned()], &self.count_turns(watch)?.to_string());
        }
        Ok(described)
    }
}

/// Records a failure of the files as a problem. Invalid requests and cancellation are returned as
/// errors.
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
