//! The names of secrets.

use serde_json::Value;

/// Words that a secret's name ends with, in any of its words: `DB_PASSWORD`, `accessToken`,
/// `set-cookie`.
const ENDINGS: &[&str] = &[
    "password",
    "passwords",
    "passwd",
    "passphrase",
    "pwd",
    "secret",
    "secrets",
    "token",
    "apikey",
    "apikeys",
    "accesskey",
    "accountkey",
    "privatekey",
    "cookie",
    "cookies",
    "credential",
    "credentials",
    "authorization",
    "bearer",
    "jwt",
];

/// Words that make a following `key` the name of a secret.
const KEYS: &[&str] = &[
    "api",
    "access",
    "account",
    "private",
    "secret",
    "shared",
    "signing",
    "encryption",
    "master",
    "auth",
    "session",
    "subscription",
    "ssh",
];

/// Names that are secret as a whole.
const WHOLE: &[&str] = &["auth", "connectionstring", "connstr", "sas", "sig", "otp", "mfacode", "authcode"];

/// True if this is the name of a secret.
pub(super) fn is_secret(name: &str) -> bool {
    // No name is this long. A long text in its place counts as secret without a search.
    if name.len() > 256 {
        return true;
    }
    let words = words(name);
    let ends = |word: &String| ENDINGS.iter().any(|ending| word.ends_with(ending));
    let is_key = |pair: &[String]| matches!(pair, [kind, key] if KEYS.contains(&kind.as_str()) && matches!(key.as_str(), "key" | "keys"));
    words.iter().any(ends) || words.windows(2).any(is_key) || WHOLE.contains(&words.concat().as_str())
}

/// True if a value with the name of a secret can be one: not null, a boolean, or a number of
/// tokens.
pub(super) fn can_be_secret(name: &str, value: &Value) -> bool {
    match value {
        Value::Null | Value::Bool(_) => false,
        Value::Number(_) => !words(name).iter().any(|word| word.ends_with("token")),
        _ => true,
    }
}

/// A name in lower case, without the marks between its words.
pub(super) fn plain(name: &str) -> String {
    words(name).concat()
}

/// The words of a name in lower case, in any notation.
fn words(name: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut before = None;
    let mut letters = name.chars().peekable();
    while let Some(letter) = letters.next() {
        let next_is_small = letters.peek().is_some_and(|next| next.is_lowercase());
        let begins = match before {
            Some(before) if char::is_uppercase(letter) => !char::is_uppercase(before) || next_is_small,
            _ => false,
        };
        if !letter.is_alphanumeric() || begins {
            words.push(String::new());
        }
        if let (true, Some(word)) = (letter.is_alphanumeric(), words.last_mut()) {
            word.extend(letter.to_lowercase());
        }
        before = Some(letter);
    }
    words.retain(|word| !word.is_empty());
    words
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn secrets_are_known_by_name() {
        let secret = [
            "authorization",
            "Authorization",
            "Proxy-Authorization",
            "token",
            "access_token",
            "accessToken",
            "id-token",
            "GITHUB_TOKEN",
            "password",
            "dbPassword",
            "PGPASSWORD",
            "passwd",
            "api_key",
            "apiKey",
            "x-api-key",
            "APIKEY",
            "secret",
            "client_secret",
            "AWS_SECRET_ACCESS_KEY",
            "cookie",
            "Set-Cookie",
            "credentials",
            "privateKey",
            "AccountKey",
            "connection_string",
            "auth",
            "private_key_pem",
            "JWT",
        ];
        for name in secret {
            assert!(is_secret(name), "{name}");
        }
    }

    #[test]
    fn similar_names_are_not_secrets() {
        let open = [
            "max_tokens",
            "tokens",
            "tokenizer",
            "author",
            "",
            "authors",
            "key",
            "keys",
            "primary_key",
            "keyboard",
            "path",
            "secretary",
            "api",
            "session_id",
            "passing",
            "object_keys",
        ];
        for name in open {
            assert!(!is_secret(name), "{name}");
        }
    }

    #[test]
    fn switches_and_numbers_of_tokens_are_no_secrets() {
        assert!(!can_be_secret("token", &json!(17)));
        assert!(!can_be_secret("password", &json!(true)));
        assert!(!can_be_secret("secret", &json!(null)));
        assert!(can_be_secret("pwd", &json!(1234)));
        assert!(can_be_secret("token", &json!("17")));
        assert!(can_be_secret("credentials", &json!({"a": 1})));
    }
}
