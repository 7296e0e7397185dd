//! Runs that use the points of a guide, and answers that are left for the next question: `stats`
//! and `schema` of a large file have seen all of it.

use trommel::reader::{Framing, Guide as _, Input, Span, Validation, Waypoint};
use trommel::{Document, Error, Measure, Partial, Report};
use trommel_guide::{FileIdentity, Guide, Location, without_skipped};

use super::Job;
use crate::home;
use crate::input::FoundGuide;
use crate::output::InputSink;

/// The smallest input whose answers are kept, in bytes: others are read in an instant.
const LEAVES_FROM: u64 = 64 << 20;

/// The smallest compressed file that may have as much.
const LEAVES_FROM_PACKED: u64 = 64 << 10;

/// A run over the last records of a stream.
#[derive(Clone, Copy)]
pub(crate) struct LaterRecords {
    /// The number of records before them.
    pub(crate) before: u64,
    /// The number of all records, and of their bytes.
    pub(crate) records: u64,
    pub(crate) bytes: u64,
}

impl Job {
    /// Lets the run begin near a record, at one whose offset a guide of the whole stream knows.
    pub(crate) fn begin_near(&mut self, record: u64) -> Option<LaterRecords> {
        let FoundGuide { guide, is_whole: true, .. } = self.guide.as_ref()? else { return None };
        let (file, framing) = (self.options.guided_file(&self.document)?, self.document.current_framing());
        let index = guide.index();
        let is_stream = self.is_input_stream().unwrap_or(index.records() > 1);
        // Within narrower limits, a record before may be an error.
        let is_used = self.document.guide().is_some() && index.is_within(&self.options.limits);
        if !is_stream || !is_used {
            return None;
        }
        let Waypoint { offset, index: before } = index.record_before(record);
        let input = Input::from_file(file.try_clone().ok()?, self.options.mapping()).ok()?;
        let rest = input.range(Span::new(offset, index.length()))?;
        self.document = guide.guide(Document::from_input(rest).ok()?.framing(framing));
        Some(LaterRecords { before, records: index.records(), bytes: index.length() })
    }

    /// Runs the analysis over the current input. With a guide, passes the elements that it skips.
    /// Keeps the statistics of a large file.
    pub(super) fn run_and_leave_guide(&mut self, sink: &mut dyn InputSink) -> Result<Report, Error> {
        let Some(identity) = self.identity_of_large_file() else {
            // After an error, the run over all elements reports the cause.
            let shorter = without_skipped(&self.analysis, &mut self.document).ok().flatten();
            return shorter.as_ref().unwrap_or(&self.analysis).run_with(&mut self.document, sink);
        };
        if let Some(report) = self.answer_grown(&identity) {
            return Ok(report);
        }
        let partial = self.analysis.run_part(&mut self.document, 0, sink)?;
        let report = self.analysis.finish(partial.clone())?;
        if report.coverage.bytes_read >= LEAVES_FROM {
            let left = self.leave_guide(identity, &partial);
            self.note_refusal(left);
        }
        Ok(report)
    }

    fn note_refusal(&self, left: trommel_guide::Result<()>) {
        if let Err(error) = left {
            self.notes().note(&format!("the answer is not kept for the next time: {error}"));
        }
    }

    /// The statistics of a log that has grown, of which only the appended lines are read. `None`
    /// without a guide of the lines before them. After an error, a run over the whole input reports
    /// the cause.
    fn answer_grown(&self, identity: &FileIdentity) -> Option<Report> {
        let file = self.options.guided_file(&self.document)?;
        let guides = home::guides().ok()?;
        let path = &self.options.file;
        let Some(FoundGuide { guide: known, path: known_path, is_whole: false }) = &self.guide else {
            return None;
        };
        if self.document.current_framing() != Framing::Lines {
            return None;
        }
        let (analysis, partial) = known.answer_grown(&self.analysis, file).ok()??;
        // The file must not have changed meanwhile.
        let guide = Guide::of_answer(identity.clone(), Framing::Lines, &analysis, &partial).ok()??;
        guide.check_file(file).ok()?;
        let report = guide.report(&self.analysis, Framing::Lines)?;
        // A guide with points serves more questions than this one.
        if !known.has_points() && *known_path == guides.path(path, &file.metadata().ok()?, Location::Folder) {
            self.note_refusal(guides.keep(path, &guide, Location::Folder).map(|_| ()));
        }
        Some(report)
    }

    /// The identity of the file, if it is large and the analysis is over all of it.
    fn identity_of_large_file(&self) -> Option<FileIdentity> {
        let [Measure::Stats(stats)] = self.analysis.measures() else { return None };
        let is_whole =
            stats.queries.is_empty() && stats.counts && !self.has_nodes() && self.filters.is_empty();
        if !is_whole || self.options.validation != Validation::Strict {
            return None;
        }
        let file = self.options.guided_file(&self.document)?;
        let least = if self.document.len().is_some() { LEAVES_FROM } else { LEAVES_FROM_PACKED };
        file.metadata().ok().filter(|metadata| metadata.len() >= least)?;
        FileIdentity::of(file).ok()
    }

    fn leave_guide(&mut self, identity: FileIdentity, partial: &Partial) -> trommel_guide::Result<()> {
        let framing = self.document.current_framing();
        // Without a folder for state, nothing is kept.
        let Ok(guides) = home::guides() else { return Ok(()) };
        let file = &self.options.file;
        let guide = match self.guide.take() {
            None | Some(FoundGuide { is_whole: false, .. }) => {
                Guide::of_answer(identity, framing, &self.analysis, partial)?
            }
            Some(FoundGuide { mut guide, path, is_whole: true }) => {
                // Nothing is written beside a file unasked, nor does one framing replace another.
                let metadata = file.metadata().map_err(Error::from)?;
                let is_ours = path == guides.path(file, &metadata, Location::Folder) && guide.is_of(framing);
                let is_new = is_ours && guide.add_answer(&self.analysis, partial)?;
                is_new.then_some(guide)
            }
        };
        guide.map_or(Ok(()), |guide| guides.keep(file, &guide, Location::Folder).map(|_| ()))
    }
}
