//! The arguments of the command line.

mod buffers;
mod common;
mod count;
mod du;
#[cfg(feature = "explore")]
mod explore;
mod extract;
mod forms;
mod group;
mod guide;
mod list;
#[cfg(feature = "mcp")]
mod mcp;
mod program;
mod put;
mod read;
mod report;
mod run;
mod sample;
mod search;
mod session_folders;
mod sessions;
mod stats;
mod tools;
mod upkeep;
mod values;

use clap::{Args, Parser, Subcommand};
use clap_complete::Shell;

pub(crate) use buffers::{BufferOperation, BuffersArgs, Session};
pub(crate) use common::{
    Arguments, BadRecords, DuplicateMembers, Engine, Files, Framing, NamedQuery, RecordFilters, Source,
    output_id,
};
pub(crate) use count::CountArgs;
pub(crate) use du::DuArgs;
#[cfg(feature = "explore")]
pub(crate) use explore::ExploreArgs;
#[cfg(feature = "table")]
pub(crate) use extract::{BadRowPolicy, NumberForm};
pub(crate) use extract::{ExtractArgs, ValueOrder};
#[cfg(feature = "table")]
pub(crate) use forms::TableForm;
pub(crate) use forms::{Form, Printer, SampleForm, ValueStyle};
pub(crate) use group::{FigureArgs, GroupArgs};
pub(crate) use guide::{GuideArgs, GuideOperation};
pub(crate) use list::ListArgs;
#[cfg(feature = "mcp")]
pub(crate) use mcp::{MAX_CHARS, McpArgs, McpOperation, ServeArgs, Wrapping};
pub(crate) use program::{Appearance, When, command};
pub(crate) use put::PutArgs;
pub(crate) use read::ReadArgs;
pub(crate) use report::{PageArgs, ReportArgs};
pub(crate) use run::RunArgs;
pub(crate) use sample::{SampleArgs, SampleStrategy};
pub(crate) use search::SearchArgs;
pub(crate) use session_folders::SessionFolders;
#[cfg(feature = "cloud")]
pub(crate) use sessions::Side;
pub(crate) use sessions::{
    Analysis, AnalyzeSession, GetSession, ListSessions, ReportSessions, RewindSession, Rows, SearchSessions,
    SessionEvents, SessionFilter, SessionOperation, SessionsArgs, TotalUsage, UsageKey,
};
pub(crate) use stats::{SchemaArgs, StatsArgs};
pub(crate) use tools::{CallArgs, Form as DisplayForm, HistoryArgs, LogLevel, ToolsArgs};
pub(crate) use upkeep::{GcArgs, PinArgs, RebuildArgs, RmArgs, VerifyArgs};
pub(crate) use values::LineRange;

/// Query, count, sample, and profile JSON that is too big to load
///
/// Queries are JSONPath (RFC 9535) and take one pass over the input. Answers go to standard output;
/// notes, progress, and errors go to standard error. gzip, zstd, bzip2, and xz are recognized by
/// their first bytes.
#[derive(Debug, Parser)]
#[command(name = "trommel", version, styles = program::STYLES, max_term_width = 100, after_help = EXAMPLES)]
#[command(subcommand_required = true, arg_required_else_help = true, disable_help_subcommand = true)]
pub(crate) struct Cli {
    #[command(subcommand)]
    pub(crate) command: Command,

    #[command(flatten)]
    pub(crate) appearance: Appearance,
}

const EXAMPLES: &str = "\
Examples:
  trommel stats data.json                      # describe the data
  trommel extract data.json '$.users[*].name'  # print matching values
  trommel count log.jsonl.gz '$' --where '@.level == \"error\"'
  trommel group log.jsonl '$.level' --sum '$.ms'
  trommel sample data.json '$.users' -n 5      # draw five users at random
  trommel put page.json --tool web.fetch       # store it; query output:ID later

Topics: trommel help input, queries, output, or limits.

Outputs are stored under $TROMMEL_HOME [default: the platform's data folder, such as
~/.local/share/trommel].

Exit status: 0 done, 1 failure, 2 usage error, 129 hangup, 130 interrupted,
141 broken pipe, 143 terminated.";

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Print the values that queries select
    Extract(ExtractArgs),
    /// Count matches, or the elements and members of matches
    Count(CountArgs),
    /// Group records by values, with counts, sums, means, and extremes
    Group(GroupArgs),
    /// Draw a sample: random, first, last, systematic, or stratified
    Sample(SampleArgs),
    /// Describe size, structure, types, arrays, and objects
    Stats(StatsArgs),
    /// Show which paths take the bytes
    Du(DuArgs),
    /// Write a page about the data: bytes, values, schema, samples
    Report(ReportArgs),
    /// Print a JSON Schema that the data satisfies
    Schema(SchemaArgs),
    /// Validate strictly; prints nothing if the input is valid
    Check(CheckArgs),
    /// Store the output of a tool and print its ID
    Put(PutArgs),
    /// List stored outputs
    List(ListArgs),
    /// Keep what a pass over a file has found, for later questions
    Guide(GuideArgs),
    /// Explore a tree of the input in the terminal
    #[cfg(feature = "explore")]
    Explore(ExploreArgs),
    /// Print a page of one value, or lines of a text
    Read(ReadArgs),
    /// Find lines of text, or string values of JSON with their paths
    Search(SearchArgs),
    /// Delete stored outputs
    Rm(RmArgs),
    /// Protect stored outputs from gc
    Pin(PinArgs),
    /// Evict outputs over quota and remove leftovers of interrupted writes
    Gc(GcArgs),
    /// Check every stored output for damage
    Verify(VerifyArgs),
    /// Rebuild the output index
    Rebuild(RebuildArgs),
    /// Show the agent tools, or export their schemas to a provider
    Tools(ToolsArgs),
    /// Call a tool
    Call(CallArgs),
    /// Show past tool calls
    History(HistoryArgs),
    /// Run a document's steps: inputs, tools, a model, outputs
    Run(RunArgs),
    /// Serve the agent tools over the Model Context Protocol
    #[cfg(feature = "mcp")]
    Mcp(McpArgs),
    /// Inspect, export, and remove buffers
    Buffers(BuffersArgs),
    /// Inspect, rewind, repair, and sync agent session logs
    Sessions(SessionsArgs),
    /// Print the help of a command or a topic
    Help {
        /// Command, such as `extract` or `sessions list`, or one of the topics input, queries,
        /// output, and limits
        command: Vec<String>,
    },
    /// Print shell completions
    Completions {
        /// Shell to complete in
        shell: Shell,
    },
    /// Print a manual page, or write all to a folder
    Man {
        /// Command to document, such as `extract` or `sessions list` [default: the program]
        #[arg(conflicts_with = "all")]
        command: Vec<String>,

        /// Write the pages of all commands to DIR, which is created if needed
        #[arg(long, value_name = "DIR")]
        all: Option<std::path::PathBuf>,
    },
}

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  trommel check data.json && echo valid
  trommel check log.jsonl --on-bad-record skip           # report every malformed record
  trommel check log.jsonl --on-bad-record skip --json    # the same for programs
  trommel check data.json --duplicates-as-errors && echo 'names are unique'

Repeated names in an object are valid JSON. The first ten are listed with path and position, and
all are counted. If a pipe sends more than 16 MiB, they are only counted.")]
pub(crate) struct CheckArgs {
    #[command(flatten)]
    pub(crate) files: Files,

    #[command(flatten)]
    pub(crate) source: Source,

    /// Report errors as JSON on standard output, one per line
    ///
    /// This is the default in a pipe with --on-bad-record skip.
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
