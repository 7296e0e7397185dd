//! Other servers, whose tools this server offers as its own.

mod calls;
mod capture;
mod client;
mod config;
mod line;
mod log;
mod params;
mod pipe;
mod process;
mod spill;
mod trust;
mod walk;
