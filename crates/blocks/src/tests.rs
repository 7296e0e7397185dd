//! Several devices and the storage between them.

mod devices;
mod faults;
mod machine;
mod memory;
mod story;
