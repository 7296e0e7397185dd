//! Errors about the list of stored outputs, in the words of the command line.

use trommel_store::{Error, ErrorClass, ErrorKind};

use super::Failure;
use super::operation::{BadOperation, Kind};
use super::store;

/// The failure of a list. It is printed as JSON if `json` is true.
pub(crate) fn failure(json: bool, error: &Error) -> Failure {
    let class = error.class();
    let bad = BadOperation {
        tool: "tool_outputs.list",
        command: "list".to_owned(),
        code: error.code(),
        kind: Kind::of(store::is_request(class), class == ErrorClass::Cancelled),
        message: in_options(error),
        json,
    };
    bad.failure()
}

/// An error in one line, with options in place of the members of a filter.
fn in_options(error: &Error) -> String {
    let (ErrorKind::NoTime { after, before, .. }, Some(help)) = (error.kind(), error.help()) else {
        return error.to_string();
    };
    format!("--after ({after}) is not below --before ({before}), so that nothing can lie between; {help}")
}
