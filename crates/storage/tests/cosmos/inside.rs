//! Tests with the emulator in this process, which supports batches, and with injected faults.

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
    let storage = CosmosBlockStorage::with_sdk(options, sdk).unwrap();
    storage.prepare(&Watch::new()).unwrap();
    storage
}

fn rule(on: On, error: Type, times: Option<u32>) -> Arc<FaultInjectionRule> {
    let result = FaultInjectionResultBuilder::new().with_error(error).build();
    rule_with_result(on, result, times)
}

fn rule_with_result(
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
fn meets_the_contract_in_process() {
    let emulator = emulator();
    let in_process = storage(&emulator, Vec::new());
    contract::all(&in_process, &storage(&emulator, Vec::new()));
    container::all(&in_process);
}

#[test]
fn meets_the_contract_across_partitions() {
    let emulator = emulator();
    emulator.store().create_database("amplifier-db");
    let config = ContainerConfig::new().with_partition_count(3);
    emulator.store().create_container_with_config("amplifier-db", "items", "/partitionKey".into(), config);
    let in_process = storage(&emulator, Vec::new());
    contract::all(&in_process, &storage(&emulator, Vec::new()));
    container::all(&in_process);
}

#[test]
fn can_be_called_inside_another_runtime() {
    let emulator = emulator();
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
    runtime.block_on(async {
        let storage = storage(&emulator, Vec::new());
        let key = Key::new("ada", "s").unwrap();
        assert_eq!(storage.create(&key, &said(&key, 1), &Watch::new()).unwrap(), Created::New);
    });
}

/// Faults that end after a few requests, so that a retry succeeds.
const TRANSIENT: [Type; 8] = [
    Type::TooManyRequests,
    Type::ServiceUnavailable,
    Type::InternalServerError,
    Type::RetryWith,
    Type::Timeout,
    Type::ConnectionError,
    Type::ResponseTimeout,
    Type::ResponseTimeoutAfterService,
];

/// R36: transient faults neither lose nor duplicate blocks.
#[test]
fn r36_transient_faults_lose_and_duplicate_nothing() {
    for (number, fault) in TRANSIENT.into_iter().enumerate() {
        let (emulator, watch) = (emulator(), Watch::new());
        let on = [On::CreateItem, On::BatchItem, On::ReadItem, On::QueryItem];
        let rules = on.map(|on| rule(on, fault, Some(3)));
        let storage = storage(&emulator, rules.to_vec());
        let key = Key::new("ada", &format!("s-{number}")).unwrap();
        for rule in &rules {
            rule.enable();
        }
        let created =
            storage.create(&key, &said(&key, 1), &watch).unwrap_or_else(|error| panic!("{fault:?}: {error}"));
        assert_ne!(created, Created::Taken, "{fault:?}");
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
        let [create, batch, lookup, query] = hits;
        assert!(create > 0 && batch > 0 && query > 0, "{fault:?}: {hits:?}");
        // The storage reads a block only after a conflict: the first attempt created it, but its
        // response was lost.
        assert_eq!(lookup > 0, fault == Type::ResponseTimeoutAfterService, "{hits:?}");
    }
}

/// R36: a persistent fault is reported after at most nine attempts, and no part of a batch is left.
#[test]
fn r36_gives_up_on_persistent_faults_after_nine_attempts() {
    let cases = [
        (Type::TooManyRequests, ErrorClass::Busy),
        (Type::ServiceUnavailable, ErrorClass::Storage),
        (Type::InternalServerError, ErrorClass::Storage),
        (Type::Timeout, ErrorClass::Storage),
        (Type::ConnectionError, ErrorClass::Offline),
        (Type::ResponseTimeout, ErrorClass::Offline),
    ];
    for (fault, class) in cases {
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
            println!("measured: {on:?} {fault:?} failed {} times: {error}", rule.hit_count());
            assert_eq!(error.class(), class, "{on:?} {fault:?}: {error}");
            assert!((2..=9).contains(&rule.hit_count()), "{on:?} {fault:?}: {}", rule.hit_count());
            assert!(!format!("{error:?}").contains(&KEY[..12]));
            assert!(read(&storage, &key, &Selection::default()).is_empty());
        }
    }
}

/// R36: a read that fails midway resumes at the same block and yields nothing twice.
#[test]
fn r36_resumes_an_interrupted_read() {
    for fault in TRANSIENT {
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
        let mut sequences = Vec::new();
        let mut collect = |block: Block| {
            sequences.push(block.sequence);
            if block.sequence == 50 {
                rule.enable();
            }
            Ok(ControlFlow::Continue(()))
        };
        storage.read(&key, &Selection::default(), &watch, &mut collect).unwrap();
        assert_eq!(sequences, (1..=100).collect::<Vec<_>>(), "{fault:?}");
        assert_eq!(rule.hit_count(), 2, "{fault:?}");
    }
}

/// R36: retries inside the SDK are bounded as well.
#[test]
fn r36_gives_up_on_persistent_write_conflicts() {
    let rule = rule(On::CreateItem, Type::RetryWith, None);
    let mut options = options(ENDPOINT);
    options.attempt_timeout = Duration::from_secs(2);
    let sdk =
        CosmosRuntimeBuilder::from(emulator().runtime_builder_with_fault_rules(vec![Arc::clone(&rule)]));
    let storage = CosmosBlockStorage::with_sdk(options, sdk).unwrap();
    storage.prepare(&Watch::new()).unwrap();
    let key = Key::new("ada", "s").unwrap();
    rule.enable();
    let since = Instant::now();
    let error = storage.create(&key, &said(&key, 1), &Watch::new()).unwrap_err();
    println!("measured: {} requests in {:?}: {error}", rule.hit_count(), since.elapsed());
    assert!(since.elapsed() < Duration::from_secs(10));
    assert!(rule.hit_count() <= 20, "{}", rule.hit_count());
}

/// R36: no retry starts before the delay that the service requested.
#[test]
fn r36_honors_retry_after() {
    let response = CustomResponseBuilder::new(azure_core::http::StatusCode::TooManyRequests)
        .with_header("x-ms-retry-after-ms", "300")
        .build();
    let rule = rule_with_result(
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
fn reads_the_line_layout_in_process() {
    let emulator = emulator();
    emulator.store().create_database("amplifier-db");
    emulator.store().create_container("amplifier-db", "other", "/partition_key".into());
    seed(&emulator);
    let mut options = options(ENDPOINT);
    "other".clone_into(&mut options.container);
    options.page = 2;
    let sdk = CosmosRuntimeBuilder::from(emulator.runtime_builder());
    container::reads_the_line_layout(&CosmosBlockStorage::with_sdk(options, sdk).unwrap());
}

/// Creates the documents of the line layout in the emulator.
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
        for document in container::line_documents() {
            let (id, partition) =
                (document["id"].as_str().unwrap(), document["partition_key"].as_str().unwrap().to_owned());
            container.create_item(partition, id, &document, None).await.unwrap();
        }
    });
}

/// The number of cases without and with `TROMMEL_DEEP`.
const CASES: [u64; 2] = [2, 60];

/// R35: three machines run random operations on two sessions, some at the same time, with network
/// partitions, faults, and late responses.
#[test]
fn r35_random_concurrent_machines() {
    let is_deep = std::env::var_os("TROMMEL_DEEP").is_some();
    world::run(CASES[usize::from(is_deep)], 40, &|| Arc::new(storage(&emulator(), Vec::new())));
}

/// R36: a session is pushed and pulled despite faults. A third machine without a copy can query it.
#[test]
fn r36_syncs_sessions_despite_faults() {
    let emulator = emulator();
    let large = "\u{e9}\"".repeat(400_000);
    let events = format!(
        "{{\"ts\":\"2026-03-01T09:00:00Z\",\"event\":\"llm:request\",\"data\":{{\"model\":\"m\",\"messages\":{}}}}}\n{{\"event\":\"tool:pre\",\"data\":{{\"tool_name\":\"grep\",\"tool_input\":{{\"pattern\":\"x\"}}}}}}\n",
        serde_json::Value::from(large.as_str())
    );
    for error in TRANSIENT {
        let rules = [On::CreateItem, On::BatchItem, On::QueryItem].map(|on| rule(on, error, Some(3)));
        let session = format!("s-{error:?}");
        // The in-process emulator has no port that a connection test could reach.
        let shared = Net::over(Arc::new(storage(&emulator, rules.to_vec())));
        let (one, two) = (Machine::new("one", &shared), Machine::new("two", &shared));
        one.write(&session, "metadata.json", "{\"name\": \"travels\"}");
        one.write(&session, "events.jsonl", &events);
        let lines = (0..40).map(|n| format!("{{\"role\":\"user\",\"content\":\"question {n}\"}}\n"));
        one.write(&session, "transcript.jsonl", lines.collect::<Vec<_>>().concat());
        for rule in &rules {
            rule.enable();
        }
        one.sync(&session);
        // A single block is created without a batch.
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
    assert_eq!((listed.total, listed.connected), (TRANSIENT.len() as u64, true), "{:?}", view.problems);
    assert!(
        listed
            .sessions
            .iter()
            .all(|row| row.source == Source::Cloud && row.name.as_deref() == Some("travels"))
    );
    let query = SearchQuery::new("question 39");
    let view = third.hybrid.searchable(&query, &Watch::new()).unwrap();
    assert_eq!(view.sessions.search(&query, &Watch::new()).unwrap().total_count, TRANSIENT.len() as u64);
    let (_, session) = third.hybrid.find("s-Timeout", &Watch::new()).unwrap();
    let mut query = EventQuery::default();
    query.fields = vec!["data.tool_input.pattern".to_owned()];
    let page = third.hybrid.get_events(&session, &query, &Watch::new()).unwrap();
    assert_eq!(page.events[1].fields.get(&["data", "tool_input", "pattern"]), Some("\"x\""));
}
