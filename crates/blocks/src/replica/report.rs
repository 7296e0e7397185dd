//! What became of sessions that were synchronized.

use serde::Serialize;
use trommel_session::SessionRow;

use super::policy::Kept;

/// What became of a session.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Outcome {
    /// Both sides are the same.
    Synced,
    /// Both sides changed, and nobody said who is right: nothing was changed.
    Conflict,
    /// It stays on this machine: it is not to be sent.
    Kept,
    /// It could not be.
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

/// What became of one session.
#[derive(Clone, Debug, Serialize)]
#[non_exhaustive]
pub struct SessionOutcome {
    /// Its id.
    pub session_id: String,
    /// Its project.
    pub project: String,
    /// What became of it.
    pub outcome: Outcome,
    /// Why, where it is not the same now.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// Why its description cannot be parsed. The blocks keep the bytes of such a description, and
    /// have none of its fields.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub warning: Option<String>,
}

/// What became of sessions that were to be made the same.
#[derive(Clone, Debug, Default, Serialize)]
#[non_exhaustive]
pub struct SyncReport {
    /// How many are the same now.
    pub synced: u64,
    /// How many changed on both sides and are not settled.
    pub conflicts: u64,
    /// How many stay on this machine.
    pub kept: u64,
    /// How many could not be.
    pub failed: u64,
    /// The one that was asked for; of all, those that are not the same, or have a
    /// warning.
    pub sessions: Vec<SessionOutcome>,
}

impl SyncReport {
    /// Whether all is the same that is to be.
    pub fn is_synced(&self) -> bool {
        self.conflicts == 0 && self.failed == 0
    }

    pub(super) fn note(&mut self, outcome: SessionOutcome, is_shown: bool) {
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

impl Kept {
    /// The outcome of a session that stays on this machine.
    pub(super) fn outcome(self, row: &SessionRow) -> SessionOutcome {
        let reason = match self {
            Self::ByPolicy => "it is not to be sent".to_owned(),
            Self::ByMark => "it is marked as one that stays here".to_owned(),
            Self::Unknown(why) => format!("whether it is to be sent could not be told: {why}"),
        };
        let (session_id, project) = (row.session_id.clone(), row.project.clone());
        SessionOutcome { session_id, project, outcome: Outcome::Kept, reason: Some(reason), warning: None }
    }
}
