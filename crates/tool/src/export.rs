//! Exports of tools to models, in the dialect of each provider and within its budgets.

mod arguments;
pub mod budget;
mod changes;
pub mod dialect;
mod keywords;
mod layout;
mod plain;
mod provider;
mod strict;
mod words;
