//! The clients: where their files are, and what an entry looks like.

use std::fmt;
use std::path::{Path, PathBuf};
use std::str::FromStr;

use serde_json::{Value, json};

/// A program that uses servers of the Model Context Protocol.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Client {
    /// Antigravity, and its command line.
    Antigravity,
    /// Claude Code.
    ClaudeCode,
    /// Claude Desktop.
    ClaudeDesktop,
    /// Codex CLI.
    Codex,
    /// Cursor.
    Cursor,
    /// Gemini CLI.
    Gemini,
    /// `OpenCode`.
    OpenCode,
    /// Visual Studio Code.
    VsCode,
}

/// The form of a client's file: the member that holds the servers, and the syntax.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Format {
    /// JSON with comments.
    Json(&'static str),
    Toml(&'static str),
}

impl Client {
    /// All clients.
    pub const ALL: [Self; 8] = [
        Self::Antigravity,
        Self::ClaudeCode,
        Self::ClaudeDesktop,
        Self::Codex,
        Self::Cursor,
        Self::Gemini,
        Self::OpenCode,
        Self::VsCode,
    ];

    /// The name on the command line.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Antigravity => "antigravity",
            Self::ClaudeCode => "claude-code",
            Self::ClaudeDesktop => "claude-desktop",
            Self::Codex => "codex",
            Self::Cursor => "cursor",
            Self::Gemini => "gemini",
            Self::OpenCode => "opencode",
            Self::VsCode => "vscode",
        }
    }

    /// The file of the user's servers.
    pub fn path(self, home: &Path) -> PathBuf {
        let config = if cfg!(target_os = "macos") { "Library/Application Support" } else { ".config" };
        home.join(match self {
            Self::Antigravity => PathBuf::from(".gemini/config/mcp_config.json"),
            Self::ClaudeCode => PathBuf::from(".claude.json"),
            Self::ClaudeDesktop => Path::new(config).join("Claude/claude_desktop_config.json"),
            Self::Codex => PathBuf::from(".codex/config.toml"),
            Self::Cursor => PathBuf::from(".cursor/mcp.json"),
            Self::Gemini => PathBuf::from(".gemini/settings.json"),
            // On every system.
            Self::OpenCode => PathBuf::from(".config/opencode/opencode.json"),
            Self::VsCode => Path::new(config).join("Code/User/mcp.json"),
        })
    }

    pub(super) const fn format(self) -> Format {
        match self {
            Self::Codex => Format::Toml("mcp_servers"),
            Self::OpenCode => Format::Json("mcp"),
            Self::VsCode => Format::Json("servers"),
            _ => Format::Json("mcpServers"),
        }
    }

    /// The entry that starts this program.
    pub(super) fn entry(self, program: &Path, args: &[String]) -> Value {
        let args: Vec<&str> = std::iter::once("mcp").chain(args.iter().map(String::as_str)).collect();
        self.native(json!({ "command": program.display().to_string(), "args": args }))
    }

    /// An entry in the client's own form.
    pub(super) fn native(self, entry: Value) -> Value {
        let is_remote = entry.get("url").is_some();
        match self {
            Self::OpenCode => {
                let mut own = json!({ "type": if is_remote { "remote" } else { "local" } });
                if let Some(command) = entry.get("command") {
                    let args = entry.get("args").and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
                    own["command"] = std::iter::once(command.clone()).chain(args.iter().cloned()).collect();
                }
                for (from, to) in [("env", "environment"), ("url", "url"), ("headers", "headers")] {
                    if let Some(value) = entry.get(from) {
                        own[to] = value.clone();
                    }
                }
                own
            }
            Self::VsCode => {
                let mut own = json!({ "type": if is_remote { "http" } else { "stdio" } });
                if let (Some(own), Value::Object(entry)) = (own.as_object_mut(), entry) {
                    own.extend(entry);
                }
                own
            }
            Self::Gemini | Self::Antigravity if is_remote => {
                let url = if self == Self::Gemini { "httpUrl" } else { "serverUrl" };
                renamed(entry, "url", url)
            }
            Self::Codex => renamed(entry, "headers", "http_headers"),
            _ => entry,
        }
    }

    /// An entry of the client in the form of most clients.
    pub(super) fn portable(self, entry: Value) -> Value {
        match self {
            Self::OpenCode => {
                let mut portable = json!({});
                if let Some([command, args @ ..]) =
                    entry.get("command").and_then(Value::as_array).map(Vec::as_slice)
                {
                    portable["command"] = command.clone();
                    portable["args"] = args.into();
                }
                for (from, to) in [("environment", "env"), ("url", "url"), ("headers", "headers")] {
                    if let Some(value) = entry.get(from) {
                        portable[to] = value.clone();
                    }
                }
                portable
            }
            Self::VsCode => {
                let mut entry = entry;
                if let Some(members) = entry.as_object_mut() {
                    members.shift_remove("type");
                }
                entry
            }
            Self::Gemini => renamed(entry, "httpUrl", "url"),
            Self::Antigravity => renamed(entry, "serverUrl", "url"),
            Self::Codex => renamed(entry, "http_headers", "headers"),
            _ => entry,
        }
    }
}

/// Renames a member.
fn renamed(entry: Value, from: &str, to: &str) -> Value {
    let Value::Object(members) = entry else { return entry };
    let name = |name: String| if name == from { to.to_owned() } else { name };
    Value::Object(members.into_iter().map(|(member, value)| (name(member), value)).collect())
}

impl fmt::Display for Client {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl FromStr for Client {
    type Err = UnknownClient;

    fn from_str(name: &str) -> Result<Self, UnknownClient> {
        let known = Self::ALL.into_iter().find(|client| client.name() == name);
        known.ok_or_else(|| UnknownClient(name.chars().take(40).flat_map(char::escape_debug).collect()))
    }
}

/// A name that is not that of a client.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnknownClient(String);

impl fmt::Display for UnknownClient {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<&str> = Client::ALL.into_iter().map(Client::name).collect();
        write!(f, "unknown client {}: use one of {}", self.0, names.join(", "))
    }
}

impl std::error::Error for UnknownClient {}
