//! Buffers: shows, searches, and exports the contents that results and inputs were routed to.
//!
//! [`answer`] takes a typed [`Request`], for programs. The tool `buffer_ops` takes the same
//! requests as arguments, for models.
//!
//! Constants bound an answer: a peek has at most 2,000 characters, a read 8,000, a search 100 hits
//! of 300 characters and 30,000 in all, and a list 100 buffers. A longer answer is refused with the
//! size that would fit, or continues from the offset in `truncated`.

mod answer;
mod arguments;
mod error;
mod handler;
mod metadata;
mod request;

use std::sync::Arc;

use serde_json::value::RawValue;
use trommel_route::{Destinations, ErrorClass, Route, Target, WriteMode};
use trommel_tool::{Call, Failure, Metadata, Output, Permissions, Registry, RegistryError, Tool};

use crate::schema;
pub use answer::{
    Answer, BufferExcerpt, BufferListing, ExportResult, Hit, SearchHits, Truncated, TruncationReason,
};
use arguments::{Arguments, Operation};
pub use error::Error;
pub use handler::{OnProgress, answer};
pub use metadata::NAME;
pub use request::{BufferRef, Export, Range, Request, Search};

/// Registers the tool `buffer_ops`. It reads the buffers of `destinations`, and exports to its
/// files.
///
/// # Errors
/// Returns an error if the registry already has a tool of this name.
pub fn register(registry: &Registry, destinations: &Destinations) -> Result<(), RegistryError> {
    registry.register(BufferOps::new(destinations, Permissions::ALL))
}

/// The tool `buffer_ops`.
struct BufferOps {
    metadata: Metadata,
    destinations: Destinations,
    permissions: Permissions,
}

impl BufferOps {
    fn new(destinations: &Destinations, permissions: Permissions) -> Self {
        Self { metadata: metadata::metadata(permissions), destinations: destinations.clone(), permissions }
    }

    /// Refuses an export that is not permitted.
    fn check_permitted(&self, arguments: &Arguments) -> Result<(), Failure> {
        let Permissions { write_files, replace_files, .. } = self.permissions;
        if arguments.operation != Operation::Export {
            return Ok(());
        }
        let why = if !write_files {
            "buffers may only be read here: a document permits exports with `@tools buffer_ops` in the step, and a server with `--allow-writes DIR`"
        } else if !replace_files && arguments.write_mode == Some(WriteMode::Replace) {
            "this step may not replace files: pass `write_mode` append or new, or write `@tools buffer_ops(write-mode=replace)` in it"
        } else {
            return Ok(());
        };
        Err(Failure::refused(why).with("code", ErrorClass::Unsupported.code()))
    }

    fn answer(&self, call: &Call<'_>, arguments: &Arguments) -> Result<Answer, Failure> {
        let request = arguments.request()?;
        let on_progress = &mut |bytes, total| {
            call.progress(bytes, Some(total));
            !call.cancel().is_cancelled()
        };
        answer(&self.destinations, &request, on_progress)
            .map_err(|error| error.into_failure(self.permissions.replace_files))
    }
}

impl Tool for BufferOps {
    fn metadata(&self) -> &Metadata {
        &self.metadata
    }

    fn run(&self, call: &mut Call<'_>) -> Result<Output, Failure> {
        let arguments: Arguments = call.parse()?;
        let given = schema::given(&self.metadata.args_schema, call.arguments);
        let checked = arguments.check(given).and_then(|()| self.check_permitted(&arguments));
        checked.map_err(|failure| in_operation(arguments.operation, failure))?;
        let answer = self.answer(call, &arguments);
        let answer = answer.map_err(|failure| in_operation(arguments.operation, failure))?;
        let json = RawValue::from_string(answer.to_json());
        json.map(Output::Json).map_err(|error| Failure::raised(&error))
    }

    fn within(&self, permissions: Permissions) -> Option<Arc<dyn Tool>> {
        let is_within = self.permissions.write_files <= permissions.write_files
            && self.permissions.replace_files <= permissions.replace_files;
        (!is_within).then(|| Arc::new(Self::new(&self.destinations, permissions)) as Arc<dyn Tool>)
    }

    fn dry_run(&self, call: &Call<'_>) -> Option<String> {
        let arguments: Arguments = call.parse().ok()?;
        let (Operation::Export, Some(destination)) = (arguments.operation, &arguments.destination) else {
            return None;
        };
        let target = Target::parse(&format!("file:{destination}")).ok()?;
        let mode = arguments.write_mode.unwrap_or_default();
        let to = self.destinations.preview(&Route::to(target).write_mode(mode)).ok()?;
        Some(format!("Would write the buffer {} to {to}", arguments.target.as_deref().unwrap_or("")))
    }
}

/// Prepends the operation's name to a failure.
fn in_operation(operation: Operation, failure: Failure) -> Failure {
    if failure.kind == trommel_tool::FailureKind::Cancelled {
        return failure;
    }
    let message = format!("{NAME} {operation}: {}", failure.message);
    let mut named = Failure::new(message);
    (named.kind, named.metadata, named.causes) = (failure.kind, failure.metadata, failure.causes);
    named
}
