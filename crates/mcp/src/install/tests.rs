//! Files of each client, with and without servers, in a folder of their own.

use std::fs;

use super::clients::Format;
use super::*;

fn installer(folder: &Path) -> Installer {
    Installer {
        home: folder.join("home"),
        program: "/usr/bin/trommel".into(),
        args: Vec::new(),
        backups: folder.join("backups"),
    }
}

/// A file with comments, other members, and a server, in the client's form.
fn typical(client: Client) -> String {
    match client.format() {
        Format::Toml(_) => "# mine\nmodel = \"x\" # keep\n\n[mcp_servers.files]\ncommand = \"npx\"\nargs = [\"-y\", \"files\"]\n\n[mcp_servers.files.env]\nKEY = \"secret\"\n".to_owned(),
        Format::Json(key) => {
            let entry = client.native(json!({"command": "npx", "args": ["-y", "files"], "env": {"KEY": "secret"}}));
            let entry = serde_json::to_string_pretty(&entry).unwrap().replace('\n', "\n    ");
            format!("{{\n  // mine\n  \"theme\": \"dark\", /* keep */\n  \"{key}\": {{\n    \"files\": {entry}\n  }},\n  \"n\": 1.0\n}}\n")
        }
    }
}

fn put(installer: &Installer, client: Client, text: &str) -> PathBuf {
    let path = client.path(&installer.home);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(&path, text).unwrap();
    path
}

#[test]
fn installing_and_uninstalling_restores_the_bytes() {
    for client in Client::ALL {
        let plain = typical(client);
        for text in [
            None,
            Some(""),
            Some(plain.as_str()),
            Some(&*plain.replace('\n', "\r\n")),
            Some(&*format!("\u{feff}{plain}")),
        ] {
            if matches!(client.format(), Format::Toml(_))
                && text.is_some_and(|text| text.starts_with('\u{feff}'))
            {
                continue;
            }
            for wrap in [false, true] {
                let folder = tempfile::tempdir().unwrap();
                let installer = installer(folder.path());
                let path = client.path(&installer.home);
                if let Some(text) = text {
                    put(&installer, client, text);
                }
                let change = installer.install(client, wrap).unwrap();
                assert!(!change.is_empty() && !change.describe().contains("secret"), "{}", change.describe());
                change.apply().unwrap();
                let after = fs::read_to_string(&path).unwrap();
                assert!(after.contains("/usr/bin/trommel"), "{client}: {after}");
                if text == Some(&plain) {
                    assert!(after.contains("mine") && after.contains("keep"), "{client}: {after}");
                    let document = Document::parse(&path, Some(after.as_bytes()), client.format()).unwrap();
                    assert_eq!(document.servers().contains_key("files"), !wrap, "{client}: {after}");
                }
                // Again: nothing to do.
                assert!(installer.install(client, wrap).unwrap().is_empty(), "{client}");
                installer.uninstall(client).unwrap().apply().unwrap();
                assert_eq!(fs::read_to_string(&path).ok().as_deref(), text, "{client} {wrap}");
                assert!(!installer.wrapped(client).exists());
            }
        }
    }
}

#[test]
fn wrapped_servers_are_read_by_the_proxy() {
    for client in Client::ALL {
        let folder = tempfile::tempdir().unwrap();
        let installer = installer(folder.path());
        put(&installer, client, &typical(client));
        installer.install(client, true).unwrap().apply().unwrap();
        let servers = crate::ServerConfig::read(&installer.wrapped(client)).unwrap();
        assert_eq!((servers.len(), servers[0].name()), (1, "files"), "{client}");
        let after = fs::read_to_string(client.path(&installer.home)).unwrap();
        assert!(after.contains("--config"), "{after}");
    }
}

#[test]
fn edits_after_an_installation_stay() {
    for client in Client::ALL {
        let folder = tempfile::tempdir().unwrap();
        let installer = installer(folder.path());
        let path = put(&installer, client, &typical(client));
        installer.install(client, true).unwrap().apply().unwrap();
        let edited = fs::read_to_string(&path).unwrap().replace("mine", "mine and edited");
        fs::write(&path, &edited).unwrap();
        let change = installer.uninstall(client).unwrap();
        assert!(change.describe().contains("edited since"), "{}", change.describe());
        change.apply().unwrap();
        let after = fs::read_to_string(&path).unwrap();
        let document = Document::parse(&path, Some(after.as_bytes()), client.format()).unwrap();
        assert!(
            after.contains("mine and edited") && !document.servers().contains_key(NAME),
            "{client}: {after}"
        );
        assert!(document.servers().contains_key("files"), "{client}: {after}");
    }
}

#[test]
fn invalid_files_and_late_changes_are_refused() {
    for client in Client::ALL {
        let folder = tempfile::tempdir().unwrap();
        let installer = installer(folder.path());
        for text in ["{\"a\": ", "[1]\n=", "{'a': 1}", "\u{0}"] {
            let path = put(&installer, client, text);
            let error = installer.install(client, false).unwrap_err();
            assert!(matches!(error, InstallError::Invalid(..)), "{client} {text}: {error}");
            assert_eq!(fs::read_to_string(&path).unwrap(), text);
        }
        let path = put(&installer, client, &typical(client));
        let change = installer.install(client, false).unwrap();
        fs::write(&path, "").unwrap();
        assert!(matches!(change.apply(), Err(InstallError::Changed(_))));
    }
}

#[cfg(unix)]
#[test]
fn links_and_permissions_stay() {
    use std::os::unix::fs::{PermissionsExt, symlink};
    let folder = tempfile::tempdir().unwrap();
    let installer = installer(folder.path());
    let target = folder.path().join("dotfiles.json");
    fs::write(&target, "{}").unwrap();
    fs::set_permissions(&target, fs::Permissions::from_mode(0o640)).unwrap();
    let path = Client::Cursor.path(&installer.home);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    symlink(&target, &path).unwrap();
    installer.install(Client::Cursor, false).unwrap().apply().unwrap();
    assert!(path.is_symlink() && fs::read_to_string(&target).unwrap().contains(NAME));
    assert_eq!(fs::metadata(&target).unwrap().permissions().mode() & 0o777, 0o640);
}

#[test]
fn names_are_parsed() {
    for client in Client::ALL {
        assert_eq!(client.name().parse(), Ok(client));
    }
    assert!("emacs".parse::<Client>().unwrap_err().to_string().contains("claude-code"));
}

/// Every kind of value survives the way through both forms of files.
#[test]
fn values_of_other_servers_stay() {
    let entry = json!({
        "command": "npx", "args": ["-y"], "enabled": true, "timeout": 30, "ratio": 0.5, "started": "2026-11-28",
        "http_headers": {"Authorization": "Bearer secret"}, "none": null, "nested": {"list": [1, [2.5, false]]}
    });
    for client in [Client::Codex, Client::Cursor] {
        let path = Path::new("file");
        let mut document = Document::parse(path, None, client.format()).unwrap();
        document.set("other", &entry);
        let text = String::from_utf8(document.bytes()).unwrap();
        let again = Document::parse(path, Some(text.as_bytes()), client.format()).unwrap();
        let mut expected = entry.clone();
        if matches!(client.format(), Format::Toml(_)) {
            // TOML has no null.
            expected.as_object_mut().unwrap().remove("none");
        }
        assert_eq!(again.servers()["other"], expected, "{text}");
    }
    let text = "[mcp_servers.other]\ncommand = \"a\"\nsince = 2026-11-28\nhttp_headers = { A = \"secret\" }\nbearer_token = \"secret\"\nenv = [\"secret\"]\nlater = \"shown\"\n";
    let document =
        Document::parse(Path::new("file"), Some(text.as_bytes()), Format::Toml("mcp_servers")).unwrap();
    assert_eq!(document.servers()["other"]["since"], "2026-11-28");
    let folder = tempfile::tempdir().unwrap();
    let installer = installer(folder.path());
    put(&installer, Client::Codex, text);
    let change = installer.install(Client::Codex, true).unwrap();
    assert!(!change.describe().contains("secret"), "{}", change.describe());
    assert!(change.describe().contains("later = \"shown\""), "{}", change.describe());
}

#[test]
fn refusals_name_the_file_and_the_reason() {
    let folder = tempfile::tempdir().unwrap();
    let installer = installer(folder.path());
    for (client, text, why) in [
        (Client::Cursor, "[1]", "expected an object"),
        (Client::Cursor, "{\"mcpServers\": 7}", "mcpServers is not an object"),
        (Client::Codex, "mcp_servers = 7\n", "mcp_servers is not a table"),
        (Client::Codex, "a = = 1\n", "is not valid, and was left as it is"),
    ] {
        let path = put(&installer, client, text);
        let error = installer.install(client, false).unwrap_err().to_string();
        assert!(error.contains(why) && error.contains(&path.display().to_string()), "{error}");
    }
    let path = put(&installer, Client::Cursor, "");
    let change = installer.install(Client::Cursor, false).unwrap();
    fs::write(&path, "{}").unwrap();
    let late = change.apply().unwrap_err().to_string();
    assert!(late.ends_with("was changed meanwhile: run the command again"), "{late}");
    fs::remove_file(&path).unwrap();
    fs::create_dir(&path).unwrap();
    let folder = installer.install(Client::Cursor, false).unwrap_err().to_string();
    assert!(folder.starts_with("cannot access "), "{folder}");
}
