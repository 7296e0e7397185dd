//! Long containers that are skipped by several threads.

use std::sync::OnceLock;

use trommel_base::threads::{Pipeline, Threads};
use trommel_reader::{self as reader, LongSkip, SkipHelper, SkippedStretch, Span};

use crate::analysis::Options;

/// The threads that skip long containers, which start with the first of them.
pub(crate) struct LongSkips {
    requested: Option<usize>,
    threads: OnceLock<Option<Threads>>,
}

impl LongSkips {
    pub(crate) const fn new(options: &Options) -> Self {
        Self { requested: options.threads, threads: OnceLock::new() }
    }
}

impl SkipHelper for LongSkips {
    fn skip(&self, long: &mut LongSkip<'_, '_>) -> reader::Result<()> {
        if Threads::count(self.requested) < 2 {
            return Ok(());
        }
        // Without threads, the cursor continues alone.
        let Some(threads) = self.threads.get_or_init(|| Threads::new(self.requested, false).ok()) else {
            return Ok(());
        };
        let reader = long.reader();
        threads.run(&mut Joiner(long), |span| reader.skip(span))
    }
}

struct Joiner<'j, 's, 'a>(&'j mut LongSkip<'s, 'a>);

impl Pipeline for Joiner<'_, '_, '_> {
    type Piece = Span;
    type Answer = SkippedStretch;
    type Error = reader::Error;

    fn next_piece(&mut self) -> Option<Span> {
        self.0.next_stretch()
    }

    fn join(&mut self, stretch: SkippedStretch) -> reader::Result<bool> {
        self.0.join(&stretch)
    }
}
