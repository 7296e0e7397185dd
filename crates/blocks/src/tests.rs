//! Devices that share a storage: what each has, what is stored, and what becomes of it.

mod devices;
mod story;
