//! Tools made from functions.

use std::fmt;
use std::sync::Arc;

use serde_json::{Map, Value};

use super::call::Call;
use super::failure::Failure;
use super::metadata::Metadata;
use super::output::Output;
use super::tool::{Permissions, Tool};

/// A tool made from a function.
#[derive(Clone)]
pub struct Function<F> {
    metadata: Metadata,
    run: F,
}

impl<F, R> Function<F>
where
    F: Fn(&mut Call<'_>) -> Result<R, Failure> + Send + Sync,
    R: Into<Output>,
{
    /// A tool of this description that runs this function.
    pub fn new(metadata: Metadata, run: F) -> Self {
        Self { metadata, run }
    }
}

impl<F, R> Tool for Function<F>
where
    F: Fn(&mut Call<'_>) -> Result<R, Failure> + Send + Sync,
    R: Into<Output>,
{
    fn metadata(&self) -> &Metadata {
        &self.metadata
    }

    fn run(&self, call: &mut Call<'_>) -> Result<Output, Failure> {
        (self.run)(call).map(Into::into)
    }
}

impl<F> fmt::Debug for Function<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Function").field("name", &self.metadata.name).finish_non_exhaustive()
    }
}

/// A shared tool is a tool.
impl<T: Tool + ?Sized> Tool for Arc<T> {
    fn metadata(&self) -> &Metadata {
        (**self).metadata()
    }

    fn complete(&self, arguments: &mut Map<String, Value>) -> Result<(), Failure> {
        (**self).complete(arguments)
    }

    fn run(&self, call: &mut Call<'_>) -> Result<Output, Failure> {
        (**self).run(call)
    }

    fn within(&self, permissions: Permissions) -> Option<Arc<dyn Tool>> {
        (**self).within(permissions)
    }

    fn dry_run(&self, call: &Call<'_>) -> Option<String> {
        (**self).dry_run(call)
    }
}
