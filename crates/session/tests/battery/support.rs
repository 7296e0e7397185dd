//! Session folders written for tests.

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use trommel_session::{Session, Sessions, Watch};

/// A folder with sessions, and a fixed time.
pub(crate) struct Home {
    pub(crate) root: tempfile::TempDir,
    pub(crate) sessions: Sessions,
}

pub(crate) const PROJECT: &str = "-home-u-app";

impl Home {
    pub(crate) fn new() -> Self {
        let root = tempfile::tempdir().unwrap();
        let sessions = Sessions::new().at("2026-03-04T12:00[UTC]".parse().unwrap()).amplifier(root.path());
        Self { root, sessions }
    }

    pub(crate) fn folder(&self, id: &str) -> PathBuf {
        self.root.path().join("projects").join(PROJECT).join("sessions").join(id)
    }

    /// Writes a file of a session.
    pub(crate) fn write(&self, id: &str, name: &str, content: impl AsRef<[u8]>) -> &Self {
        fs::create_dir_all(self.folder(id)).unwrap();
        fs::write(self.folder(id).join(name), content).unwrap();
        self
    }

    pub(crate) fn metadata(&self, id: &str, members: &str) -> &Self {
        self.write(id, "metadata.json", format!("{{\"session_id\": \"{id}\"{members}}}\n"))
    }

    pub(crate) fn find(&self, id: &str) -> Session {
        self.sessions.find(id).unwrap()
    }

    /// Writes a session with `turns` turns, each with one tool call, with timestamps.
    pub(crate) fn turns(&self, id: &str, turns: u64) -> Session {
        let written = Written::turns(turns);
        self.metadata(id, &format!(", \"turn_count\": {turns}, \"message_count\": {}", turns * 4));
        self.write(id, "transcript.jsonl", &written.transcript);
        self.write(id, "events.jsonl", &written.events);
        self.find(id)
    }

    pub(crate) fn bytes(&self, id: &str) -> Vec<Vec<u8>> {
        ["metadata.json", "transcript.jsonl", "events.jsonl"]
            .iter()
            .map(|name| read(&self.folder(id).join(name)))
            .collect()
    }
}

/// A folder with sessions of Claude Code, and a fixed time.
pub(crate) struct Claude {
    root: tempfile::TempDir,
    pub(crate) sessions: Sessions,
}

impl Claude {
    pub(crate) fn new() -> Self {
        let root = tempfile::tempdir().unwrap();
        let sessions = Sessions::new().at("2026-03-04T12:00[UTC]".parse().unwrap()).claude_code(root.path());
        Self { root, sessions }
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.root.path().join("projects").join(PROJECT).join(format!("{name}.jsonl"))
    }

    /// Writes the log of a session or sub-agent, and finds it.
    pub(crate) fn write(&self, name: &str, lines: &[String]) -> Session {
        let path = self.path(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, lines.join("\n") + "\n").unwrap();
        self.sessions.find(path.file_stem().unwrap().to_str().unwrap()).unwrap()
    }
}

pub(crate) fn read(path: &Path) -> Vec<u8> {
    fs::read(path).unwrap_or_default()
}

pub(crate) fn watch() -> Watch<'static> {
    Watch::new()
}

/// A transcript and its events.
#[derive(Default)]
pub(crate) struct Written {
    pub(crate) transcript: String,
    pub(crate) events: String,
}

/// Returns a timestamp in a turn. Turns are a minute apart.
pub(crate) fn time(turn: u64, milliseconds: u64) -> String {
    let seconds = milliseconds / 1000;
    format!("2026-03-01T{:02}:{:02}:{seconds:02}.{:03}+00:00", 9 + turn / 60, turn % 60, milliseconds % 1000)
}

impl Written {
    /// Writes turns of eight events and four messages each.
    pub(crate) fn turns(turns: u64) -> Self {
        let mut written = Self::default();
        for turn in 1..=turns {
            written.turn(turn);
        }
        written
    }

    fn turn(&mut self, turn: u64) {
        let id = format!("call_{turn}");
        self.event(turn, 0, "prompt:submit", &format!(r#""prompt":"question {turn}""#));
        self.message(turn, 5, &format!(r#""role":"user","content":"question {turn}""#));
        self.event(turn, 10, "llm:request", r#""provider":"p","model":"m","messages":["all of it"]"#);
        let usage = r#""usage":{"input_tokens":100,"output_tokens":10,"cache_read_tokens":50}"#;
        self.event(
            turn,
            1000,
            "llm:response",
            &format!(r#""provider":"p","model":"m","status":"ok","duration_ms":{},{usage}"#, turn * 10),
        );
        self.event(turn, 1001, "content_block:end", usage);
        let calls = format!(r#"[{{"id":"{id}","tool":"grep","arguments":{{"pattern":"x{turn}"}}}}]"#);
        self.message(turn, 1002, &format!(r#""role":"assistant","content":"","tool_calls":{calls}"#));
        self.event(
            turn,
            1003,
            "tool:pre",
            &format!(r#""tool_name":"grep","tool_call_id":"{id}","tool_input":{{"pattern":"x{turn}"}}"#),
        );
        self.event(
            turn,
            2000,
            "tool:post",
            &format!(
                r#""tool_name":"grep","tool_call_id":"{id}","result":{{"success":true,"output":"found"}}"#
            ),
        );
        self.message(
            turn,
            2001,
            &format!(r#""role":"tool","name":"grep","tool_call_id":"{id}","content":"found {turn}""#),
        );
        self.event(
            turn,
            3000,
            "llm:response",
            &format!(r#""provider":"p","model":"m","status":"ok","duration_ms":{},{usage}"#, turn * 10),
        );
        self.message(turn, 3001, &format!(r#""role":"assistant","content":"answer {turn}""#));
        self.event(turn, 3002, "prompt:complete", r#""response":"answer""#);
    }

    pub(crate) fn event(&mut self, turn: u64, milliseconds: u64, event: &str, data: &str) {
        let lvl = if event.contains("error") { "ERROR" } else { "INFO" };
        let ts = time(turn, milliseconds);
        writeln!(self.events, r#"{{"ts":"{ts}","lvl":"{lvl}","schema":{{"name":"amplifier.log","ver":"1.0.0"}},"event":"{event}","data":{{{data}}}}}"#).unwrap();
    }

    pub(crate) fn message(&mut self, turn: u64, milliseconds: u64, members: &str) {
        let ts = time(turn, milliseconds);
        writeln!(self.transcript, r#"{{{members},"metadata":{{"timestamp":"{ts}"}}}}"#).unwrap();
    }
}
