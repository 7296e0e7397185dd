//! Where a node stands, and how that is written.

use std::fmt::{self, Write};

/// The place of a node: names and indices from the root. Prints as a normalized path (RFC 9535,
/// section 2.7).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Location {
    steps: Vec<Step>,
    /// The decoded names, one after the other.
    names: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Step {
    /// End of the name in `names`; it begins where the one before it ends.
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
    /// Into the member of that name.
    Name(&'a str),
    /// Into the element of that index.
    Index(u64),
}

impl Location {
    /// The root.
    pub fn new() -> Self {
        Self::default()
    }

    /// The steps from the root.
    pub fn steps(&self) -> impl ExactSizeIterator<Item = LocationStep<'_>> {
        self.steps.iter().map(|step| match *step {
            Step::Name { start, end } => LocationStep::Name(&self.names[start..end]),
            Step::Index(index) => LocationStep::Index(index),
        })
    }

    /// Goes into a member.
    pub fn push_name(&mut self, name: &str) {
        let start = self.names.len();
        self.names.push_str(name);
        self.steps.push(Step::Name { start, end: self.names.len() });
    }

    /// Goes into an element.
    pub fn push_index(&mut self, index: u64) {
        self.steps.push(Step::Index(index));
    }

    /// Number of steps.
    pub fn depth(&self) -> usize {
        self.steps.len()
    }

    /// Goes back to a depth.
    pub fn truncate(&mut self, depth: usize) {
        if let Some(Step::Name { start, .. }) =
            self.steps.iter().skip(depth).find(|step| matches!(step, Step::Name { .. }))
        {
            self.names.truncate(*start);
        }
        self.steps.truncate(depth);
    }

    /// Writes it as a JSON Pointer (RFC 6901).
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

/// A name in brackets and single quotes, escaped as section 2.7 wants it.
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
