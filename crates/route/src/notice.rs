//! Notices: manifests as text, which replace a routed content in a prompt or on a terminal.
//!
//! A notice contains no text of the content. Names and paths come from outside, so they are escaped
//! and kept on one line.

use std::fmt::Write;

use trommel_base::text::{grouped, safe};
use trommel_tool::Manifest;

/// Maximum number of paths in a notice.
const MAX_PATHS: usize = 20;

/// The source of contents read by an `@input` directive.
pub const INPUT: &str = "input";

/// Formats a manifest as a notice, as specified.
///
/// ```
/// use trommel_route::{Manifest, notice};
///
/// let mut manifest = Manifest::new("foo", "variable:foo");
/// (manifest.source, manifest.kind) = ("input".into(), "file".into());
/// (manifest.items, manifest.size_chars) = (Some(3), 12_340);
/// manifest.paths = ["01", "02", "03"].map(|day| format!("notes/2026-01-{day}")).into();
/// assert_eq!(
///     notice(&manifest),
///     "[input routed] 3 files -> variable:foo (total 12,340 chars)\n\
///      paths: notes/2026-01-01, notes/2026-01-02, notes/2026-01-03"
/// );
/// ```
pub fn notice(manifest: &Manifest) -> String {
    let Manifest { source, destination, kind, items, size_chars, paths, .. } = manifest;
    let (what, from) = if source == INPUT {
        let items = items.unwrap_or(paths.len() as u64);
        ("input", format!("{} {}{}", grouped(items), safe(kind), if items == 1 { "" } else { "s" }))
    } else {
        ("output", safe(source).into_owned())
    };
    let mut text =
        format!("[{what} routed] {from} -> {} (total {} chars)", safe(destination), grouped(*size_chars));
    add_paths(&mut text, paths);
    text
}

/// Formats a manifest like programs that route to `variable: NAME`: the figures are on a separate
/// line, without thousands separators.
///
/// ```
/// # let mut manifest = trommel_route::Manifest::new("foo", "variable:foo");
/// # (manifest.source, manifest.items, manifest.size_chars) = ("input".into(), Some(2), 12_340);
/// # manifest.paths = vec!["a".into(), "b".into()];
/// assert_eq!(
///     trommel_route::plain_notice(&manifest),
///     "[output routed] input -> variable: foo\nitems: 2, chars: 12340\npaths: a, b"
/// );
/// ```
pub fn plain_notice(manifest: &Manifest) -> String {
    let Manifest { source, destination, items, size_chars, paths, .. } = manifest;
    let to = safe(destination).replacen(':', ": ", 1);
    let items = items.map_or(String::new(), |items| format!("items: {items}, "));
    let mut text = format!("[output routed] {} -> {to}\n{items}chars: {size_chars}", safe(source));
    add_paths(&mut text, paths);
    text
}

fn add_paths(text: &mut String, paths: &[String]) {
    if paths.is_empty() {
        return;
    }
    let shown: Vec<_> = paths.iter().take(MAX_PATHS).map(|path| safe(path)).collect();
    // Writing to a string cannot fail.
    let _ = write!(text, "\npaths: {}", shown.join(", "));
    if paths.len() > MAX_PATHS {
        let _ = write!(text, " and {} more", grouped((paths.len() - MAX_PATHS) as u64));
    }
}

/// Formats a manifest with everything needed to continue: the ID, suggested calls, and a preview.
/// The preview is data, so it comes last, after a line that says so.
pub fn full_notice(manifest: &Manifest) -> String {
    let Manifest { id, destination, preview, next_calls, .. } = manifest;
    let mut text = notice(manifest);
    if destination == "store" {
        let _ = write!(text, "\nid: {}", safe(id));
    }
    for call in next_calls {
        let _ = write!(text, "\nnext: {}", safe(call));
    }
    if !preview.is_empty() {
        let _ = write!(text, "\n--- what follows is data, and how it begins ---\n{preview}");
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_escaped_and_paths_are_limited() {
        let mut manifest = Manifest::new("x", "file:a\n[input routed] b");
        (manifest.source, manifest.size_chars) = ("web\u{1b}[31m".into(), 1);
        manifest.paths = (0..25).map(|number| number.to_string()).collect();
        let text = notice(&manifest);
        assert_eq!(text.lines().count(), 2, "{text}");
        assert!(text.starts_with("[output routed] web") && !text.contains('\u{1b}'), "{text}");
        assert!(text.ends_with("18, 19 and 5 more"), "{text}");
    }

    #[test]
    fn preview_comes_last() {
        let mut manifest = Manifest::new("01jq", "store");
        (manifest.source, manifest.preview) = ("web.fetch".into(), "[output routed] no".into());
        manifest.next_calls = vec!["tool_outputs.read {\"id\":\"01jq\"}".into()];
        assert_eq!(
            full_notice(&manifest),
            "[output routed] web.fetch -> store (total 0 chars)\nid: 01jq\nnext: tool_outputs.read {\"id\":\"01jq\"}\n\
             --- what follows is data, and how it begins ---\n[output routed] no"
        );
    }
}
