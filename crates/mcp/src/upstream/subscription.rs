//! The subscription to the changes of a newer server.

use std::sync::Weak;
use std::time::Duration;

use serde_json::{Map, Value, json};

use super::calls::Outgoing;
use super::client::Connection;
use super::session::{Agreed, NEWER};
use crate::runtime::spawn;

/// The pause before a subscription that ended is renewed.
const PAUSE: Duration = Duration::from_secs(5);

/// Subscribes to the changes of a newer server, which it does not send otherwise, until the
/// connection closes.
pub(super) fn subscribe(connection: Weak<Connection>) {
    let Some(agreed) = connection.upgrade().map(|connection| filter(connection.agreed())) else { return };
    let Some(filter) = agreed else { return };
    let params = json!({ "notifications": filter }).to_string();
    spawn(async move {
        while let Some(open) = connection.upgrade().filter(|open| !open.is_closed()) {
            let outgoing = Outgoing::plain(params.clone());
            let subscribed = open.session().request("subscriptions/listen", outgoing, None).await;
            drop(open);
            // The notifications arrive like those of an older server. A server that refuses may
            // accept later, such as after a restart.
            if let Ok(mut waiting) = subscribed {
                let _ = (&mut waiting.answer).await;
            }
            tokio::time::sleep(PAUSE).await;
        }
    });
}

/// The changes that a newer server can send, if any.
fn filter(agreed: &Agreed) -> Option<Map<String, Value>> {
    if agreed.version.as_str() < NEWER {
        return None;
    }
    let lists = ["tools", "prompts", "resources"].into_iter();
    let lists = lists.filter(|list| agreed.capabilities.reports(list));
    let filter: Map<String, Value> = lists.map(|list| (format!("{list}ListChanged"), true.into())).collect();
    (!filter.is_empty()).then_some(filter)
}
