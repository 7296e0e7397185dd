//! Verifies that everything in the store is unchanged since it was written.

use std::io::{self, Read};
use std::path::Path;

use rusqlite::Transaction;
use trommel_base::text::display_name;
use trommel_base::{Progress, files};

use crate::control::Control;
use crate::db::TransactionResult;
use crate::error::{Error, ErrorClass, Result};
use crate::layout::Layout;
use crate::line_index::LineCounter;
use crate::output::Stored;
use crate::payload::Payload;
use crate::payload_stats::PayloadStats;
use crate::reports::{Damage, DamageKind, StrayKind, VerifyReport};
use crate::rows::audit::{self, Finding};
use crate::rows::{self, Content};
use crate::store::Store;
use crate::{disk, meta, pending};

/// Size of the read buffer.
const CHUNK: usize = 1 << 20;
/// Number of comparisons before a row that differs from its files is reported.
const MAX_COMPARISONS: u32 = 3;

/// The findings so far, and the callback that receives each one.
struct Findings<'a> {
    layout: &'a Layout,
    control: &'a Control,
    verified: VerifyReport,
    /// Outputs and bytes at the start, for progress.
    totals: Content,
    /// A damaged row of the index that was not reported yet.
    damaged_row: Option<String>,
    on_damage: &'a mut dyn FnMut(&Damage),
}

impl Findings<'_> {
    /// Reports a damage. `path` is absolute and is reported relative to the root.
    fn report(&mut self, id: Option<&str>, path: &Path, kind: DamageKind, message: impl Into<String>) {
        let count =
            if kind == DamageKind::Stray { &mut self.verified.strays } else { &mut self.verified.damaged };
        *count += 1;
        let (id, path) = (id.map(str::to_owned), self.layout.relative(path));
        (self.on_damage)(&Damage { id, path, kind, message: message.into() });
    }

    /// Reports progress, including `bytes` read of the current output. Fails if the work was
    /// cancelled.
    fn report_progress(&self, bytes: u64) -> Result<()> {
        let progress = Progress::new(self.verified.bytes + bytes, Some(self.totals.bytes));
        self.control.report_progress(progress.with_items(self.verified.outputs, Some(self.totals.outputs)))
    }

    fn report_index(&mut self, id: Option<&str>, what: &str) {
        self.damaged_row = None;
        let index = self.layout.file("index.sqlite");
        self.report(id, &index, DamageKind::Index, format!("{what}: rebuild the index"));
    }
}

/// The extent to which the index can be compared with the files.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Index {
    /// Completely, after a normal read has synchronized it.
    Sound,
    /// Completely, but without repair, because some rows are damaged.
    Damaged,
    /// Not at all: the index is missing or its structure is damaged.
    Unusable,
}

impl Store {
    /// Reads every output and compares it with its description: metadata, all bytes of payloads,
    /// and the index. `on_damage` is called for each damage as it is found. Other processes may
    /// keep using the store.
    ///
    /// Files left by a killed writer are reported as [`DamageKind::Stray`] and do not count as
    /// damage.
    pub fn verify(&self, on_damage: &mut dyn FnMut(&Damage)) -> Result<VerifyReport> {
        self.verify_with(&Control::new(), on_damage)
    }

    /// Like [`verify`](Self::verify), with a [`Control`] that can cancel it and receives progress
    /// in outputs and bytes.
    pub fn verify_with(&self, control: &Control, on_damage: &mut dyn FnMut(&Damage)) -> Result<VerifyReport> {
        let (totals, verified) = (Content::default(), VerifyReport::default());
        let mut report =
            Findings { layout: self.layout(), control, verified, totals, damaged_row: None, on_damage };
        report.report_progress(0)?;
        let index = self.inspect_index(&mut report)?;
        if index != Index::Unusable {
            report.totals = self.read_index(index, rows::content)?;
        }
        for id in rows::ids(self.layout())? {
            report.report_progress(0)?;
            self.verify_output(&id?, index, &mut report)?;
        }
        report.report_progress(0)?;
        if index != Index::Unusable {
            self.verify_index(index, &mut report)?;
        }
        if let Some(what) = report.damaged_row.take() {
            report.report_index(None, &what);
        }
        for stray in self.strays()? {
            let what = match stray.kind {
                StrayKind::Temporary => "left by an interrupted writer",
                StrayKind::Orphan => "payload without metadata",
            };
            let message = format!("{what}; `gc` removes it after an hour");
            report.report(Some(&stray.id), &stray.path, DamageKind::Stray, message);
        }
        Ok(report.verified)
    }

    /// Inspects the index before anything can repair it.
    fn inspect_index(&self, report: &mut Findings<'_>) -> Result<Index> {
        match self.index().read_unrepaired(audit::inspect) {
            Ok(Finding::Sound) => Ok(Index::Sound),
            Ok(Finding::Rows(what)) => {
                report.damaged_row = Some(what);
                Ok(Index::Damaged)
            }
            Ok(Finding::Structure(what)) => {
                report.report_index(None, &format!("the index is damaged ({})", display_name(&what)));
                Ok(Index::Unusable)
            }
            Err(error) if error.class() == ErrorClass::Corrupt => {
                report.report_index(None, &error.to_string());
                Ok(Index::Unusable)
            }
            // On a full disk the index may have been discarded. That is not damage.
            Err(error) if error.class() == ErrorClass::Full => Ok(Index::Unusable),
            Err(error) => Err(error),
        }
    }

    /// Reads the index. A damaged one is read without repair, so that every damage is reported.
    fn read_index<T>(
        &self,
        index: Index,
        work: impl FnMut(&Transaction<'_>) -> TransactionResult<T>,
    ) -> Result<T> {
        if index == Index::Sound { self.index().read(work) } else { self.index().read_unrepaired(work) }
    }

    fn verify_output(&self, id: &str, index: Index, report: &mut Findings<'_>) -> Result<()> {
        let path = self.layout().meta(id);
        let read = disk::read(&path, meta::MAX_BYTES);
        let stored = match read {
            Err(error) if error.is_missing() => return Ok(()),
            Err(error) => {
                Err((DamageKind::Metadata, format!("cannot be read: {}; check the disk", error.cause())))
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
            Ok(stored) => {
                self.verify_payload(&stored, report)?;
                self.verify_guide(&stored, report);
            }
            Err((kind, message)) => report.report(Some(id), &path, kind, message),
        }
        report.verified.outputs += 1;
        if index == Index::Unusable { Ok(()) } else { self.verify_row(id, index, report) }
    }

    fn verify_payload(&self, stored: &Stored, report: &mut Findings<'_>) -> Result<()> {
        let path = self.layout().payload(&stored.id, stored.packed);
        let id = Some(stored.id.as_str());
        let advice = "delete the output, and create it again";
        let payload = match self.payload(stored) {
            Ok(payload) => payload,
            // Another process has deleted the output since it was listed.
            Err(error) if error.class() == ErrorClass::NotFound => return Ok(()),
            Err(error) => {
                report.report(id, &path, damage_kind(&path, stored, &error), error.to_string());
                return Ok(());
            }
        };
        let mut lines = LineCounter::new();
        match digest(payload, &mut lines, report)? {
            Ok(digest) if digest == stored.digest => {
                if stored.line_index.as_ref().is_some_and(|index| *index != lines.finish()) {
                    let message = format!("the line index differs from the payload: {advice}");
                    report.report(id, &self.layout().meta(&stored.id), DamageKind::Metadata, message);
                }
            }
            Ok(_) => {
                let message = format!("the bytes differ from those that were stored: {advice}");
                report.report(id, &path, DamageKind::Content, message);
            }
            Err(error) => {
                let message =
                    format!("the bytes cannot be read: {}; {advice}", display_name(&error.to_string()));
                report.report(id, &path, DamageKind::Content, message);
            }
        }
        Ok(())
    }

    /// Checks the guide of an output. Without a usable one, queries read the payload.
    fn verify_guide(&self, stored: &Stored, report: &mut Findings<'_>) {
        // Another process may have deleted the output since it was read.
        let Err(error) = self.guide(stored) else { return };
        if self.exists(&stored.id).unwrap_or(true) {
            let path = self.layout().guide(&stored.id);
            report.report(Some(&stored.id), &path, DamageKind::Guide, error.to_string());
        }
    }

    /// Compares the row of an output with its files.
    fn verify_row(&self, id: &str, index: Index, report: &mut Findings<'_>) -> Result<()> {
        // Another process may change the output between reading the files and reading the row.
        // Repeating the comparison makes a false report unlikely.
        for _ in 0..MAX_COMPARISONS {
            let found = rows::read_entry(self.layout(), id);
            let indexed = match self.read_index(index, |transaction| rows::indexed(transaction, id)) {
                Err(error) if error.class() == ErrorClass::Corrupt => break,
                indexed => indexed?,
            };
            if indexed == found || found.is_none() || pending::is_locked(self.layout(), id) {
                return Ok(());
            }
        }
        report.report_index(Some(id), "the index disagrees with the files of this output");
        Ok(())
    }

    /// Reports rows of the index whose output does not exist.
    fn verify_index(&self, index: Index, report: &mut Findings<'_>) -> Result<()> {
        let mut last = String::new();
        loop {
            report.report_progress(0)?;
            let some = self.read_index(index, |transaction| rows::indexed_after(transaction, &last));
            let some = match some {
                Err(error) if error.class() == ErrorClass::Corrupt => {
                    report.report_index(None, &error.to_string());
                    return Ok(());
                }
                some => some?,
            };
            let Some(end) = some.last() else { return Ok(()) };
            for id in &some {
                let is_listed = || self.read_index(index, |transaction| rows::is_indexed(transaction, id));
                if !self.exists(id)? && is_listed()? {
                    report.report_index(Some(id), "the index lists an output that does not exist");
                }
            }
            last.clone_from(end);
        }
    }
}

/// Classifies the damage of a payload that cannot be opened.
fn damage_kind(path: &Path, stored: &Stored, error: &Error) -> DamageKind {
    match files::inspect(path) {
        Ok(None) => DamageKind::Missing,
        Ok(Some(found)) if found.len() != stored.disk_bytes => DamageKind::Length,
        _ if error.class() == ErrorClass::Corrupt => DamageKind::Content,
        _ => DamageKind::Missing,
    }
}

/// Computes the digest of a payload, and counts its lines. The outer error means cancellation, the
/// inner one that the payload cannot be read.
fn digest(
    mut payload: Payload,
    lines: &mut LineCounter,
    report: &mut Findings<'_>,
) -> Result<io::Result<String>> {
    let mut stats = PayloadStats::new();
    let mut chunk = vec![0; CHUNK];
    let mut read = 0;
    let digest = loop {
        match payload.read(&mut chunk) {
            Ok(0) => break Ok(stats.digest()),
            Ok(count) => {
                stats.update(&chunk[..count]);
                lines.update(&chunk[..count]);
                read += count as u64;
                report.report_progress(read)?;
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => break Err(error),
        }
    };
    report.verified.bytes += read;
    Ok(digest)
}
