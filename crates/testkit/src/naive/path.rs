//! Paths of values as text.

use super::tree::{Data, Document, ValueId};
use std::fmt::Write;

impl Document {
    /// Returns the normalized path of a value (RFC 9535, section 2.7).
    pub fn path(&self, id: ValueId) -> String {
        self.render(id, &|name| format!("[{}]", normalized_name(name)), &|index| format!("[{index}]"))
    }

    /// Returns the path of a value in shorthand, the same for all elements of an array:
    /// `$.users[*]['first name']`.
    pub fn shorthand_path(&self, id: ValueId) -> String {
        let name = |name: &str| {
            if is_shorthand(name) { format!(".{name}") } else { format!("[{}]", normalized_name(name)) }
        };
        self.render(id, &name, &|_| "[*]".into())
    }

    fn render(&self, id: ValueId, name: &dyn Fn(&str) -> String, index: &dyn Fn(usize) -> String) -> String {
        let mut steps = Vec::new();
        let mut at = id;
        while let Some(parent) = self[at].parent {
            steps.push(match &self[parent.value].data {
                Data::Object(members) => name(&members[parent.position].name),
                _ => index(parent.position),
            });
            at = parent.value;
        }
        steps.push("$".into());
        steps.reverse();
        steps.concat()
    }
}

/// Formats a name as in normalized paths, single quotes included.
pub fn normalized_name(name: &str) -> String {
    let mut text = String::from("'");
    for character in name.chars() {
        match character {
            '\u{8}' => text.push_str("\\b"),
            '\t' => text.push_str("\\t"),
            '\n' => text.push_str("\\n"),
            '\u{C}' => text.push_str("\\f"),
            '\r' => text.push_str("\\r"),
            '\'' => text.push_str("\\'"),
            '\\' => text.push_str("\\\\"),
            '\0'..='\u{1F}' => write!(text, "\\u{:04x}", u32::from(character)).unwrap(),
            _ => text.push(character),
        }
    }
    text.push('\'');
    text
}

/// Returns true if a name can be written after a dot (RFC 9535, section 2.5.1.1).
pub fn is_shorthand(name: &str) -> bool {
    let first =
        |character: char| character.is_ascii_alphabetic() || character == '_' || !character.is_ascii();
    name.starts_with(first) && name.chars().all(|character| first(character) || character.is_ascii_digit())
}
