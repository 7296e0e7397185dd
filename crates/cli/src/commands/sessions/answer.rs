//! The answers of the operations: rows from the library, and their JSON document.

use serde::Serialize;
use serde::ser::Serializer;
use trommel_session::{
    Aggregate, Damage, Details, Diagnosis, Errors, EventPage, Format, Listing, Matches, MessageRow, Nested,
    RepairReport, RewindReport, Source, Summary, Timeline, UndoReport, UsageReport,
};

use super::totals::TotalUsageAnswer;
#[cfg(feature = "cloud")]
use trommel_toolbox::sessions::access::SyncOutcome;
use trommel_toolbox::sessions::access::SyncResult;

/// An answer and its remarks.
pub(super) struct Reply {
    pub(super) answer: Answer,
    /// Problems that did not prevent the answer.
    pub(super) problems: Vec<String>,
    /// Set if the answer lacks rows.
    pub(super) truncated: Option<Truncated>,
}

/// The answer of an operation.
#[derive(Serialize)]
#[serde(untagged)]
pub(super) enum Answer {
    List(Listing),
    Get(Box<SessionDetails>),
    Search(Matches),
    Events(EventPage),
    Summary(Summary),
    Errors(Errors),
    Timeline(Timeline),
    Usage(Box<UsageReport>),
    Aggregate(Aggregate),
    Totals(Box<TotalUsageAnswer>),
    /// A page, which is not JSON.
    #[serde(skip)]
    Page(String),
    Rewind(Box<RewindReport>),
    Undo(UndoReport),
    Diagnosis(Box<Diagnosis>),
    Repair(Box<RepairReport>),
    Sync(SyncResult),
}

/// The reason why an answer lacks rows, and the position of the next row.
#[derive(Clone, Copy, Serialize)]
pub(super) struct Truncated {
    pub(super) reason: &'static str,
    pub(super) returned: u64,
    /// The offset of the next row.
    pub(super) next: u64,
}

/// The details of a session, with messages as separate rows.
pub(super) struct SessionDetails {
    /// The details without the messages.
    pub(super) details: Details,
    pub(super) messages: Vec<MessageRow>,
    /// Set if messages were requested.
    pub(super) page: Option<MessagePage>,
}

/// The remarks on a page of messages.
#[derive(Serialize)]
pub(super) struct MessagePage {
    pub(super) total_count: u64,
    turns: u64,
    pub(super) has_more: bool,
    #[serde(skip_serializing_if = "Damage::is_none")]
    damage: Damage,
}

impl SessionDetails {
    /// Moves the messages out of details.
    pub(super) fn new(mut details: Details) -> Self {
        let Some(transcript) = details.transcript.take() else {
            return Self { details, messages: Vec::new(), page: None };
        };
        let page = MessagePage {
            total_count: transcript.total_count,
            turns: transcript.turns,
            has_more: transcript.has_more,
            damage: transcript.damage,
        };
        Self { details, messages: transcript.messages, page: Some(page) }
    }
}

/// The members of [`Details`], with the messages in position of the transcript.
impl Serialize for SessionDetails {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        #[derive(Serialize)]
        struct Members<'a> {
            session_id: &'a str,
            project: &'a str,
            metadata: Option<&'a Nested>,
            #[serde(skip_serializing_if = "<[_]>::is_empty")]
            omitted: &'a [String],
            #[serde(skip_serializing_if = "Option::is_none")]
            transcript: Option<&'a [MessageRow]>,
            #[serde(skip_serializing_if = "Option::is_none")]
            events_summary: Option<&'a Summary>,
            #[serde(skip_serializing_if = "<[_]>::is_empty")]
            problems: &'a [String],
            source: Source,
            format: Format,
            #[serde(skip_serializing_if = "Option::is_none")]
            path: Option<&'a str>,
        }
        let details = &self.details;
        let members = Members {
            session_id: &details.session_id,
            project: &details.project,
            metadata: details.metadata.as_ref(),
            omitted: &details.omitted,
            transcript: self.page.as_ref().map(|_| &*self.messages),
            events_summary: details.events_summary.as_ref(),
            problems: &details.problems,
            source: details.source,
            format: details.format,
            path: details.path.as_deref(),
        };
        members.serialize(serializer)
    }
}

impl Reply {
    /// Returns a complete answer.
    pub(super) fn complete(answer: Answer) -> Self {
        Self { answer, problems: Vec::new(), truncated: None }
    }

    /// Adds problems. They join the answer's own problems if it has any.
    pub(super) fn add_problems(&mut self, problems: Vec<String>) {
        match &mut self.answer {
            Answer::Get(got) if !got.details.problems.is_empty() => got.details.problems.extend(problems),
            Answer::Search(found) if !found.problems.is_empty() => found.problems.extend(problems),
            _ => self.problems = problems,
        }
    }

    /// The problems of the answer, then the others.
    pub(super) fn problems(&self) -> impl Iterator<Item = &String> {
        let own: &[String] = match &self.answer {
            Answer::Get(got) => &got.details.problems,
            Answer::Search(found) => &found.problems,
            _ => &[],
        };
        own.iter().chain(&self.problems)
    }

    /// Formats the answer as JSON.
    pub(super) fn json(&self) -> serde_json::Result<String> {
        #[derive(Serialize)]
        struct Document<'a> {
            #[serde(flatten)]
            answer: &'a Answer,
            #[serde(skip_serializing_if = "<[_]>::is_empty")]
            problems: &'a [String],
            #[serde(skip_serializing_if = "Option::is_none")]
            transcript_page: Option<&'a MessagePage>,
            #[serde(skip_serializing_if = "Option::is_none")]
            truncated: Option<Truncated>,
        }
        let transcript_page = match &self.answer {
            Answer::Get(got) => got.page.as_ref(),
            _ => None,
        };
        let Self { answer, problems, truncated } = self;
        serde_json::to_string(&Document { answer, problems, transcript_page, truncated: *truncated })
    }
}

impl Answer {
    /// The damage in each file that was read for the answer.
    pub(super) fn damages(&self) -> Vec<&Damage> {
        match self {
            Self::List(_) | Self::Undo(_) | Self::Sync(_) | Self::Page(_) => Vec::new(),
            Self::Totals(totals) => vec![&totals.totals.report.damage],
            Self::Get(got) => {
                let messages = got.page.as_ref().map(|page| &page.damage);
                messages
                    .into_iter()
                    .chain(got.details.events_summary.as_ref().map(|all| &all.damage))
                    .collect()
            }
            Self::Search(found) => vec![&found.damage],
            Self::Events(page) => vec![&page.damage],
            Self::Summary(summary) => vec![&summary.damage],
            Self::Errors(errors) => vec![&errors.damage],
            Self::Timeline(timeline) => vec![&timeline.damage],
            Self::Usage(usage) => vec![&usage.damage],
            Self::Aggregate(aggregate) => vec![&aggregate.damage],
            Self::Rewind(rewound) => vec![&rewound.damage],
            Self::Diagnosis(diagnosis) => vec![&diagnosis.damage],
            Self::Repair(repaired) => vec![&repaired.diagnosis.damage],
        }
    }

    /// The total number of rows, if the answer counts them.
    pub(super) fn total(&self) -> Option<u64> {
        match self {
            Self::List(listing) => Some(listing.total),
            Self::Get(got) => got.page.as_ref().map(|page| page.total_count),
            Self::Search(found) => Some(found.total_count),
            Self::Events(page) => Some(page.total_count),
            Self::Errors(errors) => Some(errors.total_count),
            Self::Timeline(timeline) => Some(timeline.total_count),
            _ => None,
        }
    }

    /// The answer's notes, such as the reason for having no rows.
    pub(super) fn notes(&self) -> &[String] {
        match self {
            Self::List(listing) => &listing.notes,
            Self::Search(found) => &found.notes,
            _ => &[],
        }
    }

    /// True unless a search found nothing, a diagnosis found a fault, or a sync was incomplete.
    pub(super) fn is_positive(&self) -> bool {
        match self {
            Self::Search(found) => found.total_count > 0,
            Self::Diagnosis(diagnosis) => diagnosis.status == "healthy",
            #[cfg(feature = "cloud")]
            Self::Sync(SyncResult { outcome: SyncOutcome::Report(report), .. }) => report.is_synced(),
            _ => true,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use serde_json::{Value, json};
    use trommel_session::{GetQuery, Sessions, TranscriptQuery, Watch};

    use super::*;

    #[test]
    fn details_have_the_members_of_the_library() {
        let home = tempfile::tempdir().unwrap();
        let folder = home.path().join("projects/-p/sessions/5d1c");
        fs::create_dir_all(&folder).unwrap();
        fs::write(folder.join("metadata.json"), r#"{"name":"n"}"#).unwrap();
        fs::write(folder.join("transcript.jsonl"), "{\"role\":\"user\",\"content\":\"x\"}\n").unwrap();
        let session = Sessions::new().amplifier(home.path()).find("5d1c").unwrap();
        let mut query = GetQuery::default();
        (query.events_summary, query.transcript) = (true, Some(TranscriptQuery::default()));
        let details = session.get(&query, &Watch::new()).unwrap();
        let mut own = serde_json::to_value(&details).unwrap();
        let mut reply = Reply::complete(Answer::Get(Box::new(SessionDetails::new(details))));
        reply.truncated = Some(Truncated { reason: "limit", returned: 1, next: 1 });
        reply.add_problems(vec!["p".into()]);
        let mut written: Value = serde_json::from_str(&reply.json().unwrap()).unwrap();
        let mut take = |name: &str| written.as_object_mut().unwrap().shift_remove(name).unwrap();
        assert_eq!(take("truncated"), json!({"reason": "limit", "returned": 1, "next": 1}));
        let mut transcript = take("transcript_page");
        transcript["messages"] = written["transcript"].take();
        written["transcript"] = transcript;
        own["problems"].as_array_mut().unwrap().push("p".into());
        assert_eq!(written, own);
    }
}
