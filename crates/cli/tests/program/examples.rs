//! Every example in the help, the README, and the documents runs and prints something.

use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use jiff::{ToSpan, Zoned};
use serde_json::json;

use crate::common::{Home, Run, fed, gzip, run, zstd};
use crate::terminal::shown_with_status;

/// Examples with another status or output than "0, and something", and the reasons.
const EXCEPTIONS: &[(&str, i32, Output<'_>)] = &[
    // `check` fails when it reports malformed records.
    ("trommel check log.jsonl --on-bad-record skip", 1, Output::Something),
    ("trommel check log.jsonl --on-bad-record skip --json", 1, Output::Something),
    // These write a file, or set a variable of the shell.
    ("trommel schema log.jsonl.zst --max-depth 3 > log.schema.json", 0, Output::File("log.schema.json")),
    ("trommel extract log.jsonl '$.ts' '$.user.id' -o csv > log.csv", 0, Output::File("log.csv")),
    ("trommel tools --schema anthropic > tools.json", 0, Output::File("tools.json")),
    ("id=$(curl -s https://example.org/api | trommel put --tool web.fetch)", 0, Output::Nothing),
];

/// Examples that are not run as shown, and why.
const INSTEAD: &[(&str, &str)] = &[
    // There is no model server here; the document and its inputs are still checked.
    (
        "TROMMEL_MODEL_URL=http://127.0.0.1:8080/v1 TROMMEL_MODEL=small trommel run workflow.md",
        "TROMMEL_MODEL_URL=http://127.0.0.1:8080/v1 TROMMEL_MODEL=small trommel run workflow.md --dry-run",
    ),
    // A server over HTTP ends when it is stopped.
    ("trommel mcp --http 127.0.0.1:8080", "trommel mcp --http 127.0.0.1:0 2>&1 & sleep 1; kill $!; wait"),
];

/// A request to a server over standard input and output, which ends with its input.
const REQUEST: &str = concat!(
    r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","#,
    r#""capabilities":{},"clientInfo":{"name":"examples","version":"1"}}}"#,
);

/// Answers without content.
const EMPTY: &[&str] = &[
    "\"total\":0",
    "\"total_count\":0",
    "\"extracted\":[]",
    "\"sample\":[]",
    "\"outputs\":[]",
    "\"executions\":[]",
    "\"buffers\":[]",
    "\"hits\":[]",
    "\"matches\":[]",
    "\"sessions\":[]",
    "\"events\":[]",
    "\"turns\":[]",
];

/// The output of an example.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Output<'a> {
    Something,
    Nothing,
    File(&'a str),
}

/// Returns the names of the commands in a help text.
fn commands(help: &str) -> Vec<String> {
    const GROUPS: [&str; 5] = ["Query:", "Outputs:", "Agents:", "Shell:", "Commands:"];
    let mut in_group = false;
    let lines = help.lines().filter(|line| {
        in_group = GROUPS.contains(line) || in_group && !line.is_empty();
        in_group
    });
    let names = lines.filter_map(|line| line.strip_prefix("  ")?.split(' ').next());
    names.filter(|name| !name.is_empty() && *name != "help").map(str::to_owned).collect()
}

/// The help of the program, of each command, and of each operation, in short and long form.
fn helps() -> Vec<String> {
    let mut helps = Vec::new();
    let mut paths: Vec<Vec<String>> = vec![Vec::new()];
    while let Some(path) = paths.pop() {
        for form in ["-h", "--help"] {
            let args = path.iter().map(String::as_str).chain([form]);
            helps.push(run(args).ok());
        }
        let below = commands(helps.last().unwrap());
        paths.extend(below.into_iter().map(|name| path.iter().cloned().chain([name]).collect()));
    }
    helps
}

/// Returns the lines under `Examples:`.
fn examples(help: &str) -> Vec<String> {
    let lines = help.lines().skip_while(|line| *line != "Examples:").skip(1);
    lines.take_while(|line| !line.is_empty()).map(|line| line.trim().to_owned()).collect()
}

/// Returns the commands of the program in the fences of a document, except those whose output is
/// shown and compared elsewhere.
fn fenced(document: &str) -> Vec<String> {
    let mut language = None;
    let mut found = Vec::new();
    for line in document.lines() {
        match (line.strip_prefix("```"), language) {
            (Some(_), Some(_)) => language = None,
            (Some(name), None) => language = Some(name),
            (None, Some("sh")) if line.contains("trommel ") && !line.contains("cargo ") => {
                found.push(line.to_owned());
            }
            (None, _) => {}
        }
    }
    found
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap()
}

/// Copies a folder and replaces texts in its files and names.
fn copy(from: &Path, to: &Path, changes: &[(&str, &str)]) {
    fs::create_dir_all(to).unwrap();
    let apply = |text: &str| changes.iter().fold(text.to_owned(), |text, (old, new)| text.replace(old, new));
    for entry in fs::read_dir(from).unwrap() {
        let path = entry.unwrap().path();
        let to = to.join(apply(path.file_name().unwrap().to_str().unwrap()));
        if path.is_dir() {
            copy(&path, &to, changes);
        } else {
            fs::write(to, apply(&fs::read_to_string(&path).unwrap())).unwrap();
        }
    }
}

/// A folder with the files, stored outputs, buffers, and sessions that the examples name.
struct Scene {
    home: Home,
}

impl Scene {
    fn new() -> Self {
        let scene = Self { home: Home::new("examples") };
        scene.write_files();
        scene.write_sessions();
        scene
    }

    fn path(&self, name: &str) -> PathBuf {
        self.home.folder().path(name)
    }

    fn write_files(&self) {
        let folder = self.home.folder();
        let countries = ["CH", "DE", "FR"];
        let users: Vec<_> = (0..30)
            .map(|id| json!({"name": format!("user {id}"), "country": countries[id % 3], "tags": ["a", "b"]}))
            .collect();
        let orders: Vec<_> =
            (0..20).map(|id| json!({"id": id, "price": id * 10, "total": id * 11 + 1})).collect();
        let data = json!({"name": "shop", "users": users, "orders": orders}).to_string();
        let lines: Vec<String> = (0..60)
            .map(|n| {
                json!({"level": if n % 3 == 0 { "error" } else { "info" }, "n": n, "late": "never"})
                    .to_string()
            })
            .collect();
        let log = lines.join("\n") + "\n";
        folder.file("data.json", &data);
        folder.file("page.json", &data);
        folder.file("log.jsonl", &log);
        folder.file("last-week.json", &data);
        folder.file("today.json", data.replace("\"total\"", "\"sum\""));
        folder.file("prices.json", fs::read(root().join("docs/prices.example.json")).unwrap());
        let text: Vec<String> =
            (0..200).map(|n| format!("2026-01-01T00:00:{n:02} ERROR: timeout {n}, out of memory")).collect();
        folder.file("server.log", text.join("\n") + "\n");
        folder.file("damaged.jsonl", log.replacen("\"n\":7", "\"n\":tru", 1));
        folder.file("log.jsonl.gz", gzip(log.as_bytes()));
        folder.file("log.jsonl.zst", zstd(log.as_bytes()));
        folder.file("orders.jsonl", orders.iter().map(|order| order.to_string() + "\n").collect::<String>());
        let gather = "## Gather\n@input file: app.jsonl (output=variable:found, scope=session, write-mode=replace)\n\
                      @model none\n";
        folder.file("workflow.md", gather);
        folder.file("app.jsonl", &log);
        for name in ["notes", "logs", "bin"] {
            fs::create_dir(folder.path(name)).unwrap();
        }
        fs::write(folder.path("notes/app.jsonl"), &log).unwrap();
        // Stand-ins for other programs in examples, which need no network or workspace.
        folder.file(".claude.json", r#"{"mcpServers": {"files": {"command": "npx", "args": ["server"]}}}"#);
        for (name, output) in
            [("curl", "{\"a\": 1}"), ("cargo", "{\"packages\": [{\"name\": \"a\"}]}"), ("npx", "")]
        {
            let program = folder.path("bin").join(name);
            fs::write(&program, format!("#!/bin/sh\necho '{output}'\n")).unwrap();
            fs::set_permissions(program, fs::Permissions::from_mode(0o755)).unwrap();
        }
    }

    /// Writes sessions of three days ago, which is within the last week.
    fn write_sessions(&self) {
        let day = Zoned::now().checked_sub(3.days()).unwrap().date().to_string();
        let changes = [
            ("7c1e5a90", "5d1c0a9e"),
            ("2026-03-02", &*day),
            ("2026-03-04", &*day),
            ("off by a cent", "off: connection refused"),
        ];
        let tour = root().join("testdata/tour");
        copy(&tour.join("agents"), &self.path("amplifier"), &changes);
        copy(&tour.join("claude"), &self.path("claude"), &changes);
        let log = fs::read_dir(self.path("claude/projects/-home-ada-shop")).unwrap().next().unwrap().unwrap();
        fs::copy(log.path(), self.path("logs/session.jsonl")).unwrap();
    }

    /// Stores the outputs that examples name, and adds a call to the history.
    fn store(&self) {
        let log = json!({"log": "x".repeat(5_000), "users": [{"name": "Ada"}]}).to_string();
        for (id, options) in [
            ("01jqx0h4zz", &["--tool", "web.fetch"][..]),
            ("api-response-123", &["--tool", "web.fetch", "--failed"]),
        ] {
            let args = ["put", "--id", id].into_iter().chain(options.iter().copied());
            assert_eq!(fed(self.home.trommel(args), log.as_bytes()).ok(), format!("{id}\n"));
        }
        self.home.run(["call", "tool_outputs.list"]).ok();
    }

    /// Fills the buffer `found` of the default session and of the session `monday`.
    fn fill_buffers(&self) {
        for session in ["default", "monday"] {
            let mut command = self.home.trommel(["run", "workflow.md", "--session", session]);
            Run::of(command.current_dir(self.path("")).output().unwrap()).ok();
        }
    }

    /// Returns a line as a user types it.
    fn shell(&self, line: &str) -> Command {
        let binary = Path::new(env!("CARGO_BIN_EXE_trommel")).parent().unwrap();
        // An example that does not end fails, instead of stopping the suite.
        let mut command = Command::new("timeout");
        command
            .args(["120", "sh", "-c", &format!("PATH=$0:$1:$PATH; {line}")])
            .arg(self.path("bin"))
            .arg(binary);
        command.current_dir(self.path("")).stdin(Stdio::null());
        command.env("TROMMEL_HOME", self.home.path()).env("TZ", "UTC").env("HOME", self.path(""));
        command.env("AMPLIFIER_HOME", self.path("amplifier")).env("CLAUDE_CONFIG_DIR", self.path("claude"));
        command
    }
}

/// Returns the scene of an example.
fn scene_of(example: &str) -> Scene {
    let scene = Scene::new();
    let name = example.split("trommel ").nth(1).and_then(|rest| rest.split(' ').next()).unwrap_or_default();
    match name {
        "list" | "read" | "search" | "rm" | "pin" | "gc" | "verify" | "rebuild" | "call" | "history" => {
            scene.store();
        }
        "buffers" => scene.fill_buffers(),
        "guide" if !example.contains("build") => {
            scene.home.run(["guide", "build", scene.path("data.json").to_str().unwrap()]).ok();
        }
        "check" if example.contains("--on-bad-record") => {
            fs::copy(scene.path("damaged.jsonl"), scene.path("log.jsonl")).unwrap();
        }
        _ => {}
    }
    scene
}

/// Returns an example, with a request as its input if it is a server.
fn fed_with_request(example: &str) -> String {
    let is_server = example.strip_prefix("trommel mcp").is_some_and(|rest| !rest.starts_with(" install"));
    if is_server { format!("echo '{REQUEST}' | {example}") } else { example.to_owned() }
}

fn without_comment(example: &str) -> &str {
    example.split(" # ").next().unwrap().trim_end()
}

/// Runs an example in its own scene and returns the fault of its answer, if any.
fn fault(example: &str) -> Option<String> {
    let scene = scene_of(example);
    let shown = without_comment(example);
    let instead = INSTEAD.iter().find(|(one, _)| *one == shown).map(|(_, instead)| (*instead).to_owned());
    let line = &instead.unwrap_or_else(|| fed_with_request(example));
    let exception = EXCEPTIONS.iter().find(|(one, ..)| *one == shown);
    // Pages are written to files.
    let page = shown.split_once(" --to ").and_then(|(_, file)| file.split(' ').next());
    let page = page.filter(|file| file.contains(".html"));
    let usual = (0, page.map_or(Output::Something, Output::File));
    let (status, output) = exception.map_or(usual, |(_, status, output)| (*status, *output));
    let (text, seen) = shown_with_status(80, scene_of(example).shell(line));
    if seen.code() != Some(status) {
        return Some(format!("{example}, on a terminal: {seen}: {text}"));
    }
    let run = Run::of(scene.shell(line).output().unwrap());
    if run.status != Some(status) {
        return Some(format!("{example}: {run:?}"));
    }
    let text = match output {
        Output::Nothing if run.out.is_empty() => return None,
        Output::Nothing => return Some(format!("{example}: an answer: {}", run.out)),
        Output::Something => run.out,
        Output::File(name) => fs::read_to_string(scene.path(name)).unwrap(),
    };
    let compact = text.replace("\": ", "\":");
    let is_empty = text.trim().is_empty() || EMPTY.iter().any(|empty| compact.contains(empty));
    is_empty.then(|| format!("{example}: an empty answer: {text} {}", run.err))
}

#[test]
fn every_example_has_output() {
    let mut all: BTreeSet<String> = helps().iter().flat_map(|help| examples(help)).collect();
    assert!(all.len() > 50, "only {} examples in help", all.len());
    // The explorer reads keys until it is left, and has its own tests.
    all.retain(|example| !example.contains("trommel explore") || example.contains("--print"));
    let docs = fs::read_dir(root().join("docs")).unwrap().map(|entry| entry.unwrap().path());
    let docs = docs.filter(|path| path.extension().is_some_and(|extension| extension == "md"));
    for path in docs.chain([root().join("README.md")]) {
        let lines = fenced(&fs::read_to_string(path).unwrap());
        // Cloud storages and tables need a feature, and have their own tests.
        let has_own_test = |line: &String| {
            ["sessions sync", "-o parquet", "-o arrow"].iter().any(|featured| line.contains(featured))
        };
        all.extend(lines.into_iter().filter(|line| !has_own_test(line)));
    }
    for (listed, ..) in EXCEPTIONS {
        assert!(all.iter().any(|example| example.starts_with(listed)), "not an example: {listed}");
    }
    for (listed, _) in INSTEAD {
        assert!(all.iter().any(|example| without_comment(example) == *listed), "not an example: {listed}");
    }
    let faults: Vec<String> = all.iter().filter_map(|example| fault(example)).collect();
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

/// The long help shows the examples of the short one.
#[test]
fn both_forms_of_help_show_the_same_examples() {
    for pair in helps().chunks(2) {
        assert_eq!(examples(&pair[0]), examples(&pair[1]), "{}", pair[0]);
    }
}
