//! Both sides made the same: one session, those that lie here, or everything.

use serde::Serialize;
use serde_json::Value;
use trommel_blocks::{Settlement, SyncedSessions};
use trommel_session::Watch;
use trommel_tool::Failure;

use super::hybrid::stored;
use crate::sessions::arguments::Arguments;

/// Makes both sides the same, or only tells how far they are. The answer says how many sessions lie in the cloud only where nothing
/// else would tell that there are any.
pub(super) fn sync(
    hybrid: &SyncedSessions,
    arguments: &Arguments,
    watch: &Watch<'_>,
) -> Result<Value, Failure> {
    let (id, is_all) = (arguments.session_id.as_deref(), arguments.is_all());
    let settlement = arguments.settle.as_deref().map(Settlement::parse).transpose().map_err(stored)?;
    if arguments.is_dry_run() {
        let status = value(&hybrid.sync_status(id, watch).map_err(stored)?)?;
        return if is_all { counted(status, hybrid, watch) } else { Ok(status) };
    }
    if is_all {
        return value(&hybrid.sync_all(settlement, watch).map_err(stored)?);
    }
    let report = hybrid.sync(id, settlement, watch).map_err(stored)?;
    let is_any = report.synced + report.conflicts + report.kept + report.failed > 0;
    let report = value(&report)?;
    if is_any { Ok(report) } else { counted(report, hybrid, watch) }
}

/// An answer that says how many lie in the cloud only, where any do.
fn counted(mut answer: Value, hybrid: &SyncedSessions, watch: &Watch<'_>) -> Result<Value, Failure> {
    let count = hybrid.cloud_only(watch).map_err(stored)?.len();
    if let Some(answer) = answer.as_object_mut().filter(|_| count > 0) {
        answer.insert("cloud_only".to_owned(), count.into());
    }
    Ok(answer)
}

fn value(answer: &impl Serialize) -> Result<Value, Failure> {
    serde_json::to_value(answer).map_err(|error| Failure::raised(&error))
}
