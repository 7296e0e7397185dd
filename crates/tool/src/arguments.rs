//! Arguments of calls: their schema, healing, and faults.

pub(crate) mod faults;
pub(crate) mod heal;
mod members;
mod place;
pub(crate) mod schema;
