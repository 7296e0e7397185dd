//! Stored outputs of tools: written once and whole, listed, questioned by handle, kept within a
//! quota.
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
//! - [What lies where](#what-lies-where)
//! - [What is promised when things go wrong](#what-is-promised-when-things-go-wrong)
//! - [Several at once](#several-at-once)
//! - [Versions](#versions)
//! - [Limits](#limits)
//! - [Cost](#cost)
//! - [Platforms](#platforms)
//!
//! # Should I use this crate?
//!
//! Yes, to keep results of tools that are too long to hand on, and to ask them questions later,
//! from the same process or another. It knows no tool; who wants the tools that list and question
//! what is stored takes `trommel-toolbox`. Who only wants to question a file takes `trommel`.
//!
//! # Terms
//!
//! An *output* is a *payload*, any bytes, with its *description*, [`Stored`]. It is made by a
//! [`Put`], *sealed* when that is finished, and never changes afterwards, but for being *pinned*.
//! The *index* is what lists are read from; it is made of the descriptions, and can be deleted at
//! any time. To *evict* is to delete for a limit's sake.
//!
//! # Storing
//!
//! A payload is written to a [`Put`] in pieces of any size, and is never held: what passes is
//! checked (strictly, all of RFC 8259), measured and hashed on its way to the disk, in one pass,
//! some of it on a second thread when it is long. What is seen is the description: what
//! [kind](Kind) it is, how its records are separated, its length in bytes and characters, its first
//! 500 characters, what it is made of, how many names are repeated. What is not JSON is text, and
//! stored like anything else; [`NotJson`] says why. Compressed bytes are text, too: unpack them
//! before.
//!
//! Two outputs with the same bytes are two files: each can be damaged, packed, deleted and counted
//! by itself.
//!
//! # Finding
//!
//! Wherever an id is asked for, a prefix of at least 6 characters will do that no other output has.
//! What is no id, `^[A-Za-z0-9_-]{1,64}$`, is refused before any path is made of it. New ids are
//! lower-case ULIDs, which rise with time, across processes.
//!
//! [`Store::list`] filters and sorts within the index, and opens no payload. An output whose
//! description is damaged is a row like any other, [marked](Row::corrupted) as such.
//!
//! # Keeping
//!
//! [`Limits`] bound bytes, number and age. They are kept to whenever an output is sealed, and by
//! [`Store::gc`]: the oldest goes first, by the time it was made. What is [pinned](Store::pin), or
//! being read by anybody, stays; where that leaves no room, the new output is refused. So is one
//! that is longer than the store may be. Which outputs go is decided by their descriptions, never
//! by the index alone. [`Store::verify`] reads everything again. Work on all outputs takes a
//! [`Control`], which cancels it and reports progress.
//!
//! # What lies where
//!
//! ```text
//! payload/3f/<id>.json        a payload, of whatever kind      pending/    what is being written
//! payload/3f/<id>.json.zst    a packed one                     index.sqlite, lock, clock
//! payload/3f/<id>.meta.json   its description                  history.sqlite, history.lock
//! ```
//!
//! `3f` is the first byte of the id's BLAKE3 hash. A description is one JSON object, whose last
//! member seals the others. Packed payloads are [seekable zstd](StoreOptions::pack_over), which any
//! zstd can unpack. Files have the mode 0600 and folders 0700 under any umask. A root that belongs
//! to another user, or that others may write to, is refused. A folder, link, or pipe in the place
//! of the index is moved aside; in the place of a lock it is an error.
//!
//! # What is promised when things go wrong
//!
//! - Payload and description are written beside, brought to the disk, and renamed, and then their
//!   folder is brought to the disk. What is seen of an output is whole, whenever the process ends;
//!   once [`Put::finish`] has returned, it is there after a failure of power, too.
//! - An operation that the system refuses leaves the state before it or the state after it. A write
//!   that fails takes what it has written with it, and the [`Error`] names the file and how many
//!   bytes were needed.
//! - What a process that was ended leaves is known by a lock that is free. The index is put in
//!   order when the store is opened next; files are removed when they are an hour old.
//! - No change of the index waits for the disk. After a restart of the system it is compared with
//!   the files, and where it is damaged, missing, or of another version it is rebuilt. Rows have a
//!   checksum that is verified when they are read, and files that another program has changed are
//!   inspected before they are used. The [history](Executions) is a database of its own, which
//!   waits for the disk.
//! - On a disk without a free byte outputs can be listed, read, verified, deleted, and evicted: the
//!   index is removed where a change of it finds no room, and read from memory until it can be
//!   rebuilt.
//! - [Documents](Store::document) are read through a window, so that no other program can end this
//!   process by truncating a payload. A host that answers for the files can have them
//!   [mapped](StoreOptions::mapping).
//!
//! # Several at once
//!
//! A [`Store`] can be shared by threads, and its folder by processes. What one has sealed the
//! others list. Changes of the index wait for each other on a lock of the store's own, so that none
//! is refused for being too early; after [`StoreOptions::patience`] it is an error that names the
//! lock. Reading does not wait for them, but that a list which meets an output whose description
//! has changed since brings the index up to date first.
//!
//! # Versions
//!
//! Each description has a [version](META_VERSION). One that is higher than this crate's is refused
//! by name, and hides no other output. An index of any other version is rebuilt; a history of a
//! later one is left alone.
//!
//! # Limits
//!
//! | what | how much | beyond |
//! |---|---|---|
//! | id | 64 characters | refused |
//! | names of tool, conversation and message | 1,024 bytes each | refused |
//! | arguments of the call | 64 KiB of JSON | left out for their size |
//! | preview | 500 characters | cut |
//! | depth of JSON; bytes of a name or number | 10,000; 16 MiB | the payload is text |
//! | repeated names | 32 MiB of names of open objects | counted in part |
//! | history | [10,000 entries, 64 MiB](HistoryLimits) | the oldest go |
//! | log of the index, and of the history | as long as the database, 256 KiB to 2 MiB, and one change | truncated |
//!
//! # Cost
//!
//! To store takes about 1 MiB of memory and what the check of repeated names keeps, whatever the
//! length. Each output costs three waits for the disk. A page of a list is found within one index
//! of the database: some milliseconds for 100,000 outputs, whatever is asked.
//!
//! # Platforms
//!
//! Unix. Linux is tested. Locks are those of `flock`, so that the folder has to lie on a file
//! system that has them.

mod body;
mod check;
mod clock;
mod control;
mod db;
mod disk;
mod error;
mod examine;
mod filter;
mod find;
mod glimpse;
mod history;
mod id;
mod keep;
mod layout;
mod list;
mod meta;
mod options;
mod output;
mod payload;
mod pending;
mod put;
mod reports;
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
pub use options::{GcOptions, HistoryLimits, Limits, StoreOptions};
pub use output::{Kind, META_VERSION, NotJson, Origin, PREVIEW_CHARS, Records, Stored, Summary};
pub use payload::Payload;
pub use put::Put;
pub use reports::{Damage, DamageKind, Evicted, Reason, Rebuilt, Removed, Stray, Swept, Verified};
pub use store::Store;
