//! Arguments of calls: their schema, healing, and faults.

pub(crate) mod faults;
pub(crate) mod heal;
mod members;
mod pointer;
pub(crate) mod schema;
