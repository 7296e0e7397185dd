//! What a random document should look like.

/// Bounds and habits of a random document.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shape {
    /// Values at most, containers included.
    pub values: usize,
    /// Containers open at once at most.
    pub depth: usize,
    /// Children of a container at most.
    pub width: usize,
    /// Characters of an ordinary string at most; strings that aim at block edges are longer.
    pub text: usize,
    /// What names are made of.
    pub names: Names,
    /// What numbers are made of.
    pub numbers: Numbers,
    /// Where white space stands.
    pub layout: Layout,
    /// Whether a name may be repeated in an object.
    pub duplicates: bool,
}

/// What names are made of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Names {
    /// A few short words, so that queries hit often.
    Plain,
    /// Those, and all that is difficult: empty, structural characters, quotes, escapes, other
    /// alphabets, long ones.
    Odd,
}

/// What numbers are made of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Numbers {
    /// Numbers that a double holds exactly or spells uniquely, so that every reader agrees about
    /// their order.
    Plain,
    /// Any spelling: exponents, integers beyond 64 bits, values beyond a double, negative zero.
    Wild,
}

/// Where white space stands.
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
    /// Small documents with everything in them but repeated names.
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
    /// Documents about which every JSONPath library can agree: plain names and numbers.
    pub fn plain() -> Self {
        Self { names: Names::Plain, numbers: Numbers::Plain, ..Self::default() }
    }

    /// Documents that are mostly levels, and as a rule as many as allowed.
    pub fn deep(depth: usize) -> Self {
        Self { values: depth * 3, depth, width: 2, ..Self::default() }
    }

    /// Whether the last child of every container should be one in turn, as far as the depth allows.
    pub(super) fn is_deep(&self) -> bool {
        self.depth > 20
    }

    /// Documents with one long level and little below.
    pub fn wide(width: usize) -> Self {
        Self { values: width * 6, depth: 3, width, ..Self::default() }
    }
}
