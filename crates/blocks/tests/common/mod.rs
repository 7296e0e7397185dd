//! Machines with sessions, the net between them and a storage, and what becomes of them when anything may happen.

pub(crate) mod machine;
pub(crate) mod net;
pub(crate) mod world;
