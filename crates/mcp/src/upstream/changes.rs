//! Changes of a server's lists.

use tokio::sync::mpsc;

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
    pub(super) fn notice(&self, method: &str) {
        let change = match method {
            "notifications/tools/list_changed" => ListChange::Tools,
            "notifications/prompts/list_changed" => ListChange::Prompts,
            "notifications/resources/list_changed" => ListChange::Resources,
            _ => return,
        };
        // The proxy is gone when the program ends.
        let _ = self.sender.send((self.server.clone(), change));
    }
}
