//! Tools and stored outputs over the Model Context Protocol: a server, and a proxy for others.
//!
//! The server offers the tools of a [`Host`]: those that read stored outputs, buffers, and
//! sessions. Stored outputs are also resources. The proxy offers the tools of other servers among
//! them. A result that is too long for a model goes to the store while it arrives, and the client
//! gets a manifest with the calls that query it.
//!
//! # Contents
//!
//! | | |
//! | --- | --- |
//! | [`Service`], [`Host`], [`ProxyOptions`] | what is served |
//! | [`serve`] | over a reader and a writer, such as standard input and output |
//! | [`Endpoint`], [`HttpOptions`] | over HTTP |
//! | [`Stop`] | ends a running server |
//! | [`ServerConfig`], [`Trust`] | wrapped servers, and the approval of their tools |
//! | [`inspect`], [`approve`] | reports about wrapped servers; approves their tools |
//! | [`WrappedTools`] | the tools of wrapped servers in a [`Registry`](trommel_tool::Registry) |
//! | [`Installer`], [`Client`], [`Change`] | the configuration files of clients |
//!
//! # Revisions
//!
//! Clients and servers may speak any revision from 2024-11-05 to 2026-07-28. Requests select their
//! revision one by one. Roots, sampling, and logging, which are deprecated, are refused by name.
//!
//! # Results
//!
//! A result of at most [`ProxyOptions::max_chars`] characters of text and structured content passes
//! byte for byte. In a longer one, each long text, the structured content, and each block of more
//! than 1 MiB is stored; texts of at most 2,000 characters pass beside them. A text that is JSON is
//! stored as that JSON. Structured content that repeats the text, as the same JSON or in its
//! longest string, is stored once. Memory does not depend on the length of a result.
//!
//! # Limits
//!
//! | item | limit | beyond |
//! |---|---|---|
//! | a request | 16 MiB; 4 MiB over HTTP | refused |
//! | a result | [`ProxyOptions::max_result`] | the call fails, and the server is stopped |
//! | members of a response besides its content | 32 MiB | the call fails |
//! | an error, an image | 1 MiB | shortened; stored |
//! | tools of a server | 10,000 | omitted |
//! | calls that wait for a client's answer | 64, for 10 minutes | the question is refused |
//! | requests of a server that are being answered | 64 | ignored |
//!
//! # Errors
//!
//! A failure of a call is a result with `isError`, so that a model can read it. Errors of wrapped
//! servers pass as they are.

mod doctor;
mod era;
mod files;
mod http;
mod install;
mod manifest;
mod own;
mod progress;
mod proxy;
mod render;
mod resources;
mod runtime;
mod server;
mod upstream;
mod wire;
mod wrapped;

pub use doctor::{CallReport, ServerReport, approve, inspect};
pub use http::{Endpoint, HttpOptions};
pub use install::{Change, Client, InstallError, Installer, UnknownClient};
pub use own::Host;
pub use proxy::ProxyOptions;
pub use server::{Service, Stop, serve};
#[cfg(feature = "fuzzing")]
pub use upstream::check_scan;
pub use upstream::{ConfigError, ServerConfig, Trust, Withheld};
pub use wrapped::WrappedTools;
