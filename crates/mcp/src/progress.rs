//! Progress of a call, reported to the client that asked for it.

use std::convert::Infallible;
use std::time::{Duration, Instant};

use rmcp::model::{ProgressNotificationParam, ProgressToken};
use rmcp::service::{Peer, RequestContext, RoleServer};
use tokio::sync::watch;
use trommel_base::Progress;
use trommel_toolbox::outputs::size;

/// The longest interval between reports. It leaves room below the promised second.
const INTERVAL: Duration = Duration::from_millis(500);

/// The shortest interval between reports that a wrapped server caused.
const RELAYED: Duration = Duration::from_millis(40);

/// The step between two reports of a call that made no progress. The protocol wants each report to
/// be larger than the one before it.
const STEP: f64 = 1e-3;

/// The latest progress of a call.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Report {
    pub(crate) value: f64,
    pub(crate) total: Option<f64>,
    pub(crate) message: String,
}

impl From<Progress> for Report {
    fn from(progress: Progress) -> Self {
        let message = match progress.total {
            _ if progress.bytes == 0 => String::new(),
            Some(total) => format!("{} of {}", size(progress.bytes), size(total)),
            None => size(progress.bytes),
        };
        Self { value: progress.bytes as f64, total: progress.total.map(|total| total as f64), message }
    }
}

/// Reports the progress of one call.
pub(crate) struct Reporter {
    peer: Peer<RoleServer>,
    token: ProgressToken,
    started: Instant,
    /// The value of the last report.
    last: f64,
    /// True if each change is reported, and not only the state at each interval.
    relays: bool,
}

impl Reporter {
    /// Returns the reporter of a request, if its client wants reports.
    pub(crate) fn of(context: &RequestContext<RoleServer>) -> Option<Self> {
        let token = context.meta.get_progress_token()?;
        Some(Self { peer: context.peer.clone(), token, started: Instant::now(), last: -STEP, relays: false })
    }

    /// Also reports what a wrapped server reports, as it arrives.
    pub(crate) fn relaying(mut self) -> Self {
        self.relays = true;
        self
    }

    /// Reports the latest progress at each interval, until the future is dropped.
    async fn report(&mut self, latest: &watch::Receiver<Report>, what: &str) -> Infallible {
        let mut changes = latest.clone();
        loop {
            tokio::select! {
                () = tokio::time::sleep(INTERVAL) => {}
                Ok(()) = changes.changed(), if self.relays => {}
            }
            let report = changes.borrow_and_update().clone();
            let seconds = self.started.elapsed().as_secs();
            let separator = if report.message.is_empty() { "" } else { ", " };
            let message = format!("{what}: {}{separator}{seconds} s", report.message);
            self.send(report.value, report.total, message).await;
            if self.relays {
                tokio::time::sleep(RELAYED).await;
            }
        }
    }

    /// Reports the end of a call that succeeded: the last value is the total.
    pub(crate) async fn finish(&mut self, latest: &watch::Receiver<Report>, what: &str) {
        let total = latest.borrow().total;
        if let Some(total) = total
            && self.last >= 0.0
            && self.last < total
        {
            self.send(total, Some(total), format!("{what}: done")).await;
        }
    }

    async fn send(&mut self, value: f64, total: Option<f64>, message: String) {
        self.last = if value > self.last { value } else { self.last + STEP };
        let mut report = ProgressNotificationParam::new(self.token.clone(), self.last);
        report.total = total.map(|total| total.max(self.last));
        // A client that is gone cancels the call by other means.
        let _ = self.peer.notify_progress(report.with_message(message)).await;
    }
}

/// Reports progress, if the client wants reports, until the future is dropped.
pub(crate) async fn report(
    reporter: Option<&mut Reporter>,
    latest: &watch::Receiver<Report>,
    what: &str,
) -> Infallible {
    match reporter {
        Some(reporter) => reporter.report(latest, what).await,
        None => std::future::pending().await,
    }
}
