//! `trommel mcp`: the server, and the proxy over servers that are odd in every way.

mod client;
mod commands;
mod documents;
mod http;
mod odd_answers;
mod odd_server;
mod promises;
mod prompts;
mod proxy;
mod server;
mod tasks;
mod web;
mod web_server;

/// The server of [`odd_server`] if this process was started as one; no test otherwise.
#[test]
#[expect(clippy::exit, reason = "it is a program then")]
fn odd_server() {
    if std::env::var_os("SERVER").is_some() {
        odd_server::serve();
        std::process::exit(0);
    }
}
