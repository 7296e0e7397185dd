//! Reading everything again, to see whether it is what was stored.

use std::io::{self, Read};
use std::path::Path;

use rusqlite::Transaction;
use trommel_base::text::shown_name;
use trommel_base::{Progress, files};

use crate::control::Control;
use crate::db::Done;
use crate::error::{Error, ErrorClass, Result};
use crate::glimpse::Glimpse;
use crate::layout::Layout;
use crate::output::Stored;
use crate::payload::Payload;
use crate::reports::{Damage, DamageKind, Stray, Verified};
use crate::rows::audit::{self, Finding};
use crate::rows::{self, Content};
use crate::store::Store;
use crate::{disk, meta, pending};

/// Bytes read at a time.
const CHUNK: usize = 1 << 20;
/// How often a row that differs from its files is compared with them.
const LOOKS: u32 = 3;

/// The findings so far, and the caller they are reported to.
struct Report<'a> {
    layout: &'a Layout,
    control: &'a Control,
    verified: Verified,
    /// The outputs and bytes that there were at the start.
    of: Content,
    /// A row of the index that is damaged, until one is reported.
    damaged_row: Option<String>,
    told: &'a mut dyn FnMut(&Damage),
}

impl Report<'_> {
    /// Reports a damage, whose file is given as it is opened.
    fn tell(&mut self, id: Option<&str>, path: &Path, kind: DamageKind, message: impl Into<String>) {
        let count =
            if kind == DamageKind::Stray { &mut self.verified.strays } else { &mut self.verified.damaged };
        *count += 1;
        let (id, path) = (id.map(str::to_owned), self.layout.relative(path));
        (self.told)(&Damage { id, path, kind, message: message.into() });
    }

    /// Reports progress, with the bytes of the current output that were read, and fails when the
    /// work was cancelled.
    fn pass(&self, bytes: u64) -> Result<()> {
        let progress = Progress::new(self.verified.bytes + bytes, Some(self.of.bytes));
        self.control.pass(progress.with_items(self.verified.outputs, Some(self.of.outputs)))
    }

    fn tell_of_index(&mut self, id: Option<&str>, what: &str) {
        self.damaged_row = None;
        let index = self.layout.file("index.sqlite");
        self.tell(id, &index, DamageKind::Index, format!("{what}: rebuild the index"));
    }
}

/// How much of the index can be compared with the files.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Index {
    /// All of it, once it was brought in line where it may be behind.
    Sound,
    /// All of it as it is: some rows are damaged.
    Damaged,
    /// Nothing: there is none, or its structure is damaged.
    Unusable,
}

impl Store {
    /// Reads every output and compares it with what was stored: descriptions, payloads to the last
    /// byte, and the index. Each damage is reported as it is found. Other processes may keep using
    /// the store.
    ///
    /// Files that a killed writer has left are reported as [`DamageKind::Stray`], and are no
    /// damage.
    pub fn verify(&self, told: &mut dyn FnMut(&Damage)) -> Result<Verified> {
        self.verify_with(&Control::new(), told)
    }

    /// The same with a [`Control`], which can cancel it, and reports outputs and bytes.
    pub fn verify_with(&self, control: &Control, told: &mut dyn FnMut(&Damage)) -> Result<Verified> {
        let (of, verified) = (Content::default(), Verified::default());
        let mut report = Report { layout: self.layout(), control, verified, of, damaged_row: None, told };
        report.pass(0)?;
        let index = self.inspect_index(&mut report)?;
        if index != Index::Unusable {
            report.of = self.read_index(index, rows::content)?;
        }
        for id in rows::ids(self.layout())? {
            report.pass(0)?;
            self.verify_output(&id?, index, &mut report)?;
        }
        report.pass(0)?;
        if index != Index::Unusable {
            self.verify_index(index, &mut report)?;
        }
        if let Some(what) = report.damaged_row.take() {
            report.tell_of_index(None, &what);
        }
        for stray in self.strays()? {
            let what = match stray.what {
                Stray::Temporary => "it was left by a writer that came to no end",
                Stray::Orphan => "it is a payload without metadata",
            };
            let message = format!("{what}; `gc` removes it when it is an hour old");
            report.tell(Some(&stray.id), &stray.path, DamageKind::Stray, message);
        }
        Ok(report.verified)
    }

    /// Inspects the index as it is, before anything repairs it.
    fn inspect_index(&self, report: &mut Report<'_>) -> Result<Index> {
        match self.index().read_unrepaired(audit::inspect) {
            Ok(Finding::Sound) => Ok(Index::Sound),
            Ok(Finding::Rows(what)) => {
                report.damaged_row = Some(what);
                Ok(Index::Damaged)
            }
            Ok(Finding::Structure(what)) => {
                report.tell_of_index(None, &format!("the index is damaged ({})", shown_name(&what)));
                Ok(Index::Unusable)
            }
            Err(error) if error.class() == ErrorClass::Corrupt => {
                report.tell_of_index(None, &error.to_string());
                Ok(Index::Unusable)
            }
            // On a full disk there may be no index, and then none is damaged.
            Err(error) if error.class() == ErrorClass::Full => Ok(Index::Unusable),
            Err(error) => Err(error),
        }
    }

    /// Reads the index: what is damaged must be found, not repaired.
    fn read_index<T>(&self, index: Index, work: impl FnMut(&Transaction<'_>) -> Done<T>) -> Result<T> {
        if index == Index::Sound { self.index().read(work) } else { self.index().read_unrepaired(work) }
    }

    fn verify_output(&self, id: &str, index: Index, report: &mut Report<'_>) -> Result<()> {
        let path = self.layout().meta(id);
        let read = disk::read(&path, meta::LONGEST);
        let stored = match read {
            Err(error) if error.is_missing() => return Ok(()),
            Err(error) => {
                Err((DamageKind::Metadata, format!("it cannot be read: {}; look at the disk", error.cause())))
            }
            Ok((bytes, _)) => meta::open(&bytes, id).map_err(|fault| {
                let kind = if matches!(fault, meta::Fault::Version(_)) {
                    DamageKind::Version
                } else {
                    DamageKind::Metadata
                };
                (kind, fault.error(id, &path).to_string())
            }),
        };
        match stored {
            Ok(stored) => self.verify_payload(&stored, report)?,
            Err((kind, message)) => report.tell(Some(id), &path, kind, message),
        }
        report.verified.outputs += 1;
        if index == Index::Unusable { Ok(()) } else { self.verify_row(id, index, report) }
    }

    fn verify_payload(&self, stored: &Stored, report: &mut Report<'_>) -> Result<()> {
        let path = self.layout().payload(&stored.id, stored.packed);
        let id = Some(stored.id.as_str());
        let advice = "delete the output, and make it again";
        let payload = match self.payload(stored) {
            Ok(payload) => payload,
            // Somebody has deleted it meanwhile.
            Err(error) if error.class() == ErrorClass::NotFound => return Ok(()),
            Err(error) => {
                report.tell(id, &path, kind_of(&path, stored, &error), error.to_string());
                return Ok(());
            }
        };
        match digest(payload, report)? {
            Ok(digest) if digest == stored.digest => {}
            Ok(_) => {
                let message = format!("its bytes are not those that were stored: {advice}");
                report.tell(id, &path, DamageKind::Content, message);
            }
            Err(error) => {
                let message =
                    format!("its bytes cannot be read: {}; {advice}", shown_name(&error.to_string()));
                report.tell(id, &path, DamageKind::Content, message);
            }
        }
        Ok(())
    }

    /// Compares the row of an output with its files.
    fn verify_row(&self, id: &str, index: Index, report: &mut Report<'_>) -> Result<()> {
        // A process may change it between one look and the other, but hardly each time.
        for _ in 0..LOOKS {
            let found = rows::look(self.layout(), id);
            let indexed = match self.read_index(index, |transaction| rows::indexed(transaction, id)) {
                Err(error) if error.class() == ErrorClass::Corrupt => break,
                indexed => indexed?,
            };
            if indexed == found || found.is_none() || pending::is_held(self.layout(), id) {
                return Ok(());
            }
        }
        report.tell_of_index(Some(id), "the index does not say of this output what its files say");
        Ok(())
    }

    /// Reports rows of the index without an output.
    fn verify_index(&self, index: Index, report: &mut Report<'_>) -> Result<()> {
        let mut last = String::new();
        loop {
            report.pass(0)?;
            let some = self.read_index(index, |transaction| rows::indexed_after(transaction, &last));
            let some = match some {
                Err(error) if error.class() == ErrorClass::Corrupt => {
                    report.tell_of_index(None, &error.to_string());
                    return Ok(());
                }
                some => some?,
            };
            let Some(end) = some.last() else { return Ok(()) };
            for id in &some {
                let is_listed = || self.read_index(index, |transaction| rows::is_indexed(transaction, id));
                if !self.exists(id)? && is_listed()? {
                    report.tell_of_index(Some(id), "the index has an output that is gone");
                }
            }
            last.clone_from(end);
        }
    }
}

/// What is wrong with a payload that cannot be opened.
fn kind_of(path: &Path, stored: &Stored, error: &Error) -> DamageKind {
    match files::inspect(path) {
        Ok(None) => DamageKind::Missing,
        Ok(Some(found)) if found.len() != stored.disk_bytes => DamageKind::Length,
        _ if error.class() == ErrorClass::Corrupt => DamageKind::Content,
        _ => DamageKind::Missing,
    }
}

/// The digest of a payload, unless it cannot be read, or the work is cancelled.
fn digest(mut payload: Payload, report: &mut Report<'_>) -> Result<io::Result<String>> {
    let mut glimpse = Glimpse::new();
    let mut chunk = vec![0; CHUNK];
    let mut read = 0;
    let digest = loop {
        match payload.read(&mut chunk) {
            Ok(0) => break Ok(glimpse.digest()),
            Ok(count) => {
                glimpse.pass(&chunk[..count]);
                read += count as u64;
                report.pass(read)?;
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => break Err(error),
        }
    };
    report.verified.bytes += read;
    Ok(digest)
}
