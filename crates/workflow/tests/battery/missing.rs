//! Missing, empty, and misspelled inputs.

use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::symlink;
use std::sync::Arc;

use trommel_route::WriteMode;
use trommel_tool::{Failure, Registry};
use trommel_workflow::{Document, Progress, Reply, Report};

use crate::support::{Bench, RunDocuments, Script};

/// Runs a document without a model. Returns the report and the warnings that were reported during
/// the run.
fn run(bench: &Bench, line: &str) -> Result<(Report, Vec<String>), String> {
    let document = Document::parse(&format!("## S\n@input {line}\n@model none\n@output context\n"));
    let document = document.map_err(|error| error.to_string())?;
    let mut warnings = Vec::new();
    let report = bench.runner(Registry::new()).run(&document, &mut |progress| {
        if let Progress::Warning(warning) = progress {
            assert_eq!((warning.line, warning.column), (2, 8));
            warnings.push(warning.message.clone());
        }
    });
    let report = report.map_err(|error| error.to_string())?;
    let recorded: Vec<_> = report.steps[0].warnings.iter().map(|warning| warning.message.clone()).collect();
    assert_eq!(recorded, warnings);
    Ok((report, warnings))
}

#[test]
fn r27_a_missing_input_never_empties_its_destination() {
    let bench = Bench::new();
    bench.write("report.md", "x");
    bench.write("archive.md", "kept");
    bench.put("variable:kept", WriteMode::Append, "kept");
    for (input, expected) in [
        ("file:repotr (output=file:archive, write-mode=replace)", "did you mean `report.md`?"),
        ("file:repo*.txt (output=variable:kept, write-mode=replace)", "no file matches `repo*.txt`"),
        (
            "file:inbix/{pending} (output=variable:kept, write-mode=replace)",
            "no pending file matches `inbix/*`",
        ),
        ("file:inbix/{latest} (output=variable:kept, write-mode=replace)", "no file matches `inbix/*`"),
        ("variable:kep (output=file:archive, write-mode=replace)", "did you mean `kept`?"),
    ] {
        let error = run(&bench, input).unwrap_err();
        assert!(
            error.contains(expected) && error.contains("would empty its destination"),
            "{input}: {error}"
        );
    }
    assert_eq!(
        (bench.file("archive.md").as_deref(), bench.variable("kept").as_deref()),
        (Some("kept"), Some("kept"))
    );
    // A folder without pending files is normal, so the input is routed without a warning.
    fs::create_dir(bench.root().join("inbox")).unwrap();
    let (_, warnings) =
        run(&bench, "file:inbox/{pending} (output=variable:kept, write-mode=replace)").unwrap();
    assert_eq!((warnings.len(), bench.variable("kept").as_deref()), (0, Some("")));
}

#[test]
fn warns_of_missing_inputs_and_suggests_the_nearest_name() {
    let bench = Bench::new();
    bench.write("notes/nite1.md", "x");
    bench.put("variable:found", WriteMode::Append, "x");
    for (input, expected) in [
        (
            "file:notes/nite2",
            "there is no file `notes/nite2` (the prompt says that it is missing); did you mean `notes/nite1.md`?",
        ),
        ("file:notes/nite2.md", "did you mean `notes/nite1.md`?"),
        ("file:notes/nite2 (output=variable:v)", "(nothing was read)"),
        ("file:notes/*.txt", "no file matches `notes/*.txt`"),
        (
            "variable:fuond",
            "there is no variable `fuond` (the prompt says that it is missing); did you mean `found`?",
        ),
    ] {
        let (report, warnings) = run(&bench, input).unwrap();
        assert!(warnings.len() == 1 && warnings[0].contains(expected), "{input}: {warnings:?}");
        let is_routed = input.contains("output");
        assert_eq!(report.context.contains("(missing)"), !is_routed, "{}", report.context);
    }
    assert_eq!(run(&bench, "file:notes/nite1").unwrap().1, Vec::<String>::new());
}

#[test]
fn empty_required_inputs_are_refused() {
    let bench = Bench::new();
    bench.write("empty.md", "");
    bench.write("full.md", "x");
    bench.put("variable:empty", WriteMode::Append, "");
    for input in
        ["file:empty (required)", "variable:empty (required, output=variable:v)", "file:em* (required)"]
    {
        let error = run(&bench, input).unwrap_err();
        assert!(error.contains("is required, but empty"), "{input}: {error}");
    }
    run(&bench, "file:* (required)").unwrap();
    run(&bench, "file:empty (required, refs-only)").unwrap();
    // The result of a query is known to be empty only after the query has run.
    let nothing = |_: &str, _: &mut dyn std::io::Write| -> Result<(), Failure> { Ok(()) };
    for input in ["query:d $.x (required)", "query:d $.x (required, output=file:out, write-mode=replace)"] {
        bench.write("out.md", "kept");
        let document = Document::parse(&format!("## S\n@input {input}\n@model none\n")).unwrap();
        let runner = bench.runner(Registry::new()).queries(Arc::new(nothing));
        let error = runner.run(&document, &mut |_| {}).unwrap_err().to_string();
        assert!(error.contains("the query `d $.x` is required, but selects nothing"), "{error}");
        assert_eq!(bench.file("out.md").as_deref(), Some("kept"));
    }
    let document = Document::parse("## S\n@input query:d $.x (output=variable:q)\n@model none\n").unwrap();
    let runner = bench.runner(Registry::new()).queries(Arc::new(nothing));
    let report = runner.run(&document, &mut |_| {}).unwrap();
    assert!(report.steps[0].warnings[0].message.contains("selects nothing"));
}

#[test]
fn wildcards_match_markdown_and_report_unusable_names() {
    let bench = Bench::new();
    bench.write("bulk/f00001.md", "a");
    bench.write("bulk/f00002.md", "b");
    let names = |input: &str| run(&bench, &format!("{input} (refs-only)")).unwrap().0.context;
    assert!(names("file:bulk/f0000?").ends_with("- bulk/f00001.md\n- bulk/f00002.md"));
    bench.write("bulk/f00003", "c");
    assert!(
        names("file:bulk/f0000?").ends_with("- bulk/f00003"),
        "a verbatim match precedes matches with an extension"
    );
    fs::write(bench.root().join("bulk").join(std::ffi::OsStr::from_bytes(b"g\xff.md")), "x").unwrap();
    fs::write(bench.root().join("bulk/g\u{1b}[31m.md"), "x").unwrap();
    let (report, warnings) = run(&bench, "file:bulk/*.md (output=variable:all)").unwrap();
    assert_eq!(report.steps[0].manifests[0].items, Some(2));
    assert!(warnings[0].starts_with("2 files were skipped"), "{warnings:?}");
    assert!(!warnings[0].contains('\u{1b}'), "{warnings:?}");
}

#[test]
fn properties_keep_lists_folded_text_and_quoted_keys() {
    let bench = Bench::new();
    bench.write(
        "p.md",
        "\u{feff}---\ntitle: >\n  folded\n\n  text\ntags:\n  - red\n- blue\n\"my: key\": 1\n'other': 2\nlast: 3\n---\nbody",
    );
    let context = |names: &str| run(&bench, &format!("file:p (properties=\"{names}\")")).unwrap().0.context;
    assert!(context("tags").contains("---\ntags:\n  - red\n- blue\n==="), "{}", context("tags"));
    assert!(context("title, last").contains("---\ntitle: >\n  folded\n\n  text\nlast: 3\n==="));
    assert!(context("my: key, other").contains("---\n\"my: key\": 1\n'other': 2\n==="));
    bench.write("long.md", format!("---\na: {}\n---\n", "x".repeat(70_000)));
    let error = run(&bench, "file:long (properties=\"a\")").unwrap_err();
    assert!(error.contains("the frontmatter has more than 65,536 bytes"), "{error}");
}

#[test]
fn documents_of_the_same_name_do_not_share_pending_files() {
    let bench = Bench::new();
    bench.write("in/1.md", "x");
    let document = Document::parse("## S\n@input file:in/{pending} (output=discard)\n@model none\n").unwrap();
    let read = |name: &str| {
        let report = bench.runner(Registry::new()).run(&document.clone().named(name), &mut |_| {}).unwrap();
        report.steps[0].manifests[0].items
    };
    assert_eq!((read("/a/p.md"), read("/b/p.md"), read("/a/p.md")), (Some(1), Some(1), Some(0)));
    // The stored state of pending files is not listed among the user's variables.
    assert_eq!(bench.destinations.buffers().list(None).unwrap().buffers, []);
    bench.put("variable:pending-0123456789abcdef", WriteMode::Append, "mine");
    assert_eq!(bench.destinations.buffers().list(None).unwrap().buffers.len(), 1);
}

#[test]
fn links_out_of_the_root_are_refused() {
    let bench = Bench::new();
    let outside = tempfile::tempdir().unwrap();
    fs::write(outside.path().join("x.md"), "secret").unwrap();
    symlink(outside.path(), bench.root().join("linkdir")).unwrap();
    bench.write("file.md", "x");
    for line in [
        "file:linkdir/x",
        "file:linkdir/x.md (required)",
        "file:linkdir/*",
        "file:file (output=file:linkdir/n)",
        "file:file (output=file:linkdir/deep/n, write-mode=new)",
    ] {
        let error = run(&bench, line).unwrap_err();
        assert!(error.contains("a link in the path leads outside the root"), "{line}: {error}");
    }
    let error = run(&bench, "file:file (output=file:file.md/x)").unwrap_err();
    assert!(error.contains("`file.md` is a file"), "{error}");
    assert_eq!(fs::read_dir(outside.path()).unwrap().count(), 1);
}

#[test]
fn numbered_files_share_one_notice() {
    let bench = Bench::new();
    (0..30).for_each(|number| bench.write(&format!("in/{number:02}.md"), "x"));
    let script = Script::new([Reply::text("Done.")]);
    let document =
        Document::parse("## S\n@input file:in/* (output=variable:n, write-mode=new)\nGo.\n").unwrap();
    let mut notices = 0;
    let report = bench
        .runner(Registry::new())
        .model(script.clone())
        .run(&document, &mut |progress| notices += usize::from(matches!(progress, Progress::Manifest(_))))
        .unwrap();
    assert_eq!((notices, report.steps[0].manifests.len()), (1, 30));
    let requests = script.requests.lock().unwrap();
    let trommel_workflow::Message::Prompt(prompt) = &requests[0][0] else {
        panic!("the first message must be the prompt")
    };
    assert!(
        prompt.starts_with(
            "ROUTED INPUTS\n[input routed] 30 files -> variable:n_000 … variable:n_029 (total 720 chars)\npaths: in/00.md, "
        ),
        "{prompt}"
    );
    assert_eq!(prompt.matches("[input routed]").count(), 1);
}
