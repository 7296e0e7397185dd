//! How far sessions are the same on other machines: nothing that counts their changes is known
//! here, and that is what is said.

use serde::Serialize;

use crate::error::Result;
use crate::sessions::Sessions;

/// How far sessions are the same on other machines.
#[derive(Clone, Debug, Default, Serialize)]
#[non_exhaustive]
pub struct SyncStatus {
    /// Whether the cloud could be reached.
    pub connected: bool,
    /// When they were last.
    pub last_sync: Option<String>,
    /// What is to be sent.
    pub pending_uploads: u64,
    /// What is to be fetched.
    pub pending_downloads: u64,
    /// Why the cloud could not be reached, where there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub problem: Option<String>,
    /// The session that was asked for.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub sessions: Vec<SessionSync>,
}

/// How far a session is. What is known here of the cloud is a mirror without numbers of changes, so
/// that there is nothing to compare with: none of the words `synced`, `ahead`, `behind` and
/// `conflict` would be true, and nothing is said.
#[derive(Clone, Debug, Serialize)]
#[non_exhaustive]
pub struct SessionSync {
    /// Its id.
    pub session_id: String,
    /// The number of its last change here.
    pub local_sequence: Option<u64>,
    /// The number of its last change elsewhere.
    pub cloud_sequence: Option<u64>,
    /// How the two compare.
    pub status: Option<&'static str>,
}

impl SessionSync {
    /// How far a session is, for who knows.
    pub fn new(
        session_id: impl Into<String>,
        local_sequence: Option<u64>,
        cloud_sequence: Option<u64>,
        status: Option<&'static str>,
    ) -> Self {
        Self { session_id: session_id.into(), local_sequence, cloud_sequence, status }
    }
}

impl Sessions {
    /// What is known of other machines, of one session or of all.
    pub fn sync_status(&self, session_id: Option<&str>) -> Result<SyncStatus> {
        let connected = self.connected().unwrap_or(false);
        let mut status = SyncStatus { connected, ..SyncStatus::default() };
        if let Some(id) = session_id {
            let session_id = self.find(id)?.id;
            let sync = SessionSync { session_id, local_sequence: None, cloud_sequence: None, status: None };
            status.sessions.push(sync);
        }
        Ok(status)
    }
}
