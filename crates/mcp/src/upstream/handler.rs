//! What a server sends by itself: progress, changes, and questions.

use std::sync::{Arc, Mutex, PoisonError};

use rmcp::model::{
    ClientCapabilities, ClientConfig, ClientResult, CustomResult, ElicitationCapability, ErrorCode,
    ErrorData, FormElicitationCapability, Implementation, ProgressToken, ProtocolVersion, ServerNotification,
    ServerRequest, UrlElicitationCapability,
};
use rmcp::service::{NotificationContext, RequestContext, RoleClient, Service};
use serde_json::{Value, json};
use tokio::sync::{mpsc, oneshot, watch};

use super::changes::Changes;
use crate::progress::Report;

/// A question of a server to the client, such as an elicitation.
#[derive(Debug)]
pub(crate) struct Question {
    /// The request: its method and parameters.
    pub(crate) request: Value,
    /// Takes the result.
    pub(crate) answer: oneshot::Sender<Result<Value, ErrorData>>,
}

/// Where the messages of a server about one request go.
pub(super) struct Route {
    pub(super) progress: Option<watch::Sender<Report>>,
    pub(super) questions: mpsc::Sender<Question>,
}

/// Requests and notifications of a server.
#[derive(Clone)]
pub(super) struct Handler {
    changes: Changes,
    /// The requests in progress, the newest last.
    routes: Arc<Mutex<Vec<(ProgressToken, Route)>>>,
}

impl Handler {
    pub(super) fn new(changes: Changes) -> Self {
        Self { changes, routes: Arc::default() }
    }

    pub(super) fn register(&self, token: &ProgressToken, route: Route) {
        self.routes.lock().unwrap_or_else(PoisonError::into_inner).push((token.clone(), route));
    }

    pub(super) fn remove(&self, token: &ProgressToken) {
        self.routes.lock().unwrap_or_else(PoisonError::into_inner).retain(|(other, _)| other != token);
    }

    /// Passes a question on to the newest request in progress: a server on a single stream does not
    /// say which one it is about.
    async fn ask(&self, request: Value) -> Result<Value, ErrorData> {
        let questions = {
            let routes = self.routes.lock().unwrap_or_else(PoisonError::into_inner);
            routes.last().map(|(_, route)| route.questions.clone())
        };
        let refused =
            || ErrorData::invalid_request("no request is in progress that could be asked about", None);
        let (answer, answered) = oneshot::channel();
        let questions = questions.ok_or_else(refused)?;
        questions.send(Question { request, answer }).await.map_err(|_gone| refused())?;
        answered.await.map_err(|_gone| refused())?
    }
}

impl Service<RoleClient> for Handler {
    async fn handle_request(
        &self,
        request: ServerRequest,
        _: RequestContext<RoleClient>,
    ) -> Result<ClientResult, ErrorData> {
        // The transport reads all requests as they are.
        let ServerRequest::CustomRequest(request) = request else { return Err(refusal("request")) };
        match request.method.as_str() {
            "ping" => Ok(ClientResult::empty(())),
            "elicitation/create" => {
                let question = json!({ "method": request.method, "params": request.params });
                self.ask(question).await.map(|answer| ClientResult::CustomResult(CustomResult::new(answer)))
            }
            method => Err(refusal(method)),
        }
    }

    async fn handle_notification(
        &self,
        notification: ServerNotification,
        _: NotificationContext<RoleClient>,
    ) -> Result<(), ErrorData> {
        match notification {
            ServerNotification::ProgressNotification(progress) => {
                let params = progress.params;
                let routes = self.routes.lock().unwrap_or_else(PoisonError::into_inner);
                let route = routes.iter().find(|(token, _)| *token == params.progress_token);
                if let Some((_, Route { progress: Some(progress), .. })) = route {
                    let message = params.message.unwrap_or(String::new());
                    progress.send_replace(Report { value: params.progress, total: params.total, message });
                }
            }
            other => self.changes.notice(&other),
        }
        Ok(())
    }

    fn get_info(&self) -> ClientConfig {
        let elicitation = ElicitationCapability::new()
            .with_form(FormElicitationCapability::new())
            .with_url(UrlElicitationCapability::new());
        let mut capabilities = ClientCapabilities::default();
        capabilities.elicitation = Some(elicitation);
        ClientConfig::new(capabilities, Implementation::new("trommel", env!("CARGO_PKG_VERSION")))
            .with_protocol_version(ProtocolVersion::V_2025_11_25)
    }
}

/// The refusal of a request of a server.
fn refusal(method: &str) -> ErrorData {
    let why = match method {
        "sampling/createMessage" => "sampling is deprecated, and not offered",
        "roots/list" => "roots are deprecated, and not offered",
        _ => "unknown request",
    };
    ErrorData::new(ErrorCode::METHOD_NOT_FOUND, format!("{method}: {why}"), None)
}
