//! Everyday jobs of people who work with data, each with the answer of an independent computation,
//! and where it prints the same lines, that of jq.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::process::Command;

use serde_json::{Value, json};
use trommel_testkit::generate::Random;

use crate::common::{Folder, Run, gzip, zstd};

/// The files of the jobs, and what is in them.
struct Jobs {
    folder: Folder,
    trail: Vec<Value>,
    tweets: Vec<Value>,
    lock: Value,
    api: Value,
    har: Vec<Value>,
    parks: Vec<Value>,
    has_jq: bool,
}

fn trail(random: &mut Random) -> Vec<Value> {
    let names = ["GetObject", "PutObject", "AssumeRole", "ListBuckets"];
    let event = |n: u64, random: &mut Random| {
        let mut event = json!({
            "eventID": format!("{n:08x}"), "eventName": random.pick(&names), "bytes": random.below(100_000),
            "awsRegion": random.pick(&["eu-west-1", "us-east-1"]),
            "userIdentity": {"type": "IAMUser", "name": format!("user \"{}\"", random.below(9))}
        });
        if random.chance(20) {
            event["errorCode"] = json!(random.pick(&["AccessDenied", "NoSuchKey"]));
        }
        event
    };
    (0..400).map(|n| event(n, random)).collect()
}

fn tweets(random: &mut Random) -> Vec<Value> {
    let texts = ["RT 日本", "hello", "a \"quoted\" text", "tab\tand\nline"];
    let tweet = |n: u64, random: &mut Random| {
        json!({
            "id": 505_874_924_095_815_681_u64 + n, "text": random.pick(&texts), "lang": random.pick(&["ja", "en"]),
            "user": {"screen_name": format!("u{}", n % 7), "followers": random.below(5_000)}
        })
    };
    (0..60).map(|n| tweet(n, random)).collect()
}

fn lock(random: &mut Random) -> Value {
    let package = |n: u64, random: &mut Random| {
        let license = random.pick(&["MIT", "MIT", "ISC", "Apache-2.0"]);
        (format!("node_modules/p{n}"), json!({"version": format!("1.{n}.0"), "license": license}))
    };
    let packages: serde_json::Map<String, Value> = (0..150).map(|n| package(n, random)).collect();
    json!({"name": "app", "packages": packages})
}

fn api(random: &mut Random) -> Value {
    let operation = |n: u64, random: &mut Random| {
        let mut operation = json!({"operationId": format!("op{n}"), "tags": ["t"]});
        if random.chance(15) {
            operation["deprecated"] = json!(true);
        }
        (format!("/v1/r{n}"), json!({ "get": operation }))
    };
    let paths: serde_json::Map<String, Value> = (0..120).map(|n| operation(n, random)).collect();
    json!({"openapi": "3.1.0", "paths": paths})
}

fn har(random: &mut Random) -> Vec<Value> {
    let entry = |n: u64, random: &mut Random| {
        let status = [200, 200, 304, 500][random.below(4)];
        json!({
            "time": random.below(3_000), "request": {"method": "GET", "url": format!("https://example.org/{n}")},
            "response": {"status": status, "content": {"size": random.below(9_000)}}
        })
    };
    (0..90).map(|n| entry(n, random)).collect()
}

fn parks(random: &mut Random) -> Vec<Value> {
    let park = |n: u64, random: &mut Random| {
        let (east, north) = (random.below(20) as f64 - 10.0, random.below(20) as f64 + 40.5);
        json!({
            "type": "Feature", "properties": {"name": format!("park {n}"), "area": random.below(900)},
            "geometry": {"type": "Point", "coordinates": [east, north]}
        })
    };
    (0..80).map(|n| park(n, random)).collect()
}

fn lines(values: &[Value]) -> String {
    values.iter().map(|value| format!("{value}\n")).collect::<Vec<_>>().concat()
}

#[expect(clippy::print_stderr, reason = "a comparison that is skipped says so")]
fn jobs(test: &str) -> Jobs {
    let mut random = Random::new(25);
    let folder = Folder::new(&format!("jobs-{test}"));
    let (trail, tweets) = (trail(&mut random), tweets(&mut random));
    let (lock, api) = (lock(&mut random), api(&mut random));
    let (har, parks) = (har(&mut random), parks(&mut random));
    folder.file("trail.jsonl", lines(&trail));
    folder.file("trail.json", json!({ "Records": trail }).to_string());
    folder.file("twitter.json", json!({"statuses": tweets, "search_metadata": {"count": 60}}).to_string());
    folder.file("package-lock.json", lock.to_string());
    folder.file("api.json", api.to_string());
    folder.file("page.har", json!({"log": {"version": "1.2", "entries": har}}).to_string());
    folder.file("parks.json", json!({"type": "FeatureCollection", "features": parks}).to_string());
    let has_jq = Command::new("jq").arg("--version").output().is_ok();
    if !has_jq {
        eprintln!("NOT COMPARED: jq is not installed");
    }
    Jobs { folder, trail, tweets, lock, api, har, parks, has_jq }
}

impl Jobs {
    /// Runs a line of a shell.
    fn shell(&self, line: &str) -> Run {
        let binary = Path::new(env!("CARGO_BIN_EXE_trommel")).parent().unwrap();
        let mut command = Command::new("sh");
        command.args(["-c", &format!("PATH=$0:$PATH; {line}")]).arg(binary).current_dir(self.folder.path(""));
        command.env_remove("NO_COLOR").env("TERM", "dumb").env("LC_ALL", "C.UTF-8");
        Run::of(command.output().unwrap())
    }

    /// Runs a line, and compares its output with that of jq.
    #[track_caller]
    fn as_jq(&self, line: &str, jq: &str) -> String {
        let found = self.shell(line).ok();
        if self.has_jq {
            assert_eq!(found, self.shell(jq).ok(), "{line} | {jq}");
        }
        found
    }

    #[track_caller]
    fn json(&self, line: &str) -> Value {
        serde_json::from_str(&self.shell(line).ok()).unwrap()
    }
}

fn number(value: &Value) -> u64 {
    value.as_u64().unwrap()
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap()
}

/// Returns lines of JSON.
fn printed<'a>(values: impl Iterator<Item = &'a Value>) -> String {
    values.map(|value| format!("{value}\n")).collect::<Vec<_>>().concat()
}

#[test]
fn job_01_what_is_in_a_log() {
    let jobs = jobs("01");
    let answer = jobs.json("trommel stats trail.jsonl --fields");
    let fields: BTreeMap<_, _> =
        answer["fields"].as_array().unwrap().iter().map(|row| (text(&row["path"]), row)).collect();
    let missing = jobs.trail.iter().filter(|event| event.get("errorCode").is_none()).count();
    assert_eq!(fields["$.errorCode"]["missing"], missing);
    assert_eq!(fields["$.userIdentity.name"]["types"], json!({"string": 400}));
}

#[test]
fn job_02_keys_of_one_object() {
    let jobs = jobs("02");
    let found = jobs.shell("trommel extract twitter.json '$.statuses[0]' -o keys -r").ok();
    let keys: Vec<&str> = found.lines().collect();
    assert_eq!(keys, jobs.tweets[0].as_object().unwrap().keys().collect::<Vec<_>>());
    if jobs.has_jq {
        assert_eq!(jobs.shell("jq -r '.statuses[0] | keys_unsorted[]' twitter.json").ok(), found);
    }
}

#[test]
fn job_03_raw_strings() {
    let jobs = jobs("03");
    jobs.as_jq(
        "trommel extract twitter.json '$.statuses[*].text' -r",
        "jq -r '.statuses[].text' twitter.json",
    );
    let names =
        jobs.shell("trommel extract trail.jsonl '$.userIdentity.name' -r -0 | tr '\\n\\0' '?\\n'").ok();
    let expected = jobs.trail.iter().map(|event| format!("{}\n", text(&event["userIdentity"]["name"])));
    assert_eq!(names, expected.collect::<Vec<_>>().concat());
}

#[test]
fn job_04_count_by_group() {
    let jobs = jobs("04");
    let answer = jobs.json("trommel group trail.jsonl '$.eventName'");
    let mut expected: BTreeMap<&str, u64> = BTreeMap::new();
    jobs.trail.iter().for_each(|event| *expected.entry(text(&event["eventName"])).or_default() += 1);
    let groups = answer["groups"].as_array().unwrap();
    let found: BTreeMap<&str, u64> =
        groups.iter().map(|group| (text(&group["key"]["eventName"]), number(&group["count"]))).collect();
    assert_eq!((&found, number(&answer["total"])), (&expected, 400));
    assert!(groups.is_sorted_by(|one, next| number(&one["count"]) >= number(&next["count"])), "{answer}");
}

#[test]
fn job_05_sums_and_means_by_group() {
    let jobs = jobs("05");
    let answer =
        jobs.json("trommel group trail.jsonl '$.awsRegion' --sum '$.bytes' --mean '$.bytes' --max '$.bytes'");
    for group in answer["groups"].as_array().unwrap() {
        let region = &group["key"]["awsRegion"];
        let bytes = jobs
            .trail
            .iter()
            .filter(|event| event["awsRegion"] == *region)
            .map(|event| number(&event["bytes"]));
        let (sum, count) = (bytes.clone().sum::<u64>(), bytes.clone().count());
        assert_eq!((&group["sum"]["bytes"], &group["max"]["bytes"]), (&json!(sum), &json!(bytes.max())));
        let mean = group["mean"]["bytes"].as_f64().unwrap();
        assert!((mean - sum as f64 / count as f64).abs() < 1e-6, "{group}");
    }
}

#[test]
fn job_06_filter_records() {
    let jobs = jobs("06");
    let found = jobs.as_jq(
        "trommel extract trail.jsonl --where '@.errorCode == \"AccessDenied\" && @.bytes > 50000'",
        "jq -c 'select(.errorCode == \"AccessDenied\" and .bytes > 50000)' trail.jsonl",
    );
    let kept = jobs
        .trail
        .iter()
        .filter(|event| event["errorCode"] == "AccessDenied" && number(&event["bytes"]) > 50_000);
    assert_eq!(found, printed(kept));
}

#[test]
fn job_07_count_records_that_match() {
    let jobs = jobs("07");
    let answer = jobs.json("trommel count trail.jsonl denied='$' --where '@.errorCode == \"AccessDenied\"'");
    let expected = jobs.trail.iter().filter(|event| event["errorCode"] == "AccessDenied").count();
    assert_eq!(answer["counts"]["denied"], expected);
}

#[test]
fn job_08_filter_elements_of_a_document() {
    let jobs = jobs("08");
    jobs.as_jq(
        "trommel extract trail.json '$.Records[?@.errorCode == \"NoSuchKey\"].eventID'",
        "jq '.Records[] | select(.errorCode == \"NoSuchKey\") | .eventID' trail.json",
    );
}

#[test]
fn job_09_reproducible_stratified_sample() {
    let jobs = jobs("09");
    let line =
        "trommel sample trail.jsonl -n 100 --seed 7 --strategy stratified --strata-path '$.eventName' --json";
    let answer = jobs.json(line);
    assert_eq!(answer, jobs.json(line));
    let items = answer["sample"].as_array().unwrap();
    for stratum in answer["strata"].as_array().unwrap() {
        let name = &stratum["value"];
        let total = jobs.trail.iter().filter(|event| event["eventName"] == *name).count();
        let sampled = items.iter().filter(|event| event["eventName"] == *name).count();
        assert_eq!((&stratum["total"], &stratum["sampled"]), (&json!(total), &json!(sampled)));
        assert!((sampled as f64 - total as f64 / 4.0).abs() <= 1.0, "{stratum}");
    }
    assert!(items.len() == 100 && items.iter().all(|item| jobs.trail.contains(item)));
}

#[test]
fn job_10_sample_of_a_field() {
    let jobs = jobs("10");
    let found = jobs.shell("trommel sample trail.json '$.Records[*].eventName' -n 30 --seed 1").ok();
    let names: BTreeSet<&str> = jobs.trail.iter().map(|event| text(&event["eventName"])).collect();
    assert_eq!(found.lines().count(), 30);
    assert!(found.lines().all(|line| names.contains(line.trim_matches('"'))), "{found}");
}

#[test]
fn job_11_schema_with_folded_maps() {
    let jobs = jobs("11");
    let text = jobs.shell("trommel schema package-lock.json").ok();
    let schema: Value = serde_json::from_str(&text).unwrap();
    assert!(text.len() < 2_000, "{text}");
    assert!(schema["properties"]["packages"]["additionalProperties"]["properties"]["license"].is_object());
    let schema = jsonschema(&jobs.json("trommel schema trail.jsonl"));
    assert!(jobs.trail.iter().all(|event| schema.is_valid(event)));
}

fn jsonschema(schema: &Value) -> jsonschema::Validator {
    jsonschema::validator_for(schema).unwrap()
}

#[test]
fn job_12_check_many_files() {
    let jobs = jobs("12");
    jobs.folder.file("bad.json", "{\"a\": [1, 2,]}");
    let run = jobs.shell("trommel check *.json *.jsonl *.har");
    assert_eq!((run.status, run.out.as_str()), (Some(1), ""));
    assert!(run.err.contains("bad.json") && !run.err.contains("twitter.json"), "{}", run.err);
}

#[test]
fn job_13_broken_line_of_a_log() {
    let jobs = jobs("13");
    let broken = lines(&jobs.trail).replacen("\"eventID\":\"00000007\"", "\"eventID\":\"0000", 1);
    jobs.folder.file("broken.jsonl", broken);
    let run = jobs.shell("trommel check broken.jsonl --on-bad-record skip --json");
    let damage: Value = serde_json::from_str(&run.out).unwrap();
    assert_eq!((run.status, &damage["record"], &damage["line"]), (Some(1), &json!(7), &json!(8)));
    let run = jobs.shell("trommel count broken.jsonl '$' --on-bad-record skip");
    assert_eq!(serde_json::from_str::<Value>(&run.out).unwrap()["total"], 399);
    assert!(run.err.contains("record 7"), "{}", run.err);
}

#[test]
fn job_14_pipes_and_compressed_files() {
    let jobs = jobs("14");
    let plain = lines(&jobs.trail);
    jobs.folder.file("trail.jsonl.gz", gzip(plain.as_bytes()));
    let (first, rest) = plain.split_at(plain.len() / 2);
    jobs.folder.file("two.jsonl.gz", [gzip(first.as_bytes()), gzip(rest.as_bytes())].concat());
    jobs.folder.file("trail.jsonl.zst", zstd(plain.as_bytes()));
    jobs.folder.file("dos.jsonl", plain.replace('\n', "\r\n"));
    let expected = jobs.shell("trommel extract trail.jsonl '$.eventID'").ok();
    assert_eq!(expected.lines().count(), 400);
    for line in [
        "trommel extract trail.jsonl.gz '$.eventID'",
        "trommel extract two.jsonl.gz '$.eventID'",
        "trommel extract trail.jsonl.zst '$.eventID'",
        "trommel extract dos.jsonl '$.eventID'",
        "cat trail.jsonl | trommel extract '$.eventID'",
        "cat trail.jsonl.gz | trommel extract - '$.eventID'",
        "mkfifo pipe; cat trail.jsonl > pipe & trommel extract pipe '$.eventID'",
    ] {
        assert_eq!(jobs.shell(line).ok(), expected, "{line}");
    }
}

#[test]
fn job_15_many_files_at_once() {
    let jobs = jobs("15");
    let (first, rest) = jobs.trail.split_at(150);
    jobs.folder.file("a.jsonl", lines(first));
    jobs.folder.file("b.jsonl.gz", gzip(lines(rest).as_bytes()));
    let answer = jobs.json("trommel count a.jsonl b.jsonl.gz '$' --by-file");
    assert_eq!((&answer["total"]["total"], &answer["files"][0]["total"]), (&json!(400), &json!(150)));
    let found = jobs.shell("trommel extract a.jsonl b.jsonl.gz '$.eventID' -H -r").ok();
    let name = |n: usize| if n < 150 { "a.jsonl" } else { "b.jsonl.gz" };
    let expected =
        jobs.trail.iter().enumerate().map(|(n, event)| format!("{}\t{}\n", name(n), text(&event["eventID"])));
    assert_eq!(found, expected.collect::<Vec<_>>().concat());
}

#[test]
fn job_16_follow_a_growing_log() {
    let jobs = jobs("16");
    // The second line is written only after the first was printed.
    let line = "mkfifo in; (echo '{\"level\":\"a\"}'; while ! grep -q a out 2>/dev/null; do sleep 0.01; done; \
                echo '{\"level\":\"b\"}') > in & trommel extract '$.level' < in > out; cat out";
    assert_eq!(jobs.shell(line).ok(), "\"a\"\n\"b\"\n");
}

#[test]
fn job_17_columns() {
    let jobs = jobs("17");
    let found = jobs.shell("trommel extract trail.jsonl '$.eventName' '$.errorCode' -o tsv --no-header").ok();
    let cell = |value: Option<&Value>| value.map_or("", text).to_owned();
    let row = |event: &Value| format!("{}\t{}\n", cell(event.get("eventName")), cell(event.get("errorCode")));
    assert_eq!(found, jobs.trail.iter().map(row).collect::<Vec<_>>().concat());
    let csv = jobs
        .shell("trommel extract twitter.json --each '$.statuses[*]' '$.text' who='$.user.screen_name' -o csv")
        .ok();
    let mut reader = csv::Reader::from_reader(csv.as_bytes());
    assert_eq!(reader.headers().unwrap(), &csv::StringRecord::from(vec!["text", "who"]));
    let rows: Vec<_> = reader.records().map(|row| row.unwrap()).collect();
    for (row, tweet) in rows.iter().zip(&jobs.tweets) {
        assert_eq!((&row[0], &row[1]), (text(&tweet["text"]), text(&tweet["user"]["screen_name"])));
    }
    assert_eq!(rows.len(), jobs.tweets.len());
}

#[test]
fn job_18_elements_of_a_document_as_lines() {
    let jobs = jobs("18");
    let found = jobs.as_jq("trommel extract trail.json '$.Records[*]'", "jq -c '.Records[]' trail.json");
    assert_eq!(found, lines(&jobs.trail));
}

#[test]
fn job_19_find_a_value_anywhere() {
    let jobs = jobs("19");
    let found = jobs.shell("trommel extract api.json \"\\$..[?@ == 'op77']\" -o paths").ok();
    assert_eq!(found, "$['paths']['/v1/r77']['get']['operationId']\n");
    let answer = jobs.json("trommel search OP77 api.json -i");
    assert_eq!(answer["matches"][0]["path"], "$['paths']['/v1/r77']['get']['operationId']");
    let gron = jobs.shell("trommel extract api.json -o gron | grep '\"op77\"'").ok();
    assert_eq!(gron, "json.paths[\"/v1/r77\"].get.operationId = \"op77\";\n");
}

#[test]
fn job_20_deprecated_operations() {
    let jobs = jobs("20");
    let answer = jobs.json("trommel count api.json '$.paths.*[?@.deprecated == true]'");
    let operations = jobs.api["paths"].as_object().unwrap().values().map(|path| &path["get"]);
    assert_eq!(answer["total"], operations.filter(|operation| operation["deprecated"] == true).count());
    jobs.as_jq("trommel extract api.json '$..operationId'", "jq '.. | .operationId? // empty' api.json");
}

#[test]
fn job_21_licences() {
    let jobs = jobs("21");
    let answer = jobs.json("trommel group package-lock.json --each '$.packages.*' '$.license' --sort key");
    let mut expected: BTreeMap<&str, u64> = BTreeMap::new();
    let packages = jobs.lock["packages"].as_object().unwrap().values();
    packages.for_each(|package| *expected.entry(text(&package["license"])).or_default() += 1);
    let groups = answer["groups"].as_array().unwrap().iter();
    let found: Vec<_> =
        groups.map(|group| (text(&group["key"]["license"]), number(&group["count"]))).collect();
    assert_eq!(found, expected.into_iter().collect::<Vec<_>>());
}

#[test]
fn job_22_slow_and_failed_requests_and_their_bytes() {
    let jobs = jobs("22");
    jobs.as_jq(
        "trommel extract page.har '$.log.entries[?@.time > 2500 || @.response.status >= 500].request.url'",
        "jq '.log.entries[] | select(.time > 2500 or .response.status >= 500) | .request.url' page.har",
    );
    let answer = jobs.json("trommel stats page.har '$..request' '$..response'");
    let bytes = |name: &str| jobs.har.iter().map(|entry| entry[name].to_string().len()).sum::<usize>();
    let found = |at: usize| answer["by_path"][at]["size"]["bytes"].as_u64().unwrap();
    assert_eq!((found(0), found(1)), (bytes("request") as u64, bytes("response") as u64));
}

#[test]
fn job_23_filter_by_coordinate_and_figures() {
    let jobs = jobs("23");
    jobs.as_jq(
        "trommel extract parks.json '$.features[?@.geometry.coordinates[0] < 0].properties.name'",
        "jq '.features[] | select(.geometry.coordinates[0] < 0) | .properties.name' parks.json",
    );
    let answer = jobs.json("trommel stats parks.json '$.features[*].properties.area' --values");
    let areas = || jobs.parks.iter().map(|park| number(&park["properties"]["area"]));
    let figures = &answer["values"][0]["numbers"];
    assert_eq!(
        (&figures["min"], &figures["max"]),
        (&json!(areas().min()), &json!(areas().max())),
        "{answer}"
    );
    assert_eq!(figures["sum"], areas().sum::<u64>());
}

#[test]
fn job_24_distinct_values_and_the_largest() {
    let jobs = jobs("24");
    let found = jobs.shell("trommel extract trail.jsonl '$.awsRegion' -r | sort -u").ok();
    assert_eq!(found, "eu-west-1\nus-east-1\n");
    let found = jobs.shell("trommel extract trail.jsonl '$.bytes' | sort -rn | head -n 3").ok();
    let mut bytes: Vec<u64> = jobs.trail.iter().map(|event| number(&event["bytes"])).collect();
    bytes.sort_unstable();
    let largest = bytes.iter().rev().take(3).map(|bytes| format!("{bytes}\n"));
    assert_eq!(found, largest.collect::<Vec<_>>().concat());
}

#[test]
fn job_25_look_at_one_record() {
    let jobs = jobs("25");
    let found = jobs.as_jq("trommel extract trail.jsonl -n 1 --pretty", "head -n 1 trail.jsonl | jq .");
    assert_eq!(serde_json::from_str::<Value>(&found).unwrap(), jobs.trail[0]);
    let tenth = jobs.shell("trommel extract trail.jsonl --skip 9 -n 1").ok();
    assert_eq!(tenth, printed(jobs.trail[9..10].iter()));
    assert_eq!(jobs.json("trommel read trail.jsonl --record 9 --json")["content"], jobs.trail[9]);
}
