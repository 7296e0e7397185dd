//! The path of a node, as a query.

use super::trie::{Label, NONE, Trie};
use trommel_base::quote::{is_shorthand, write_quoted};

impl Trie {
    /// Returns the path of a node below `root` in shorthand, which is a valid query. `None` if it
    /// is longer than `limit` bytes.
    ///
    /// Takes time linear in the limit at most, as long as the node's depth is within it.
    pub(super) fn path(&self, node: u32, root: &str, limit: usize) -> Option<String> {
        let mut segments = Vec::new();
        let mut length = root.len();
        let mut at = node;
        while let Some(node) = self.nodes.get(at as usize).filter(|node| node.parent != NONE) {
            // The shortest form of a segment is a dot and the name, or `[*]`. Counting it on the
            // way up stops long before a path that is far too long would be built.
            length += self.name(node).len() + 2;
            if length > limit {
                return None;
            }
            segments.push(node);
            at = node.parent;
        }
        let mut path = String::from(root);
        for node in segments.into_iter().rev() {
            match node.label {
                Label::Root => {}
                Label::Item => path.push_str("[*]"),
                Label::Fold => path.push_str(".*"),
                Label::Name(..) => push_name(&mut path, &String::from_utf8_lossy(self.name(node))),
            }
        }
        (path.len() <= limit).then_some(path)
    }
}

/// Appends a name selector: `.name` where RFC 9535 (section 2.5.1.1) allows the shorthand, else
/// `['name']`.
fn push_name(path: &mut String, name: &str) {
    if is_shorthand(name) {
        path.extend([".", name]);
        return;
    }
    path.push('[');
    // Writing to a string cannot fail.
    let _ = write_quoted(path, name);
    path.push(']');
}

#[cfg(test)]
mod tests {
    use super::push_name;

    #[test]
    fn brackets_names_without_a_shorthand() {
        let cases = [
            ("a", ".a"),
            ("_1", "._1"),
            ("é☺", ".é☺"),
            ("", "['']"),
            ("1a", "['1a']"),
            ("a b", "['a b']"),
            ("a-b", "['a-b']"),
            ("it's", r"['it\'s']"),
            ("\\\n\u{1}\"", r#"['\\\n\u0001"']"#),
        ];
        for (name, expected) in cases {
            let mut path = String::new();
            push_name(&mut path, name);
            assert_eq!(path, expected);
        }
    }
}
