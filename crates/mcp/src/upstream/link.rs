//! The way to a server of either kind.

use std::io;
use std::pin::Pin;

use super::message::Sent;

/// A message on its way.
pub(super) type Sending = Pin<Box<dyn Future<Output = io::Result<()>> + Send>>;

/// Sends messages to a server. The connection ends with the last link.
pub(super) trait Link: Send + Sync {
    fn send(&self, message: Sent) -> Sending;
}
