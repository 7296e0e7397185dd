//! `trommel report`: the page of any input, and what changed between two.

use std::fs;

use serde_json::{Value, json};

use crate::common::{Folder, Home, Run, gzip, piped, run};

/// The data in a script element of a page.
fn data(page: &str, id: &str) -> Value {
    let start = format!("<script type=\"application/json\" id=\"{id}\">");
    let (_, rest) = page.split_once(&start).unwrap();
    serde_json::from_str(rest.split_once("</script>").unwrap().0).unwrap()
}

/// A document with many rows.
fn rows(count: usize) -> (String, String) {
    let row = |n: usize| {
        format!(
            r#"{{"id":{n},"name":"n{}","at":"2026-11-{:02}T10:00:00Z","tags":["a","b{}"],"x":{}.5}}"#,
            n % 50,
            n % 28 + 1,
            n % 3,
            n * 7 % 1000
        )
    };
    let rows: Vec<String> = (0..count).map(row).collect();
    let document =
        format!("{{\"meta\":{{\"page\":1}},\n \"rows\":[{}], \"short\":[1,2,3]}}", rows.join(",\n  "));
    (document, rows.join("\n") + "\n")
}

/// The JSON of a page equals the answer of `stats`.
#[test]
fn pages_have_the_statistics_of_stats() {
    let folder = Folder::new("report-stats");
    let (document, lines) = rows(500);
    for (name, text) in [("rows.json", &document), ("rows.jsonl", &lines)] {
        let file = folder.file(name, text);
        let page = run(["report", &file]).ok();
        let options = ["--schema", "--fields", "--bytes", "--values", "--histograms", "--json"];
        let mut expected = run(["stats", &file].into_iter().chain(options)).json();
        expected.as_object_mut().unwrap().remove("id");
        assert_eq!(data(&page, "stats"), expected);
        let packed = folder.file(&format!("{name}.gz"), gzip(text.as_bytes()));
        for other in [run(["report", &packed]).ok(), piped(["report", "-"], text.as_bytes()).ok()] {
            assert_eq!(data(&other, "stats"), expected);
        }
        let commands = page.matches("trommel extract").count();
        assert!(commands > 5 && page.contains(&format!("trommel extract {file} ")), "{commands}");
        assert!(!piped(["report", "-"], text.as_bytes()).ok().contains("trommel extract"));
    }
}

/// The values of one path.
fn values<'a>(stats: &'a Value, path: &str) -> &'a Value {
    let mut rows = stats["values"].as_array().unwrap().iter();
    rows.find(|row| row["path"] == path).unwrap_or_else(|| panic!("{path}"))
}

/// The figures of a sample are those of its rows; everything else is exact.
#[test]
fn values_of_long_arrays_are_sampled() {
    let folder = Folder::new("report-sample");
    let (document, lines) = rows(3_000);
    for (name, text, path) in [("rows.json", &document, "$.rows[*]"), ("rows.jsonl", &lines, "$")] {
        let file = folder.file(name, text);
        let sampled = |threads: &str, seed: &str| {
            let page = run(["report", &file, "--sample", "100", "--seed", seed, "-j", threads]).ok();
            (data(&page, "stats"), data(&page, "page"), page)
        };
        let (stats, page, html) = sampled("1", "7");
        assert_eq!(sampled("2", "7").0, stats, "threads change nothing");
        assert_ne!(sampled("1", "8").0["values"], stats["values"], "the seed does");
        let sample = &page["sampled"].as_array().unwrap()[0];
        let count = sample["rows"].as_u64().unwrap();
        assert!((50..200).contains(&count), "{count}");
        assert_eq!(page["sampled"], json!([{"path": path, "rows": count, "total": 3000, "seed": 7}]));
        assert!(html.contains(&format!("{count} of 3,000 rows, drawn at random with seed 7")));
        let exact = data(&run(["report", &file, "--exact"]).ok(), "stats");
        for member in ["bytes", "fields", "types", "structure", "schema"] {
            assert_eq!(stats[member], exact[member], "{member}");
        }
        let id = values(&stats, &format!("{path}.id"));
        assert_eq!((&id["count"], &id["distinct"]["approximate"]), (&json!(count), &json!(true)));
        assert!(id["distinct"]["count"] == count && id["numbers"]["max"].as_u64() > Some(2000));
        assert_eq!(values(&exact, &format!("{path}.id"))["distinct"], json!({"count": 3000}));
        if name == "rows.json" {
            for path in ["$.meta.page", "$.short[*]"] {
                assert_eq!(values(&stats, path), values(&exact, path), "short arrays are read in full");
            }
        }
        // The records shown are those at their offsets.
        assert_eq!(html.matches("</code> at byte ").count(), 10);
        let (_, shown) = html.split_once("</code> at byte ").unwrap();
        let at: usize = shown.split(", ").next().unwrap().replace(',', "").parse().unwrap();
        let id = text[at..].split("\"id\":").nth(1).unwrap().split(',').next().unwrap();
        assert!(shown.contains(&format!("&quot;id&quot;: {id},")), "{at}");
        assert!(!run(["report", &file, "--no-samples"]).ok().contains("</code> at byte "));
    }
}

/// If the rows at the start are not like the others, rows are drawn again.
#[test]
fn samples_of_uneven_rows_have_their_size() {
    let folder = Folder::new("report-uneven");
    let small = (0..300_000).map(|n| format!("{{\"id\":{n},\"s\":1}}\n")).collect::<Vec<_>>().concat();
    let text = "x".repeat(100_000);
    let large =
        (0..200).map(|n| format!("{{\"id\":{n},\"text\":\"{text}\"}}\n")).collect::<Vec<_>>().concat();
    let document = |lines: &str| format!("{{\"log\":[{}]}}", lines.trim_end().replace('\n', ","));
    for (name, text, path) in [
        ("uneven.jsonl", small.clone() + &large, "$"),
        ("uneven.json", document(&(small.clone() + &large)), "$.log[*]"),
    ] {
        let file = folder.file(name, &text);
        let page = run(["report", &file, "--sample", "1000"]).ok();
        let sample = &data(&page, "page")["sampled"][0];
        assert_eq!(
            (&sample["path"], &sample["rows"], &sample["total"]),
            (&json!(path), &json!(1000), &json!(300_200))
        );
        let id = values(&data(&page, "stats"), &format!("{path}.id"))["count"].clone();
        assert_eq!(id, 1000);
        // Compressed, the share of the sample is a guess, and offsets are not those of the file.
        let packed = folder.file(&format!("{name}.gz"), gzip(text.as_bytes()));
        let page = run(["report", &packed, "--sample", "1000"]).ok();
        let rows = data(&page, "page")["sampled"][0]["rows"].as_u64().unwrap();
        assert!(rows >= 500, "{rows}");
        assert_eq!(page.matches("<details><summary><code>").count(), 10);
    }
}

#[test]
fn broken_inputs_have_pages_that_say_so() {
    let folder = Folder::new("report-broken");
    let (document, lines) = rows(200);
    let file = folder.file("broken.json", &document[..document.len() / 2]);
    let page = folder.path("page.html");
    let failed = run(["report", &file, "--to", page.to_str().unwrap()]).failed(1);
    assert!(failed.contains("the input ends inside"), "{failed}");
    let html = fs::read_to_string(&page).unwrap();
    assert!(html.contains("the input is broken at byte") && html.contains("$.rows[*].name"));
    // The data before is a document of its own.
    let stats = data(&html, "stats");
    let rows =
        stats["arrays"].as_array().unwrap().iter().find(|row| row["path"] == "$.rows").unwrap().clone();
    assert!(rows["length"].as_u64() > Some(90), "{rows}");
    let damaged = lines.replacen("\"id\":7,", "\"id\":,", 1);
    let file = folder.file("damaged.jsonl", damaged + "{\"id\"");
    let run = run(["report", &file]);
    assert_eq!(run.status, Some(0));
    assert_eq!(data(&run.out, "stats")["records"], 200 - 1);
    assert!(run.out.contains("record 7 was skipped, because it is malformed at byte"));
    assert!(run.out.contains("2 malformed records were skipped"));
}

#[test]
fn unusual_inputs_have_pages() {
    let folder = Folder::new("report-unusual");
    let deep = "[".repeat(10_000) + &"]".repeat(10_000);
    let long = format!("\"{}\"", "long ".repeat(1 << 20));
    let names = (0..20_000).map(|n| format!("\"name{n}\":{n}")).collect::<Vec<_>>().join(",");
    let path = format!("{{\"{}\":1}}", "x".repeat(100_000));
    let numbers = format!("[{}]", vec!["1.5"; 100_000].join(","));
    let texts = ["42", "null", "[]", "{}", &long, &format!("{{{names}}}"), &path, &numbers];
    for (number, text) in texts.into_iter().enumerate() {
        let file = folder.file(&format!("{number}.json"), text);
        let page = run(["report", &file]).ok();
        let stats = data(&page, "stats");
        assert_eq!(stats["size"]["bytes"], text.len(), "{number}");
        assert!(page.len() < 2_500_000, "{number}: {}", page.len());
        let options = ["--schema", "--fields", "--bytes", "--values", "--histograms", "--json"];
        let expected = run(["stats", &file].into_iter().chain(options)).json();
        assert_eq!(stats["structure"], expected["structure"]);
    }
    // Nested deeper than the parser of this test can read.
    let file = folder.file("deep.json", &deep);
    assert!(run(["report", &file]).ok().contains("10,000 levels"));
    let empty = folder.file("empty.json", "");
    assert!(run(["report", &empty]).failed(1).contains("the input is empty"));
    let empty = folder.file("empty.jsonl", "");
    assert_eq!(data(&run(["report", &empty]).ok(), "stats")["size"]["bytes"], 0);
    let missing = run(["report", "missing.json", "--to", folder.path("x.html").to_str().unwrap()]);
    assert!(missing.failed(1).contains("cannot open missing.json"));
    assert!(!folder.path("x.html").exists());
}

/// Rows that are read again are copied, unless they are large.
#[test]
fn large_rows_are_not_copied() {
    let folder = Folder::new("report-large");
    let file = folder.file("large.json", format!("[1,\"{}\",2.5]", "x".repeat(17 << 20)));
    // Of standard input, no sample is drawn in the first pass.
    let redirected = format!("exec {} report - --sample 3 < {file}", env!("CARGO_BIN_EXE_trommel"));
    let output = std::process::Command::new("sh").args(["-c", &redirected]).output().unwrap();
    let stats = data(&Run::of(output).ok(), "stats");
    assert_eq!(values(&stats, "$[*]")["count"], 3);
    assert_eq!(values(&stats, "$[*]")["numbers"]["sum"], 3.5);
}

#[test]
fn files_appear_when_they_are_complete() {
    let folder = Folder::new("report-files");
    let file = folder.file("data.json", r#"{"a":1}"#);
    let target = folder.path("nothing/page.html");
    let failed = run(["report", &file, "--to", target.to_str().unwrap()]).failed(1);
    assert!(
        failed.contains("error[output]: cannot write ") && failed.contains("nothing was written"),
        "{failed}"
    );
    let page = folder.file("page.html", "before");
    assert_eq!(run(["report", &file, "--to", &page, "--title", "Mine & <yours>"]).ok(), "");
    let html = fs::read_to_string(&page).unwrap();
    assert!(html.contains("<h1>Mine &amp; &lt;yours&gt;</h1>"));
    // Without space, the page before stays, and nothing else remains.
    let before = fs::read_to_string(&page).unwrap();
    let program = env!("CARGO_BIN_EXE_trommel");
    let limited = format!("trap '' XFSZ; ulimit -f 8; exec {program} report {file} --to {page}");
    let output = std::process::Command::new("sh").args(["-c", &limited]).output().unwrap();
    let failed = Run::of(output).failed(1);
    assert!(failed.contains("error[output]: cannot write ") && failed.contains("File too large"), "{failed}");
    assert_eq!(fs::read_to_string(&page).unwrap(), before);
    let names: Vec<String> = folder
        .entries()
        .iter()
        .map(|path| path.file_name().unwrap().to_string_lossy().into_owned())
        .collect();
    assert_eq!(names.len(), 2, "{names:?}");
}

#[test]
fn several_inputs_are_one_sequence() {
    let folder = Folder::new("report-several");
    let files = [folder.file("a.jsonl", "{\"a\":1}\n{\"a\":2}\n"), folder.file("b.json", "{\"a\":3}")];
    let page = run(["report", &files[0], &files[1]]).ok();
    let stats = data(&page, "stats");
    assert_eq!((&stats["records"], &stats["values"][0]["count"]), (&json!(3), &json!(3)));
    assert!(page.contains("a.jsonl") && page.contains("b.json"));
}

#[test]
fn comparisons_take_two_files() {
    let folder = Folder::new("report-compare");
    let before = folder.file("before.json", r#"{"orders":[{"id":1,"total":5}],"next":null}"#);
    let after = folder.file("after.json", r#"{"orders":[{"id":"1","total":500}],"page":2}"#);
    let page = run(["report", "--compare", &before, &after]).ok();
    for (heading, path) in [
        ("appeared", "$.page"),
        ("vanished", "$.next"),
        ("Types that changed", "$.orders[*].id"),
        ("Figures", "$.orders[*].total"),
    ] {
        let (_, section) = page.split_once(heading).unwrap();
        assert!(section.split_once("</section>").unwrap().0.contains(path), "{heading}");
    }
    // Figures of samples say so, and figures that begin at 0 have no relative change.
    let rows = |from: u32| {
        (0..2_000).map(|row| format!("{{\"zero\":{from},\"n\":{row}}}\n")).collect::<Vec<_>>().concat()
    };
    let (before, after) =
        (folder.file("before.jsonl", rows(0)), folder.file("after.jsonl", rows(5) + "{}\n"));
    let page = run(["report", "--compare", &before, &after, "--sample", "100", "--seed", "3"]).ok();
    assert!(page.contains("2,000 → 2,001") && page.contains("from 0"), "{page}");
    for side in ["before", "after"] {
        let note = format!("{side}: the figures of values in $ are those of ");
        assert!(page.contains(&note) && page.contains("drawn with seed 3"), "{page}");
    }
    let one = run(["report", "--compare", &before]);
    assert!(one.failed(2).contains("--compare takes two files"));
}

#[test]
fn stored_outputs_and_secrets() {
    let home = Home::new("report-home");
    home.put("o-1", r#"{"users":[{"name":"ada","password":"correct horse"}]}"#);
    let page = home.run(["report", "output:o-1"]).ok();
    assert!(page.contains("trommel extract output:o-1") && !page.contains("correct horse"));
    assert!(page.contains("[redacted]"));
    assert!(home.run(["report", "output:o-1", "--no-redact"]).ok().contains("correct horse"));
}

#[test]
fn links_are_followed_and_devices_are_not_replaced() {
    let folder = Folder::new("report-links");
    let file = folder.file("data.json", r#"{"a":1}"#);
    let link = |name: &str, to: &str| {
        let link = folder.path(name);
        std::os::unix::fs::symlink(to, &link).unwrap();
        link.to_str().unwrap().to_owned()
    };
    let page = folder.file("page.html", "before");
    let latest = link("latest.html", &page);
    assert_eq!(run(["report", &file, "--to", &latest]).ok(), "");
    assert!(fs::read_to_string(&page).unwrap().contains("<h1>"));
    // Links, so that a program that replaces its target leaves the devices of this machine alone.
    let (out, full) = (link("out", "/dev/stdout"), link("full", "/dev/full"));
    assert!(run(["report", &file, "--to", &out]).ok().contains("<h1>"));
    let failed = run(["report", &file, "--to", &full]).failed(1);
    assert!(failed.contains("error[output]: cannot write "), "{failed}");
    let failed = run(["report", &file, "--to", folder.path("").to_str().unwrap()]).failed(1);
    assert!(failed.contains("pass the name of a file"), "{failed}");
    // A relative link to a link to a file that does not exist yet.
    let (first, next) = (link("first.html", "new.html"), link("next.html", "first.html"));
    assert_eq!(run(["report", &file, "--to", &next]).ok(), "");
    assert!(fs::read_to_string(folder.path("new.html")).unwrap().contains("<h1>"));
    let (around, turn) = (link("turn.html", "around.html"), link("around.html", "turn.html"));
    let failed = run(["report", &file, "--to", &turn]).failed(1);
    assert!(failed.contains("error[output]: cannot write ") && failed.contains("symbolic links"), "{failed}");
    assert!(
        [latest, out, full, first, next, around, turn]
            .iter()
            .all(|link| fs::symlink_metadata(link).unwrap().is_symlink())
    );
}

#[test]
fn limits_of_pages() {
    let folder = Folder::new("report-limit");
    let names = (0..400).map(|n| format!("\"name{n}\":{}", ["1", "\"a\"", "[true]", "{}"][n % 4]));
    let file = folder.file("wide.json", format!("{{{}}}", names.collect::<Vec<_>>().join(",")));
    let whole = run(["report", &file]).ok();
    let page = run(["report", &file, "--max-size", "200KB"]).ok();
    assert!(page.len() <= 200_000 && whole.len() > 200_000, "{} {}", page.len(), whole.len());
    assert!(page.contains("largest are shown"));
    assert!(data(&page, "page")["paths"].as_u64() > Some(400));
    let names = (0..400).map(|n| format!("\"name{n}\":{}", ["\"a\"", "{}", "1", "null"][n % 4]));
    let other = folder.file("other.json", format!("{{{}}}", names.collect::<Vec<_>>().join(",")));
    let compare = |size: &str| run(["report", "--compare", &file, &other, "--max-size", size]);
    let (whole, page) = (compare("2MB").ok(), compare("60KB").ok());
    assert!(page.len() <= 60_000 && whole.len() > 60_000, "{} {}", page.len(), whole.len());
    assert!(page.contains("longer tables end after row ") && page.contains("more rows are not shown"));
    for arguments in [vec!["report", &file], vec!["report", "--compare", &file, &other]] {
        let failed = run(arguments.into_iter().chain(["--max-size", "1KB"])).failed(2);
        assert!(failed.contains("the smallest page has ") && failed.contains("--max-size"), "{failed}");
    }
}
