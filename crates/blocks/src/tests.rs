//! Several devices and the storage between them.

mod both;
mod depths;
mod devices;
mod faults;
mod foreign;
mod identity;
mod machine;
mod memory;
mod story;
mod unfinished;
