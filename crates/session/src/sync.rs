//! The synchronization status of sessions. This crate knows no sequence numbers of changes, so it
//! only reports the connection.

use serde::Serialize;

use crate::error::Result;
use crate::sessions::Sessions;

/// The synchronization status of sessions.
#[derive(Clone, Debug, Default, Serialize)]
#[non_exhaustive]
pub struct SyncStatus {
    /// True if the cloud could be reached.
    pub connected: bool,
    /// The time of the last synchronization.
    pub last_sync: Option<String>,
    /// The number of pending uploads.
    pub pending_uploads: u64,
    /// The number of pending downloads.
    pub pending_downloads: u64,
    /// The reason that the cloud could not be reached, if one is configured.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub problem: Option<String>,
    /// The requested session.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub sessions: Vec<SessionSync>,
}

/// The synchronization status of one session. A mirror has no sequence numbers to compare, so this
/// crate leaves them and the status empty. A crate that synchronizes sessions fills them in.
#[derive(Clone, Debug, Serialize)]
#[non_exhaustive]
pub struct SessionSync {
    /// The session's ID.
    pub session_id: String,
    /// The sequence number of its last local change.
    pub local_sequence: Option<u64>,
    /// The sequence number of its last change in the cloud.
    pub cloud_sequence: Option<u64>,
    /// The result of the comparison: `synced`, `ahead`, `behind`, or `conflict`.
    pub status: Option<&'static str>,
}

impl SessionSync {
    /// Creates the status of a session.
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
    /// Returns the synchronization status of one session or of all.
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
