//! The two eras of the protocol.

use rmcp::model::ProtocolVersion;
use rmcp::service::{RequestContext, RoleServer};

/// The era of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Era {
    /// Revision 2026-07-28 and later: each request carries its version and capabilities.
    Modern,
    /// Revisions up to 2025-11-25: the version was agreed on by `initialize`.
    Legacy,
}

impl Era {
    pub(crate) fn of(context: &RequestContext<RoleServer>) -> Self {
        match context.protocol_version() {
            Some(version) if version >= ProtocolVersion::V_2026_07_28 => Self::Modern,
            _ => Self::Legacy,
        }
    }
}
