//! Search of JSON documents and of streams other than JSON Lines.

use trommel::Error;
use trommel::path::{Scratch, Wants};
use trommel::reader::{self, Cursor, Framing, Validation};

use crate::error::Halt;
use crate::found::SearchPosition;
use crate::run::{RecordSite, SearchRun};
use crate::source::SearchSource;
use crate::targets::{QueryRegions, Regions, StreamCandidates, StreamTargets};
use crate::walk::StringWalk;

/// A document or stream, or a record of JSON Lines that is too long for the buffer.
#[derive(Clone, Copy)]
pub(crate) struct DocumentPart<'d> {
    /// The source of the part alone.
    pub(crate) source: &'d dyn SearchSource,
    /// The offset of the part in the input.
    pub(crate) base: u64,
    pub(crate) framing: Framing,
    /// The number of the record, if the part is one.
    pub(crate) record: Option<u64>,
}

/// Searches the strings of a document.
pub(crate) fn search(run: &mut SearchRun<'_, '_>, part: DocumentPart<'_>) -> Result<(), Halt> {
    let Some(plan) = run.plan.clone() else { return walk(run, part, None) };
    let config = run.config(Validation::Structural);
    let reader = part.source.reader_at(0)?;
    let mut cursor =
        Cursor::from_reader(reader, part.framing, &config).monitored(run.control.monitor(part.base));
    let (mut scratch, wants) = (Scratch::new(), Wants::default());
    let mut matcher = plan.matcher(&mut scratch, &mut cursor, &wants);
    walk(run, part, Some(&mut QueryRegions::new(&mut matcher)))
}

/// Searches the strings within regions, or all of them.
fn walk(
    run: &mut SearchRun<'_, '_>,
    part: DocumentPart<'_>,
    regions: Option<&mut dyn Regions>,
) -> Result<(), Halt> {
    let DocumentPart { source, base, framing, .. } = part;
    let first = run.position.from.saturating_sub(base);
    let ahead = run.control.watch(source.reader_at(first)?, base + first);
    let candidates = StreamCandidates::new(&run.unit.pattern.prefilter, Box::new(ahead), first);
    let mut targets = StreamTargets { candidates, regions };
    let config = run.config(Validation::Structural);
    let mut cursor =
        Cursor::from_reader(source.reader_at(0)?, framing, &config).monitored(run.control.monitor(base));
    loop {
        let more = cursor.next_record().map_err(Halt::from);
        let more = more.map_err(|halt| located(halt, part, cursor.record()))?;
        if !more {
            return Ok(());
        }
        let number = cursor.record();
        let record = part.record.or((framing != Framing::Single).then_some(number));
        let position = SearchPosition { start: base, number: part.record.unwrap_or(0), from: 0 };
        let site = RecordSite { base, record, position };
        let walk = StringWalk::new(run.unit, &mut cursor, &mut targets, Some(source));
        let more = walk.record(&mut |found| run.string(found, site));
        if !more.map_err(|halt| located(halt, part, number))? {
            return Ok(());
        }
    }
}

/// Adds the record to an error, and makes its offset that in the input.
fn located(halt: Halt, part: DocumentPart<'_>, number: u64) -> Halt {
    match halt {
        Halt::Failed(Error::Read { error, record: None }) => {
            let record = part.record.or((part.framing != Framing::Single).then_some(number));
            let error = if part.base > 0 {
                reader::Error::plain(error.kind(), part.base + error.offset())
            } else {
                error
            };
            Halt::Failed(Error::Read { error, record })
        }
        halt => halt,
    }
}
