//! Tools and stored outputs over the Model Context Protocol.

mod era;
mod http;
mod manifest;
mod own;
mod progress;
mod proxy;
mod render;
mod resources;
mod server;
mod upstream;
mod wire;

pub use http::{Endpoint, HttpOptions};
pub use own::Host;
pub use proxy::ProxyOptions;
pub use server::{Service, Stop, serve};
pub use upstream::{ConfigError, ServerConfig, Trust, Withheld};
