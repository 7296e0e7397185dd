//! Steps of paths as people write them.

/// Appends a step into a member: after a dot where RFC 9535 allows it, else in brackets.
pub(crate) fn push_name(name: &str, path: &mut String) {
    let first = |c: char| c.is_ascii_alphabetic() || c == '_' || !c.is_ascii();
    if name.starts_with(first) && name.chars().all(|c| first(c) || c.is_ascii_digit()) {
        path.push('.');
        path.push_str(name);
        return;
    }
    let mut location = trommel::path::Location::new();
    location.push_name(name);
    path.push_str(location.to_string().trim_start_matches('$'));
}
