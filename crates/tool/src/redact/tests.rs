use proptest::prelude::*;
use serde_json::json;

use super::*;

fn text(text: &str) -> String {
    Redaction::new().text(text).into_owned()
}

/// R25: secrets inside texts are found by their look.
#[test]
fn r25_secrets_in_texts() {
    let cases = [
        ("Bearer abc.def", "Bearer [redacted]"),
        ("Authorization: Bearer abc def", "Authorization: [redacted]"),
        (
            r#"curl -H "Authorization: Bearer CANARY" https://a.org"#,
            r#"curl -H "Authorization: [redacted]" https://a.org"#,
        ),
        ("Cookie: a=CANARY; b=CANARY\nHost: x", "Cookie: [redacted]\nHost: x"),
        ("Basic dXNlcjpwYXNz", "Basic [redacted]"),
        ("postgres://me:CANARY@db:5432/x", "postgres://[redacted]@db:5432/x"),
        ("mysql --password CANARY -h db", "mysql --password [redacted] -h db"),
        ("PGPASSWORD=CANARY psql", "PGPASSWORD=[redacted] psql"),
        ("https://a.org/?q=1&access_token=CANARY&x=2", "https://a.org/?q=1&access_token=[redacted]&x=2"),
        (r#"{"api_key": "CAN\"ARY", "n": 1}"#, r#"{"api_key": "[redacted]", "n": 1}"#),
        (r#"{\"password\": \"CANARY\", \"n\": 1}"#, r#"{\"password\": \"[redacted]\", \"n\": 1}"#),
        ("AccountKey=CANARY==;Endpoint=x", "AccountKey=[redacted];Endpoint=x"),
        ("uses ghp_0123456789abcdefghijkl now", "uses [redacted] now"),
        ("-----BEGIN PRIVATE KEY-----\nCANARY", "[redacted]"),
        ("client_secret: 'CANARY'", "client_secret: '[redacted]'"),
        ("login --secret \"\"a", "login --secret [redacted]a"),
        ("login --secret \"CANARY", "login --secret [redacted]"),
        (r#"{"password": "CANARY\"#, r#"{"password": "[redacted]""#),
        ("pwd='CANARY", "pwd='[redacted]'"),
        (r#"$.users[?@.token == "CANARY"].name"#, r#"$.users[?@.token == "[redacted]"].name"#),
        ("@.password!='CANARY'", "@.password!='[redacted]'"),
        ("a.org/api_key:CANARY", "a.org/api_key:[redacted]"),
        ("$TOKEN=CANARY", "$TOKEN=[redacted]"),
        ("conf/password: CANARY1", "conf/password: [redacted]"),
    ];
    for (given, clean) in cases {
        assert_eq!(text(given), clean);
    }
}

#[test]
fn harmless_texts_stay() {
    let texts = [
        "max_tokens=100, token: 17",
        "a basic understanding of cookies and tokens",
        "File not found: /home/user/secrets.txt",
        "https://example.org:8080/a@b",
        "password: null",
        "the author: somebody",
        "cannot describe output ../../etc/passwd: `../../etc/passwd` is no id",
        "there is no output ../../etc/passwd: an id is 1 to 64 letters",
        "the path `$.token: x` is not valid: unexpected `:` at byte 7",
        "the path `$.users[*].password: x` is not valid",
        "nothing is at $.token; the nearest path is `$.tokens`",
        "Invalid type for offset: expected integer",
    ];
    for harmless in texts {
        assert_eq!(text(harmless), harmless);
    }
}

/// R25: secrets are found however deep they stand.
#[test]
fn r25_secrets_in_values() {
    let value = json!({
        "path": "/a", "limit": 5, "Authorization": "CANARY",
        "env": {"API_KEY": "CANARY", "HOME": "/home/me", "auth": {"user": "u", "pass": "CANARY"}},
        "headers": [{"name": "X-Api-Key", "value": "CANARY"}, ["Cookie", "CANARY"], {"name": "Accept", "value": "x"}],
        "argv": ["login", "--password", "CANARY", "--verbose", "now"],
        "note": "send Bearer CANARY on",
    });
    let clean = json!({
        "path": "/a", "limit": 5, "Authorization": REDACTED,
        "env": {"API_KEY": REDACTED, "HOME": "/home/me", "auth": REDACTED},
        "headers": [{"name": "X-Api-Key", "value": REDACTED}, ["Cookie", REDACTED], {"name": "Accept", "value": "x"}],
        "argv": ["login", "--password", REDACTED, "--verbose", "now"],
        "note": "send Bearer [redacted] on",
    });
    assert_eq!(Redaction::new().value(&value), clean);
}

/// R13: depth takes no stack.
#[test]
fn r13_deeply_nested_values_are_omitted() {
    let nested = |levels: usize| (0..levels).fold(json!("x"), |inner, _| Value::Array(vec![inner]));
    assert_eq!(Redaction::new().value(&nested(MAX_DEPTH)), nested(MAX_DEPTH));
    let deep = nested(1_000_000);
    assert!(Redaction::new().value(&deep).to_string().contains("[\"…\"]"));
    assert!(crate::nesting::shallow(deep).is_none());
}

#[test]
fn a_host_adds_names() {
    let redaction = Redaction::new().key("Employee-Number");
    assert!(redaction.is_secret("employee_number"));
    assert_eq!(redaction.value(&json!({"employeeNumber": "7"})), json!({"employeeNumber": REDACTED}));
}

#[test]
fn redacted_values_are_bounded() {
    let long = json!({"content": "x".repeat(1_000_000), "many": vec![1; 100_000], "last": 1});
    let kept = Redaction::new().parameters(long.as_object().unwrap());
    assert!(serde_json::to_string(&kept).unwrap().len() < 40_000);
    assert_eq!(kept["content"].as_str().unwrap().chars().count(), MAX_STRING);
    assert!(kept["many"].as_array().unwrap().last().unwrap().as_str().unwrap().ends_with(" more"));
    assert_eq!(kept["…"], "1 more");
}

proptest! {
    #[test]
    fn twice_is_once(given in r"[ -~\n]{0,60}(password|token|Bearer |Cookie|api_key|://u|--secret )[ -~\n]{0,40}") {
        let once = text(&given);
        prop_assert_eq!(text(&once), once);
    }
}
