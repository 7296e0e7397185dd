//! A guide: an index and a shape of one input.

use std::fs::File;
use std::sync::Arc;

use trommel::reader::{Framing, Guide as _, MapPolicy, Monitor};
use trommel::{Analysis, Document, Report};

use crate::builder::IndexBuilder;
use crate::error::{Error, Result};
use crate::format::Parts;
use crate::identity::{FileIdentity, Identity};
use crate::index::Index;
use crate::sample::sample;
use crate::shape::Shape;

/// The share of the input that a guide may have, and the bytes that it may have in addition.
const MAX_SHARE: u64 = 200;
const EXTRA: u64 = 4 << 10;

/// What an earlier pass has found in an input: its index and its shape.
#[derive(Debug)]
pub struct Guide {
    identity: Identity,
    /// The number of the framing.
    framing: u32,
    index: Arc<Index>,
    shape: Shape,
}

/// The framings by their numbers in the stored form.
const FRAMINGS: [Framing; 5] =
    [Framing::Auto, Framing::Single, Framing::Lines, Framing::Concatenated, Framing::JsonSeq];

impl Guide {
    /// Builds the guide of a file that is open, in two passes: one for the index, one for the
    /// shape.
    ///
    /// `settings` are the threads, the cancellation, and the progress. The shape is left out if the
    /// guide would exceed 0.5 % of the input and 4 KiB.
    ///
    /// # Errors
    /// If the file is compressed, malformed, or changes meanwhile.
    pub fn build(file: &File, framing: Framing, settings: &Analysis, spacing: u64) -> Result<Self> {
        let input = || -> Result<Document<'static>> {
            let again = file.try_clone().map_err(trommel::Error::from)?;
            let input =
                trommel::reader::Input::from_file(again, MapPolicy::never()).map_err(trommel::Error::from)?;
            Ok(Document::from_input(input).map_err(trommel::Error::from)?.framing(framing))
        };
        if !FRAMINGS.contains(&framing) {
            return Err(Error::Unsuitable("its framing has no number"));
        }
        let identity = FileIdentity::of(file).map_err(trommel::Error::from)?;
        let mut document = input()?;
        if document.len().is_none() {
            return Err(Error::Unsuitable("it is compressed, or its length is unknown"));
        }
        let cancel = settings.cancel().clone();
        let monitor: Monitor<'_> = Box::new(move |offset| {
            if cancel.is_cancelled() {
                return Err(trommel::reader::Error::io(std::io::ErrorKind::Interrupted.into(), offset));
            }
            Ok(())
        });
        let index = Index::build(&document, IndexBuilder::new(spacing), monitor)?;
        let shape = Shape::build(&mut document, settings)?;
        if let Some(difference) = identity.difference(file).map_err(trommel::Error::from)? {
            return Err(Error::Changed(difference));
        }
        Ok(Self::new(Identity::File(identity), framing, index, shape))
    }

    /// Creates a guide from its parts.
    ///
    /// # Panics
    /// If the framing has no number in the stored form.
    #[expect(clippy::expect_used, reason = "a stored form with another framing would be wrong")]
    pub fn new(identity: Identity, framing: Framing, index: Index, shape: Shape) -> Self {
        let framing = FRAMINGS.iter().position(|known| *known == framing);
        let framing = framing.expect("the framing has a number") as u32;
        Self { identity, framing, index: Arc::new(index), shape }
    }

    /// The stored form: that with the shape, unless it is too large.
    pub fn to_bytes(&self) -> Vec<u8> {
        let most = self.index.length() / MAX_SHARE + EXTRA;
        let (identity, index) = (self.identity.clone(), Index::clone(&self.index));
        let mut parts = Parts { identity, framing: self.framing, index, answers: self.shape.answers.clone() };
        let whole = parts.to_bytes();
        if whole.len() as u64 <= most {
            return whole;
        }
        parts.answers.clear();
        parts.to_bytes()
    }

    /// Reads the stored form.
    ///
    /// # Errors
    /// If the bytes are damaged or of another version. Nothing of them is used then.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self> {
        let Parts { identity, framing, index, answers } = Parts::from_bytes(bytes)?;
        if FRAMINGS.get(framing as usize).is_none() {
            return Err(Error::damaged("its framing is unknown"));
        }
        Ok(Self { identity, framing, index: Arc::new(index), shape: Shape::new(answers) })
    }

    /// The input that it describes.
    pub fn identity(&self) -> &Identity {
        &self.identity
    }

    /// The index.
    pub fn index(&self) -> &Arc<Index> {
        &self.index
    }

    /// True if it can answer questions about the shape.
    pub fn has_shape(&self) -> bool {
        !self.shape.answers.is_empty()
    }

    /// Fails if it does not describe this file as it is now.
    ///
    /// # Errors
    /// [`Error::Changed`], and those of reading.
    pub fn check_file(&self, file: &File) -> Result<()> {
        let Identity::File(identity) = &self.identity else {
            return Err(Error::Changed("it describes a stored output"));
        };
        match identity.difference(file).map_err(trommel::Error::from)? {
            Some(difference) => Err(Error::Changed(difference)),
            None => Ok(()),
        }
    }

    /// True if it describes the input in this framing.
    pub fn is_of(&self, framing: Framing) -> bool {
        FRAMINGS.get(self.framing as usize) == Some(&framing)
    }

    /// The framing in which it describes the input.
    ///
    /// # Panics
    /// Never: the framing was checked when the guide was read or created.
    #[expect(clippy::expect_used, reason = "the framing was checked when the guide was read or created")]
    pub fn framing(&self) -> Framing {
        *FRAMINGS.get(self.framing as usize).expect("the framing was checked")
    }

    /// Lets a document of the input use the index, if it has the same framing.
    #[must_use]
    pub fn guide<'a>(&self, document: Document<'a>) -> Document<'a> {
        if !self.is_of(document.current_framing()) {
            return document;
        }
        document.guided_by(Arc::clone(&self.index) as _)
    }

    /// Answers an analysis of the whole input, in this framing, without reading it. `None` if the
    /// answers do not follow from what is known.
    ///
    /// The answers are those of a run. Their coverage says [`guide`](trommel::Coverage::guide).
    pub fn report(&self, analysis: &Analysis, framing: Framing) -> Option<Report> {
        // A run within narrower limits may end with an error.
        let fits = self.is_of(framing) && self.index.is_within(analysis.current_limits());
        if fits { self.shape.report(analysis) } else { None }
    }

    /// Like [`report`](Self::report), and answers samples of long arrays from a
    /// [guided](Self::guide) document: at the cost of reading their items.
    ///
    /// # Errors
    /// Those of reading.
    pub fn answer(&self, analysis: &Analysis, document: &mut Document<'_>) -> Result<Option<Report>> {
        let framing = document.current_framing();
        if !self.is_of(framing) {
            return Ok(None);
        }
        match self.report(analysis, framing) {
            Some(report) => Ok(Some(report)),
            None => sample(&self.index, analysis, document),
        }
    }
}
