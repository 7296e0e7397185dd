//! Errors about the list of stored outputs. Advice names options of the command line.

use trommel_store::{Error, ErrorClass, ErrorKind};

use super::Failure;
use super::operation::{Kind, OperationError};
use super::store;

/// Returns the failure of a list. It is printed as JSON if `json` is true.
pub(crate) fn failure(json: bool, error: &Error) -> Failure {
    let class = error.class();
    let bad = OperationError {
        tool: "tool_outputs.list",
        command: "list".to_owned(),
        code: error.code(),
        kind: Kind::of(store::is_request(class), class == ErrorClass::Cancelled),
        message: in_options(error),
        json,
    };
    bad.failure()
}

/// Formats an error as one line that names options instead of the members of a filter.
fn in_options(error: &Error) -> String {
    let (ErrorKind::EmptyTimeRange { after, before, .. }, Some(help)) = (error.kind(), error.help()) else {
        return error.to_string();
    };
    format!("--after ({after}) must be earlier than --before ({before}); {help}")
}
