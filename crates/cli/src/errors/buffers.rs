//! Errors about buffers. Advice names options of the command line.

use std::borrow::Cow;

use trommel_route::{ErrorClass, ErrorKind, RangeFault};
use trommel_toolbox::buffers::{Error, NAME};

use super::Failure;
use super::operation::{Kind, OperationError};

/// Returns the failure of an operation on buffers. It is printed as JSON if `json` is true.
pub(crate) fn failure(operation: &str, json: bool, error: &Error) -> Failure {
    let bad = OperationError {
        tool: NAME,
        command: format!("buffers {operation}"),
        code: error.code(),
        kind: Kind::of(error.is_request(), error.is_cancelled()),
        message: in_options(error),
        json,
    };
    bad.failure()
}

/// Returns the failure of `buffers read` without a range.
pub(crate) fn no_range(json: bool) -> Failure {
    let message = "no range given: pass --lines FIRST:LAST, or --offset and --length; use peek for an excerpt, search to \
                   find text, or export to write the buffer to a file";
    let bad = OperationError {
        tool: NAME,
        command: "buffers read".to_owned(),
        code: ErrorClass::Range.code(),
        kind: Kind::Refused,
        message: message.to_owned(),
        json,
    };
    bad.failure()
}

/// Formats an error as one line whose advice names options.
fn in_options(error: &Error) -> String {
    match error {
        Error::Route(error) => of_route(error),
        Error::Exists { .. } => {
            format!("{error}: pass --write-mode append, replace, or new for another name")
        }
        Error::NoPath => format!("{error}; pass a PATH below the root, such as reports/found.md"),
        _ => error.to_string(),
    }
}

fn of_route(error: &trommel_route::Error) -> String {
    let help: Cow<'_, str> = match error.kind() {
        ErrorKind::Range(RangeFault::Empty) => "--length must be at least 1".into(),
        ErrorKind::Range(RangeFault::LongLine { .. }) => {
            "read it with --offset and --length, or search it".into()
        }
        ErrorKind::Expression { .. } => "pass --plain to search for the literal text".into(),
        ErrorKind::NoBuffer { near: None, known: known @ 1.., .. } => {
            format!("`trommel buffers list` shows the {known} buffers").into()
        }
        _ => return error.to_string(),
    };
    format!("{}; {help}", error.fact())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn advice_names_options() {
        let long_line = RangeFault::LongLine { line: 1, offset: 0, limit: 8_000 };
        for (kind, advice) in [
            (ErrorKind::Range(RangeFault::Empty), "--length must be at least 1"),
            (ErrorKind::Range(long_line), "--offset and --length"),
            (ErrorKind::Expression { text: "(".into(), why: "open".into() }, "pass --plain"),
            (
                ErrorKind::NoBuffer { name: "x".into(), scope: None, near: None, known: 2 },
                "`trommel buffers list` shows the 2 buffers",
            ),
        ] {
            let message = in_options(&Error::Route(kind.into()));
            assert!(message.contains(advice), "{message}");
        }
        let message = in_options(&Error::Exists { path: "there.md".into() });
        assert!(message.starts_with("there.md already exists: pass --write-mode"), "{message}");
    }

    /// A buffer may have the name of an argument or an option.
    #[test]
    fn names_of_buffers_are_kept_verbatim() {
        let near = Some("write_mode".to_owned());
        let kind = ErrorKind::NoBuffer { name: "start_line".into(), scope: None, near, known: 1 };
        let message = in_options(&Error::Route(kind.into()));
        assert_eq!(message, "no buffer `start_line`; did you mean `write_mode`?");
    }
}
