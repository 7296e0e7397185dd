//! The emulator in this process, which has batches, and faults on the way to it.

use std::ops::ControlFlow;
use std::sync::Arc;
use std::time::{Duration, Instant};

use azure_data_cosmos::CosmosRuntimeBuilder;
use azure_data_cosmos::fault_injection::{
    CustomResponseBuilder, FaultInjectionConditionBuilder, FaultInjectionErrorType as Type,
    FaultInjectionResultBuilder, FaultInjectionRule, FaultInjectionRuleBuilder, FaultOperationType as On,
};
use azure_data_cosmos_driver::in_memory_emulator::{
    ContainerConfig, InMemoryEmulatorHttpClient, VirtualAccountConfig, VirtualRegion,
};
use trommel_blocks::{Block, BlockStorage, Created, ErrorClass, Key, Selection};
use trommel_session::{EventQuery, ListQuery, SearchQuery, Source, Watch};
use trommel_storage::cosmos::CosmosBlockStorage;

use crate::blocks::{numbers, read, said, sessions};
use crate::machine::Machine;
use crate::net::Net;
use crate::support::{KEY, options};
use crate::{container, contract, world};

const ENDPOINT: &str = "https://eastus.emulator.local/";

fn emulator() -> Arc<InMemoryEmulatorHttpClient> {
    let region = VirtualRegion::new("East US", ENDPOINT.parse().unwrap());
    Arc::new(InMemoryEmulatorHttpClient::new(VirtualAccountConfig::new(vec![region]).unwrap()))
}

fn storage(
    emulator: &Arc<InMemoryEmulatorHttpClient>,
    rules: Vec<Arc<FaultInjectionRule>>,
) -> CosmosBlockStorage {
    let mut options = options(ENDPOINT);
    options.page = 40;
    let sdk = CosmosRuntimeBuilder::from(emulator.runtime_builder_with_fault_rules(rules));
    let storage = CosmosBlockStorage::through(options, sdk).unwrap();
    storage.prepare(&Watch::new()).unwrap();
    storage
}

fn rule(on: On, error: Type, times: Option<u32>) -> Arc<FaultInjectionRule> {
    let result = FaultInjectionResultBuilder::new().with_error(error).build();
    built(on, result, times)
}

fn built(
    on: On,
    result: azure_data_cosmos::fault_injection::FaultInjectionResult,
    times: Option<u32>,
) -> Arc<FaultInjectionRule> {
    let condition = FaultInjectionConditionBuilder::new().with_operation_type(on).build();
    let rule = FaultInjectionRuleBuilder::new(format!("{on:?}"), result).with_condition(condition);
    let rule = match times {
        Some(times) => rule.with_hit_limit(times),
        None => rule,
    };
    let rule = Arc::new(rule.build());
    rule.disable();
    rule
}

#[test]
fn the_contract_in_process() {
    let emulator = emulator();
    let inside = storage(&emulator, Vec::new());
    contract::all(&inside, &storage(&emulator, Vec::new()));
    container::all(&inside);
}

#[test]
fn the_contract_over_several_partitions() {
    let emulator = emulator();
    emulator.store().create_database("amplifier-db");
    let config = ContainerConfig::new().with_partition_count(3);
    emulator.store().create_container_with_config("amplifier-db", "items", "/partitionKey".into(), config);
    let inside = storage(&emulator, Vec::new());
    contract::all(&inside, &storage(&emulator, Vec::new()));
    container::all(&inside);
}

#[test]
fn a_call_may_come_from_a_thread_of_another_runtime() {
    let emulator = emulator();
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
    runtime.block_on(async {
        let storage = storage(&emulator, Vec::new());
        let key = Key::new("ada", "s").unwrap();
        assert_eq!(storage.create(&key, &said(&key, 1), &Watch::new()).unwrap(), Created::New);
    });
}

const PASSING: [Type; 8] = [
    Type::TooManyRequests,
    Type::ServiceUnavailable,
    Type::InternalServerError,
    Type::RetryWith,
    Type::Timeout,
    Type::ConnectionError,
    Type::ResponseTimeout,
    Type::ResponseTimeoutAfterService,
];

/// R36: whatever fails for a while, each block is there once, and none is missing.
#[test]
fn r36_faults_that_pass_lose_and_double_nothing() {
    for (at, fault) in PASSING.into_iter().enumerate() {
        let (emulator, watch) = (emulator(), Watch::new());
        let on = [On::CreateItem, On::BatchItem, On::ReadItem, On::QueryItem];
        let rules = on.map(|on| rule(on, fault, Some(3)));
        let storage = storage(&emulator, rules.to_vec());
        let key = Key::new("ada", &format!("s-{at}")).unwrap();
        for rule in &rules {
            rule.enable();
        }
        let made =
            storage.create(&key, &said(&key, 1), &watch).unwrap_or_else(|error| panic!("{fault:?}: {error}"));
        assert_ne!(made, Created::Taken, "{fault:?}");
        let blocks = (1..=150).map(|sequence| said(&key, sequence)).collect::<Vec<_>>();
        let count =
            storage.create_all(&key, &blocks, &watch).unwrap_or_else(|error| panic!("{fault:?}: {error}"));
        assert_eq!(count, 150, "{fault:?}");
        assert_eq!(
            numbers(&read(&storage, &key, &Selection::default())),
            (1..=150).collect::<Vec<_>>(),
            "{fault:?}"
        );
        assert_eq!(sessions(&storage, "ada").len(), 1);
        let hits = rules.each_ref().map(|rule| rule.hit_count());
        println!("measured: {fault:?} hit {hits:?}");
        let [create, batch, look, query] = hits;
        assert!(create > 0 && batch > 0 && query > 0, "{fault:?}: {hits:?}");
        // Only who finds a block where it is to be looks at it.
        assert_eq!(look > 0, fault == Type::ResponseTimeoutAfterService, "{hits:?}");
    }
}

/// R36: what does not pass is given up after 9 tries, and nothing was created by halves.
#[test]
fn r36_faults_that_stay_are_given_up_after_nine_tries() {
    let kinds = [
        (Type::TooManyRequests, ErrorClass::Busy),
        (Type::ServiceUnavailable, ErrorClass::Storage),
        (Type::InternalServerError, ErrorClass::Storage),
        (Type::Timeout, ErrorClass::Storage),
        (Type::ConnectionError, ErrorClass::Offline),
        (Type::ResponseTimeout, ErrorClass::Offline),
    ];
    for (fault, kind) in kinds {
        for on in [On::CreateItem, On::BatchItem, On::QueryItem] {
            let rule = rule(on, fault, None);
            let storage = storage(&emulator(), vec![Arc::clone(&rule)]);
            let (key, watch) = (Key::new("ada", "s").unwrap(), Watch::new());
            let blocks = [said(&key, 1), said(&key, 2)];
            rule.enable();
            let error = match on {
                On::CreateItem => storage.create(&key, &blocks[0], &watch).unwrap_err(),
                On::BatchItem => storage.create_all(&key, &blocks, &watch).unwrap_err(),
                _ => storage.head(&key, &watch).unwrap_err(),
            };
            rule.disable();
            println!("measured: {on:?} {fault:?} tried {} times: {error}", rule.hit_count());
            assert_eq!(error.class(), kind, "{on:?} {fault:?}: {error}");
            assert!((2..=9).contains(&rule.hit_count()), "{on:?} {fault:?}: {}", rule.hit_count());
            assert!(!format!("{error:?}").contains(&KEY[..12]));
            assert!(read(&storage, &key, &Selection::default()).is_empty());
        }
    }
}

/// R36: what fails in the middle of a long answer is asked for again from there, and nothing comes
/// twice.
#[test]
fn r36_an_answer_goes_on_where_it_was() {
    for fault in PASSING {
        let (emulator, watch) = (emulator(), Watch::new());
        emulator.store().create_database("amplifier-db");
        let config = ContainerConfig::new().with_partition_count(3);
        emulator.store().create_container_with_config(
            "amplifier-db",
            "items",
            "/partitionKey".into(),
            config,
        );
        let rule = rule(On::QueryItem, fault, Some(2));
        let storage = storage(&emulator, vec![Arc::clone(&rule)]);
        let key = Key::new("ada", "s").unwrap();
        let blocks = (1..=100).map(|sequence| said(&key, sequence)).collect::<Vec<_>>();
        storage.create_all(&key, &blocks, &watch).unwrap();
        let mut seen = Vec::new();
        let mut take = |block: Block| {
            seen.push(block.sequence);
            if block.sequence == 50 {
                rule.enable();
            }
            Ok(ControlFlow::Continue(()))
        };
        storage.read(&key, &Selection::default(), &watch, &mut take).unwrap();
        assert_eq!(seen, (1..=100).collect::<Vec<_>>(), "{fault:?}");
        assert_eq!(rule.hit_count(), 2, "{fault:?}");
    }
}

/// R36: what the official crate tries by itself ends as well.
#[test]
fn r36_several_writers_of_one_document_are_given_up() {
    let rule = rule(On::CreateItem, Type::RetryWith, None);
    let mut options = options(ENDPOINT);
    options.patience = Duration::from_secs(2);
    let sdk =
        CosmosRuntimeBuilder::from(emulator().runtime_builder_with_fault_rules(vec![Arc::clone(&rule)]));
    let storage = CosmosBlockStorage::through(options, sdk).unwrap();
    storage.prepare(&Watch::new()).unwrap();
    let key = Key::new("ada", "s").unwrap();
    rule.enable();
    let since = Instant::now();
    let error = storage.create(&key, &said(&key, 1), &Watch::new()).unwrap_err();
    println!("measured: {} requests in {:?}: {error}", rule.hit_count(), since.elapsed());
    assert!(since.elapsed() < Duration::from_secs(10));
    assert!(rule.hit_count() <= 20, "{}", rule.hit_count());
}

/// R36: the service says when to come back, and nobody comes earlier.
#[test]
fn r36_the_time_to_wait_is_waited() {
    let response = CustomResponseBuilder::new(azure_core::http::StatusCode::TooManyRequests)
        .with_header("x-ms-retry-after-ms", "300")
        .build();
    let rule = built(
        On::CreateItem,
        FaultInjectionResultBuilder::new().with_custom_response(response).build(),
        Some(2),
    );
    let storage = storage(&emulator(), vec![Arc::clone(&rule)]);
    let key = Key::new("ada", "s").unwrap();
    storage.head(&key, &Watch::new()).unwrap();
    rule.enable();
    let since = Instant::now();
    assert_eq!(storage.create(&key, &said(&key, 1), &Watch::new()).unwrap(), Created::New);
    assert!(since.elapsed() >= Duration::from_millis(600), "{:?}", since.elapsed());
}

#[test]
fn the_other_layout_in_process() {
    let emulator = emulator();
    emulator.store().create_database("amplifier-db");
    emulator.store().create_container("amplifier-db", "other", "/partition_key".into());
    seed(&emulator);
    let mut options = options(ENDPOINT);
    "other".clone_into(&mut options.container);
    options.page = 2;
    let sdk = CosmosRuntimeBuilder::from(emulator.runtime_builder());
    container::of_lines(&CosmosBlockStorage::through(options, sdk).unwrap());
}

fn seed(emulator: &Arc<InMemoryEmulatorHttpClient>) {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
    runtime.block_on(async {
        let sdk = CosmosRuntimeBuilder::from(emulator.runtime_builder()).build().await.unwrap();
        let account =
            azure_data_cosmos::AccountReference::with_authentication_key(ENDPOINT.parse().unwrap(), KEY);
        let regions = azure_data_cosmos::RoutingStrategy::PreferredRegions(Vec::new());
        let client = azure_data_cosmos::CosmosClient::builder()
            .with_runtime(sdk)
            .build(account, regions)
            .await
            .unwrap();
        let container = client.database_client("amplifier-db").container_client("other", None).await.unwrap();
        for document in container::lines() {
            let (id, partition) =
                (document["id"].as_str().unwrap(), document["partition_key"].as_str().unwrap().to_owned());
            container.create_item(partition, id, &document, None).await.unwrap();
        }
    });
}

/// Cases without and with `TROMMEL_DEEP`.
const CASES: [u64; 2] = [2, 60];

/// R35: three machines, two sessions, random operations also at the same time, partitions, faults,
/// answers that are late.
#[test]
fn r35_machines_do_anything_at_once() {
    let is_deep = std::env::var_os("TROMMEL_DEEP").is_some();
    world::run(CASES[usize::from(is_deep)], 40, &|| Arc::new(storage(&emulator(), Vec::new())));
}

/// R36: sessions go from one machine to another through faults, and are questioned on a third one
/// that has none of them.
#[test]
fn r36_sessions_travel_through_faults() {
    let emulator = emulator();
    let long = "\u{e9}\"".repeat(400_000);
    let events = format!(
        "{{\"ts\":\"2026-03-01T09:00:00Z\",\"event\":\"llm:request\",\"data\":{{\"model\":\"m\",\"messages\":{}}}}}\n{{\"event\":\"tool:pre\",\"data\":{{\"tool_name\":\"grep\",\"tool_input\":{{\"pattern\":\"x\"}}}}}}\n",
        serde_json::Value::from(long.as_str())
    );
    for error in PASSING {
        let rules = [On::CreateItem, On::BatchItem, On::QueryItem].map(|on| rule(on, error, Some(3)));
        let session = format!("s-{error:?}");
        // There is no port to knock at.
        let shared = Net::over(Arc::new(storage(&emulator, rules.to_vec())));
        let (one, two) = (Machine::new("one", &shared), Machine::new("two", &shared));
        one.write(&session, "metadata.json", "{\"name\": \"travels\"}");
        one.write(&session, "events.jsonl", &events);
        let said = (0..40).map(|n| format!("{{\"role\":\"user\",\"content\":\"question {n}\"}}\n"));
        one.write(&session, "transcript.jsonl", said.collect::<Vec<_>>().concat());
        for rule in &rules {
            rule.enable();
        }
        one.sync(&session);
        // What is one block does not go as a batch.
        one.append(&session, "transcript.jsonl", "{\"role\":\"assistant\",\"content\":\"one more\"}\n");
        one.sync(&session);
        two.sync(&session);
        for rule in &rules {
            rule.disable();
        }
        let hits = rules.each_ref().map(|rule| rule.hit_count());
        assert!(hits.iter().all(|hits| *hits > 0), "{error:?}: {hits:?}");
        assert_eq!(two.files(&session), one.files(&session), "{error:?}");
        let blocks = read(&*shared, &Key::new("ada", &session).unwrap(), &Selection::default());
        assert_eq!(numbers(&blocks), (1..=blocks.len() as u64).collect::<Vec<_>>(), "{error:?}");
    }
    let third = Machine::new("three", &Net::over(Arc::new(storage(&emulator, Vec::new()))));
    let view = third.hybrid.view(&Watch::new()).unwrap();
    let listed = view.sessions.list(&ListQuery::default(), &Watch::new()).unwrap();
    assert_eq!((listed.total, listed.connected), (PASSING.len() as u64, true), "{:?}", view.problems);
    assert!(
        listed
            .sessions
            .iter()
            .all(|row| row.source == Source::Cloud && row.name.as_deref() == Some("travels"))
    );
    let query = SearchQuery::new("question 39");
    let view = third.hybrid.searchable(&query, &Watch::new()).unwrap();
    assert_eq!(view.sessions.search(&query, &Watch::new()).unwrap().total_count, PASSING.len() as u64);
    let (_, session) = third.hybrid.find("s-Timeout", &Watch::new()).unwrap();
    let mut query = EventQuery::default();
    query.fields = vec!["data.tool_input.pattern".to_owned()];
    let page = third.hybrid.get_events(&session, &query, &Watch::new()).unwrap();
    assert_eq!(page.events[1].fields.get(&["data", "tool_input", "pattern"]), Some("\"x\""));
}
