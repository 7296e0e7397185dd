//! The document `{"extracted": …, "missing_paths": […]}`, written from start to end.

use serde_json::Value;

use crate::text::push_string;

/// The shape of the document.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Shape {
    /// `{PATH: values, …}`
    ByPath,
    /// `[{"path": PATH, "value": values}, …]`
    WithPaths,
    /// `[value, …]`
    Flat,
    /// `[{"path": PATH, "location": …, "value": …}, …]`, in a stream with `"record"`
    FlatWithPaths,
}

impl Shape {
    /// Returns the shape for the arguments `flatten` and `include_paths`.
    pub fn new(flatten: bool, include_paths: bool) -> Self {
        match (flatten, include_paths) {
            (false, false) => Self::ByPath,
            (false, true) => Self::WithPaths,
            (true, false) => Self::Flat,
            (true, true) => Self::FlatWithPaths,
        }
    }

    /// True if the values of all paths are in one array.
    pub fn is_flat(self) -> bool {
        matches!(self, Self::Flat | Self::FlatWithPaths)
    }

    /// True if values, or the values of a path, are accompanied by the path.
    pub fn has_paths(self) -> bool {
        matches!(self, Self::WithPaths | Self::FlatWithPaths)
    }
}

/// Writes the document around the values. The caller writes the values, either as many as fit in
/// memory, or as a stream of any length.
///
/// In a [flat](Shape::is_flat) shape, each value is an *item*; otherwise, the values of a path are
/// a *group*. The caller writes the commas between items, between groups, and between the values of
/// a group.
///
/// ```
/// use trommel_toolbox::outputs::{Document, Shape};
///
/// let (document, mut out) = (Document::new(Shape::ByPath), String::new());
/// document.begin(&mut out);
/// document.begin_group("$.a[*]", true, &mut out);
/// out.push_str("1,2");
/// document.end_group(true, &mut out);
/// document.end(["$.b"].into_iter(), &mut out);
/// out.push('}');
/// assert_eq!(out, r#"{"extracted":{"$.a[*]":[1,2]},"missing_paths":["$.b"]}"#);
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Document {
    shape: Shape,
    verbatim: bool,
}

impl Document {
    /// Creates a document that is safe to show: unsafe characters in paths are escaped.
    pub fn new(shape: Shape) -> Self {
        Self { shape, verbatim: false }
    }

    /// Writes paths verbatim, as far as JSON allows, for consumers other than terminals and models.
    #[must_use]
    pub fn verbatim(self, verbatim: bool) -> Self {
        Self { verbatim, ..self }
    }

    /// Returns the shape.
    pub fn shape(self) -> Shape {
        self.shape
    }

    /// Starts the document.
    pub fn begin(self, out: &mut String) {
        out.push_str(r#"{"extracted":"#);
        out.push(if self.shape == Shape::ByPath { '{' } else { '[' });
    }

    /// Starts the values of a path: an array, or a single value without one.
    pub fn begin_group(self, path: &str, is_array: bool, out: &mut String) {
        if self.shape == Shape::WithPaths {
            out.push_str(r#"{"path":"#);
        }
        self.push_text(path, out);
        out.push_str(if self.shape == Shape::WithPaths { r#","value":"# } else { ":" });
        if is_array {
            out.push('[');
        }
    }

    /// Ends the values of a path.
    pub fn end_group(self, is_array: bool, out: &mut String) {
        if is_array {
            out.push(']');
        }
        if self.shape == Shape::WithPaths {
            out.push('}');
        }
    }

    /// Starts a value of a flat document. A default value has no location, and only a value of a
    /// stream has the number of its record.
    pub fn begin_item(self, path: &str, location: Option<&str>, record: Option<u64>, out: &mut String) {
        if self.shape != Shape::FlatWithPaths {
            return;
        }
        out.push_str(r#"{"path":"#);
        self.push_text(path, out);
        if let Some(location) = location {
            out.push_str(r#","location":"#);
            self.push_text(location, out);
        }
        if let Some(record) = record {
            out.push_str(r#","record":"#);
            out.push_str(&record.to_string());
        }
        out.push_str(r#","value":"#);
    }

    /// Ends a value of a flat document.
    pub fn end_item(self, out: &mut String) {
        if self.shape == Shape::FlatWithPaths {
            out.push('}');
        }
    }

    /// Ends the values, and lists the paths without values. The caller closes the document, and may
    /// add members before.
    pub fn end<'p>(self, missing: impl Iterator<Item = &'p str>, out: &mut String) {
        out.push(if self.shape == Shape::ByPath { '}' } else { ']' });
        let mut is_any = false;
        for path in missing {
            out.push_str(if is_any { "," } else { r#","missing_paths":["# });
            self.push_text(path, out);
            is_any = true;
        }
        if is_any {
            out.push(']');
        }
    }

    fn push_text(self, text: &str, out: &mut String) {
        if self.verbatim { push_verbatim(text, out) } else { push_string(text, out) }
    }
}

/// Appends a JSON string with only the escapes that JSON requires.
fn push_verbatim(text: &str, out: &mut String) {
    let is_escaped = |byte: u8| byte < 0x20 || matches!(byte, b'"' | b'\\');
    if text.bytes().any(is_escaped) {
        out.push_str(&Value::from(text).to_string());
    } else {
        out.extend(["\"", text, "\""]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_safe_or_verbatim() {
        let path = "$['\u{202e}\"']";
        for (verbatim, expected) in [(false, r#""$['\u202e\"']""#), (true, "\"$['\u{202e}\\\"']\"")] {
            let mut out = String::new();
            Document::new(Shape::FlatWithPaths).verbatim(verbatim).push_text(path, &mut out);
            assert_eq!(out, expected);
            assert_eq!(serde_json::from_str::<String>(&out).unwrap(), path);
        }
    }
}
