//! `cargo xtask browser`: the pages of `trommel report` in a real browser without a network.
//!
//! Installs Chromium from Debian if it is missing and the user may, and packages of npm below
//! `target/browser`. Screenshots are below `target/browser/pictures`, for people to see.

use std::fs;
use std::io::{BufWriter, Write};
use std::path::Path;
use std::process::Command;

use crate::Verdict;
use crate::process::{cargo, is_installed, must_run, works};
use crate::workspace::Workspace;

/// The packages of npm: a driver for browsers, and a judge of accessibility.
const PACKAGES: [&str; 2] = ["axe-core@4.11.1", "playwright-core@1.64.1"];

const BROWSER: &str = "chromium";

/// Megabytes of the input of the page that is checked.
const MEGABYTES: &str = "50";

#[derive(clap::Args)]
pub(crate) struct Options {
    /// Write the picture of the documents, docs/report.png
    #[arg(long)]
    update: bool,
}

/// All checks.
pub(crate) fn deep(workspace: &Workspace) -> Verdict {
    run(workspace, &Options { update: false })
}

pub(crate) fn run(workspace: &Workspace, options: &Options) -> Verdict {
    let has = |program: &str| works(Command::new(program).arg("--version"));
    if !has("node") || !has("npm") {
        return Err("NOT RUN: node and npm are not installed".into());
    }
    let mut install = Command::new("apt-get");
    install.args(["install", "-y", "-qq", BROWSER]);
    if !is_installed(Command::new(BROWSER).arg("--version"), &mut install) {
        return Err("NOT RUN: chromium is not installed, and cannot be".into());
    }
    let target = workspace.target.join("browser");
    let (pages, pictures) = (target.join("pages"), target.join("pictures"));
    fs::create_dir_all(&pages)?;
    fs::create_dir_all(&pictures)?;
    fs::write(target.join("package.json"), "{}")?;
    let mut npm = Command::new("npm");
    npm.args(["install", "--no-audit", "--no-fund", "--prefix"]).arg(&target).args(PACKAGES);
    must_run(&mut npm)?;
    must_run(&mut cargo(&workspace.root, "build --release --bin trommel"))?;
    make_pages(workspace, &pages)?;
    let mut node = Command::new("node");
    node.arg(workspace.root.join("xtask/browser/check.mjs")).arg(target.join("node_modules"));
    node.arg(browser()?).arg(&pages).arg(&pictures);
    must_run(&mut node)?;
    if options.update {
        fs::copy(pictures.join("document.png"), workspace.root.join("docs/report.png"))?;
    }
    println!("screenshots: {}", pictures.display());
    Ok(true)
}

/// The path of the browser.
fn browser() -> Result<String, Box<dyn std::error::Error>> {
    let found = crate::process::output(Command::new("sh").args(["-c", &format!("command -v {BROWSER}")]))?;
    Ok(found.trim().to_owned())
}

/// Makes the pages that are checked.
fn make_pages(workspace: &Workspace, folder: &Path) -> Result<(), Box<dyn std::error::Error>> {
    let program = workspace.target.join("release/trommel");
    let report = |words: &[&str], page: &str| {
        let mut command = Command::new(&program);
        command.args(words).args(["--to", page]).current_dir(folder);
        must_run(&mut command)
    };
    let file = |name: &str| fs::File::create(folder.join(name)).map(BufWriter::new);
    let corpus = "run --release -p trommel-benches --bin corpus --";
    must_run(cargo(&workspace.root, corpus).arg(folder).arg(MEGABYTES))?;
    hostile(&mut file("hostile.json")?, "{", "}", false)?;
    hostile(&mut file("hostile.jsonl")?, "{", "}\n", true)?;
    wide(&mut file("wide.json")?)?;
    report(&["report", "wide.json"], "wide.html")?;
    fs::write(folder.join("other.json"), r#"{"data":{"records":[{"id":"1","type":7,"new":[true]}]}}"#)?;
    report(&["report", "events.json", "--title", "Events"], "report.html")?;
    report(&["report", "hostile.json", "--no-redact"], "hostile.html")?;
    report(&["report", "hostile.jsonl", "--sample", "2"], "hostile-rows.html")?;
    report(&["report", "--compare", "hostile.json", "hostile.jsonl"], "hostile-compare.html")?;
    report(&["report", "--compare", "events.json", "other.json"], "compare.html")?;
    let tour = workspace.root.join("testdata/tour");
    let (amplifier, claude) = (tour.join("agents"), tour.join("claude"));
    let folders =
        ["--amplifier", &amplifier.display().to_string(), "--claude", &claude.display().to_string()];
    report(&["sessions", "report", "--utc", folders[0], folders[1], folders[2], folders[3]], "sessions.html")
}

/// Writes a document with more paths than a page has.
fn wide(out: &mut impl Write) -> std::io::Result<()> {
    write!(out, "{{\"n\":0")?;
    for group in 0..50 {
        write!(out, ",\"group{group}\":{{\"n\":{group}")?;
        for name in 0..50 {
            // Different types and sizes, so that the objects are not taken for maps.
            let value = ["1", "\"text\"", "[true,false]", "{\"deeper\":null}"][(name + group) % 4];
            write!(out, ",\"name{name}_{}\":[{value},\"{}\"]", group * 7, "x".repeat(name * group % 97))?;
        }
        write!(out, "}}")?;
    }
    write!(out, "}}")?;
    out.flush()
}

/// Writes objects whose names and values try to run a function `trap`.
fn hostile(out: &mut impl Write, start: &str, end: &str, several: bool) -> std::io::Result<()> {
    const SEEDS: [&str; 10] = [
        r"</script><script>trap()</script>",
        r"<img src=x onerror=trap()>",
        r"<svg onload=trap()>",
        r#"\" onmouseover=\"trap()\" x=\""#,
        r"' autofocus onfocus='trap()' x='",
        r"javascript:trap()",
        r"\u202eevil\u2066",
        r"\u0000\u001b[2J",
        r"\u2028\u2029<!--<script>trap()",
        r"__proto__",
    ];
    for record in 0..if several { 50 } else { 1 } {
        write!(out, "{start}")?;
        for number in 0..500 {
            let (seed, comma) = (SEEDS[number % SEEDS.len()], if number > 0 { "," } else { "" });
            // Different types, so that the object is not taken for a map.
            match number % 3 {
                0 => write!(out, "{comma}\"{seed}{number}\":\"{seed}{record}\"")?,
                1 => write!(out, "{comma}\"{seed}{number}\":[{{\"{seed}\":\"{seed}\"}}]")?,
                _ => write!(out, "{comma}\"{seed}{number}\":{{\"{seed}\":{number}}}")?,
            }
        }
        write!(out, "{end}")?;
    }
    out.flush()
}
