//! The model that documents ask: an endpoint that the environment names.

use std::sync::Arc;
use std::time::Duration;

use trommel_workflow::{Endpoint, Model};

/// What to do where a step needs a model, and the environment names none.
pub(crate) const HINT: &str = "set TROMMEL_MODEL_URL and TROMMEL_MODEL";

/// The endpoint that the environment names, if it does, with a time limit for each request. Our variables come before those that
/// other programs read as well.
pub(crate) fn of_environment(timeout: Duration) -> Option<Arc<dyn Model>> {
    let url = variable(["TROMMEL_MODEL_URL", "OPENAI_BASE_URL"])?;
    let mut endpoint = Endpoint::new(&url).timeout(timeout);
    if let Some(key) = variable(["TROMMEL_MODEL_KEY", "OPENAI_API_KEY"]) {
        endpoint = endpoint.key(key);
    }
    if let Some(model) = variable(["TROMMEL_MODEL", "OPENAI_MODEL"]) {
        endpoint = endpoint.model(model);
    }
    Some(Arc::new(endpoint))
}

/// The first of these variables that says something.
fn variable(names: [&str; 2]) -> Option<String> {
    let texts = names.iter().filter_map(|name| std::env::var_os(name)?.into_string().ok());
    texts.map(|text| text.trim().to_owned()).find(|text| !text.is_empty())
}
