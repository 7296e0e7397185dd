//! The servers of a configuration, in the forms that clients use.

mod variables;

use std::collections::BTreeMap;
use std::fmt;
use std::path::{Path, PathBuf};

use serde::Deserialize;
use serde_json::Value;

use super::process::ServerCommand;

/// The longest name of a server.
const MAX_NAME: usize = 32;

/// A server whose tools are offered.
#[derive(Clone, Debug, PartialEq)]
pub struct ServerConfig {
    /// Its name: letters, digits, `_`, and `-`.
    pub(crate) name: String,
    pub(crate) endpoint: Endpoint,
    /// The characters of a result that pass unchanged.
    pub(crate) limit: Option<usize>,
    /// The limits of single tools.
    pub(crate) tool_limits: BTreeMap<String, usize>,
    /// The tools to offer; all if empty.
    pub(crate) only: Vec<String>,
    /// The tools not to offer.
    pub(crate) except: Vec<String>,
    /// True if its tools take an argument that names where their result goes.
    pub(crate) routes: bool,
}

/// The way to a server.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Endpoint {
    /// A process.
    Command(ServerCommand),
    /// An HTTP address.
    Url { url: String, headers: BTreeMap<String, String> },
}

/// The reason why a configuration is refused.
#[derive(Debug)]
#[non_exhaustive]
pub enum ConfigError {
    /// The file cannot be read.
    Read(PathBuf, std::io::Error),
    /// The file is not JSON, or has another form. The message has the place.
    Parse(PathBuf, String),
    /// A server's entry is invalid.
    Server {
        /// Its name.
        name: String,
        /// The fault, and a remedy.
        why: String,
    },
    /// Two servers have the same name.
    Duplicate(String),
}

impl fmt::Display for ConfigError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Read(path, error) => write!(f, "cannot read {}: {error}", path.display()),
            Self::Parse(path, why) => write!(f, "{}: {why}", path.display()),
            Self::Server { name, why } => write!(f, "server {name}: {why}"),
            Self::Duplicate(name) => write!(f, "two servers are named {name}: rename one of them"),
        }
    }
}

impl std::error::Error for ConfigError {}

/// The entry of a server. Members of other clients are ignored.
#[derive(Deserialize)]
struct Entry {
    #[serde(rename = "type")]
    kind: Option<String>,
    command: Option<String>,
    #[serde(default)]
    args: Vec<String>,
    #[serde(default)]
    env: BTreeMap<String, Value>,
    cwd: Option<PathBuf>,
    #[serde(alias = "serverUrl", alias = "httpUrl")]
    url: Option<String>,
    #[serde(default)]
    headers: BTreeMap<String, String>,
    #[serde(default)]
    disabled: bool,
    #[serde(default)]
    trommel: Own,
}

/// The settings of this program in an entry.
#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
struct Own {
    max_chars: Option<usize>,
    #[serde(default)]
    tools: BTreeMap<String, ToolSettings>,
    #[serde(default)]
    only: Vec<String>,
    #[serde(default)]
    except: Vec<String>,
    #[serde(default)]
    routes: bool,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
struct ToolSettings {
    max_chars: usize,
}

impl ServerConfig {
    /// Parses `NAME=COMMAND…`, with the command split as a shell would.
    ///
    /// # Errors
    /// Returns an error if the name or the quoting is invalid.
    pub fn parse(text: &str) -> Result<Self, ConfigError> {
        let (name, command) = text.split_once('=').unwrap_or((text, ""));
        let fault = |why: &str| ConfigError::Server { name: name.to_owned(), why: why.to_owned() };
        let words = words(command).ok_or_else(|| fault("a quote in the command is not closed"))?;
        let mut words = words.into_iter();
        let program = words.next().ok_or_else(|| fault("no command: write NAME='COMMAND ARG…'"))?;
        let endpoint = if program.starts_with("http://") || program.starts_with("https://") {
            Endpoint::Url { url: program, headers: BTreeMap::new() }
        } else {
            let args = words.collect();
            Endpoint::Command(ServerCommand { program, args, env: BTreeMap::new(), dir: None })
        };
        Self::new(name, endpoint)
    }

    fn new(name: &str, endpoint: Endpoint) -> Result<Self, ConfigError> {
        let is_legal = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-');
        if name.is_empty() || name.len() > MAX_NAME || !name.chars().all(is_legal) {
            let why = format!("a name has 1 to {MAX_NAME} letters, digits, _, and -");
            return Err(ConfigError::Server { name: name.chars().take(60).collect(), why });
        }
        Ok(Self {
            name: name.to_owned(),
            endpoint,
            limit: None,
            tool_limits: BTreeMap::new(),
            only: Vec::new(),
            except: Vec::new(),
            routes: false,
        })
    }

    /// Reads the servers of a file, as clients have it: `mcpServers`, or `servers`.
    ///
    /// # Errors
    /// Returns an error if the file cannot be read, or an entry is invalid.
    pub fn read(path: &Path) -> Result<Vec<Self>, ConfigError> {
        let text =
            std::fs::read_to_string(path).map_err(|error| ConfigError::Read(path.to_owned(), error))?;
        let parse = |why: String| ConfigError::Parse(path.to_owned(), why);
        let document = match crate::install::edit::parse_json(&text) {
            Ok(Value::Object(document)) => document,
            Ok(_) => return Err(parse("not a JSON object".to_owned())),
            Err(error) => return Err(parse(format!("not JSON: {error}"))),
        };
        let servers = ["mcpServers", "servers", "mcp_servers"].into_iter().find_map(|key| document.get(key));
        let Some(Value::Object(servers)) = servers else {
            return Err(parse("no servers: expected an object mcpServers, or servers".to_owned()));
        };
        let mut configs = Vec::new();
        for (name, entry) in servers {
            configs.extend(Self::of_entry(name, entry)?);
        }
        Ok(configs)
    }

    /// Parses an entry; `None` if it is disabled.
    fn of_entry(name: &str, entry: &Value) -> Result<Option<Self>, ConfigError> {
        let fault = |why: String| ConfigError::Server { name: name.to_owned(), why };
        let entry: Entry = serde_json::from_value(entry.clone())
            .map_err(|error| fault(format!("invalid entry: {error}")))?;
        if entry.disabled {
            return Ok(None);
        }
        let fill = |text: &str| variables::filled(text, |name| std::env::var_os(name)).map_err(fault);
        let endpoint = match (entry.command, entry.url) {
            (Some(program), None) => {
                let mut env = BTreeMap::new();
                for (variable, value) in entry.env {
                    let value = match value {
                        Value::String(text) => text,
                        Value::Number(number) => number.to_string(),
                        Value::Bool(flag) => flag.to_string(),
                        _ => return Err(fault(format!("the variable {variable} is not a string"))),
                    };
                    env.insert(variable, fill(&value)?);
                }
                let program = fill(&program)?;
                let args = entry.args.iter().map(|arg| fill(arg)).collect::<Result<_, _>>()?;
                Endpoint::Command(ServerCommand { program, args, env, dir: entry.cwd })
            }
            (None, Some(url)) => {
                let mut headers = BTreeMap::new();
                for (header, value) in entry.headers {
                    headers.insert(header, fill(&value)?);
                }
                Endpoint::Url { url: fill(&url)?, headers }
            }
            (Some(_), Some(_)) => return Err(fault("it has a command and a url: remove one".to_owned())),
            (None, None) => {
                let kind = entry.kind.map_or_else(String::new, |kind| format!(" for type {kind}"));
                return Err(fault(format!("it has no command and no url{kind}")));
            }
        };
        let mut config = Self::new(name, endpoint)?;
        let Own { max_chars, tools, only, except, routes } = entry.trommel;
        config.limit = max_chars;
        config.tool_limits = tools.into_iter().map(|(tool, settings)| (tool, settings.max_chars)).collect();
        (config.only, config.except, config.routes) = (only, except, routes);
        Ok(Some(config))
    }

    /// The name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// True if it is reached over HTTP.
    pub(crate) fn is_at_url(&self) -> bool {
        matches!(self.endpoint, Endpoint::Url { .. })
    }

    /// Returns an error if two servers have the same name.
    ///
    /// # Errors
    /// Names the first such server.
    pub fn check_distinct(configs: &[Self]) -> Result<(), ConfigError> {
        let repeated = configs.iter().enumerate().find(|(index, config)| {
            configs[..*index].iter().any(|other| other.name.eq_ignore_ascii_case(&config.name))
        });
        repeated.map_or(Ok(()), |(_, config)| Err(ConfigError::Duplicate(config.name.clone())))
    }

    /// True if a tool is to be offered.
    pub(crate) fn offers(&self, tool: &str) -> bool {
        let is = |names: &[String]| names.iter().any(|name| name == tool);
        (self.only.is_empty() || is(&self.only)) && !is(&self.except)
    }
}

/// Splits a command into words: quotes group, a backslash escapes outside single quotes.
fn words(command: &str) -> Option<Vec<String>> {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut chars = command.chars();
    while let Some(c) = chars.next() {
        match c {
            c if c.is_whitespace() => words.extend(word.take()),
            '\'' => {
                let word = word.get_or_insert_default();
                loop {
                    match chars.next()? {
                        '\'' => break,
                        c => word.push(c),
                    }
                }
            }
            '"' => {
                let word = word.get_or_insert_default();
                loop {
                    match chars.next()? {
                        '"' => break,
                        '\\' => match chars.next()? {
                            c @ ('"' | '\\' | '$' | '`') => word.push(c),
                            c => word.extend(['\\', c]),
                        },
                        c => word.push(c),
                    }
                }
            }
            '\\' => word.get_or_insert_default().extend(chars.next()),
            c => word.get_or_insert_default().push(c),
        }
    }
    words.extend(word);
    Some(words)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_are_split_as_by_a_shell() {
        let split = |command| words(command).unwrap();
        assert_eq!(
            split(r#"npx -y  "a b" 'c"d' e\ f "g\"h\i" """#),
            ["npx", "-y", "a b", "c\"d", "e f", "g\"h\\i", ""]
        );
        assert_eq!(words("a 'b"), None);
        assert!(split("  ").is_empty());
    }

    #[test]
    fn files_of_several_clients_are_read() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("mcp.json");
        let read = |text: &str| {
            std::fs::write(&path, text).unwrap();
            ServerConfig::read(&path)
        };
        let claude = r#"{"mcpServers": {"files": {"command": "npx", "args": ["-y"], "env": {"A": "1", "B": 2}, "cwd": "/tmp"},
            "off": {"command": "x", "disabled": true}}}"#;
        let configs = read(claude).unwrap();
        let env = BTreeMap::from([("A".to_owned(), "1".to_owned()), ("B".to_owned(), "2".to_owned())]);
        let command =
            ServerCommand { program: "npx".into(), args: vec!["-y".into()], env, dir: Some("/tmp".into()) };
        assert_eq!(configs.len(), 1);
        assert_eq!(configs[0].endpoint, Endpoint::Command(command));
        let code = r#"{"servers": {"web": {"type": "http", "url": "http://127.0.0.1:1/mcp", "headers": {"A": "b"},
            "trommel": {"maxChars": 5, "tools": {"big": {"maxChars": 7}}, "except": ["rm"]}}}}"#;
        let web = &read(code).unwrap()[0];
        assert_eq!(
            (web.limit, web.tool_limits["big"], web.offers("rm"), web.offers("ls")),
            (Some(5), 7, false, true)
        );
        for (text, why) in [
            ("[]", "not a JSON object"),
            ("{}", "no servers"),
            (r#"{"mcpServers": {"a b": {"command": "x"}}}"#, "letters"),
            (
                r#"{"mcpServers": {"a": {"url": "http://x", "headers": {"A": "${NO_SUCH_VARIABLE}"}}}}"#,
                "not set",
            ),
            (r#"{"mcpServers": {"a": {}}}"#, "no command and no url"),
            (r#"{"mcpServers": {"a": {"command": "x", "url": "y"}}}"#, "remove one"),
            (r#"{"mcpServers": {"a": {"command": "x", "trommel": {"maxchars": 1}}}}"#, "unknown field"),
        ] {
            let error = read(text).unwrap_err().to_string();
            assert!(error.contains(why), "{text}: {error}");
        }
    }
}
