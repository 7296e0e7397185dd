//! Synchronizes one session, those of this machine, or all.

use trommel_blocks::{HybridBlockStorage, Settlement};
use trommel_session::Watch;

use super::{Result, SyncOutcome, SyncRequest, Synced};

/// Synchronizes sessions, or returns how far they are. The sessions that are in the storage only
/// are counted where nothing else in the result shows that there are any.
pub(super) fn sync(
    hybrid: &HybridBlockStorage,
    request: &SyncRequest<'_>,
    watch: &Watch<'_>,
) -> Result<Synced> {
    let SyncRequest { session_id, settle, all, dry_run } = *request;
    let settlement = settle.map(Settlement::parse).transpose()?;
    let (outcome, is_counted) = if dry_run {
        (SyncOutcome::Status(hybrid.sync_status(session_id, watch)?), all)
    } else if all {
        (SyncOutcome::Report(hybrid.sync_all(settlement, watch)?), false)
    } else {
        let report = hybrid.sync(session_id, settlement, watch)?;
        let is_empty = report.synced + report.conflicts + report.kept + report.failed == 0;
        (SyncOutcome::Report(report), is_empty)
    };
    let cloud_only = if is_counted { hybrid.cloud_only(watch)?.len() } else { 0 };
    Ok(Synced { outcome, cloud_only: (cloud_only > 0).then_some(cloud_only) })
}
