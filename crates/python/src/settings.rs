//! The records of a run, and how their input is read.

use std::ops::Range;
use std::sync::{Arc, Mutex, PoisonError};

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use trommel::path::{Logical, Query};
use trommel::reader::{Framing, Validation};
use trommel::{Analysis, Answer, Cancel, Count, ElementPart, Error, Match, Measure, OnBadRecord, Report};
use trommel_answer::{Questions, Request};

use crate::answers::{self, Extracted};
use crate::errors::{of_request, of_run};
use crate::partial::Partial;
use crate::progress::Progress;
use crate::run::interruptible;
use crate::source::Source;

/// What to read and how.
#[derive(Clone)]
pub(crate) struct Settings {
    pub(crate) source: Arc<Source>,
    pub(crate) framing: Option<Framing>,
    pub(crate) each: Option<Query>,
    pub(crate) filters: Vec<Logical>,
    pub(crate) part: Option<(u64, u64)>,
    /// The elements of a part of a document that is not divided by its lines.
    pub(crate) elements: Option<Range<u64>>,
    /// The part of a single document.
    pub(crate) within: Option<ElementPart>,
    pub(crate) is_strict: bool,
    pub(crate) on_bad_record: OnBadRecord,
    pub(crate) threads: Option<usize>,
    pub(crate) progress: Option<Arc<Progress>>,
    /// The exception of the progress callback, which ends the run.
    pub(crate) raised: Arc<Mutex<Option<PyErr>>>,
}

/// Counts the nodes of a query that ends in `[*]`, and the elements of the arrays around them.
fn elements_of(each: Option<Query>) -> Vec<Measure> {
    let Some(nodes) = each else { return Vec::new() };
    let elements = nodes.clone().with_last_slice(0, u64::MAX);
    [nodes, elements].map(|query| Measure::Count(Count::new(query))).to_vec()
}

impl Settings {
    /// Opens the input. Runs without the interpreter lock.
    pub(crate) fn document(&self) -> Result<trommel::Document<'static>, Error> {
        let mut document = self.source.document()?;
        if let Some(framing) = self.framing {
            document = document.framing(framing);
        }
        if let Some(within) = &self.within {
            return Ok(document.within(within.clone()));
        }
        match self.part {
            Some((number, count)) if self.elements.is_none() => document.part(number, count),
            _ => Ok(match self.source.guide(&document) {
                Some(guide) => guide.guide(document),
                None => document,
            }),
        }
    }

    /// The answer that a guide of the source has. After an error of the guide, a run over the input
    /// reports the cause.
    fn known(&self, analysis: &Analysis, document: &mut trommel::Document<'_>) -> Option<Report> {
        let is_whole = self.part.is_none() && self.elements.is_none();
        if !is_whole {
            return None;
        }
        self.source.guide(document)?.answer(analysis, document).ok()?
    }

    /// The analysis of the records, without measures.
    pub(crate) fn analysis(&self, cancel: &Cancel) -> Analysis {
        let validation = if self.is_strict { Validation::Strict } else { Validation::Structural };
        let mut analysis = Analysis::new().validation(validation).on_bad_record(self.on_bad_record);
        analysis = analysis.cancel_with(cancel);
        if let Some(threads) = self.threads {
            analysis = analysis.threads(threads);
        }
        if let Some(each) = &self.each {
            analysis = analysis.each(each.clone());
        }
        if let Some(elements) = &self.elements {
            analysis = analysis.elements(elements.clone());
        }
        if let Some(progress) = &self.progress {
            let (show, raised, cancel) = (progress.start(), Arc::clone(&self.raised), cancel.clone());
            analysis = analysis.on_progress(move |progress| {
                if let Err(error) = show.update(progress) {
                    raised.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(error);
                    cancel.cancel();
                }
            });
        }
        self.filters.iter().cloned().fold(analysis, Analysis::filter)
    }

    /// The number of elements that parts divide; `None` if parts divide lines.
    ///
    /// # Errors
    /// If the records are neither.
    pub(crate) fn divisible_elements(&self, py: Python<'_>) -> PyResult<Option<u64>> {
        if self.each.is_none() || !self.source.is_repeatable() {
            return Ok(None);
        }
        let settings = self.clone();
        let opened = interruptible(py, &Cancel::new(), move || settings.document())?;
        let framing = opened.map_err(|error| self.error(py, &error))?.current_framing();
        if matches!(framing, Framing::Lines | Framing::JsonSeq) {
            return Ok(None);
        }
        self.check_elements()?;
        let (each, settings) = (self.each.clone(), Self { each: None, filters: Vec::new(), ..self.clone() });
        let (report, _) = settings.run(py, elements_of(each))?;
        match report.answers.iter().map(Answer::count).collect::<Option<Vec<_>>>().as_deref() {
            Some(&[nodes, elements]) if nodes == elements => Ok(Some(nodes)),
            _ => Err(PyValueError::new_err(
                "the records of each() are members of objects, which have no parts",
            )),
        }
    }

    /// The parts of a single document, which a guide of its file knows. `None` without one.
    pub(crate) fn document_parts(&self, py: Python<'_>, count: u64) -> PyResult<Option<Vec<ElementPart>>> {
        if self.each.is_some() || self.within.is_some() {
            return Ok(None);
        }
        let settings = self.clone();
        let divided = interruptible(py, &Cancel::new(), move || {
            let document = settings.document()?;
            let guide =
                settings.source.guide(&document).filter(|guide| guide.is_of(document.current_framing()));
            let (Some(guide), Some(file)) = (guide, document.file()) else { return Ok(None) };
            guide.document_parts(file, count).map(Some)
        })?;
        match divided {
            Ok(parts) => Ok(parts.filter(|parts| !parts.is_empty())),
            Err(error) => Err(PyValueError::new_err(error.to_string())),
        }
    }

    /// Fails unless the records are elements of an array.
    pub(crate) fn check_elements(&self) -> PyResult<()> {
        self.check_undivided()?;
        let each = self.each.as_ref().map(|each| (each, each.clone().with_last_slice(0, 0)));
        match each {
            Some((each, sliced)) if *each != sliced => Ok(()),
            _ => Err(PyValueError::new_err("choose the elements first, as in each('$.users[*]')")),
        }
    }

    /// Fails if the elements of a part were chosen.
    pub(crate) fn check_undivided(&self) -> PyResult<()> {
        if self.elements.is_none() && self.within.is_none() {
            return Ok(());
        }
        Err(PyValueError::new_err("a part of an array has its records already: choose them first"))
    }

    /// The exception of a failed run: that of the progress callback, if it raised one.
    pub(crate) fn error(&self, py: Python<'_>, error: &Error) -> PyErr {
        self.raised().unwrap_or_else(|| of_run(py, error))
    }

    /// Removes the exception that the progress callback raised.
    pub(crate) fn raised(&self) -> Option<PyErr> {
        self.raised.lock().unwrap_or_else(PoisonError::into_inner).take()
    }

    /// Runs `work` with an analysis, without the interpreter lock.
    pub(crate) fn perform<T: Send + 'static>(
        &self,
        py: Python<'_>,
        work: impl FnOnce(Analysis, &mut trommel::Document<'static>) -> Result<T, Error> + Send + 'static,
    ) -> PyResult<T> {
        let cancel = Cancel::new();
        let analysis = self.analysis(&cancel);
        let settings = self.clone();
        let ran = interruptible(py, &cancel, move || work(analysis, &mut settings.document()?))?;
        if let Some(raised) = self.raised() {
            return Err(raised);
        }
        ran.map_err(|error| self.error(py, &error))
    }

    /// Answers measures over the document, and returns the extracted values.
    pub(crate) fn run(&self, py: Python<'_>, measures: Vec<Measure>) -> PyResult<(Report, Extracted)> {
        let settings = self.clone();
        let (report, extracted) = self.perform(py, move |analysis, document| {
            let mut extracted = Extracted::default();
            let analysis = measures.into_iter().fold(analysis, Analysis::ask);
            if let Some(report) = settings.known(&analysis, document) {
                return Ok((report, extracted));
            }
            let report = analysis.run_with(document, &mut |found: &Match<'_>| {
                extracted.push(found);
                Ok(())
            })?;
            Ok((report, extracted))
        })?;
        answers::warn_skipped(py, &report.coverage)?;
        Ok((report, extracted))
    }

    /// Answers requests over the part with a number among those to be merged.
    pub(crate) fn run_part(&self, py: Python<'_>, requests: Vec<Request>, number: u64) -> PyResult<Partial> {
        let questions = Questions {
            requests,
            each: self.each.as_ref().map(Query::to_string),
            filters: self.filters.iter().map(Logical::to_string).collect(),
            strict: self.is_strict,
        };
        let measures = questions.measures().map_err(|error| of_request(py, &error))?;
        let partial = self.perform(py, move |analysis, document| {
            let analysis = measures.into_iter().fold(analysis, Analysis::ask);
            analysis.run_part(document, number, &mut |_: &Match<'_>| Ok(()))
        })?;
        Ok(Partial::new(questions, partial))
    }
}
