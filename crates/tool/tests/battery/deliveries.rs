//! Where results go.

use std::sync::Arc;

use serde_json::json;
use trommel_tool::{
    About, Context, Delivered, Delivery, DeliveryMode, ErrorKind, Event, Executor, Failure, Finished, Limits,
    Metadata, Output, Reason, ResultMode, Sink,
};

use crate::support::{Fails, MemoryDelivery, anything, only};

fn keep_all() -> Limits {
    let mut limits = Limits::default();
    limits.keep_all = true;
    limits
}

/// A tool that returns `n` characters, or streams them in small parts.
fn letters(metadata: Metadata) -> Executor {
    only(metadata, |call| {
        let letters = usize::try_from(call.arguments["n"].as_u64().unwrap()).unwrap();
        if call.arguments.contains_key("stream") {
            for part in "ä".repeat(letters).as_bytes().chunks(999) {
                call.writer().write_all(part).map_err(|error| Failure::raised(&error))?;
            }
            return Ok(Output::Nothing);
        }
        Ok("ä".repeat(letters).into())
    })
}

fn context() -> Context {
    let mut context = Context::new("/");
    context.max_output_size = 1_000_000;
    context
}

#[test]
fn long_results_go_to_the_delivery() {
    let cases = [
        (ResultMode::Auto, 30_000, None),
        (ResultMode::Auto, 30_001, Some(Reason::AutoLimit)),
        (ResultMode::Inline, 65_536, None),
        (ResultMode::Inline, 65_537, Some(Reason::HardLimit)),
        (ResultMode::Persist, 1, Some(Reason::Mode)),
    ];
    for (mode, n, reason) in cases {
        for arguments in [json!({"n": n}), json!({"n": n, "stream": true})] {
            let shelf = Arc::new(MemoryDelivery::default());
            let executor = letters(anything("t").result_mode(mode)).delivery(shelf.clone());
            let result = executor.call("t", arguments.clone(), &context()).result;
            assert!(result.success, "{mode:?} {arguments} {:?}", result.error);
            assert_eq!(result.manifest().map(|manifest| manifest.reason), reason, "{mode:?} {arguments}");
            assert_eq!(result.output.is_none(), reason.is_some());
            assert_eq!(result.delivered == Delivered::Inline, reason.is_none());
            if reason.is_some() {
                let put = shelf.one();
                assert_eq!(
                    (put.bytes.len(), &put.tool, &put.parameters),
                    (2 * n, &"t".to_owned(), &arguments)
                );
                let Finished { chars, bytes, .. } = put.finished.unwrap();
                assert_eq!((chars, bytes), (n as u64, 2 * n as u64));
                assert!(result.manifest().unwrap().preview.chars().count() <= 1_200);
            } else {
                assert!(shelf.puts.lock().unwrap().is_empty());
            }
        }
    }
}

#[test]
fn without_a_delivery_everything_is_inline() {
    for mode in [ResultMode::Auto, ResultMode::Inline, ResultMode::Persist] {
        let executor = letters(anything("t").result_mode(mode));
        for arguments in [json!({"n": 100_000}), json!({"n": 100_000, "stream": true})] {
            let result = executor.call("t", arguments, &context()).result;
            assert_eq!(result.output.unwrap().as_str().chars().count(), 100_000);
        }
    }
}

#[test]
fn short_results_are_kept_as_well() {
    let shelf = Arc::new(MemoryDelivery::default());
    let executor = letters(anything("t")).delivery(shelf.clone()).limits(keep_all());
    let result = executor.call("t", json!({"n": 2, "stream": true}), &context()).result;
    assert_eq!(result.output, Some("ää".into()));
    assert!(matches!(&result.delivered, Delivered::Kept(manifest) if manifest.reason == Reason::Kept));
    assert_eq!(shelf.one().bytes, "ää".as_bytes());
    let mut told = Vec::new();
    executor.call_with("t", json!({"n": 1}), &context(), &mut |event| match event {
        Event::Output(_) => told.push("output"),
        Event::Manifest(_) => told.push("manifest"),
        _ => {}
    });
    assert_eq!(told, ["output", "manifest"]);
}

#[test]
fn nothing_is_not_kept() {
    let shelf = Arc::new(MemoryDelivery::default());
    let executor =
        letters(anything("t").result_mode(ResultMode::Persist)).delivery(shelf.clone()).limits(keep_all());
    for arguments in [json!({"n": 0, "stream": true}), json!({"n": 0})] {
        assert_eq!(executor.call("t", arguments, &context()).result.delivered, Delivered::Inline);
    }
    let empty = only(anything("t"), |_| Ok(Output::Nothing)).delivery(shelf.clone()).limits(keep_all());
    assert!(empty.call("t", json!({}), &context()).result.success);
    assert!(shelf.puts.lock().unwrap().is_empty());
}

#[test]
fn tools_bounded_by_themselves_are_never_stored() {
    let shelf = Arc::new(MemoryDelivery::default());
    let metadata = anything("tool_outputs.read").bounded().result_mode(ResultMode::Persist);
    let executor = letters(metadata).delivery(shelf.clone()).limits(keep_all());
    // The longest that such a tool may return, in characters of two bytes.
    for arguments in [json!({"n": 100_000}), json!({"n": 100_000, "stream": true})] {
        let result = executor.call("tool_outputs.read", arguments, &Context::new("/")).result;
        assert!(result.success && result.delivered == Delivered::Inline, "{:?}", result.error);
    }
    let result = executor.call("tool_outputs.read", json!({"n": 200_001}), &Context::new("/")).result;
    assert!(result.error.unwrap().message.starts_with("Output of 400,002 bytes exceeds"));
    assert!(shelf.puts.lock().unwrap().is_empty());
}

/// R45: the error of an oversized result has its length, the limit, and advice.
#[test]
fn r45_results_too_long_to_return() {
    let stored =
        letters(anything("t").result_mode(ResultMode::Persist)).delivery(Arc::new(MemoryDelivery::default()));
    let error = stored.call("t", json!({"n": 50_001}), &Context::new("/")).result.error.unwrap();
    assert_eq!(error.kind, ErrorKind::Failed);
    assert_eq!(
        error.message,
        "Output of 100,002 bytes exceeds max_output_size (100,000 bytes): the tool must stream a result of this \
         length, or max_output_size be raised"
    );
    assert!(stored.call("t", json!({"n": 50_001, "stream": true}), &Context::new("/")).result.success);
    let alone = letters(anything("t"));
    for arguments in [json!({"n": 50_001}), json!({"n": 50_001, "stream": true})] {
        let error = alone.call("t", arguments, &Context::new("/")).result.error.unwrap();
        assert!(error.message.contains("exceeds max_output_size (100,000 bytes): ask for less"), "{error}");
        assert!(error.causes.is_empty());
    }
}

#[test]
fn a_delivery_that_fails_fails_the_call() {
    for (fails, message) in [
        (Fails::Open, "the shelf is full"),
        (Fails::Write, "no space left"),
        (Fails::Finish, "the shelf broke"),
    ] {
        for arguments in [json!({"n": 40_000}), json!({"n": 40_000, "stream": true})] {
            let shelf = MemoryDelivery::failing(fails);
            let executor = letters(anything("t")).delivery(shelf.clone());
            let result = executor.call("t", arguments, &context()).result;
            let error = result.error.unwrap();
            assert_eq!((error.kind, error.message.as_str()), (ErrorKind::Failed, message));
            assert_eq!(*shelf.dropped.lock().unwrap(), usize::from(fails != Fails::Open));
        }
    }
}

/// R13: a delivery that panics fails the call, and the tool is not blamed for it.
#[test]
fn r13_a_delivery_that_panics_fails_the_call() {
    let shelf = MemoryDelivery::failing(Fails::Panic);
    let executor = letters(anything("t")).delivery(shelf.clone());
    let error = executor.call("t", json!({"n": 40_000}), &context()).result.error.unwrap();
    assert_eq!(error.kind, ErrorKind::Failed);
    assert_eq!(error.message, "The result was not delivered: where it should go panicked: the shelf fell");
    *shelf.fails.lock().unwrap() = None;
    assert!(executor.call("t", json!({"n": 40_000}), &context()).result.success);
}

#[test]
fn failed_records_are_only_warnings() {
    for fails in [Fails::Open, Fails::Write, Fails::Finish] {
        let executor = letters(anything("t")).delivery(MemoryDelivery::failing(fails)).limits(keep_all());
        let result = executor.call("t", json!({"n": 3}), &context()).result;
        assert_eq!(result.output, Some("äää".into()));
        assert!(result.metadata["warning"].as_str().unwrap().starts_with("the output was not kept: "));
        assert_eq!(result.delivered, Delivered::Inline);
    }
}

#[test]
fn a_tool_that_fails_leaves_nothing_behind() {
    let shelf = Arc::new(MemoryDelivery::default());
    let executor = only(anything("t"), |call| {
        call.writer().write_all(&vec![b'x'; 50_000]).unwrap();
        if call.arguments.contains_key("panic") {
            panic!("in the middle")
        } else {
            Err("in the middle".into())
        }
    });
    let executor = executor.delivery(shelf.clone());
    for arguments in [json!({}), json!({"panic": true})] {
        assert!(!executor.call("t", arguments, &context()).result.success);
    }
    assert_eq!(*shelf.dropped.lock().unwrap(), 2);
    assert!(shelf.puts.lock().unwrap().is_empty());
}

#[test]
fn streams_are_json_where_they_are() {
    let executor = only(anything("t"), |call| {
        let text = call.arguments["text"].as_str().unwrap().to_owned();
        call.writer().write_all(text.as_bytes()).unwrap();
        Ok(Output::Nothing)
    });
    let output = |text: &str| executor.call("t", json!({"text": text}), &context()).result.output.unwrap();
    assert!(matches!(output("{\"a\": 1.00}"), Output::Json(raw) if raw.get() == "{\"a\": 1.00}"));
    assert!(matches!(output("{\"a\":1}\n{\"a\":2}\n"), Output::Text(_)));
    assert!(matches!(output("plain"), Output::Text(text) if text == "plain"));
}

#[test]
fn invalid_utf8_is_replaced_with_a_warning() {
    let executor = only(anything("t"), |call| {
        call.writer().write_all(b"a\xff\x80b").unwrap();
        Ok(Output::Nothing)
    });
    let result = executor.call("t", json!({}), &context()).result;
    assert_eq!(result.output, Some("a\u{fffd}\u{fffd}b".into()));
    assert!(result.metadata["warning"].as_str().unwrap().contains("not valid UTF-8"));
}

#[test]
fn a_result_is_returned_or_streamed_but_not_both() {
    let executor = only(anything("t"), |call| {
        call.writer().write_all(b"one").unwrap();
        Ok("two".into())
    });
    let error = executor.call("t", json!({}), &context()).result.error.unwrap();
    assert!(error.message.contains("it must return nothing after writing"));
}

#[test]
fn bytes_without_characters_are_not_held_for_ever() {
    let shelf = Arc::new(MemoryDelivery::default());
    let executor = only(anything("t"), |call| {
        call.writer().write_all(&vec![0x80; 120_001]).unwrap();
        Ok(Output::Nothing)
    });
    let result = executor.delivery(shelf.clone()).call("t", json!({}), &context()).result;
    assert_eq!(result.manifest().unwrap().reason, Reason::AutoLimit);
}

#[test]
fn discarded_results_have_no_manifest() {
    let shelf = Arc::new(MemoryDelivery { discards: true, ..MemoryDelivery::default() });
    let executor = letters(anything("t").result_mode(ResultMode::Persist)).delivery(shelf).limits(keep_all());
    let result = executor.call("t", json!({"n": 1}), &context()).result;
    assert_eq!((result.success, &result.delivered, result.manifest()), (true, &Delivered::Away, None));
}

/// A place that decides itself what it gets, as a directive would.
struct Hinted(MemoryDelivery);

impl Delivery for Hinted {
    fn delivery_mode(&self, about: &About<'_>, own: ResultMode) -> DeliveryMode {
        match about.context.metadata.get("output_mode").and_then(|mode| mode.as_str()) {
            Some("persist") => DeliveryMode::ByLength(ResultMode::Persist),
            Some("inline") => DeliveryMode::ByLength(ResultMode::Inline),
            Some("caller") => DeliveryMode::Caller,
            Some("delivery") => DeliveryMode::Delivery,
            _ => DeliveryMode::ByLength(own),
        }
    }

    fn open(&self, about: &About<'_>, reason: Reason) -> Result<Box<dyn Sink + '_>, Failure> {
        self.0.open(about, reason)
    }
}

#[test]
fn hosts_can_choose_the_destination() {
    let executor = letters(anything("t")).delivery(Arc::new(Hinted(MemoryDelivery::default())));
    let reason = |mode: &str, n: u64| {
        let mut context = context();
        context.metadata.insert("output_mode".into(), mode.into());
        executor.call("t", json!({"n": n}), &context).result.manifest().map(|manifest| manifest.reason)
    };
    assert_eq!(reason("persist", 1), Some(Reason::Mode));
    assert_eq!(reason("inline", 40_000), None);
    assert_eq!(reason("inline", 70_000), Some(Reason::HardLimit));
    assert_eq!(reason("auto", 40_000), Some(Reason::AutoLimit));
    // A decision by the host ignores the length.
    assert_eq!(reason("caller", 70_000), None);
    assert_eq!(reason("delivery", 0), Some(Reason::Routed));
}
