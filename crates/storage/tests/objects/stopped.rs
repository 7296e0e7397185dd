//! Cancels calls to a service that accepts connections and never responds.

use std::net::TcpListener;
use std::ops::ControlFlow;
use std::time::Duration;

use trommel_blocks::{BlockStorage, Key, PayloadStorage, Result, Selection};
use trommel_session::Watch;
use trommel_storage::Secret;
use trommel_storage::objects::{Access, ObjectBlockStorage, ObjectOptions, ObjectPayloads, Objects};

use crate::blocks::said;
use crate::stopping::ends_soon;

/// The delays after which the calls are cancelled.
const MOMENTS: [Duration; 3] =
    [Duration::from_millis(30), Duration::from_millis(60), Duration::from_millis(90)];

type Call<'a> = (&'a str, &'a dyn Fn(&Watch<'_>) -> Result<()>);

/// R31: every call can be cancelled.
#[test]
fn r31_cancels_calls_to_a_silent_service() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let secret = Secret::new("opensesame");
    let mut options = ObjectOptions::new(Access::S3Key { id: "id".to_owned(), secret, token: None });
    options.endpoint = Some(format!("http://{}", listener.local_addr().unwrap()));
    options.region = Some("x".to_owned());
    let objects = Objects::open("s3://bucket/x", &options).unwrap();
    let (storage, payloads) = (ObjectBlockStorage::new(objects.clone()), ObjectPayloads::new(objects));
    let key = Key::new("ada", "s").unwrap();
    let blocks = [said(&key, 1), said(&key, 2)];
    let calls: [Call<'_>; 7] = [
        ("head", &|watch| storage.head(&key, watch).map(drop)),
        ("create", &|watch| storage.create(&key, &blocks[0], watch).map(drop)),
        ("create_all", &|watch| storage.create_all(&key, &blocks, watch).map(drop)),
        ("read", &|watch| {
            storage.read(&key, &Selection::default(), watch, &mut |_| Ok(ControlFlow::Continue(())))
        }),
        ("sessions", &|watch| storage.sessions("ada", watch, &mut |_| Ok(ControlFlow::Continue(())))),
        ("put", &|watch| payloads.put("name", 20 << 20, &mut std::io::repeat(b'x'), watch)),
        ("get", &|watch| payloads.get("name", watch, &mut |_| Ok(()))),
    ];
    for (name, call) in calls {
        ends_soon(name, MOMENTS, &mut |watch| call(watch));
    }
}
