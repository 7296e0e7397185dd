//! The contract between tools, their callers, and the host: what each provides, and what a call
//! results in.

pub(crate) mod asynchronous;
pub(crate) mod call;
pub(crate) mod context;
pub(crate) mod delivery;
pub(crate) mod error;
pub(crate) mod failure;
pub(crate) mod fault;
pub(crate) mod function;
pub(crate) mod host;
pub(crate) mod metadata;
pub(crate) mod output;
pub(crate) mod parameter;
pub(crate) mod result;
pub(crate) mod tool;
