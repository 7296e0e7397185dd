//! The shape of random documents.

/// The bounds and style of a random document.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shape {
    /// The maximum number of values, containers included.
    pub values: usize,
    /// The maximum number of open containers.
    pub depth: usize,
    /// The maximum number of children of a container.
    pub width: usize,
    /// The maximum number of characters of an ordinary string; strings at block edges are longer.
    pub text: usize,
    /// The kind of names.
    pub names: Names,
    /// The kind of numbers.
    pub numbers: Numbers,
    /// The placement of white space.
    pub layout: Layout,
    /// Names may be repeated in an object.
    pub duplicates: bool,
}

/// The kind of names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Names {
    /// A few short words, so that queries hit often.
    Plain,
    /// The plain names and difficult ones: empty, structural characters, quotes, escapes, other
    /// alphabets, long ones.
    Odd,
}

/// The kind of numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Numbers {
    /// Numbers that a double represents exactly or with a unique shortest notation, so that all
    /// parsers agree on their order.
    Plain,
    /// Any notation: exponents, integers beyond 64 bits, values beyond a double, negative zero.
    Wild,
}

/// The placement of white space.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Layout {
    /// Nowhere.
    Compact,
    /// Two blanks a level, and a blank after a colon.
    Pretty,
    /// Anywhere, any of the four characters.
    Random,
    /// Blanks and tabs anywhere, so that a document stays on one line.
    OneLine,
}

impl Default for Shape {
    /// Small documents with all features except repeated names.
    fn default() -> Self {
        Self {
            values: 40,
            depth: 6,
            width: 6,
            text: 12,
            names: Names::Odd,
            numbers: Numbers::Wild,
            layout: Layout::Random,
            duplicates: false,
        }
    }
}

impl Shape {
    /// Documents on which all JSONPath libraries can agree: plain names and numbers.
    pub fn plain() -> Self {
        Self { names: Names::Plain, numbers: Numbers::Plain, ..Self::default() }
    }

    /// Deep documents, usually of the maximum depth.
    pub fn deep(depth: usize) -> Self {
        Self { values: depth * 3, depth, width: 2, ..Self::default() }
    }

    /// Returns true if the last child of every container should be a container, as far as the depth
    /// allows.
    pub(super) fn is_deep(&self) -> bool {
        self.depth > 20
    }

    /// Documents with one long level and few values below it.
    pub fn wide(width: usize) -> Self {
        Self { values: width * 6, depth: 3, width, ..Self::default() }
    }
}
