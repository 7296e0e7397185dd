//! Creates blocks in the container. Blocks are never changed.

use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, Ordering};

use azure_data_cosmos::TransactionalBatch;
use azure_data_cosmos::models::TransactionalBatchOperationResult;
use serde_json::value::RawValue;
use trommel_blocks::{AttemptError, Block, Created, Error, ErrorClass, Key, Result};
use trommel_session::Watch;

use super::failure::{Failure, code};
use super::fault::CosmosFault;
use super::link::Link;
use super::options::Layout;
use super::pages::PageQuery;
use super::rows;

/// The limits of one batch: operations, and bytes of their documents. The service takes 2 MiB,
/// including what it adds around the documents.
const MAX_BATCH_OPERATIONS: usize = 100;
const MAX_BATCH_BYTES: usize = 1_500_000;

/// The result of a batch.
enum BatchOutcome {
    Created,
    Conflict,
    /// The service does not support batches.
    Unsupported,
}

/// A serialized document with its id.
#[derive(Clone)]
struct PreparedDocument {
    id: String,
    text: Box<RawValue>,
}

/// Creates blocks in a container.
pub(super) struct Creator<'a> {
    pub(super) link: &'a Link,
    /// True once the service was found not to support batches, as some emulators do not.
    pub(super) has_no_batches: &'a AtomicBool,
}

impl Creator<'_> {
    /// Creates one block.
    pub(super) fn create_one(&self, key: &Key, block: &Block, watch: &Watch<'_>) -> Result<Created> {
        let (id, text) = rows::document(key, block)?;
        let partition = key.partition();
        let stored = self.link.ask(watch, move |open| {
            let (partition, ready) =
                (partition.clone(), PreparedDocument { id: id.clone(), text: text.clone() });
            async move {
                check_writable(open.layout)?;
                match open.container.create_item(partition.clone(), &ready.id, &ready.text, None).await {
                    Ok(_) => return Ok(None),
                    Err(error) if code(&error) == 409 => {}
                    // The number is taken, perhaps by an earlier attempt whose answer was lost. The
                    // caller compares the stored block.
                    Err(error) => return Err(error.into()),
                }
                match open.container.read_item(partition, &ready.id, None).await {
                    Ok(found) => Ok(Some(found.into_model::<Box<RawValue>>()?)),
                    Err(error) if code(&error) == 404 => Err(not_yet_visible()),
                    Err(error) => Err(error.into()),
                }
            }
        })?;
        match stored {
            None => Ok(Created::New),
            Some(document) if rows::block(&document, true)?.is_same_as(block) => Ok(Created::Same),
            Some(_) => Ok(Created::Taken),
        }
    }

    /// Creates blocks in batches. A batch becomes visible as a whole, so no reader ever sees a
    /// block without those before it.
    pub(super) fn create_many(&self, key: &Key, blocks: &[Block], watch: &Watch<'_>) -> Result<usize> {
        let mut done = 0;
        while let rest @ [block, ..] = &blocks[done..] {
            let part = self.next_batch(key, rest)?;
            if part.len() < 2 || self.has_no_batches.load(Ordering::Relaxed) {
                if self.create_one(key, block, watch)? == Created::Taken {
                    return Ok(done);
                }
                done += 1;
                continue;
            }
            let length = part.len();
            match self.batch(key, part, watch)? {
                BatchOutcome::Created => done += length,
                BatchOutcome::Unsupported => self.has_no_batches.store(true, Ordering::Relaxed),
                BatchOutcome::Conflict => {
                    let part = &rest[..length];
                    let (same, is_taken) = self.count_leading_same(key, part, watch)?;
                    done += same;
                    if is_taken {
                        return Ok(done);
                    }
                    // The conflict is with a document that is not a block of this session. Creating
                    // the block alone reports the cause.
                    if same == 0 {
                        if self.create_one(key, block, watch)? == Created::Taken {
                            return Ok(done);
                        }
                        done += 1;
                    }
                }
            }
        }
        Ok(done)
    }

    /// Serializes the first blocks, as many as fit into one batch.
    fn next_batch(&self, key: &Key, blocks: &[Block]) -> Result<Vec<PreparedDocument>> {
        let (mut part, mut bytes) = (Vec::new(), 0);
        for block in blocks.iter().take(MAX_BATCH_OPERATIONS) {
            let (id, text) = match rows::document(key, block) {
                // A block that cannot be stored ends the batch; the blocks before it are stored.
                Err(_) if !part.is_empty() => break,
                made => made?,
            };
            bytes += text.get().len();
            if !part.is_empty() && (bytes > MAX_BATCH_BYTES || self.has_no_batches.load(Ordering::Relaxed)) {
                break;
            }
            part.push(PreparedDocument { id, text });
        }
        Ok(part)
    }

    fn batch(&self, key: &Key, part: Vec<PreparedDocument>, watch: &Watch<'_>) -> Result<BatchOutcome> {
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
                        // The service mistook the batch for a document.
                        Err(_) => Ok(BatchOutcome::Unsupported),
                    },
                    Err(error) => match code(&error) {
                        409 => Ok(BatchOutcome::Conflict),
                        400 | 404 | 405 | 501 => Ok(BatchOutcome::Unsupported),
                        _ => Err(error.into()),
                    },
                }
            }
        })
    }

    /// Returns the number of leading blocks that are stored already, and whether another block has
    /// the number after them.
    fn count_leading_same(&self, key: &Key, part: &[Block], watch: &Watch<'_>) -> Result<(usize, bool)> {
        let (Some(first), Some(last)) = (part.first(), part.last()) else { return Ok((0, false)) };
        let query = rows::blocks_between(key, first.sequence, last.sequence)?;
        let asked = PageQuery { query, partition: Some(key.partition()) };
        let (mut same, mut is_taken) = (0, false);
        self.link.pages(&asked, watch, &mut |documents| {
            for document in documents {
                let stored = rows::block(&document, false)?;
                match part.get(same) {
                    Some(block) if block.is_same_as(&stored) => same += 1,
                    Some(block) => {
                        is_taken = block.sequence == stored.sequence;
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
) -> std::result::Result<BatchOutcome, Failure> {
    if results.len() == count && results.iter().all(TransactionalBatchOperationResult::is_success) {
        return Ok(BatchOutcome::Created);
    }
    // The operations that were rolled back with the failed one have status 424.
    let Some(failed) = results.iter().find(|one| one.status_code() != 424 && !one.is_success()) else {
        return Ok(BatchOutcome::Unsupported);
    };
    let status = failed.status_code();
    let (class, is_for_now) = match status {
        409 => return Ok(BatchOutcome::Conflict),
        429 | 449 => (ErrorClass::Busy, true),
        408 | 500 | 503 => (ErrorClass::Storage, true),
        413 => (ErrorClass::Limit, false),
        _ => (ErrorClass::Storage, false),
    };
    let error = Error::from(CosmosFault::Batch { status, class });
    Err(Failure::Own(if is_for_now {
        AttemptError::Transient(error, failed.retry_after())
    } else {
        AttemptError::Permanent(error)
    }))
}

fn check_writable(layout: Layout) -> Result<()> {
    match layout {
        Layout::Blocks => Ok(()),
        Layout::Lines => Err(CosmosFault::ReadOnly.into()),
    }
}

/// Reports a block that exists in one region and is not yet visible in another.
fn not_yet_visible() -> Failure {
    Failure::Own(AttemptError::Transient(CosmosFault::Late.into(), None))
}
