//! Other servers, whose tools this server offers as its own.
//!
//! | module | contents |
//! | --- | --- |
//! | `config`, `trust` | the servers of a configuration; the approved descriptions of their tools |
//! | `changes`, `subscription` | changes of a server's lists; the subscription to those of a newer one |
//! | `client`, `session` | a server that is started when needed; a connection, and its requests |
//! | `inbox`, `calls` | what arrives from a server; the requests that wait for it |
//! | `process`, `log` | the process of a server; the newest lines of its error stream |
//! | `pipe`, `web`, `link` | the transports to a process and to a URL; one of both |
//! | `message`, `params` | messages by kind; the parameters of requests, verbatim |
//! | `line`, `walk` | messages in memory; responses with long values, read as they arrive |
//! | `capture`, `spill` | the bytes of a value as it passes; a value in memory or in the store |
//! | `writer`, `hashes` | the thread that stores a value; its hashes, by which copies are found |

mod calls;
mod capture;
mod changes;
#[cfg(any(test, feature = "fuzzing"))]
mod check;
mod client;
mod config;
mod hashes;
mod inbox;
mod line;
mod link;
mod log;
mod message;
mod params;
mod pipe;
mod process;
mod session;
mod spill;
mod subscription;
mod trust;
mod walk;
mod web;
mod writer;

pub(crate) use calls::{Outgoing, Reply};
pub(crate) use changes::ListChange;
#[cfg(feature = "fuzzing")]
pub use check::check_scan;
pub(crate) use client::{Limits, Pending, RETRY, RequestError, Step, Upstream};
pub use config::{ConfigError, ServerConfig};
pub(crate) use inbox::Question;
pub(crate) use params::Params;
pub(crate) use session::Capabilities;
pub(crate) use spill::CallOrigin;
pub(crate) use trust::{Described, hash as tool_hash};
pub use trust::{Trust, Withheld};
pub(crate) use walk::{Part, Reduced, Role};
pub(crate) use web::{Mirrored, without_annotations};
