//! Machines with sessions for tests.

use std::fmt::Write as _;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use trommel_session::{ListQuery, Source, Watch};
use trommel_storage::FolderStorage;

pub(crate) use crate::machine::{Machine, PROJECT};
pub(crate) use crate::net::Net;

pub(crate) fn watch() -> Watch<'static> {
    Watch::new()
}

impl Machine {
    /// Writes a session of `turns` turns.
    pub(crate) fn turns(&self, id: &str, turns: u64) {
        let metadata = format!(
            "{{\n  \"session_id\": \"{id}\",\n  \"name\": \"The {id}\",\n  \"created\": \"2026-03-01T09:00:00Z\",\n  \"turn_count\": {turns}\n}}"
        );
        self.write(id, "metadata.json", metadata);
        self.write(id, "transcript.jsonl", (1..=turns).map(said).collect::<String>());
        self.write(id, "events.jsonl", (1..=turns).map(happened).collect::<String>());
    }

    /// The IDs of sessions and their sources.
    pub(crate) fn listed(&self) -> Vec<(String, Source)> {
        let sessions = self.hybrid.view(&watch()).unwrap().sessions;
        let listed = sessions.list(&ListQuery::default(), &watch()).unwrap().sessions;
        let mut rows = listed.into_iter().map(|row| (row.session_id, row.source)).collect::<Vec<_>>();
        rows.sort_by(|one, other| one.0.cmp(&other.0));
        rows
    }
}

impl Net {
    /// Connects a machine to a folder of its own.
    pub(crate) fn new() -> Arc<Self> {
        let home = tempfile::tempdir().unwrap();
        let inner = Arc::new(FolderStorage::make(home.path()).unwrap());
        Arc::new(Self::to(inner, Some(home)))
    }

    /// Makes the storage silent, so that every call waits for its timeout, or lets it respond
    /// again.
    pub(crate) fn cut(&self, is_cut: bool) {
        self.is_cut.store(is_cut, Ordering::SeqCst);
    }

    pub(crate) fn asked(&self) -> u64 {
        self.asked.load(Ordering::SeqCst)
    }
}

/// The messages of a turn.
pub(crate) fn said(turn: u64) -> String {
    format!(
        "{{\"role\":\"user\",\"content\":\"question {turn}\",\"timestamp\":\"2026-03-01T09:{:02}:00Z\"}}\n{{\"role\":\"assistant\",\"content\":\"answer {turn}\"}}\n",
        turn % 60
    )
}

/// The events of a turn: a prompt, a long request, a response, a tool call, and now and then an
/// error.
pub(crate) fn happened(turn: u64) -> String {
    let ts = format!("2026-03-01T09:{:02}", turn % 60);
    let long = "all that was said, ".repeat(10 + 400 * usize::try_from(turn % 30).unwrap());
    let mut text = format!(
        r#"{{"ts":"{ts}:00Z","lvl":"INFO","event":"prompt:submit","data":{{"prompt":"question {turn}"}}}}
{{"ts":"{ts}:01Z","lvl":"INFO","event":"llm:request","data":{{"model":"m","messages":["{long}"]}}}}
{{"ts":"{ts}:02Z","lvl":"INFO","event":"llm:response","data":{{"model":"m","provider":"p","duration_ms":{turn}0,"usage":{{"input_tokens":{turn}00,"output_tokens":10}}}}}}
{{"ts":"{ts}:03Z","lvl":"INFO","event":"tool:pre","data":{{"tool_name":"grep","tool_call_id":"c{turn}","tool_input":{{"pattern":"x{turn}","depth":{turn}}}}}}}
"#
    );
    if turn.is_multiple_of(3) {
        // Writing to a string cannot fail.
        let _ = writeln!(
            text,
            "{{\"ts\":\"{ts}:04Z\",\"lvl\":\"ERROR\",\"event\":\"tool:error\",\"data\":{{\"tool_name\":\"grep\",\"tool_call_id\":\"c{turn}\"}},\"error\":{{\"type\":\"timeout\",\"msg\":\"late\"}}}}"
        );
    }
    if turn.is_multiple_of(5) {
        text.push_str("no json at all\n\n");
    }
    text
}
