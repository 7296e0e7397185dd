//! Reports of syncs.

use serde::Serialize;
use trommel_session::SessionRow;

use super::policy::Exclusion;

/// The outcome for a session.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Outcome {
    /// Both sides are equal.
    Synced,
    /// Both sides have changed, and no resolution was chosen: nothing was written.
    Conflict,
    /// It stays on this machine, by policy or by its mark.
    Kept,
    /// It could not be synced.
    Failed,
}

impl Outcome {
    /// The name of the outcome, as in JSON.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Synced => "synced",
            Self::Conflict => "conflict",
            Self::Kept => "kept",
            Self::Failed => "failed",
        }
    }
}

/// The outcome for one session, with its reason.
#[derive(Clone, Debug, Serialize)]
#[non_exhaustive]
pub struct SessionOutcome {
    /// The ID of the session.
    pub session_id: String,
    /// Its project.
    pub project: String,
    /// The outcome.
    pub outcome: Outcome,
    /// The reason why the session is not synced.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// The reason why its description cannot be parsed. The blocks keep the bytes of such a
    /// description, and have none of its fields.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub warning: Option<String>,
}

/// The result of a sync.
#[derive(Clone, Debug, Default, Serialize)]
#[non_exhaustive]
pub struct SyncReport {
    /// The number of synced sessions.
    pub synced: u64,
    /// The number of unresolved conflicts.
    pub conflicts: u64,
    /// The number of sessions that stay on this machine.
    pub kept: u64,
    /// The number of failures.
    pub failed: u64,
    /// The named session; otherwise those that are not synced or have a warning.
    pub sessions: Vec<SessionOutcome>,
}

impl SyncReport {
    /// True if no session failed or is in conflict.
    pub fn is_synced(&self) -> bool {
        self.conflicts == 0 && self.failed == 0
    }

    pub(super) fn add(&mut self, outcome: SessionOutcome, is_shown: bool) {
        let count = match outcome.outcome {
            Outcome::Synced => &mut self.synced,
            Outcome::Conflict => &mut self.conflicts,
            Outcome::Kept => &mut self.kept,
            Outcome::Failed => &mut self.failed,
        };
        *count += 1;
        if is_shown || outcome.outcome != Outcome::Synced || outcome.warning.is_some() {
            self.sessions.push(outcome);
        }
    }
}

impl Exclusion {
    /// The outcome of a session that stays on this machine.
    pub(super) fn outcome(self, row: &SessionRow) -> SessionOutcome {
        let reason = match self {
            Self::ByPolicy => "the sync policy excludes it".to_owned(),
            Self::ByMark => "it is marked as local only".to_owned(),
            Self::FilterFailed(why) => format!("the sync policy could not be evaluated: {why}"),
        };
        let (session_id, project) = (row.session_id.clone(), row.project.clone());
        SessionOutcome { session_id, project, outcome: Outcome::Kept, reason: Some(reason), warning: None }
    }
}
