//! Invalid options fail before any request, and no secret appears in errors or debug output.

use std::net::TcpListener;
use std::time::{Duration, Instant};

use trommel_blocks::{BlockStorage, ErrorClass, Key};
use trommel_session::Watch;
use trommel_storage::Secret;
use trommel_storage::cosmos::{CosmosBlockStorage, CosmosOptions, Credential};

use crate::stopping::ends_soon;
use crate::support::{KEY, options};

#[test]
fn refuses_invalid_options_without_a_request_or_a_secret() {
    let secret = || Secret::new(KEY);
    let connection = format!("AccountEndpoint=http://example.com/;AccountKey={KEY};");
    let cases = [
        CosmosOptions::new("", Credential::Key(secret())),
        CosmosOptions::new("ftp://127.0.0.1/", Credential::Key(secret())),
        CosmosOptions::new("http://example.com/", Credential::Key(secret())),
        CosmosOptions::new(format!("https://user:{KEY}@example.com/"), Credential::Key(secret())),
        CosmosOptions::new("https://example.com/", Credential::Key(Secret::new("no key at all"))),
        CosmosOptions::new("", Credential::ConnectionString(Secret::new(connection))),
        CosmosOptions::new("", Credential::ConnectionString(secret())),
    ];
    for case in cases {
        let error = CosmosBlockStorage::new(case).unwrap_err();
        assert_eq!(error.class(), ErrorClass::Request);
        assert!(!format!("{error} {error:?}").contains(&KEY[..12]), "{error}");
        assert!(!error.to_string().contains("no key at all"));
    }
}

#[test]
fn hides_secrets_in_names_debug_output_and_errors() {
    let storage = CosmosBlockStorage::new(options("http://127.0.0.1:1/")).unwrap();
    let options = options("http://127.0.0.1:1/");
    let principal =
        Credential::ServicePrincipal { tenant: "t".into(), client: "c".into(), secret: Secret::new(KEY) };
    assert!(!format!("{storage:?} {} {options:?} {principal:?}", storage.name()).contains(&KEY[..12]));
    let error = storage.head(&Key::new("u", "s").unwrap(), &Watch::new()).unwrap_err();
    assert_eq!(error.class(), ErrorClass::Offline, "{error}");
    assert!(!format!("{error} {error:?}").contains(&KEY[..12]));
}

#[test]
fn reaches_only_a_listening_host() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let endpoint = format!("http://{}/", listener.local_addr().unwrap());
    let storage = CosmosBlockStorage::new(options(&endpoint)).unwrap();
    storage.reach(Duration::from_secs(1)).unwrap();
    drop(listener);
    let since = Instant::now();
    let error = storage.reach(Duration::from_secs(1)).unwrap_err();
    assert_eq!(error.class(), ErrorClass::Offline);
    assert!(since.elapsed() < Duration::from_secs(3));
}

/// R31: a call to a server that accepts connections and never responds can be cancelled.
#[test]
fn r31_cancels_a_waiting_call() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let storage =
        CosmosBlockStorage::new(options(&format!("http://{}/", listener.local_addr().unwrap()))).unwrap();
    let key = Key::new("u", "s").unwrap();
    ends_soon("head", [100, 200, 300].map(Duration::from_millis), &mut |watch| {
        storage.head(&key, watch).map(drop)
    });
}
