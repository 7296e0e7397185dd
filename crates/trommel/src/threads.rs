//! The thread pool of a run.

use rayon::{Scope, ThreadPool, ThreadPoolBuilder};

use crate::analysis::Options;
use crate::error::Error;

/// The requested number of threads, or rayon's current pool.
pub(crate) struct Threads {
    pub(crate) count: usize,
    pool: Option<ThreadPool>,
}

impl Threads {
    /// Parts per thread that are processed before their results are joined.
    pub(crate) const PARTS: usize = 4;

    /// The number of threads.
    pub(crate) fn count(options: &Options) -> usize {
        options.threads.unwrap_or_else(rayon::current_num_threads).max(1)
    }

    pub(crate) fn new(options: &Options) -> Result<Self, Error> {
        let pool = options.threads.map(|threads| ThreadPoolBuilder::new().num_threads(threads).build());
        Ok(Self { count: Self::count(options), pool: pool.transpose().map_err(std::io::Error::other)? })
    }

    /// Runs a closure on this thread, with a scope that spawns work on the pool.
    pub(crate) fn scope<'s, R>(&self, what: impl FnOnce(&Scope<'s>) -> R) -> R {
        match &self.pool {
            Some(pool) => pool.in_place_scope(what),
            None => rayon::in_place_scope(what),
        }
    }

    /// Runs a closure on the pool.
    pub(crate) fn install<R: Send>(&self, what: impl FnOnce() -> R + Send) -> R {
        match &self.pool {
            Some(pool) => pool.install(what),
            None => what(),
        }
    }
}
