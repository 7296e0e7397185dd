//! The scripts and the style of pages, and the policy that allows only these.

use crate::html::Html;

/// The layout of treemaps: d3-hierarchy 3.1.3, as published.
const LAYOUT: &str = include_str!("../assets/d3-hierarchy.min.js");
const LAYOUT_LICENSE: &str = include_str!("../assets/d3-hierarchy.LICENSE");
const SCRIPT: &str = include_str!("../assets/page.js");
const LATE: &str = include_str!("../assets/late.js");
const STYLE: &str = include_str!("../assets/page.css");

/// SHA-256 of the scripts and of the style, in base64. A test compares them.
const POLICY: &str = concat!(
    "default-src 'none'; base-uri 'none'; form-action 'none'; ",
    "style-src '",
    include_str!("../assets/page.css.sha256"),
    "'; script-src '",
    include_str!("../assets/d3-hierarchy.min.js.sha256"),
    "' '",
    include_str!("../assets/page.js.sha256"),
    "' '",
    include_str!("../assets/late.js.sha256"),
    "'"
);

/// Appends the head of a page.
pub(crate) fn head(html: &mut Html, title: &str) {
    html.raw("<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n");
    html.raw("<meta http-equiv=\"Content-Security-Policy\" content=\"").asset(POLICY).raw("\">\n");
    html.raw("<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n");
    html.raw("<meta name=\"referrer\" content=\"no-referrer\">\n<title>").text(title).raw("</title>\n");
    html.raw("<style>").asset(STYLE).raw("</style>\n</head>\n<body>\n");
}

/// Appends the script that shows most rows of the next table when the page is open.
pub(crate) fn late_rows(html: &mut Html) {
    html.raw("<script>").asset(LATE).raw("</script>\n");
}

/// Appends the scripts, which read the data of the page.
pub(crate) fn scripts(html: &mut Html) {
    html.raw("<!-- d3-hierarchy:\n").asset(LAYOUT_LICENSE).raw("-->\n");
    html.raw("<script>").asset(LAYOUT).raw("</script>\n");
    html.raw("<script>").asset(SCRIPT).raw("</script>\n");
}

/// Appends the end of a page.
pub(crate) fn end(html: &mut Html) {
    html.raw("<footer><p>Made by trommel ").text(env!("CARGO_PKG_VERSION"));
    html.raw(". The page is complete: it loads nothing.</p></footer>\n</body>\n</html>\n");
}

#[cfg(test)]
mod tests {
    use super::*;
    use sha2::{Digest, Sha256};

    /// To change an asset, run this test and copy the hash that it reports.
    #[test]
    fn hashes_are_those_of_the_assets() {
        let hashes = [
            (LAYOUT, include_str!("../assets/d3-hierarchy.min.js.sha256")),
            (SCRIPT, include_str!("../assets/page.js.sha256")),
            (LATE, include_str!("../assets/late.js.sha256")),
            (STYLE, include_str!("../assets/page.css.sha256")),
        ];
        for (asset, recorded) in hashes {
            let hash = format!("sha256-{}", base64(&Sha256::digest(asset)));
            assert_eq!(recorded, hash, "{}", &asset[..40]);
        }
    }

    /// The layout is the published file, unchanged.
    #[test]
    fn the_layout_is_the_published_one() {
        assert_eq!(
            format!("{:x}", Sha256::digest(LAYOUT)),
            "971f374ce9fdbec711eb2358003e2bb755bff22ec6852dc5ebd59f987270db64"
        );
        assert!(LAYOUT_LICENSE.starts_with("Copyright 2010-2026 Mike Bostock"));
        assert!(!LAYOUT_LICENSE.contains("--"));
    }

    #[test]
    fn assets_cannot_end_their_elements() {
        for asset in [LAYOUT, SCRIPT, LATE, STYLE] {
            let lower = asset.to_ascii_lowercase();
            assert!(!lower.contains("</script") && !lower.contains("<!--") && !lower.contains("</style"));
        }
        assert!(SCRIPT.len() + LATE.len() + LAYOUT.len() < 32 << 10, "{}", SCRIPT.len());
    }

    fn base64(bytes: &[u8]) -> String {
        const DIGITS: &[u8] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
        let digit = |number: u32, place: u32| DIGITS[(number >> (18 - 6 * place) & 63) as usize] as char;
        let group = |group: &[u8]| {
            let number = (0..3).fold(0, |sum, at| sum << 8 | u32::from(*group.get(at).unwrap_or(&0)));
            let digits: String = (0..=group.len() as u32).map(|place| digit(number, place)).collect();
            digits + &"=".repeat(3 - group.len())
        };
        bytes.chunks(3).map(group).collect()
    }
}
