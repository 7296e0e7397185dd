//! The way to a server of either kind.

use std::io;
use std::sync::Arc;

use tokio::sync::mpsc;

use super::message::Sent;
use super::web::{self, Site};

/// Sends messages. Clones send to the same server.
#[derive(Clone)]
pub(super) enum Link {
    /// To the thread that writes lines, which ends with the last clone.
    Pipe(mpsc::Sender<String>),
    Web(Arc<Site>),
}

impl Link {
    pub(super) async fn send(&self, message: Sent) -> io::Result<()> {
        match self {
            Self::Pipe(lines) => {
                lines.send(message.body).await.map_err(|_closed| io::ErrorKind::BrokenPipe.into())
            }
            Self::Web(site) => web::send(site, message).await,
        }
    }
}
