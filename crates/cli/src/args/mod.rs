//! What can be said on the command line.

mod buffers;
mod common;
mod count;
mod extract;
mod list;
mod places;
mod put;
mod read;
mod run;
mod sample;
mod sessions;
mod stats;
mod tools;
mod upkeep;
mod values;

use clap::builder::Styles;
use clap::builder::styling::AnsiColor;
use clap::{Args, Parser, Subcommand};
use clap_complete::Shell;

pub(crate) use buffers::{BufferOperation, BuffersArgs, Session};
pub(crate) use common::{BadRecords, Engine, RecordFilters, Source, output_id};
pub(crate) use count::CountArgs;
pub(crate) use extract::{ExtractArgs, Sequence};
pub(crate) use list::ListArgs;
pub(crate) use places::Places;
pub(crate) use put::PutArgs;
pub(crate) use read::ReadArgs;
pub(crate) use run::RunArgs;
pub(crate) use sample::{Plan, SampleArgs};
#[cfg(feature = "cloud")]
pub(crate) use sessions::Side;
pub(crate) use sessions::{
    Among, Analysis, AnalyzeSession, GetSession, ListSessions, RewindSession, Rows, SearchSessions,
    SessionEvents, SessionOperation, SessionsArgs,
};
pub(crate) use stats::{SchemaArgs, StatsArgs};
pub(crate) use tools::{CallArgs, Form as DisplayForm, HistoryArgs, LogLevel, ToolsArgs};
pub(crate) use upkeep::{GcArgs, PinArgs, RebuildArgs, RmArgs, VerifyArgs};
pub(crate) use values::NamedQuery;

const STYLES: Styles = Styles::styled()
    .header(AnsiColor::Green.on_default().bold())
    .usage(AnsiColor::Green.on_default().bold())
    .literal(AnsiColor::Cyan.on_default())
    .placeholder(AnsiColor::Cyan.on_default().dimmed());

/// Question JSON that is too big to load, in one pass
///
/// Queries are JSONPath (RFC 9535). Answers go to standard output; notes, progress and errors to
/// standard error. gzip and zstd are recognised by their first bytes.
#[derive(Debug, Parser)]
#[command(name = "trommel", version, styles = STYLES, max_term_width = 100, after_help = EXAMPLES)]
#[command(subcommand_required = true, arg_required_else_help = true, disable_help_subcommand = true)]
pub(crate) struct Cli {
    #[command(subcommand)]
    pub(crate) command: Command,
}

const EXAMPLES: &str = "\
Examples:
  trommel stats data.json                      # describe the data
  trommel extract data.json '$.users[*].name'  # print the values of a query
  trommel count log.jsonl.gz '$' --where '@.level == \"error\"'
  trommel sample data.json '$.users' -n 5      # draw five users at random
  trommel put page.json --tool web.fetch       # store it, and query output:ID later

Outputs are stored under $TROMMEL_HOME [default: the platform's data folder, such as
~/.local/share/trommel].

Exit status: 0 done, 1 the work failed, 2 usage error, 129 hung up, 130 interrupted,
141 output pipe closed, 143 terminated.";

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Print the values that queries select
    Extract(ExtractArgs),
    /// Count the nodes that queries select, or what is in them
    Count(CountArgs),
    /// Draw a sample: at random, from the ends, at even distances or by groups
    Sample(SampleArgs),
    /// Describe sizes, structure, types, arrays and objects
    Stats(StatsArgs),
    /// Print a JSON Schema that the data satisfies
    Schema(SchemaArgs),
    /// Validate strictly: silent when all is well
    Check(CheckArgs),
    /// Store the output of a tool, and print its id
    Put(PutArgs),
    /// List stored outputs
    List(ListArgs),
    /// Print a page of one value
    Read(ReadArgs),
    /// Delete stored outputs
    Rm(RmArgs),
    /// Keep stored outputs from being collected
    Pin(PinArgs),
    /// Collect stored outputs beyond limits, and what was left behind
    Gc(GcArgs),
    /// Read everything that is stored, and compare it with what was stored
    Verify(VerifyArgs),
    /// Make the index of stored outputs anew
    Rebuild(RebuildArgs),
    /// Show the tools for agents, or describe them to a provider
    Tools(ToolsArgs),
    /// Call a tool
    Call(CallArgs),
    /// Show the calls so far
    History(HistoryArgs),
    /// Run a document's steps: inputs, tools, a model, outputs
    Run(RunArgs),
    /// Look at buffers: list, info, peek, read, search, export, rm
    Buffers(BuffersArgs),
    /// Look into the logs of agents' sessions, cut them back, put them right
    Sessions(SessionsArgs),
    /// Print the help of the program or of a command
    Help {
        /// The command, such as `extract` or `sessions list`
        command: Vec<String>,
    },
    /// Print completions for a shell
    Completions {
        /// The shell
        shell: Shell,
    },
    /// Print a manual page
    Man {
        /// The command whose page to print [default: the program's]
        command: Option<String>,
    },
}

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  trommel check data.json && echo valid
  trommel check log.jsonl --on-bad-record skip           # report every bad record
  trommel check log.jsonl --on-bad-record skip --json    # the same for programs
  trommel check data.json --duplicates-as-errors && echo 'names are unique'

A repeated name in an object is valid JSON. The first ten are listed with their paths and places,
and all are counted. If a pipe gives more than 16 MiB, they are only counted.")]
pub(crate) struct CheckArgs {
    #[command(flatten)]
    pub(crate) source: Source,

    /// Report errors as JSON on standard output, one a line
    #[arg(long)]
    pub(crate) json: bool,

    /// Fail if an object repeats a name
    #[arg(long)]
    pub(crate) duplicates_as_errors: bool,

    #[command(flatten)]
    pub(crate) engine: Engine,

    #[command(flatten)]
    pub(crate) bad_records: BadRecords,
}
