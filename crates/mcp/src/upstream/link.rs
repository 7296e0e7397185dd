//! The transport to a server of either kind. One type, so that the client of the SDK is compiled
//! once.

use std::io;
use std::pin::Pin;

use rmcp::service::{RoleClient, RxJsonRpcMessage, TxJsonRpcMessage};
use rmcp::transport::Transport;

use super::pipe::Pipe;
use super::web::Web;

pub(super) enum Link {
    Pipe(Pipe),
    Web(Web),
}

impl Transport<RoleClient> for Link {
    type Error = io::Error;

    fn send(
        &mut self,
        message: TxJsonRpcMessage<RoleClient>,
    ) -> impl Future<Output = io::Result<()>> + Send + 'static {
        let sent: Pin<Box<dyn Future<Output = io::Result<()>> + Send>> = match self {
            Self::Pipe(pipe) => Box::pin(pipe.send(message)),
            Self::Web(web) => Box::pin(web.send(message)),
        };
        sent
    }

    async fn receive(&mut self) -> Option<RxJsonRpcMessage<RoleClient>> {
        match self {
            Self::Pipe(pipe) => pipe.receive().await,
            Self::Web(web) => web.receive().await,
        }
    }

    async fn close(&mut self) -> io::Result<()> {
        match self {
            Self::Pipe(pipe) => pipe.close().await,
            Self::Web(web) => web.close().await,
        }
    }
}
