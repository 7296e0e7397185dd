//! Work in pieces on several threads, joined in order.

use std::collections::VecDeque;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::mpsc::{Receiver, TryRecvError, sync_channel};

use rayon::{ScopeFifo, ThreadPool, ThreadPoolBuilder, Yield};

/// A requested number of threads, or rayon's current pool.
pub struct Threads {
    /// The number of threads.
    pub count: usize,
    pool: Option<ThreadPool>,
    in_flight: usize,
}

/// Work in pieces. The pool processes them, and this thread joins their results in order.
pub trait Pipeline {
    /// A piece of the work.
    type Piece: Send;
    /// The result of a piece.
    type Answer: Send;
    /// The error of joining.
    type Error;

    /// Returns the next piece.
    fn next_piece(&mut self) -> Option<Self::Piece>;

    /// Joins the result of the next piece. Returns false if no later one is needed.
    ///
    /// # Errors
    /// That of the pipeline, which ends it.
    fn join(&mut self, answer: Self::Answer) -> Result<bool, Self::Error>;
}

impl Threads {
    /// The number of threads.
    pub fn count(requested: Option<usize>) -> usize {
        requested.unwrap_or_else(rayon::current_num_threads).max(1)
    }

    /// Creates the threads. If each piece takes much memory, few are processed at a time.
    ///
    /// # Errors
    /// If the system starts no threads.
    pub fn new(requested: Option<usize>, takes_much: bool) -> std::io::Result<Self> {
        let pool = requested.map(|threads| ThreadPoolBuilder::new().num_threads(threads).build());
        let (count, pool) = (Self::count(requested), pool.transpose().map_err(std::io::Error::other)?);
        let in_flight = if takes_much { count + 1 } else { Self::in_flight(count) };
        Ok(Self { count, pool, in_flight })
    }

    /// The number of pieces that are processed or wait to be joined at a time, for this number of
    /// threads. No thread waits while this one joins a piece.
    pub const fn in_flight(count: usize) -> usize {
        2 * count + 2
    }

    /// Processes the pieces of a pipeline, until it ends or a piece cannot be joined.
    ///
    /// # Errors
    /// Those of joining.
    pub fn run<P: Pipeline>(
        &self,
        pipeline: &mut P,
        process: impl Fn(P::Piece) -> P::Answer + Sync,
    ) -> Result<(), P::Error> {
        let is_over = AtomicBool::new(false);
        self.scope(|scope| {
            let mut answers = VecDeque::new();
            let result = loop {
                while answers.len() < self.in_flight
                    && let Some(piece) = pipeline.next_piece()
                {
                    let (sender, answer) = sync_channel(1);
                    let (is_over, process) = (&is_over, &process);
                    scope.spawn_fifo(move |_| {
                        if !is_over.load(Relaxed) {
                            // Nobody waits for the answer after the pipeline has ended.
                            let _ = sender.send(process(piece));
                        }
                    });
                    answers.push_back(answer);
                }
                // A thread that panics sends nothing, and the scope continues its panic.
                let Some(answer) = answers.pop_front().and_then(|answer| receive(&answer)) else {
                    break Ok(());
                };
                match pipeline.join(answer) {
                    Ok(true) => {}
                    Ok(false) => break Ok(()),
                    Err(error) => break Err(error),
                }
            };
            is_over.store(true, Relaxed);
            result
        })
    }

    fn scope<'s, R>(&self, what: impl FnOnce(&ScopeFifo<'s>) -> R) -> R {
        match &self.pool {
            Some(pool) => pool.in_place_scope_fifo(what),
            None => rayon::in_place_scope_fifo(what),
        }
    }
}

/// Waits for an answer. If this is a thread of a pool, which may be its only one, it works
/// meanwhile. `None` if there will be no answer.
fn receive<T>(answer: &Receiver<T>) -> Option<T> {
    loop {
        match answer.try_recv() {
            Ok(answer) => return Some(answer),
            Err(TryRecvError::Disconnected) => return None,
            Err(TryRecvError::Empty) => {}
        }
        if rayon::yield_now() != Some(Yield::Executed) {
            // Another thread is processing it.
            return answer.recv().ok();
        }
    }
}
