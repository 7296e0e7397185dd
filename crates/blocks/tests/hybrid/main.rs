//! Sessions of several machines and of the storage between them, as one view, and made the same.

mod changes;
mod exchange;
mod offline;
mod questions;
mod support;
mod views;
