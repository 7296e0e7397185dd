use std::num::NonZeroUsize;
use std::time::Duration;

use clap::{Args, ValueEnum};
use tracing_subscriber::filter::LevelFilter;
use trommel_tool::dialect::Dialect;

use super::values;

/// The form of a display. The default is a box on a terminal and JSON in a pipe.
#[derive(Clone, Copy, Debug, Default, Args)]
pub(crate) struct Form {
    /// Print one JSON document, as in a pipe
    #[arg(long)]
    pub(crate) json: bool,

    /// Print text without boxes
    #[arg(long, conflicts_with = "json")]
    pub(crate) plain: bool,
}

impl Form {
    pub(crate) const fn json(json: bool) -> Self {
        Self { json, plain: false }
    }
}

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  trommel tools
  trommel tools tool_outputs.extract
  trommel tools --schema anthropic > tools.json
  trommel tools tool_outputs.count --schema openai-strict
  trommel tools --schema openai-strict --report")]
pub(crate) struct ToolsArgs {
    /// Tool to describe [default: all]
    pub(crate) name: Option<String>,

    /// Export tool schemas for this provider or client
    #[arg(long, value_name = "PROVIDER")]
    pub(crate) schema: Option<Provider>,

    /// Print how the export differs from the schemas, instead of the export (needs --schema)
    #[arg(long, requires = "schema")]
    pub(crate) report: bool,

    /// Show the tools and limits of the registry
    #[arg(long, conflicts_with_all = ["name", "schema"])]
    pub(crate) state: bool,

    #[command(flatten)]
    pub(crate) form: Form,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
pub(crate) enum Provider {
    #[value(name = "openai", help = "OpenAI functions")]
    OpenAi,
    #[value(name = "openai-strict", help = "OpenAI functions with strict schemas")]
    OpenAiStrict,
    /// Anthropic tools
    Anthropic,
    /// Anthropic tools with strict schemas
    AnthropicStrict,
    #[value(name = "langchain", help = "LangChain structured tools")]
    LangChain,
    /// Model Context Protocol tools
    Mcp,
}

impl From<Provider> for Dialect {
    fn from(provider: Provider) -> Self {
        match provider {
            Provider::OpenAi => Self::OpenAi,
            Provider::OpenAiStrict => Self::OpenAiStrict,
            Provider::Anthropic => Self::Anthropic,
            Provider::AnthropicStrict => Self::AnthropicStrict,
            Provider::LangChain => Self::LangChain,
            Provider::Mcp => Self::Mcp,
        }
    }
}

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  trommel call tool_outputs.list
  trommel call tool_outputs.extract '{\"id\": \"01jqx0\", \"paths\": [\"$.users[*].name\"]}'
  echo '{\"id\": \"01jqx0\"}' | trommel call tool_outputs_stats - --panel

If the call fails, standard output stays empty and the error goes to standard error.")]
pub(crate) struct CallArgs {
    /// Tool name, or the name that it is exported under
    pub(crate) tool: String,

    /// Arguments as a JSON object, or - for standard input
    #[arg(default_value = "{}")]
    pub(crate) arguments: String,

    /// Print the result as a panel
    #[arg(long, conflicts_with = "json")]
    pub(crate) panel: bool,

    #[command(flatten)]
    pub(crate) form: Form,

    /// Show what the tool would do without running it
    #[arg(long)]
    pub(crate) dry_run: bool,

    /// Stop the tool after S seconds
    #[arg(long, value_name = "S", default_value = "120", value_parser = values::seconds)]
    pub(crate) timeout: Duration,

    /// Run tools that require approval
    #[arg(long)]
    pub(crate) approve: bool,

    /// Show the context of the call on standard error
    #[arg(long)]
    pub(crate) show_context: bool,

    /// Log to standard error at this level
    #[arg(long, value_name = "LEVEL", env = "TROMMEL_LOG", hide_env_values = true, default_value = "off")]
    pub(crate) log: LogLevel,

    /// Show log times in UTC
    #[arg(long)]
    pub(crate) utc: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum LogLevel {
    /// No logging; failures are still reported
    Off,
    /// Unexpected failures of tools
    Error,
    /// All failures of tools
    Warn,
    /// Start and end of each call, too
    Info,
    /// Arguments and sizes, too
    Debug,
}

impl From<LogLevel> for LevelFilter {
    fn from(level: LogLevel) -> Self {
        match level {
            LogLevel::Off => Self::OFF,
            LogLevel::Error => Self::ERROR,
            LogLevel::Warn => Self::WARN,
            LogLevel::Info => Self::INFO,
            LogLevel::Debug => Self::DEBUG,
        }
    }
}

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  trommel history --limit 5
  trommel history | trommel extract - '$.executions[*].tool_name'")]
pub(crate) struct HistoryArgs {
    /// Show the N most recent calls [default: all]
    #[arg(long, value_name = "N", value_parser = values::at_least_one::<NonZeroUsize>)]
    pub(crate) limit: Option<NonZeroUsize>,

    /// Show times in UTC
    #[arg(long)]
    pub(crate) utc: bool,

    #[command(flatten)]
    pub(crate) form: Form,
}
