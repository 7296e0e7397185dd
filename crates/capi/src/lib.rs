//! The C interface: documents, questions as JSON, answers as JSON, values by callback, and Arrow
//! streams.
//!
//! Handles are numbers that this library looks up, never addresses that it follows. A handle that
//! is null, freed, or of another type is an error, not a crash. No panic crosses the interface: it
//! becomes the status `TROMMEL_STATUS_DEFECT`.
//!
//! Every function returns a [`TrommelStatus`](status::TrommelStatus). After a failure, the
//! functions `trommel_error_*` describe it, in the same thread, until the next call.

mod abi;
mod document;
mod handle;
mod partial;
mod run;
mod status;
mod table;
mod text;
