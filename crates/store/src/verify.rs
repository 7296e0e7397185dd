//! Reading everything again, to see whether it is what was stored.

use std::io::{self, Read};
use std::path::Path;

use crate::control::{Control, Progress};
use crate::error::{Error, ErrorKind, Result, shown};
use crate::glimpse::Glimpse;
use crate::layout::Layout;
use crate::output::Stored;
use crate::payload::Payload;
use crate::reports::{Damage, DamageKind, Stray, Verified};
use crate::rows::{self, Content};
use crate::store::Store;
use crate::{disk, meta, pending};

/// Bytes read at a time.
const CHUNK: usize = 1 << 20;
/// How often a row that differs from its files is compared with them.
const LOOKS: u32 = 3;

/// What was found so far, and who is told.
struct Report<'a> {
    layout: &'a Layout,
    control: &'a Control,
    verified: Verified,
    /// What there was to do in the beginning.
    of: Content,
    told: &'a mut dyn FnMut(&Damage),
}

impl Report<'_> {
    /// Tells of a damage, whose file is given as it is opened.
    fn tell(&mut self, id: Option<&str>, path: &Path, kind: DamageKind, message: impl Into<String>) {
        self.verified.damaged += 1;
        let (id, path) = (id.map(str::to_owned), self.layout.relative(path));
        (self.told)(&Damage { id, path, kind, message: message.into() });
    }

    /// Tells how far it is, with so many bytes of the output at hand.
    fn pass(&self, bytes: u64) -> Result<()> {
        self.control.pass(Progress {
            outputs: self.verified.outputs,
            of_outputs: self.of.outputs,
            bytes: self.verified.bytes + bytes,
            of_bytes: self.of.bytes,
        })
    }

    fn tell_of_index(&mut self, id: &str, what: &str) {
        let index = self.layout.file("index.sqlite");
        self.tell(Some(id), &index, DamageKind::Index, format!("{what}: rebuild the index"));
    }
}

impl Store {
    /// Reads every output and compares it with what was stored: descriptions, payloads to the last byte, and the index. Each
    /// damage is told as it is found. Others may go on using the store.
    pub fn verify(&self, told: &mut dyn FnMut(&Damage)) -> Result<Verified> {
        self.verify_with(&Control::new(), told)
    }

    /// The same, which can be cancelled and tells how far it is, in outputs and bytes.
    pub fn verify_with(&self, control: &Control, told: &mut dyn FnMut(&Damage)) -> Result<Verified> {
        let of = self.index().read(rows::content)?;
        let mut report = Report { layout: self.layout(), control, verified: Verified::default(), of, told };
        for id in rows::ids(self.layout())? {
            report.pass(0)?;
            self.verify_output(&id?, &mut report)?;
        }
        report.pass(0)?;
        self.verify_index(&mut report)?;
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

    fn verify_output(&self, id: &str, report: &mut Report<'_>) -> Result<()> {
        let path = self.layout().meta(id);
        let read = disk::read(&path, meta::LONGEST);
        let stored = match read {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
            Err(error) => {
                Err((DamageKind::Metadata, format!("it cannot be read: {error}; look at the disk")))
            }
            Ok((bytes, _)) => meta::open(&bytes, id).map_err(|fault| {
                let kind = if matches!(fault, meta::Fault::Version(_)) {
                    DamageKind::Version
                } else {
                    DamageKind::Metadata
                };
                (kind, fault.message(id))
            }),
        };
        match stored {
            Ok(stored) => self.verify_payload(&stored, report)?,
            Err((kind, message)) => report.tell(Some(id), &path, kind, message),
        }
        report.verified.outputs += 1;
        self.verify_row(id, report)
    }

    fn verify_payload(&self, stored: &Stored, report: &mut Report<'_>) -> Result<()> {
        let path = self.layout().payload(&stored.id, stored.packed);
        let id = Some(stored.id.as_str());
        let advice = "delete the output, and make it again";
        let payload = match self.payload(stored) {
            Ok(payload) => payload,
            // Somebody has deleted it meanwhile.
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(()),
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
                let message = format!("its bytes cannot be read: {}; {advice}", shown(&error.to_string()));
                report.tell(id, &path, DamageKind::Content, message);
            }
        }
        Ok(())
    }

    /// Whether the index says what the files say.
    fn verify_row(&self, id: &str, report: &mut Report<'_>) -> Result<()> {
        // Somebody may change it between one look and the other, but hardly each time.
        for _ in 0..LOOKS {
            let found = rows::look(self.layout(), id);
            let indexed = self.index().read(|transaction| rows::indexed(transaction, id))?;
            if indexed == found || found.is_none() || pending::is_held(self.layout(), id) {
                return Ok(());
            }
        }
        report.tell_of_index(id, "the index does not say of this output what its files say");
        Ok(())
    }

    /// Rows of the index without an output.
    fn verify_index(&self, report: &mut Report<'_>) -> Result<()> {
        let mut last = String::new();
        loop {
            let some = self.index().read(|transaction| rows::indexed_after(transaction, &last))?;
            let Some(end) = some.last() else { return Ok(()) };
            for id in &some {
                if !self.exists(id)?
                    && self.index().read(|transaction| rows::indexed(transaction, id))?.is_some()
                {
                    report.tell_of_index(id, "the index has an output that is gone");
                }
            }
            last.clone_from(end);
        }
    }
}

/// What is wrong with a payload that cannot be opened.
fn kind_of(path: &Path, stored: &Stored, error: &Error) -> DamageKind {
    match disk::look(path) {
        Ok(None) => DamageKind::Missing,
        Ok(Some(found)) if found.len() != stored.disk_bytes => DamageKind::Length,
        _ if error.kind() == ErrorKind::Corrupt => DamageKind::Content,
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
                glimpse.pass(chunk.get(..count).unwrap_or_default());
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
