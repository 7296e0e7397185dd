//! The location of a node, as a normalized path or a JSON Pointer.

use std::fmt::{self, Write};

/// The location of a node: the names and indices from the root to it. [`Display`](fmt::Display)
/// writes a normalized path (RFC 9535, section 2.7).
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Location {
    steps: Vec<Step>,
    /// The decoded names, concatenated.
    names: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Step {
    /// The range of the name in `names`.
    Name {
        start: usize,
        end: usize,
    },
    Index(u64),
}

/// One step of a location.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "JSON has objects and arrays")]
pub enum LocationStep<'a> {
    /// The step to the member with that name.
    Name(&'a str),
    /// The step to the element with that index.
    Index(u64),
}

impl Clone for Location {
    fn clone(&self) -> Self {
        Self { steps: self.steps.clone(), names: self.names.clone() }
    }

    /// Copies a location into the memory of this one.
    fn clone_from(&mut self, source: &Self) {
        self.steps.clone_from(&source.steps);
        self.names.clone_from(&source.names);
    }
}

impl Location {
    /// Creates the location of the root.
    pub fn new() -> Self {
        Self::default()
    }

    /// Returns the steps from the root.
    pub fn steps(&self) -> impl ExactSizeIterator<Item = LocationStep<'_>> {
        self.steps.iter().map(|step| match *step {
            Step::Name { start, end } => LocationStep::Name(&self.names[start..end]),
            Step::Index(index) => LocationStep::Index(index),
        })
    }

    /// Appends a step to a member.
    pub fn push_name(&mut self, name: &str) {
        let start = self.names.len();
        self.names.push_str(name);
        self.steps.push(Step::Name { start, end: self.names.len() });
    }

    /// Appends a step to an element.
    pub fn push_index(&mut self, index: u64) {
        self.steps.push(Step::Index(index));
    }

    /// Returns the number of steps.
    pub fn depth(&self) -> usize {
        self.steps.len()
    }

    /// Keeps the first `depth` steps.
    pub fn truncate(&mut self, depth: usize) {
        if let Some(Step::Name { start, .. }) =
            self.steps.iter().skip(depth).find(|step| matches!(step, Step::Name { .. }))
        {
            self.names.truncate(*start);
        }
        self.steps.truncate(depth);
    }

    /// Returns the location as a JSON Pointer (RFC 6901).
    pub fn to_pointer(&self) -> String {
        let mut pointer = String::new();
        for step in self.steps() {
            match step {
                LocationStep::Name(name) => {
                    pointer.push('/');
                    pointer.push_str(&name.replace('~', "~0").replace('/', "~1"));
                }
                LocationStep::Index(index) => {
                    let _ = write!(pointer, "/{index}");
                }
            }
        }
        pointer
    }
}

impl fmt::Display for Location {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_char('$')?;
        for step in self.steps() {
            match step {
                LocationStep::Name(name) => write_name(f, name)?,
                LocationStep::Index(index) => write!(f, "[{index}]")?,
            }
        }
        Ok(())
    }
}

/// Writes a name in brackets and single quotes, escaped according to section 2.7.
fn write_name(f: &mut fmt::Formatter<'_>, name: &str) -> fmt::Result {
    f.write_str("['")?;
    let mut plain = 0;
    for (at, byte) in name.bytes().enumerate() {
        if byte >= 0x20 && byte != b'\'' && byte != b'\\' {
            continue;
        }
        f.write_str(&name[plain..at])?;
        plain = at + 1;
        match byte {
            0x08 => f.write_str("\\b")?,
            0x09 => f.write_str("\\t")?,
            0x0A => f.write_str("\\n")?,
            0x0C => f.write_str("\\f")?,
            0x0D => f.write_str("\\r")?,
            b'\'' => f.write_str("\\'")?,
            b'\\' => f.write_str("\\\\")?,
            _ => write!(f, "\\u{byte:04x}")?,
        }
    }
    f.write_str(&name[plain..])?;
    f.write_str("']")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prints_as_normalized_path_and_as_pointer() {
        let mut location = Location::new();
        assert_eq!(location.to_string(), "$");
        location.push_name("a'b\\\n\u{1}☺");
        location.push_index(3);
        location.push_name("x/y~");
        assert_eq!(location.to_string(), r"$['a\'b\\\n\u0001☺'][3]['x/y~']");
        assert_eq!(location.to_pointer(), "/a'b\\\n\u{1}☺/3/x~1y~0");
        location.truncate(1);
        location.push_name("z");
        assert_eq!(location.to_string(), r"$['a\'b\\\n\u0001☺']['z']");
    }
}
