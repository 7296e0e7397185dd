//! Secrets inside texts, found by their form.

use std::borrow::Cow;
use std::sync::LazyLock;

use regex::{Captures, Regex};

/// The replacement of a secret.
pub const REDACTED: &str = "[redacted]";

/// Parts of the names of secrets in texts; the whole name decides.
macro_rules! stems {
    () => {
        "(?:passw(?:or)?d|passphrase|pwd|secret|token|api[_-]?key|access[_-]?key|account[_-]?key|private[_-]?key|\
         sig|credential|auth|cookie|jwt|connection[_-]?string)"
    };
}

/// True for the name of a secret.
type IsSecret<'a> = &'a dyn Fn(&str) -> bool;

/// The pattern of a secret, and the parts of a match to keep.
struct SecretPattern {
    regex: Regex,
    stays: Stays,
}

/// The parts of a match to keep.
enum Stays {
    Nothing,
    /// The first two groups.
    Front,
    /// The first group, and an `@` after the secret.
    FrontAndAt,
    /// As the function decides; all if it returns `None`, as the match is not a secret.
    Judged(fn(&Captures<'_>, IsSecret<'_>) -> Option<String>),
}

impl SecretPattern {
    #[expect(clippy::expect_used, reason = "the patterns are constants")]
    fn new(pattern: &str, stays: Stays) -> Self {
        Self {
            regex: Regex::new(pattern).expect("the patterns are constants, and a test compiles them"),
            stays,
        }
    }

    /// The replacement of a match.
    fn blot(&self, found: &Captures<'_>, is_secret: IsSecret<'_>) -> String {
        match self.stays {
            Stays::Nothing => REDACTED.to_owned(),
            Stays::Front => format!("{}{}{REDACTED}", part(found, 1), part(found, 2)),
            Stays::FrontAndAt => format!("{}{REDACTED}@", part(found, 1)),
            Stays::Judged(judge) => judge(found, is_secret).unwrap_or_else(|| part(found, 0).to_owned()),
        }
    }
}

/// A text with its secrets redacted. `is_secret` decides about names.
pub(super) fn redact<'a>(text: &'a str, is_secret: IsSecret<'_>) -> Cow<'a, str> {
    let mut clean = Cow::Borrowed(text);
    for look in &*LOOKS {
        if !look.regex.is_match(&clean) {
            continue;
        }
        let blot = |found: &Captures<'_>| look.blot(found, is_secret);
        clean = Cow::Owned(look.regex.replace_all(&clean, blot).into_owned());
    }
    clean
}

/// Compiles the patterns.
pub(super) fn prepare() {
    LazyLock::force(&LOOKS);
}

static LOOKS: LazyLock<Vec<SecretPattern>> = LazyLock::new(|| {
    vec![
        // A private key, to its end.
        SecretPattern::new(
            r"-----BEGIN [A-Z ]*PRIVATE KEY-----(?s:.*?)(?:-----END [A-Z ]*PRIVATE KEY-----|\z)",
            Stays::Nothing,
        ),
        // A header, to the end of the line or of its string.
        SecretPattern::new(
            r#"(?i)\b((?:proxy-)?authorization|(?:set-)?cookie)(\\*["']?\s*[:=]\s*\\*["']?)([^\r\n"'\\]+)"#,
            Stays::Front,
        ),
        // A scheme and its credentials.
        SecretPattern::new(r"(?i)\b(bearer)(\s+)([A-Za-z0-9._~+/=-]+)", Stays::Front),
        SecretPattern::new(
            r"(?i)\b(basic|digest|negotiate)(\s+)([A-Za-z0-9._~+/=-]{8,})",
            Stays::Judged(behind_a_common_word),
        ),
        // User and password in an address.
        SecretPattern::new(r"(?i)\b([a-z][a-z0-9+.-]*://)([^\s/@:\[]*:[^\s/@]+)(@)", Stays::FrontAndAt),
        // An option of a command, and its value.
        SecretPattern::new(
            concat!(
                r#"(?i)(--[a-z0-9-]*"#,
                stems!(),
                r#"[a-z0-9-]*)(\s+)("[^"]*(?:"|\z)|'[^']*(?:'|\z)|[^\s"'-][^\s"']*)"#
            ),
            Stays::Judged(behind_an_option),
        ),
        // A name and its value, in any notation.
        SecretPattern::new(
            concat!(
                r#"(?i)([a-z0-9_.$@/-]*"#,
                stems!(),
                r#"[a-z0-9_.-]*)(\\*["']?\s*(?:[!=]=|[:=])\s*)("(?:[^"\\]|\\.)*(?:"|\\?\z)|'[^']*(?:'|\z)|\\+"[^"\\]*|[^\s,;&"'\\}\])]+)"#
            ),
            Stays::Judged(under_a_name),
        ),
        // Keys of well-known services, and JSON Web Tokens.
        SecretPattern::new(
            r"\b(?:[spr]k[-_][A-Za-z0-9_-]{16,}|gh[pousr]_[A-Za-z0-9]{16,}|github_pat_[A-Za-z0-9_]{16,}|glpat-[A-Za-z0-9_-]{16,}|xox[abeprs]-[A-Za-z0-9-]{10,}|A[KS]IA[0-9A-Z]{12,}|AIza[0-9A-Za-z_-]{20,}|hf_[A-Za-z0-9]{16,}|npm_[A-Za-z0-9]{16,}|eyJ[A-Za-z0-9_-]{6,}\.[A-Za-z0-9_-]{4,}\.[A-Za-z0-9_-]*)",
            Stays::Nothing,
        ),
    ]
});

fn part<'a>(found: &'a Captures<'_>, group: usize) -> &'a str {
    found.get(group).map_or("", |part| part.as_str())
}

/// The replacement of a scheme that is also a common word, as in `basic understanding`: only if the
/// next word looks like code.
fn behind_a_common_word(found: &Captures<'_>, _: IsSecret<'_>) -> Option<String> {
    let shown = part(found, 3);
    let is_code =
        shown.contains('=') || shown.contains(|c: char| c.is_ascii_digit() || c.is_ascii_uppercase());
    is_code.then(|| format!("{}{}{REDACTED}", part(found, 1), part(found, 2)))
}

fn behind_an_option(found: &Captures<'_>, is_secret: IsSecret<'_>) -> Option<String> {
    let name = part(found, 1);
    let is_done = part(found, 3).starts_with(REDACTED);
    let is_secret = !is_done && is_secret(name.trim_start_matches('-'));
    is_secret.then(|| format!("{name}{}{REDACTED}", part(found, 2)))
}

fn under_a_name(found: &Captures<'_>, is_secret: IsSecret<'_>) -> Option<String> {
    let (name, value) = (part(found, 1), part(found, 3));
    if is_path(name, part(found, 2), value) {
        return None;
    }
    let short = name.rsplit(['.', '/', '$', '@']).next().unwrap_or(name);
    let bare = value.trim_start_matches('\\').trim_matches(['"', '\'']);
    let is_plain = bare.is_empty() || matches!(bare, "true" | "false" | "null" | "None");
    let counts =
        short.to_ascii_lowercase().contains("token") && bare.bytes().all(|byte| byte.is_ascii_digit());
    if is_plain || counts || bare.starts_with("[redacted") || !is_secret(short) {
        return None;
    }
    let slashes = &value[..value.len() - value.trim_start_matches('\\').len()];
    let quote = value.trim_start_matches('\\').chars().next().filter(|first| matches!(first, '"' | '\''));
    let quote = quote.map(String::from).unwrap_or_default();
    let close = if slashes.is_empty() { &*quote } else { "" };
    Some(format!("{name}{}{slashes}{quote}{REDACTED}{close}", part(found, 2)))
}

/// True if a name is the end of a JSONPath query or of a file path, and prose follows: `$.token:
/// unexpected …`, `../passwd: no such file`. A value that a path is compared with or set to stays a
/// secret.
fn is_path(name: &str, separator: &str, value: &str) -> bool {
    let is_prose = separator.trim_start().starts_with(':') && separator.ends_with(char::is_whitespace);
    let is_query = ["$.", "@.", "."].iter().any(|root| name.starts_with(root)) && !name.contains('/');
    let is_word = || value.bytes().all(|byte| byte.is_ascii_lowercase() || b"./_-`".contains(&byte));
    is_prose && (is_query || name.contains('/') && is_word())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_pattern_compiles() {
        assert_eq!(LOOKS.len(), 8);
    }
}
