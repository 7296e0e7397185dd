//! Resolution of IDs and prefixes, and rejection of invalid IDs.

use trommel_store::{ErrorClass, GcOptions};

use crate::support::{Home, all, bytes_of, cases, file_of, files, ids, named, put_as};

#[test]
fn resolves_prefixes() {
    let home = Home::new();
    for id in ["conv-export-1", "conv-export-2", "conv-e", "short", "Zebra_99"] {
        put_as(&home, named(id), format!("\"{id}\""));
    }
    for (query, id) in [
        ("conv-export-1", "conv-export-1"),
        ("conv-export-2", "conv-export-2"),
        // A complete ID resolves to itself even if other IDs start with it.
        ("conv-e", "conv-e"),
        ("short", "short"),
        ("Zebra_", "Zebra_99"),
    ] {
        assert_eq!(home.resolve(query).unwrap(), id, "{query}");
        assert_eq!(bytes_of(&home, &home.get(query).unwrap()), format!("\"{id}\"").into_bytes());
    }
    let error = home.get("conv-ex").unwrap_err();
    assert_eq!(error.class(), ErrorClass::Ambiguous);
    assert_eq!(error.candidates(), ["conv-export-1", "conv-export-2"]);
    assert_eq!(
        error.to_string(),
        "conv-ex matches several outputs: conv-export-1, conv-export-2; give a longer prefix"
    );
    let error = home.get("Zebra").unwrap_err();
    assert_eq!(error.class(), ErrorClass::NotFound);
    assert!(error.to_string().contains("a prefix needs at least 6 characters"), "{error}");
    let error = home.get("conv-exprot-1").unwrap_err();
    assert_eq!(error.class(), ErrorClass::NotFound);
    assert_eq!(error.candidates(), ["conv-export-1", "conv-e", "conv-export-2"]);
    assert!(error.to_string().contains("did you mean conv-export-1 or conv-e or conv-export-2?"), "{error}");
    assert!(home.get("something-else").unwrap_err().candidates().is_empty());
}

#[test]
fn limits_the_number_of_candidates() {
    let home = Home::new();
    for number in 0..12 {
        put_as(&home, named(&format!("output-{number:02}")), "1");
    }
    let error = home.get("output-").unwrap_err();
    assert_eq!(error.candidates().len(), 10);
    assert!(error.to_string().contains("output-09 and others;"), "{error}");
    assert_eq!(home.resolve("output-11").unwrap(), "output-11");
}

#[test]
fn externally_deleted_outputs_are_not_found() {
    let home = Home::new();
    put_as(&home, named("output-1"), "1");
    put_as(&home, named("output-2"), "1");
    std::fs::remove_file(file_of(&home, "output-1", ".meta.json")).unwrap();
    assert_eq!(home.resolve("output").unwrap(), "output-2");
    assert_eq!(ids(&home.list(&all()).unwrap()), ["output-2"]);
    let other = home.again();
    other.delete("output-2").unwrap();
    assert_eq!(home.get("output").unwrap_err().class(), ErrorClass::NotFound);
}

/// Invalid IDs, most of which would leave the folder if they became part of a path.
fn escapes() -> Vec<String> {
    let mut escapes: Vec<String> = [
        "",
        ".",
        "..",
        "../x",
        "../../etc/passwd",
        "/etc/passwd",
        "a/b",
        "a/../../b",
        "\\..\\x",
        "C:\\x",
        "~",
        "~/x",
        "$HOME",
        "a b",
        "a.b",
        "x.json",
        "x.meta.json",
        "a\0b",
        "\0",
        "a\nb",
        "\u{202E}abc",
        "ａｂｃ",
        "ä",
        "a%2Fb",
        "%2e%2e%2f",
        "a:b",
        "a*b",
        "?",
        "-rf /",
        "|id",
        ";id",
        "`id`",
        "$(id)",
        "/proc/self/root",
        "/dev/null",
        "file:///etc/passwd",
        "a\\b",
        "é",
        "..%00/",
        "x\u{200B}y",
        "a\tb",
        "\u{FEFF}abc",
    ]
    .map(str::to_owned)
    .to_vec();
    escapes.push("a".repeat(65));
    escapes.push("a".repeat(1 << 20));
    for depth in 1..80 {
        escapes.push("../".repeat(depth) + "tmp/x");
        escapes.push(format!("ok{}x", "/..".repeat(depth)));
    }
    escapes
}

/// R23: an invalid ID is refused before it becomes part of a path.
#[test]
fn r23_invalid_ids_are_refused() {
    let home = Home::new();
    put_as(&home, named("output-1"), "1");
    let before = (home.files(), std::fs::read_dir(home.outside()).unwrap().count());
    let escapes = escapes();
    assert!(escapes.len() >= 200, "{}", escapes.len());
    for id in &escapes {
        let kinds = [
            home.put(named(id)).unwrap_err(),
            home.resolve(id).unwrap_err(),
            home.get(id).unwrap_err(),
            home.pin(id, true).unwrap_err(),
            home.delete(id).unwrap_err(),
        ];
        for error in kinds {
            assert_eq!(error.class(), ErrorClass::InvalidId, "{id:?}");
            let message = error.to_string();
            assert!(message.chars().count() < 600 && !message.chars().any(char::is_control), "{message}");
        }
        let mut forged = home.get("output-1").unwrap();
        forged.id.clone_from(id);
        assert_eq!(home.payload(&forged).map(|_| ()).unwrap_err().class(), ErrorClass::InvalidId);
        assert_eq!(home.document(&forged).map(|_| ()).unwrap_err().class(), ErrorClass::InvalidId);
    }
    assert_eq!((home.files(), std::fs::read_dir(home.outside()).unwrap().count()), before);
}

/// R23: links in place of the store's files are not followed.
#[test]
fn r23_links_are_not_followed() {
    let home = Home::new();
    let secret = home.outside().join("secret");
    std::fs::write(&secret, "{\"secret\": true}").unwrap();
    let stored = put_as(&home, named("output-1"), "{\"open\": true}");
    let payload = file_of(&home, "output-1", ".json");
    std::fs::remove_file(&payload).unwrap();
    std::os::unix::fs::symlink(&secret, &payload).unwrap();
    assert!(home.payload(&stored).is_err());
    assert!(home.document(&stored).is_err());
    // A marker that is a link: nothing is written through it.
    std::os::unix::fs::symlink(&secret, home.root().join("pending/output-2")).unwrap();
    std::os::unix::fs::symlink(&secret, home.root().join("pending/output-3.payload")).unwrap();
    assert!(home.put(named("output-2")).is_err());
    put_as(&home, named("output-3"), "[1]");
    assert_eq!(std::fs::read(&secret).unwrap(), b"{\"secret\": true}");
}

/// R23: the store does not wait for pipes. Anything but a file in place of one is a damaged output.
#[test]
fn r23_pipes_and_folders_are_damaged_outputs() {
    let home = Home::new();
    let stored = put_as(&home, named("output-1"), "[1]");
    for ending in [".json", ".meta.json"] {
        let path = file_of(&home, "output-1", ending);
        let aside = home.outside().join("aside");
        std::fs::rename(&path, &aside).unwrap();
        for folder in [false, true] {
            if folder {
                std::fs::create_dir(&path).unwrap();
            } else {
                assert!(std::process::Command::new("mkfifo").arg(&path).status().unwrap().success());
            }
            let again = home.again();
            again.rebuild().unwrap();
            assert_eq!(again.list(&all()).unwrap().rows.iter().filter(|row| row.corrupted).count(), 1);
            assert!(again.get("output-1").and_then(|stored| again.payload(&stored).map(|_| ())).is_err());
            assert!(again.verify(&mut |_| {}).unwrap().damaged > 0);
            assert!(again.gc(&GcOptions::default()).unwrap().evicted.is_empty());
            if folder { std::fs::remove_dir(&path) } else { std::fs::remove_file(&path) }.unwrap();
        }
        std::fs::rename(&aside, &path).unwrap();
    }
    home.rebuild().unwrap();
    assert_eq!(bytes_of(&home, &stored), b"[1]");
}

/// IDs whose outputs share a folder.
fn neighbours(count: usize) -> Vec<String> {
    let ids = (0..).map(|number| format!("output-{number}"));
    ids.filter(|id| blake3::hash(id.as_bytes()).as_bytes()[0] == 7).take(count).collect()
}

/// R23: while a folder of the store is repeatedly replaced by a link to a foreign folder, nothing
/// is written or removed there.
#[test]
fn r23_nothing_is_written_through_changing_links() {
    let home = Home::new();
    let ids = neighbours(200);
    let (inside, outside) = (home.root().join("payload/07"), home.outside().join("elsewhere"));
    std::fs::create_dir(&inside).unwrap();
    std::fs::create_dir(&outside).unwrap();
    for id in &ids {
        std::fs::write(outside.join(format!("{id}.json")), "theirs").unwrap();
    }
    let link = home.outside().join("link");
    std::os::unix::fs::symlink(&outside, &link).unwrap();
    let swaps = cases(4_000, 100_000);
    let mut stored = 0_u64;
    std::thread::scope(|scope| {
        let swap = || {
            for _ in 0..swaps {
                let exchange = rustix::fs::RenameFlags::EXCHANGE;
                rustix::fs::renameat_with(rustix::fs::CWD, &inside, rustix::fs::CWD, &link, exchange)
                    .unwrap();
            }
        };
        let swapping = scope.spawn(swap);
        for id in ids.iter().cycle() {
            if swapping.is_finished() {
                break;
            }
            if home.put_from(named(id), &b"[1]"[..]).is_ok() {
                stored += 1;
            }
            let _ = home.delete(id);
        }
    });
    println!("{swaps} exchanges, {stored} outputs were stored meanwhile");
    let found = files(&outside);
    assert_eq!(found.len(), ids.len(), "{found:?}");
    assert!(found.iter().all(|path| std::fs::read(outside.join(path)).unwrap() == b"theirs"));
}
