//! The address of an endpoint, and the redaction of its secrets.

use trommel_tool::{REDACTED, Redaction};

/// The minimum length of a secret that is redacted in other texts. Shorter ones would match
/// unrelated text.
const MIN_SECRET_CHARS: usize = 4;

/// An endpoint's address, in full for requests and redacted for messages.
#[derive(Clone)]
pub(super) struct Address {
    /// The address of chat completions.
    pub(super) url: String,
    /// The same without user, password, and values of the query.
    pub(super) display: String,
    /// The texts to redact, longest first, so that a secret is replaced before its parts.
    secrets: Vec<String>,
}

impl Address {
    /// Parses a base address, such as `https://api.example.org/v1`. It may have a query:
    /// `https://api.example.org/v1?key=…`.
    pub(super) fn new(base: &str) -> Self {
        let base = base.trim();
        let base = base.split_once('#').map_or(base, |(base, _)| base);
        let (path, query) = base.split_once('?').map_or((base, None), |(path, query)| (path, Some(query)));
        let path = format!("{}/chat/completions", path.trim_end_matches('/'));
        let mut secrets = Vec::new();
        let mut display = without_user(&path, &mut secrets);
        let mut url = path;
        if let Some(query) = query {
            url = format!("{url}?{query}");
            let pairs = query.split('&').map(|pair| {
                // A part of a query without a name may itself be a key.
                let (name, value) =
                    pair.split_once('=').map_or((None, pair), |(name, value)| (Some(name), value));
                secrets.push(value.to_owned());
                name.map_or_else(|| REDACTED.to_owned(), |name| format!("{name}={REDACTED}"))
            });
            display = format!("{display}?{}", pairs.collect::<Vec<_>>().join("&"));
        }
        let display = Redaction::new().text(&display).into_owned();
        let mut address = Self { url, display, secrets: Vec::new() };
        for secret in &secrets {
            address.add_secret(secret);
        }
        address
    }

    /// True if a connection to the address is encrypted.
    pub(super) fn is_https(&self) -> bool {
        self.url.get(..8).is_some_and(|scheme| scheme.eq_ignore_ascii_case("https://"))
    }

    /// Adds a secret, such as the key.
    pub(super) fn add_secret(&mut self, secret: &str) {
        // An endpoint may quote the secret as it was sent, or percent-decoded.
        for secret in [secret.to_owned(), decoded(secret)] {
            if secret.chars().count() >= MIN_SECRET_CHARS && !self.secrets.contains(&secret) {
                self.secrets.push(secret);
            }
        }
        self.secrets.sort_by_key(|secret| std::cmp::Reverse(secret.len()));
    }

    /// Redacts the secrets in a text from the endpoint or the network.
    pub(super) fn clean(&self, text: &str) -> String {
        let text = self.secrets.iter().fold(text.to_owned(), |text, secret| text.replace(secret, REDACTED));
        Redaction::new().text(&text).into_owned()
    }
}

/// Redacts the user information before `@`, and collects it as secrets.
fn without_user(url: &str, secrets: &mut Vec<String>) -> String {
    let start = url.find("://").map_or(0, |at| at + 3);
    let (scheme, rest) = url.split_at_checked(start).unwrap_or(("", url));
    let (host, path) = rest.split_at_checked(rest.find('/').unwrap_or(rest.len())).unwrap_or((rest, ""));
    let Some((user, host)) = host.rsplit_once('@') else { return url.to_owned() };
    secrets.push(user.to_owned());
    secrets.extend(user.split(':').map(str::to_owned));
    format!("{scheme}{REDACTED}@{host}{path}")
}

/// Decodes the `%XX` sequences of a part of an address.
fn decoded(text: &str) -> String {
    let mut bytes = Vec::new();
    let mut rest = text.as_bytes();
    while let [first, after @ ..] = rest {
        if let [b'%', high, low, after @ ..] = rest
            && let Ok(hex) = std::str::from_utf8(&[*high, *low])
            && let Ok(byte) = u8::from_str_radix(hex, 16)
        {
            bytes.push(byte);
            rest = after;
        } else {
            bytes.push(*first);
            rest = after;
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}
