use std::num::NonZeroUsize;
use std::time::Duration;

use clap::{Args, ValueEnum};
use tracing_subscriber::filter::LevelFilter;
use trommel_tool::dialect::Dialect;

use super::values;

/// What a display is printed as, where it is not to be a box on a terminal and JSON in a pipe.
#[derive(Clone, Copy, Debug, Default, Args)]
pub(crate) struct Form {
    /// Print one JSON document, as in a pipe
    #[arg(long)]
    pub(crate) json: bool,

    /// Print for people, without boxes
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
    /// The tool to describe [default: all]
    pub(crate) name: Option<String>,

    /// Print what a provider's request, or a client's list, holds
    #[arg(long, value_name = "PROVIDER")]
    pub(crate) schema: Option<Provider>,

    /// Print what the provider has no place for, and what became of it, instead
    #[arg(long, requires = "schema")]
    pub(crate) report: bool,

    /// Show what the registry holds
    #[arg(long, conflicts_with_all = ["name", "schema"])]
    pub(crate) state: bool,

    #[command(flatten)]
    pub(crate) form: Form,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
pub(crate) enum Provider {
    #[value(name = "openai", help = "Functions of OpenAI")]
    OpenAi,
    #[value(name = "openai-strict", help = "The same, enforced by the provider")]
    OpenAiStrict,
    /// Tools of Anthropic
    Anthropic,
    /// The same, enforced by the provider
    AnthropicStrict,
    #[value(name = "langchain", help = "Structured tools of LangChain")]
    LangChain,
    /// Tools of the Model Context Protocol
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

When there is no result, the reason stands on standard error, and standard output stays empty.")]
pub(crate) struct CallArgs {
    /// The tool, by its name or by the one it is exported under
    pub(crate) tool: String,

    /// The arguments, a JSON object, or - to read them from standard input
    #[arg(default_value = "{}")]
    pub(crate) arguments: String,

    /// Print the result for people
    #[arg(long, conflicts_with = "json")]
    pub(crate) panel: bool,

    #[command(flatten)]
    pub(crate) form: Form,

    /// Only say what the tool would do
    #[arg(long)]
    pub(crate) dry_run: bool,

    /// Most seconds the tool may take
    #[arg(long, value_name = "S", default_value = "120", value_parser = values::seconds)]
    pub(crate) timeout: Duration,

    /// Agree to what needs approval
    #[arg(long)]
    pub(crate) approve: bool,

    /// Show the surroundings of the call on standard error
    #[arg(long)]
    pub(crate) show_context: bool,

    /// What to log on standard error
    #[arg(long, value_name = "LEVEL", env = "TROMMEL_LOG", hide_env_values = true, default_value = "off")]
    pub(crate) log: LogLevel,

    /// Tell the log's times in UTC
    #[arg(long)]
    pub(crate) utc: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum LogLevel {
    /// Nothing: what fails is told in any case
    Off,
    /// Tools that fail where they should not
    Error,
    /// Tools that fail as well
    Warn,
    /// The beginning and the end of calls as well
    Info,
    /// Arguments and sizes as well
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
    /// The newest so many [default: all that are kept]
    #[arg(long, value_name = "N", value_parser = values::at_least_one::<NonZeroUsize>)]
    pub(crate) limit: Option<NonZeroUsize>,

    /// Tell times in UTC
    #[arg(long)]
    pub(crate) utc: bool,

    #[command(flatten)]
    pub(crate) form: Form,
}
