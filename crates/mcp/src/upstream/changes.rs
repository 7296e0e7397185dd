//! Changes of a server's lists.

use std::time::Duration;

use rmcp::model::{ProtocolVersion, ServerCapabilities, ServerNotification, SubscriptionFilter};
use rmcp::service::{Peer, RoleClient, SubscriptionEnd};
use tokio::sync::mpsc;

/// The pause before a subscription that ended is renewed.
const PAUSE: Duration = Duration::from_secs(5);

/// A change of a server's lists.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ListChange {
    Tools,
    Prompts,
    Resources,
}

/// The changes of one server, for the proxy.
#[derive(Clone, Debug)]
pub(super) struct Changes {
    server: String,
    sender: mpsc::UnboundedSender<(String, ListChange)>,
}

impl Changes {
    pub(super) fn new(server: &str, sender: mpsc::UnboundedSender<(String, ListChange)>) -> Self {
        Self { server: server.to_owned(), sender }
    }

    /// Passes a notification on, if it is about a list.
    pub(super) fn notice(&self, notification: &ServerNotification) {
        let change = match notification {
            ServerNotification::ToolListChangedNotification(_) => ListChange::Tools,
            ServerNotification::PromptListChangedNotification(_) => ListChange::Prompts,
            ServerNotification::ResourceListChangedNotification(_) => ListChange::Resources,
            _ => return,
        };
        self.report(change);
    }

    fn report(&self, change: ListChange) {
        // The proxy is gone when the program ends.
        let _ = self.sender.send((self.server.clone(), change));
    }

    /// Subscribes to the changes of a newer server, which it does not send otherwise, until the
    /// connection closes.
    pub(super) fn subscribe(&self, peer: &Peer<RoleClient>) {
        let Some(info) = peer.peer_info() else { return };
        if info.protocol_version < ProtocolVersion::V_2026_07_28 {
            return;
        }
        let filter = filter(&info.capabilities);
        if filter == SubscriptionFilter::new() {
            return;
        }
        let (changes, peer) = (self.clone(), peer.clone());
        tokio::spawn(async move {
            while !peer.is_transport_closed() {
                // A server that refuses may accept later, such as after a restart.
                if let Ok(mut subscription) = peer.listen(filter.clone()).await {
                    while let Ok(Some(notification)) = subscription.next().await {
                        changes.notice(&notification);
                    }
                    if let Some(SubscriptionEnd::Lagged { .. }) = subscription.end() {
                        for change in [ListChange::Tools, ListChange::Prompts, ListChange::Resources] {
                            changes.report(change);
                        }
                    }
                }
                tokio::time::sleep(PAUSE).await;
            }
        });
    }
}

/// The changes that a server can send.
fn filter(capabilities: &ServerCapabilities) -> SubscriptionFilter {
    let mut filter = SubscriptionFilter::new();
    let flag = |flag: Option<bool>| flag.filter(|flag| *flag);
    filter.tools_list_changed = flag(capabilities.tools.as_ref().and_then(|tools| tools.list_changed));
    filter.prompts_list_changed =
        flag(capabilities.prompts.as_ref().and_then(|prompts| prompts.list_changed));
    filter.resources_list_changed =
        flag(capabilities.resources.as_ref().and_then(|resources| resources.list_changed));
    filter
}
