use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, Subcommand};

use super::values;

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  trommel mcp                                   # serve the tools over standard input and output
  trommel mcp --wrap files='npx -y @modelcontextprotocol/server-filesystem /data'
  trommel mcp --config ~/.claude.json           # also offer the tools of these servers
  trommel mcp --http 127.0.0.1:8080             # serve over HTTP at /mcp
  trommel mcp --allow-writes notes              # also export below notes, and change sessions

  trommel mcp install claude-code --apply       # add the server to a client

The tools of a wrapped server NAME are offered as NAME_TOOL. A result of more than --max-chars
characters is stored, and the client gets a manifest with its ID and the calls that query it.")]
#[command(args_conflicts_with_subcommands = true, subcommand_negates_reqs = true)]
pub(crate) struct McpArgs {
    #[command(subcommand)]
    pub(crate) operation: Option<McpOperation>,

    #[command(flatten)]
    pub(crate) serve: ServeArgs,
}

#[derive(Debug, Subcommand)]
pub(crate) enum McpOperation {
    /// Approve the tools of wrapped servers as they are now
    ///
    /// The first time that a server is wrapped, its tools are approved. A tool that is new later,
    /// or whose description changed, is withheld until this command approves it.
    Approve {
        /// Server [default: all]
        server: Option<String>,

        /// Tool of the server [default: all]
        tool: Option<String>,

        #[command(flatten)]
        wrapping: Wrapping,
    },
    /// Add this server to a client's configuration
    Install {
        /// Client: antigravity, claude-code, claude-desktop, codex, cursor, gemini, opencode,
        /// vscode
        client: String,

        /// Move the client's other servers behind this one
        #[arg(long)]
        wrap_existing: bool,

        /// Write the change instead of printing it
        #[arg(long)]
        apply: bool,
    },
    /// Remove this server from a client's configuration
    ///
    /// If the file is as install left it, it gets its bytes of before. Otherwise only the entry is
    /// removed, and wrapped servers are put back.
    Uninstall {
        /// Client, as for install
        client: String,

        /// Write the change instead of printing it
        #[arg(long)]
        apply: bool,
    },
    /// Start wrapped servers, list their tools, call one each, and report
    Doctor {
        #[command(flatten)]
        wrapping: Wrapping,

        /// Print one JSON document
        #[arg(long)]
        json: bool,
    },
}

/// The characters of a result that pass unchanged.
pub(crate) const MAX_CHARS: usize = 30_000;

/// The options of the server.
#[derive(Debug, Args)]
pub(crate) struct ServeArgs {
    /// Let tools change sessions, and export buffers to files below DIR
    #[arg(long, value_name = "DIR")]
    pub(crate) allow_writes: Option<PathBuf>,

    /// Serve over HTTP at ADDRESS:PORT instead
    ///
    /// An address of another machine needs --token-file.
    #[arg(long, value_name = "ADDRESS:PORT", help_heading = "HTTP")]
    pub(crate) http: Option<SocketAddr>,

    /// Require the token in FILE with each request
    #[arg(long, value_name = "FILE", requires = "http", help_heading = "HTTP")]
    pub(crate) token_file: Option<PathBuf>,

    /// Accept requests for this host name as well
    #[arg(long, value_name = "HOST", requires = "http", help_heading = "HTTP")]
    pub(crate) allow_host: Vec<String>,

    /// Accept requests of web pages from this origin as well
    #[arg(long, value_name = "ORIGIN", requires = "http", help_heading = "HTTP")]
    pub(crate) allow_origin: Vec<String>,

    #[command(flatten)]
    pub(crate) wrapping: Wrapping,

    /// Pass results of at most N characters unchanged, and store longer ones
    #[arg(long, value_name = "N", default_value_t = MAX_CHARS, help_heading = "Wrapped servers")]
    pub(crate) max_chars: usize,

    /// Start wrapped servers at once instead of when they are first needed
    #[arg(long)]
    pub(crate) eager: bool,

    /// Turn a call of a wrapped tool into a task after S seconds, if the client can follow tasks
    #[arg(long, value_name = "S", default_value = "20", value_parser = values::seconds)]
    pub(crate) task_after: Duration,

    /// Stop a call after S seconds without progress
    #[arg(long, value_name = "S", default_value = "300", value_parser = values::seconds)]
    pub(crate) timeout: Duration,
}

/// The options that select other servers.
#[derive(Clone, Debug, Args)]
pub(crate) struct Wrapping {
    /// Offer the tools of a server that is started by a command, or is at an http address
    #[arg(long = "wrap", value_name = "NAME=COMMAND", help_heading = "Wrapped servers")]
    pub(crate) wrap: Vec<String>,

    /// Offer the tools of the servers in FILE (`mcpServers` or `servers`)
    #[arg(long, value_name = "FILE", help_heading = "Wrapped servers")]
    pub(crate) config: Vec<PathBuf>,

    /// Offer only this tool of wrapped servers
    #[arg(long, value_name = "TOOL", help_heading = "Wrapped servers")]
    pub(crate) only: Vec<String>,

    /// Do not offer this tool of wrapped servers
    #[arg(long, value_name = "TOOL", help_heading = "Wrapped servers")]
    pub(crate) except: Vec<String>,

    /// Stop a server whose result is longer than SIZE
    #[arg(long, value_name = "SIZE", default_value = "8GiB", value_parser = values::size, help_heading = "Wrapped servers")]
    pub(crate) max_result: u64,

    /// Stop a call of a wrapped tool after S seconds, also if it makes progress
    #[arg(long, value_name = "S", value_parser = values::seconds, help_heading = "Wrapped servers")]
    pub(crate) timeout_total: Option<Duration>,
}
