//! What is wrong before anything is asked, and that no secret is ever told.

use std::net::TcpListener;
use std::time::{Duration, Instant};

use trommel_blocks::{BlockStorage, ErrorClass, Key};
use trommel_session::Watch;
use trommel_storage::Secret;
use trommel_storage::cosmos::{CosmosBlockStorage, CosmosOptions, Credential};

use crate::stopping::ends_soon;
use crate::support::{KEY, options};

#[test]
fn what_cannot_be_right_is_refused_without_asking_and_tells_no_secret() {
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
fn nothing_shows_a_secret() {
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
fn a_host_that_listens_is_reached_and_another_one_is_not() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let here = format!("http://{}/", listener.local_addr().unwrap());
    let storage = CosmosBlockStorage::new(options(&here)).unwrap();
    storage.reach(Duration::from_secs(1)).unwrap();
    drop(listener);
    let since = Instant::now();
    let error = storage.reach(Duration::from_secs(1)).unwrap_err();
    assert_eq!(error.class(), ErrorClass::Offline);
    assert!(since.elapsed() < Duration::from_secs(3));
}

/// R31: one who listens and never answers does not keep a cancelled call.
#[test]
fn r31_a_call_that_waits_is_cancelled() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let storage =
        CosmosBlockStorage::new(options(&format!("http://{}/", listener.local_addr().unwrap()))).unwrap();
    let key = Key::new("u", "s").unwrap();
    ends_soon("head", [100, 200, 300].map(Duration::from_millis), &mut |watch| {
        storage.head(&key, watch).map(drop)
    });
}
