//! Tools made from functions.

use std::fmt;
use std::sync::Arc;

use crate::call::Call;
use crate::failure::Failure;
use crate::metadata::Metadata;
use crate::output::Output;
use crate::tool::{Permissions, Tool};

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
    /// A tool that says this about itself and does this.
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

/// A tool that is shared is a tool.
impl<T: Tool + ?Sized> Tool for Arc<T> {
    fn metadata(&self) -> &Metadata {
        (**self).metadata()
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
