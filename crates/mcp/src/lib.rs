//! Tools and stored outputs over the Model Context Protocol.

mod era;
mod own;
mod progress;
mod render;
mod resources;
mod server;
mod upstream;
mod wire;

pub use own::Host;
pub use server::{Server, Stop, serve};
