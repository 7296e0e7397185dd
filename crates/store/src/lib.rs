//! A store for the outputs of tools. Outputs are written once, listed, queried by ID, and limited
//! by a quota.
//!
//! ```
//! use std::io::Write;
//! use trommel::Analysis;
//! use trommel_store::{Filter, Origin, Store, StoreOptions};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let folder = tempfile::tempdir()?;
//! # let root = folder.path().join("store");
//! let store = Store::open(root, StoreOptions::default())?;
//! let mut put = store.put(Origin::of("web.fetch"))?;
//! put.write_all(br#"{"users": [{"name": "Ada"}, {"name": "Bob"}]}"#)?;
//! let stored = put.finish()?;
//! assert_eq!((stored.summary.keys, stored.summary.items), (Some(1), Some(2)));
//!
//! let newest = store.list(&Filter::default())?;
//! assert_eq!(newest.rows[0].id, stored.id);
//! let mut document = store.document(&store.get(&stored.id)?)?;
//! let report = Analysis::new().count("$.users[*]".parse()?).run(&mut document)?;
//! assert_eq!(report.answers[0].count(), Some(2));
//! # Ok(())
//! # }
//! ```
//!
//! # Contents
//!
//! - [Should I use this crate?](#should-i-use-this-crate)
//! - [Terms](#terms)
//! - [Storing](#storing)
//! - [Finding](#finding)
//! - [Keeping](#keeping)
//! - [Files](#files)
//! - [Guarantees](#guarantees)
//! - [Concurrency](#concurrency)
//! - [Versions](#versions)
//! - [Limits](#limits)
//! - [Cost](#cost)
//! - [Platforms](#platforms)
//!
//! # Should I use this crate?
//!
//! Yes, to keep tool results that are too large to return, and to query them later from the same or
//! another process. The crate contains no tools. For tools that list and query stored outputs, use
//! `trommel-toolbox`. To query files without storing them, use `trommel`.
//!
//! # Terms
//!
//! An *output* consists of a *payload*, which is any bytes, and its *description*, [`Stored`]. A
//! [`Put`] creates it. Finishing the `Put` *seals* the output, which never changes afterwards
//! except for being *pinned*.
//!
//! Lists are read from the *index*. It is built from the descriptions and can be deleted at any
//! time. To *evict* an output is to delete it because of a limit.
//!
//! # Storing
//!
//! A payload is written to a [`Put`] in chunks of any size and is never completely in memory. In a
//! single pass it is validated (strictly, all of RFC 8259), measured, hashed, and written. Large
//! payloads are validated on a second thread.
//!
//! The result is the description: the [kind](Kind), the separation of records, the length in bytes
//! and characters, the first 500 characters, a summary, and the number of repeated names. Anything
//! that is not JSON is stored as text; [`NotJson`] has the reason. Compressed input is text, too,
//! so decompress it first.
//!
//! A log in which at least nine of ten lines are JSON is not text but a stream with [damaged
//! records](Stored::damaged_records), unless the caller declares another [framing](Origin::framing)
//! than lines. This can be decided only at the end, so the payload is then read again from its
//! file. For other text, that reading stops after a tenth of the lines.
//!
//! Two outputs with the same bytes are stored as two files. Each one is compressed, deleted, and
//! counted separately, and damage to one does not affect the other.
//!
//! The description of a text also has a [`LineIndex`], the number of line ends in each block of the
//! payload. With it, a line is found by reading one block.
//!
//! # Finding
//!
//! Every ID argument also accepts a unique prefix of at least 6 characters. A text that does not
//! match `^[A-Za-z0-9_-]{1,64}$` is refused before it becomes part of a path. Generated IDs are
//! lower-case ULIDs, which increase with time, across processes.
//!
//! [`Store::list`] filters and sorts within the index and opens no payload. An output with a
//! damaged description is listed like any other and [marked](Row::corrupted).
//!
//! # Keeping
//!
//! [`Limits`] bound the bytes, number, and age of outputs. They are enforced whenever an output is
//! sealed, and by [`Store::gc`]. The oldest outputs are evicted first, by creation time.
//!
//! Outputs that are [pinned](Store::pin) or being read are never evicted. If the rest does not make
//! enough room, the new output is refused, as is one that exceeds the limit by itself. The
//! descriptions decide which outputs are evicted, never the index alone.
//!
//! [`Store::verify`] reads everything again. Operations on all outputs take a [`Control`] for
//! cancellation and progress.
//!
//! # Files
//!
//! ```text
//! payload/3f/<id>.json        a payload of any kind            pending/    files being written
//! payload/3f/<id>.json.zst    a compressed one                 index.sqlite, lock, clock
//! payload/3f/<id>.meta.json   its description                  history.sqlite, history.lock
//! ```
//!
//! `3f` is the first byte of the ID's BLAKE3 hash. A description is one JSON object, whose last
//! member is a seal over the others. Compressed payloads are [seekable
//! zstd](StoreOptions::pack_over), which any zstd can decompress.
//!
//! Files have the mode 0600 and folders 0700, under any umask. A root that belongs to another user,
//! or that others can write to, is refused. A folder, link, or pipe with the name of the index is
//! moved aside; with the name of a lock it is an error.
//!
//! # Guarantees
//!
//! - **Atomic writes.** The payload and the description are written to temporary files, synced, and
//!   renamed; then their folder is synced. A visible output is always complete, even if the process
//!   crashes. Once [`Put::finish`] has returned, the output survives a power failure.
//! - **Failed operations.** If the system refuses an operation, the store is in the state before or
//!   after it. A failed write removes its files, and the [`Error`] has the path and the number of
//!   bytes needed.
//! - **Crash recovery.** A free lock identifies the files of a crashed process. The next
//!   [`Store::open`] synchronizes the index; leftover files are removed after an hour.
//! - **Index.** Changes of the index do not wait for the disk. After a reboot it is compared with
//!   the files. A damaged, missing, or outdated index is rebuilt. Rows have a checksum that is
//!   verified when they are read. Files changed by other programs are inspected before they are
//!   used. The [history](Executions) is a separate database, which waits for the disk.
//! - **Full disk.** Outputs can be listed, read, verified, deleted, and evicted without a free
//!   byte. If there is no space to change the index, it is removed and read from memory until it
//!   can be rebuilt.
//! - **Truncated files.** [Documents](Store::document) are read through a window, so another
//!   program cannot crash this process by truncating a payload. A host that can exclude such
//!   truncation may have them [mapped](StoreOptions::mapping).
//!
//! # Concurrency
//!
//! Threads can share a [`Store`], and processes can share its folder. Each process lists the
//! outputs that others have sealed. Changes of the index wait for a lock file, so SQLite never
//! reports a busy database. After [`StoreOptions::lock_timeout`] the wait fails with an error that
//! names the lock.
//!
//! Reads do not wait, with one exception: a list that finds a changed description synchronizes the
//! index first.
//!
//! # Versions
//!
//! Each description has a [version](META_VERSION). One with a newer version is refused with a
//! specific error and does not affect other outputs. An index of any other version is rebuilt. A
//! history of a newer version is left untouched.
//!
//! # Limits
//!
//! | item | limit | beyond |
//! |---|---|---|
//! | ID | 64 characters | refused |
//! | names of tool, conversation, and message | 1,024 bytes each | refused |
//! | arguments of the call | 64 KiB of JSON | replaced by their size |
//! | preview | 500 characters | truncated |
//! | depth of JSON; bytes of a name or number | 10,000; 16 MiB | the payload is text |
//! | repeated names | 32 MiB of names of open objects | counted in part |
//! | history | [10,000 entries, 64 MiB](HistoryLimits) | the oldest are removed |
//! | log of each database | its size, 256 KiB to 2 MiB, plus one change | truncated |
//!
//! # Cost
//!
//! Storing takes about 1 MiB of memory, plus the names kept by the check for repeated names, for
//! payloads of any length. Each output costs three waits for the disk. A page of a list is read
//! from a single database index: a few milliseconds for 100,000 outputs, for any filter and order.
//!
//! # Platforms
//!
//! Unix; tested on Linux. Locks use `flock`, so the file system of the folder must support it.

mod analysis;
mod body;
mod check;
mod clock;
mod control;
mod cursors;
mod db;
mod disk;
mod error;
mod filter;
mod guide;
mod history;
mod id;
mod layout;
mod line_index;
mod list;
mod meta;
mod options;
mod output;
mod payload;
mod payload_stats;
mod pending;
mod put;
mod reports;
mod resolve;
mod retention;
mod rows;
mod store;
mod sweep;
#[cfg(test)]
mod tests;
mod verify;

pub use control::Control;
pub use error::{DatabaseFault, Error, ErrorClass, ErrorKind, ForeignFault, PayloadFault, Result};
pub use filter::{Filter, Page, Row, SortBy, SortOrder};
pub use history::Executions;
pub use line_index::{BlockStart, LineIndex};
pub use options::{GcOptions, HistoryLimits, Limits, StoreOptions};
pub use output::{
    DamagedRecord, Kind, META_VERSION, NotJson, Origin, PREVIEW_CHARS, Records, Stored, Summary,
};
pub use payload::Payload;
pub use put::Put;
pub use reports::{
    Damage, DamageKind, Evicted, EvictionReason, GcReport, RebuildReport, RemovedFile, StrayKind,
    VerifyReport,
};
pub use store::Store;
