//! Blocks into the container: created, never changed.

use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, Ordering};

use azure_data_cosmos::TransactionalBatch;
use azure_data_cosmos::models::TransactionalBatchOperationResult;
use serde_json::value::RawValue;
use trommel_blocks::{Block, Created, Error, ErrorClass, Failed, Key, Result};
use trommel_session::Watch;

use super::failure::{Failure, code};
use super::fault::CosmosFault;
use super::link::Link;
use super::options::Layout;
use super::pages::Asked;
use super::rows;

/// Operations of a batch at most, and bytes of their documents: the service takes 2 MiB with all
/// that stands around them.
const OPERATIONS: usize = 100;
const BYTES: usize = 1_500_000;

/// What became of a batch.
enum Batched {
    Done,
    Conflict,
    /// The service knows no batches.
    Unknown,
}

/// A document on its way.
#[derive(Clone)]
struct Ready {
    id: String,
    text: Box<RawValue>,
}

/// Creates blocks in a container.
pub(super) struct Creator<'a> {
    pub(super) link: &'a Link,
    /// True once the service was found not to know batches, as emulators may not.
    pub(super) has_no_batches: &'a AtomicBool,
}

impl Creator<'_> {
    /// Creates one block.
    pub(super) fn one(&self, key: &Key, block: &Block, watch: &Watch<'_>) -> Result<Created> {
        let (id, text) = rows::document(key, block)?;
        let partition = key.partition();
        let there = self.link.ask(watch, move |open| {
            let (partition, ready) = (partition.clone(), Ready { id: id.clone(), text: text.clone() });
            async move {
                check_writable(open.layout)?;
                match open.container.create_item(partition.clone(), &ready.id, &ready.text, None).await {
                    Ok(_) => return Ok(None),
                    Err(error) if code(&error) == 409 => {}
                    Err(error) => return Err(error.into()),
                }
                match open.container.read_item(partition, &ready.id, None).await {
                    Ok(found) => Ok(Some(found.into_model::<Box<RawValue>>()?)),
                    Err(error) if code(&error) == 404 => Err(late()),
                    Err(error) => Err(error.into()),
                }
            }
        })?;
        match there {
            None => Ok(Created::New),
            Some(document) if rows::block(&document, true)?.is_same_as(block) => Ok(Created::Same),
            Some(_) => Ok(Created::Taken),
        }
    }

    /// Creates in parts that become visible all at once, so that nobody ever sees a block without
    /// those before it.
    pub(super) fn many(&self, key: &Key, blocks: &[Block], watch: &Watch<'_>) -> Result<usize> {
        let mut done = 0;
        while let rest @ [block, ..] = &blocks[done..] {
            let part = self.part(key, rest)?;
            if part.len() < 2 || self.has_no_batches.load(Ordering::Relaxed) {
                if self.one(key, block, watch)? == Created::Taken {
                    return Ok(done);
                }
                done += 1;
                continue;
            }
            let length = part.len();
            match self.batch(key, part, watch)? {
                Batched::Done => done += length,
                Batched::Unknown => self.has_no_batches.store(true, Ordering::Relaxed),
                Batched::Conflict => {
                    let part = &rest[..length];
                    let (same, is_taken) = self.leading(key, part, watch)?;
                    done += same;
                    if is_taken {
                        return Ok(done);
                    }
                    // Something that is not of this session is in the way of a block: one by one it
                    // is found out what.
                    if same == 0 {
                        if self.one(key, block, watch)? == Created::Taken {
                            return Ok(done);
                        }
                        done += 1;
                    }
                }
            }
        }
        Ok(done)
    }

    /// The first blocks that go into one batch.
    fn part(&self, key: &Key, blocks: &[Block]) -> Result<Vec<Ready>> {
        let (mut part, mut bytes) = (Vec::new(), 0);
        for block in blocks.iter().take(OPERATIONS) {
            let (id, text) = match rows::document(key, block) {
                // What stands before one that cannot be stored is stored.
                Err(_) if !part.is_empty() => break,
                made => made?,
            };
            bytes += text.get().len();
            if !part.is_empty() && (bytes > BYTES || self.has_no_batches.load(Ordering::Relaxed)) {
                break;
            }
            part.push(Ready { id, text });
        }
        Ok(part)
    }

    fn batch(&self, key: &Key, part: Vec<Ready>, watch: &Watch<'_>) -> Result<Batched> {
        let partition = key.partition();
        self.link.ask(watch, move |open| {
            let (partition, part) = (partition.clone(), part.clone());
            async move {
                check_writable(open.layout)?;
                let mut batch = TransactionalBatch::new(partition);
                for ready in &part {
                    batch = batch.create_item(&ready.text)?;
                }
                match open.container.execute_transactional_batch(batch, None).await {
                    Ok(answer) => match answer.into_model() {
                        Ok(answer) => outcome(answer.results(), part.len()),
                        // It took the batch for a document.
                        Err(_) => Ok(Batched::Unknown),
                    },
                    Err(error) => match code(&error) {
                        409 => Ok(Batched::Conflict),
                        400 | 404 | 405 | 501 => Ok(Batched::Unknown),
                        _ => Err(error.into()),
                    },
                }
            }
        })
    }

    /// How many of the first blocks are there already, the same, and whether another one has the
    /// number behind them.
    fn leading(&self, key: &Key, part: &[Block], watch: &Watch<'_>) -> Result<(usize, bool)> {
        let (Some(first), Some(last)) = (part.first(), part.last()) else { return Ok((0, false)) };
        let query = rows::between(key, first.sequence, last.sequence)?;
        let asked = Asked { query, partition: Some(key.partition()) };
        let (mut same, mut is_taken) = (0, false);
        self.link.pages(&asked, watch, &mut |documents| {
            for document in documents {
                let there = rows::block(&document, false)?;
                match part.get(same) {
                    Some(block) if block.is_same_as(&there) => same += 1,
                    Some(block) => {
                        is_taken = block.sequence == there.sequence;
                        return Ok(ControlFlow::Break(()));
                    }
                    None => return Ok(ControlFlow::Break(())),
                }
            }
            Ok(ControlFlow::Continue(()))
        })?;
        Ok((same, is_taken))
    }
}

fn outcome(
    results: &[TransactionalBatchOperationResult],
    count: usize,
) -> std::result::Result<Batched, Failure> {
    if results.len() == count && results.iter().all(TransactionalBatchOperationResult::is_success) {
        return Ok(Batched::Done);
    }
    // All others say 424: that one of them failed.
    let Some(failed) = results.iter().find(|one| one.status_code() != 424 && !one.is_success()) else {
        return Ok(Batched::Unknown);
    };
    let status = failed.status_code();
    let (class, is_for_now) = match status {
        409 => return Ok(Batched::Conflict),
        429 | 449 => (ErrorClass::Busy, true),
        408 | 500 | 503 => (ErrorClass::Storage, true),
        413 => (ErrorClass::Limit, false),
        _ => (ErrorClass::Storage, false),
    };
    let error = Error::from(CosmosFault::Batch { status, class });
    Err(Failure::Own(if is_for_now {
        Failed::ForNow(error, failed.retry_after())
    } else {
        Failed::Finally(error)
    }))
}

fn check_writable(layout: Layout) -> Result<()> {
    match layout {
        Layout::Blocks => Ok(()),
        Layout::Lines => Err(CosmosFault::ReadOnly.into()),
    }
}

/// It is there for the one region, and not yet for the other.
fn late() -> Failure {
    Failure::Own(Failed::ForNow(CosmosFault::Late.into(), None))
}
