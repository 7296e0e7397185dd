//! What one of several threads found in a part of the input, kept until its turn comes.

use std::fmt::Write as _;
use std::io;

use trommel_path::Location;
use trommel_reader::{Span, View};

use crate::control::Track;
use crate::error::Error;
use crate::extract::Outgoing;
use crate::report::{Damage, Found, Sink};

/// Bytes that the system may map around those that are read: a large folio on either side.
const AROUND: u64 = 4 << 20;

/// What a part found, kept until its turn comes.
#[derive(Default)]
pub(crate) struct Kept {
    found: Vec<KeptValue>,
    locations: String,
    /// Ends of the locations, if they are wanted.
    location_ends: Vec<usize>,
    /// Bad records, each with the number of values found before it.
    damages: Vec<(usize, Damage)>,
    located: bool,
    /// The element that the part begins with, if locations count from it.
    first: Option<First>,
}

/// The first element of a part of an array.
#[derive(Clone, Copy)]
struct First {
    /// Where in a location the index of an element of the array is.
    place: usize,
    /// The element's index.
    index: u64,
}

struct KeptValue {
    span: Span,
    measure: u32,
    record: u32,
}

impl Kept {
    /// Nothing yet; locations are kept if they are wanted.
    pub(crate) fn new(located: bool) -> Self {
        Self { located, ..Self::default() }
    }

    /// Values that were kept.
    pub(crate) fn len(&self) -> usize {
        self.found.len()
    }

    /// Its locations count the elements of an array from the beginning of the part, which is the
    /// one of this index.
    pub(crate) fn begin_at(&mut self, array: &Location, index: u64) {
        self.first = self.located.then(|| First { place: array.to_string().len() + 1, index });
    }

    /// Hands on what was found in a part. Measures and queries that hand out stand in the same
    /// order.
    #[expect(clippy::expect_used, reason = "the part and the questions are those that it was found in")]
    pub(crate) fn hand_out(
        &self,
        part: View<'_>,
        outgoing: &mut [Outgoing],
        sink: &mut dyn Sink,
        track: &Track,
    ) -> Result<(), Error> {
        let mut damages = self.damages.iter().peekable();
        let (mut from, mut text) = (0, String::new());
        for (number, value) in self.found.iter().enumerate() {
            if number % 1024 == 1023 {
                track.check(value.span.end)?;
            }
            while let Some((_, damage)) = damages.next_if(|(before, _)| *before <= number) {
                sink.damaged(damage)?;
            }
            let end = if self.located { self.location_ends[number] } else { from };
            let location = self.located.then(|| &self.locations[from..end]);
            from = end;
            let location = match self.first {
                Some(first) => location.map(|location| first.moved(location, &mut text)),
                None => location,
            };
            let number = outgoing.binary_search_by_key(&(value.measure as usize), |one| one.measure);
            let outgoing = &mut outgoing[number.expect("it was found for a measure that hands out")];
            let view = part.narrow(value.span).expect("what a part found is in it");
            let found = Found {
                measure: outgoing.measure,
                value: view.bytes(),
                span: value.span,
                record: u64::from(value.record),
                location,
                view,
            };
            outgoing.give(&found, sink)?;
        }
        Ok(damages.try_for_each(|(_, damage)| sink.damaged(damage))?)
    }
}

impl First {
    /// A location that counts from this element on, as one that counts from the first of the array.
    #[expect(clippy::expect_used, reason = "locations are normalized paths that begin with the array's")]
    fn moved<'t>(self, location: &str, text: &'t mut String) -> &'t str {
        let (before, rest) = location.split_at(self.place);
        let (index, after) = rest.split_once(']').expect("an index is closed");
        let index = index.parse::<u64>().expect("an index is a number");
        text.clear();
        // Writing to text cannot fail.
        let _ = write!(text, "{before}{}]{after}", index + self.index);
        text
    }
}

impl Sink for Kept {
    #[expect(clippy::expect_used, reason = "what is found has a location where that is wanted")]
    fn found(&mut self, found: &Found<'_>) -> io::Result<()> {
        if self.located {
            self.locations.push_str(found.location.expect("it was wanted"));
            self.location_ends.push(self.locations.len());
        }
        // A part has fewer records than bytes, and nobody asks four billion questions.
        let (measure, record) = (found.measure as u32, found.record as u32);
        self.found.push(KeptValue { span: found.span, measure, record });
        Ok(())
    }

    fn damaged(&mut self, damage: &Damage) -> io::Result<()> {
        self.damages.push((self.found.len(), damage.clone()));
        Ok(())
    }

    fn wants_location(&self) -> bool {
        self.located
    }
}

/// The span of a part.
pub(crate) fn span_of(part: View<'_>) -> Span {
    Span::new(part.base(), part.base() + part.bytes().len() as u64)
}

/// Gives back the memory of a part that is done with, and of what lies before it: where the next
/// part is read, the system maps pages around it as well.
pub(crate) fn release(part: View<'_>) {
    let Span { start, end, .. } = span_of(part);
    part.release(Span::new(start.saturating_sub(AROUND), end));
}
