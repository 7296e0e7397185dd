//! Where in the arguments something stands, for people: `counts[0].path`.

use serde_json::Value;

use super::received::SHOWN;

/// The place a JSON Pointer leads to, in words; empty for the arguments as a whole.
pub(crate) fn place(arguments: &Value, pointer: &str) -> String {
    let mut place = String::new();
    let mut value = Some(arguments);
    for segment in pointer.split('/').skip(1) {
        let name = segment.replace("~1", "/").replace("~0", "~");
        if let Some(Value::Array(items)) = value {
            place.extend(["[", &name, "]"]);
            value = name.parse().ok().and_then(|index: usize| items.get(index));
        } else {
            join(&mut place, &name);
            value = value.and_then(|value| value.get(&name));
        }
    }
    place
}

/// The place of a member of what stands at a place.
pub(super) fn member(place: &str, name: &str) -> String {
    let mut place = place.to_owned();
    join(&mut place, name);
    place
}

fn join(place: &mut String, name: &str) {
    let is_plain =
        name.len() <= SHOWN && name.chars().all(|c| c.is_alphanumeric() || matches!(c, '_' | '-' | '.'));
    if !is_plain || name.is_empty() {
        place.extend(["[", &super::received::quoted(name), "]"]);
    } else {
        if !place.is_empty() {
            place.push('.');
        }
        place.push_str(name);
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn pointers_become_places() {
        let arguments = json!({"counts": [{"path": 1}], "a b": {"0": 1}, "x/y": 1});
        let cases = [
            ("", ""),
            ("/counts", "counts"),
            ("/counts/0/path", "counts[0].path"),
            ("/a b/0", "[\"a b\"].0"),
            ("/x~1y", "[\"x/y\"]"),
            ("/nowhere/0", "nowhere.0"),
        ];
        for (pointer, words) in cases {
            assert_eq!(place(&arguments, pointer), words);
        }
        assert_eq!(member("", "path"), "path");
        assert_eq!(member("counts[0]", "path"), "counts[0].path");
        assert!(member("", &"x".repeat(1_000_000)).starts_with("[\"xxx"));
        assert!(member("", &"x".repeat(1_000_000)).len() < 100);
    }
}
