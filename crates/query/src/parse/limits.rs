//! Bounds on a query text.

/// The deepest nesting, whatever is asked for: the stack a query takes stays below 256 KiB.
const MAX_NESTING: u32 = 128;

/// Bounds on a query text, so that a hostile one costs neither stack nor time.
///
/// ```
/// use trommel_query::{ParseErrorKind, Query, QueryLimits};
///
/// let mut limits = QueryLimits::default();
/// limits.selectors = 4;
/// let error = Query::parse_with("$.a.b.c", &limits).unwrap_err();
/// assert_eq!(error.kind(), ParseErrorKind::TooMany);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct QueryLimits {
    /// Bytes of the text. Default: 1,048,576 (1 MiB).
    pub text: usize,
    /// Depth of filters, parentheses, negations and function calls within each other. Default: 128, which is also
    /// the most: a larger figure is taken as 128.
    pub nesting: u32,
    /// Segments and selectors together, those in filters included. Default: 4,096.
    pub selectors: u32,
}

impl Default for QueryLimits {
    fn default() -> Self {
        Self { text: 1 << 20, nesting: MAX_NESTING, selectors: 4096 }
    }
}

impl QueryLimits {
    /// The nesting that is in force.
    pub(super) fn depth(&self) -> u32 {
        self.nesting.min(MAX_NESTING)
    }
}
