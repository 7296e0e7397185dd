//! The address of an endpoint, and texts without the secrets in it.

use trommel_tool::{REDACTED, Redaction};

/// Characters that a part of an address has at least to be searched for in other texts. Anything
/// shorter would be found everywhere.
const LEAST: usize = 4;

/// An endpoint's address, as it is requested and as it may be shown.
#[derive(Clone)]
pub(super) struct Address {
    /// The address of chat completions.
    pub(super) url: String,
    /// The same without user, password, and the values of its query.
    pub(super) shown: String,
    /// The texts that are blotted out wherever they appear, long ones first.
    secrets: Vec<String>,
}

impl Address {
    /// From a base address, such as `https://api.example.org/v1`, which may have a query:
    /// `https://api.example.org/v1?key=…`.
    pub(super) fn new(base: &str) -> Self {
        let base = base.trim();
        let base = base.split_once('#').map_or(base, |(base, _)| base);
        let (path, query) = base.split_once('?').map_or((base, None), |(path, query)| (path, Some(query)));
        let path = format!("{}/chat/completions", path.trim_end_matches('/'));
        let mut secrets = Vec::new();
        let mut shown = without_user(&path, &mut secrets);
        let mut url = path;
        if let Some(query) = query {
            url = format!("{url}?{query}");
            let pairs = query.split('&').map(|pair| {
                // Without a name, it may be a key itself.
                let (name, value) =
                    pair.split_once('=').map_or((None, pair), |(name, value)| (Some(name), value));
                secrets.push(value.to_owned());
                name.map_or_else(|| REDACTED.to_owned(), |name| format!("{name}={REDACTED}"))
            });
            shown = format!("{shown}?{}", pairs.collect::<Vec<_>>().join("&"));
        }
        let shown = Redaction::new().text(&shown).into_owned();
        let mut address = Self { url, shown, secrets: Vec::new() };
        for secret in &secrets {
            address.add(secret);
        }
        address
    }

    /// Adds a secret, such as the key.
    pub(super) fn add(&mut self, secret: &str) {
        for secret in [secret.to_owned(), decoded(secret)] {
            if secret.chars().count() >= LEAST && !self.secrets.contains(&secret) {
                self.secrets.push(secret);
            }
        }
        self.secrets.sort_by_key(|secret| std::cmp::Reverse(secret.len()));
    }

    /// A text from outside without the secrets.
    pub(super) fn clean(&self, text: &str) -> String {
        let text = self.secrets.iter().fold(text.to_owned(), |text, secret| text.replace(secret, REDACTED));
        Redaction::new().text(&text).into_owned()
    }
}

/// An address without the part before `@`.
fn without_user(url: &str, secrets: &mut Vec<String>) -> String {
    let start = url.find("://").map_or(0, |at| at + 3);
    let (scheme, rest) = url.split_at_checked(start).unwrap_or(("", url));
    let (host, path) = rest.split_at_checked(rest.find('/').unwrap_or(rest.len())).unwrap_or((rest, ""));
    let Some((user, host)) = host.rsplit_once('@') else { return url.to_owned() };
    secrets.push(user.to_owned());
    secrets.extend(user.split(':').map(str::to_owned));
    format!("{scheme}{REDACTED}@{host}{path}")
}

/// A part of an address with its `%XX` resolved.
fn decoded(text: &str) -> String {
    let mut bytes = Vec::new();
    let mut rest = text.as_bytes();
    while let [first, behind @ ..] = rest {
        if let [b'%', high, low, behind @ ..] = rest
            && let Ok(hex) = std::str::from_utf8(&[*high, *low])
            && let Ok(byte) = u8::from_str_radix(hex, 16)
        {
            bytes.push(byte);
            rest = behind;
        } else {
            bytes.push(*first);
            rest = behind;
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}
