//! The questions of a run as plain data, and partial answers that know their questions.

use serde::{Deserialize, Serialize};
use trommel::path::Query;
use trommel::reader::Validation;
use trommel::{Analysis, Error, Measure, Partial, Report};

use crate::report::{AnswerError, push_list};
use crate::request::{Request, RequestError};

/// The questions of a run: the requests, and the records that they are about.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Questions {
    /// The requests.
    pub requests: Vec<Request>,
    /// The query whose nodes are the records.
    #[serde(default)]
    pub each: Option<String>,
    /// The filters that a record must pass.
    #[serde(default)]
    pub filters: Vec<String>,
    /// True if skipped bytes are validated in full.
    #[serde(default)]
    pub strict: bool,
}

impl Questions {
    /// The measures that answer the requests, in their order.
    ///
    /// # Errors
    /// Those of [`Request::measure`].
    pub fn measures(&self) -> Result<Vec<Measure>, RequestError> {
        self.requests.iter().map(Request::measure).collect()
    }

    /// The analysis that answers the requests.
    ///
    /// # Errors
    /// Those of [`Request::measure`], and if a filter is not valid.
    pub fn analysis(&self) -> Result<Analysis, RequestError> {
        let analysis = self.records()?;
        Ok(self.measures()?.into_iter().fold(analysis, Analysis::ask))
    }

    /// The analysis of the same records, without measures.
    ///
    /// # Errors
    /// If a query or a filter is not valid.
    pub fn records(&self) -> Result<Analysis, RequestError> {
        let validation = if self.strict { Validation::Strict } else { Validation::Structural };
        let mut analysis = Analysis::new().validation(validation);
        if let Some(each) = &self.each {
            analysis = analysis.each(each.parse()?);
        }
        for filter in &self.filters {
            analysis = analysis.filter(Query::parse_filter(filter)?);
        }
        Ok(analysis)
    }
}

impl Questions {
    /// Appends `{"answers":[…],"coverage":{…}}`, with the answers in the order of the requests.
    ///
    /// # Errors
    /// Those of [`Request::push_answer`], and if the report is that of other questions.
    pub fn push_report(&self, report: &Report, out: &mut Vec<u8>) -> Result<(), AnswerError> {
        let measures = self.measures().map_err(|_other| AnswerError::OtherMeasure)?;
        if measures.len() != report.answers.len() {
            return Err(AnswerError::OtherMeasure);
        }
        out.extend_from_slice(br#"{"answers":"#);
        let answers = self.requests.iter().zip(&measures).zip(&report.answers);
        push_list(answers, out, |((request, measure), answer), out| {
            request.push_answer(measure, answer, out)
        })?;
        out.extend_from_slice(br#","coverage":"#);
        serde_json::to_writer(&mut *out, &report.coverage)?;
        out.push(b'}');
        Ok(())
    }
}

/// The answers to a part of an input, or to several merged parts, with their questions.
#[derive(Clone, Debug)]
pub struct PartialAnswers {
    /// The questions.
    pub questions: Questions,
    /// The answers.
    pub partial: Partial,
}

impl PartialAnswers {
    /// Merges the answers to the part that follows this one.
    ///
    /// # Errors
    /// If the partials have the answers to different questions.
    pub fn merge(self, later: Self) -> Result<Self, Error> {
        Ok(Self { questions: self.questions, partial: self.partial.merge(later.partial)? })
    }

    /// Returns the stored form: a line of JSON with the questions, and then [`Partial::to_bytes`].
    /// The same answers have the same bytes.
    ///
    /// # Errors
    /// [`Error::Partial`], if the partial cannot be serialized.
    pub fn to_bytes(&self) -> Result<Vec<u8>, Error> {
        let failed = |error| Error::Partial(format!("cannot store a partial: {error}"));
        let mut bytes = serde_json::to_vec(&self.questions).map_err(failed)?;
        bytes.push(b'\n');
        bytes.extend(self.partial.to_bytes()?);
        Ok(bytes)
    }

    /// Reads the stored form.
    ///
    /// # Errors
    /// [`Error::Partial`], if the bytes are damaged, or have another version.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, Error> {
        let damaged = |why: String| Error::Partial(format!("not a partial: {why}"));
        let end = bytes.iter().position(|&byte| byte == b'\n');
        let end = end.ok_or_else(|| damaged("it has no line of questions".into()))?;
        let questions: Questions =
            serde_json::from_slice(&bytes[..end]).map_err(|error| damaged(error.to_string()))?;
        questions.analysis().map_err(|error| damaged(error.to_string()))?;
        Ok(Self { questions, partial: Partial::from_bytes(&bytes[end + 1..])? })
    }

    /// Assembles the report.
    ///
    /// # Errors
    /// [`Error::Partial`], if the partial is damaged.
    pub fn finish(self) -> Result<Report, Error> {
        let analysis = self.questions.analysis().map_err(|error| Error::Partial(error.to_string()))?;
        analysis.finish(self.partial)
    }
}
