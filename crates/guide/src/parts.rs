//! Parts of a document: ranges of the elements of a long array, cut at known waypoints.

use std::cmp::Reverse;
use std::fs::File;
use std::io::{self, Read};
use std::ops::Range;
use std::os::unix::fs::FileExt;

use trommel::path::{Query, Selector};
use trommel::reader::{Config, Cursor, Input, MapPolicy, Payload, Scalar, Span, Waypoint};
use trommel::{Analysis, Document, ElementPart};

use crate::error::Result;
use crate::guide::Guide;
use crate::index::{Container, Index, NONE};

/// Bytes of a name that are read.
const MAX_NAME: u64 = 64 << 10;

/// Long arrays whose paths are compared with a query.
const MAX_COMPARED: usize = 64;

/// A part of a document.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Part {
    /// The indices of its elements.
    pub elements: Range<u64>,
    /// The bytes from its first element to that of the next part, if they are known.
    pub bytes: Option<u64>,
}

impl Guide {
    /// The query that selects the elements of the array with the most elements, if an array is long
    /// enough to be described.
    ///
    /// # Errors
    /// Those of reading the names on the way to the array.
    pub fn longest_array(&self, file: &File) -> Result<Option<Query>> {
        let Some(number) = self.arrays().into_iter().next() else { return Ok(None) };
        Ok(self.index().path_of(file, number).map_err(trommel::Error::from)?.map(Query::with_wildcard))
    }

    /// Divides the elements of an array into at most `count` parts of about the same number of
    /// bytes. `each` is the path of the array and `[*]`. A part without elements is left out.
    ///
    /// Merged answers of [`Analysis::elements`] over these ranges are those of one run with
    /// [`Analysis::each`]. The cost is that of reading the names on the way to the array; if it is
    /// too short to be described, that of counting its elements.
    ///
    /// # Errors
    /// Those of reading.
    pub fn parts(
        &self,
        file: &File,
        document: &mut Document<'_>,
        each: &Query,
        count: u64,
    ) -> Result<Vec<Part>> {
        for number in self.arrays().into_iter().take(MAX_COMPARED) {
            let path = self.index().path_of(file, number).map_err(trommel::Error::from)?;
            if path.map(Query::with_wildcard).as_ref() == Some(each) {
                return Ok(self.index().cuts(number, count));
            }
        }
        let report = Analysis::new().count(each.clone()).run(document)?;
        let total = report.answers.first().and_then(trommel::Answer::count).unwrap_or(0);
        // At most the total.
        let at = |number: u64| (u128::from(total) * u128::from(number) / u128::from(count)) as u64;
        let ranges = (0..count).map(|number| at(number)..at(number + 1));
        let parts = ranges.filter(|range| !range.is_empty());
        Ok(at_least_one(parts.map(|elements| Part { elements, bytes: None }).collect()))
    }

    /// Divides a single document into at most `count` parts of about the same number of bytes, in
    /// its longest array that is in no other array. Each is for [`Document::within`]. Without such
    /// an array, the result is empty.
    ///
    /// # Errors
    /// Those of reading. The bytes around the ends of the parts are read.
    pub fn document_parts(&self, file: &File, count: u64) -> Result<Vec<ElementPart>> {
        let parts = self.index().document_parts(file, count).map_err(trommel::Error::from)?;
        Ok(if self.index().records() == 1 { parts } else { Vec::new() })
    }

    /// The arrays of a single document, those with the most elements first.
    fn arrays(&self) -> Vec<u32> {
        let containers = &self.index().containers;
        let mut arrays: Vec<u32> = (0..containers.len() as u32).collect();
        arrays.retain(|number| !containers[*number as usize].object && self.index().records() == 1);
        arrays.sort_by_key(|number| Reverse(containers[*number as usize].children));
        arrays
    }
}

impl Index {
    /// The path of a container, whose names are read from the input. `None` if the bytes there are
    /// not names.
    fn path_of(&self, file: &File, number: u32) -> io::Result<Option<Query>> {
        let mut steps = Vec::new();
        let mut number = number;
        while let Some(Container { child_start, index, parent, .. }) =
            self.containers.get(number as usize).copied()
        {
            if parent == NONE {
                break;
            }
            let is_member = self.containers[parent as usize].object;
            steps.push(match (is_member, i64::try_from(index)) {
                (true, _) => match name_at(file, child_start)? {
                    Some(name) => Selector::Name(name),
                    None => return Ok(None),
                },
                (false, Ok(index)) => Selector::Index(index),
                (false, Err(_)) => return Ok(None),
            });
            number = parent;
        }
        Ok(Some(steps.into_iter().rev().fold(Query::root(), Query::with_child)))
    }

    /// Divides an array at known waypoints.
    fn cuts(&self, number: u32, count: u64) -> Vec<Part> {
        let part = |pair: &[Waypoint]| {
            let (from, to) = (pair[0], pair[1]);
            Part { elements: from.index..to.index, bytes: Some(to.offset - from.offset) }
        };
        at_least_one(self.divided(number, count).windows(2).map(part).collect())
    }

    /// The start of an array, waypoints that divide it, and its end.
    fn divided(&self, number: u32, count: u64) -> Vec<Waypoint> {
        let Container { start, end, children, depth, .. } = self.containers[number as usize];
        let bytes = end - start;
        let mut cuts = vec![Waypoint { index: 0, offset: start }];
        for part in 1..count {
            // At most the bytes.
            let offset = start + (u128::from(bytes) * u128::from(part) / u128::from(count)) as u64;
            cuts.extend(self.waypoint_before(start + 1, depth, offset));
        }
        cuts.push(Waypoint { index: children, offset: end });
        cuts.dedup_by_key(|cut| cut.index);
        cuts
    }

    fn document_parts(&self, file: &File, count: u64) -> io::Result<Vec<ElementPart>> {
        let lengths =
            self.containers.iter().zip(0..).filter(|(container, _)| self.is_outermost_array(container));
        let longest = lengths.max_by_key(|(container, _)| container.end - container.start);
        let Some((&Container { start, end, children, .. }, number)) = longest else { return Ok(Vec::new()) };
        let mut cuts = self.divided(number, count);
        // Before a matcher can pass elements, it reads two.
        cuts.retain(|cut| cut.index == 0 || cut.index >= FIRST_ELEMENTS);
        let mut ends = vec![start + 1];
        for cut in &cuts[1..] {
            let is_last = cut.index == children;
            // The last waypoint is after the bracket.
            let before = if is_last { end - 1 } else { cut.offset };
            let Some(element_end) = element_end(file, before, !is_last)? else { return Ok(Vec::new()) };
            ends.push(element_end);
        }
        let count = cuts.len() as u64 - 1;
        let part = |(number, pair): (usize, &[Waypoint])| ElementPart {
            number: number as u64,
            count,
            length: self.length(),
            array: start,
            elements: pair[0].index..pair[1].index,
            bytes: ends[number]..ends[number + 1],
            next: if pair[1].index == children { end - 1 } else { pair[1].offset },
            first_end: ends[1],
        };
        Ok(cuts.windows(2).enumerate().map(part).collect())
    }

    /// True for an array that is in no other array.
    fn is_outermost_array(&self, container: &Container) -> bool {
        let mut outer = self.containers.get(container.parent as usize);
        while let Some(Container { object: true, parent, .. }) = outer {
            outer = self.containers.get(*parent as usize);
        }
        !container.object && outer.is_none()
    }
}

/// Elements at the start of an array that the first part has.
const FIRST_ELEMENTS: u64 = 2;

/// Bytes that are read at a time before an offset.
const STEP: u64 = 4096;

/// The end of the last element before an offset: without white space, and, if there is one, the
/// comma after it. `None` if the bytes are others.
fn element_end(file: &File, before: u64, has_comma: bool) -> io::Result<Option<u64>> {
    let (mut end, mut wants_comma) = (before, has_comma);
    while end > 0 {
        let start = end.saturating_sub(STEP);
        let mut bytes = vec![0; (end - start) as usize];
        file.read_exact_at(&mut bytes, start)?;
        for (byte, at) in bytes.into_iter().rev().zip((start..end).rev()) {
            match byte {
                b' ' | b'\n' | b'\r' | b'\t' => {}
                b',' if wants_comma => wants_comma = false,
                _ => return Ok((!wants_comma).then_some(at + 1)),
            }
        }
        end = start;
    }
    Ok(None)
}

/// An empty array has one part, so that its answers have the form of those of others.
fn at_least_one(mut parts: Vec<Part>) -> Vec<Part> {
    if parts.is_empty() {
        parts.push(Part { elements: 0..0, bytes: None });
    }
    parts
}

/// The name at an offset.
fn name_at(file: &File, offset: u64) -> io::Result<Option<String>> {
    let input = Input::from_file(file.try_clone()?, MapPolicy::never())?;
    let end = input.len();
    let Some(rest) = input.range(Span::new(offset.min(end), end)) else { return Ok(None) };
    let mut bytes = Vec::new();
    rest.reader().take(MAX_NAME).read_to_end(&mut bytes)?;
    let mut cursor = Cursor::new(&bytes, &Config::new());
    Ok(match cursor.begin_value() {
        Ok(_) => match cursor.payload() {
            Payload::Scalar(Scalar::String(name)) => Some(name.decode().into_owned()),
            _ => None,
        },
        Err(_) => None,
    })
}
