//! Shared helpers.

use std::fs;
use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde_json::json;
use tempfile::TempDir;
use trommel_route::{Buffers, Destinations, Files, Manifest, Now, Origin, Route, Scope, Target, WriteMode};
use trommel_tool::{Call, Failure, Function, Metadata, Output};

/// A root for files, a folder for sessions, and the destinations over them. The date is 2026-03-04,
/// a Wednesday.
pub(crate) struct Bench {
    pub(crate) folder: TempDir,
    pub(crate) destinations: Destinations,
}

impl Bench {
    pub(crate) fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir(folder.path().join("root")).unwrap();
        let destinations = destinations(folder.path());
        Self { folder, destinations }
    }

    pub(crate) fn root(&self) -> PathBuf {
        self.folder.path().join("root")
    }

    pub(crate) fn write(&self, path: &str, text: impl AsRef<[u8]>) {
        let path = self.root().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    pub(crate) fn file(&self, path: &str) -> Option<String> {
        fs::read(self.root().join(path)).ok().map(|bytes| String::from_utf8(bytes).unwrap())
    }

    /// All files below the root, as sorted paths.
    pub(crate) fn files(&self) -> Vec<String> {
        let mut found = Vec::new();
        let mut folders = vec![self.root()];
        while let Some(folder) = folders.pop() {
            for entry in fs::read_dir(folder).unwrap() {
                let path = entry.unwrap().path();
                if path.is_dir() {
                    folders.push(path);
                } else {
                    found.push(path.strip_prefix(self.root()).unwrap().to_str().unwrap().to_owned());
                }
            }
        }
        found.sort();
        found
    }

    pub(crate) fn variable(&self, name: &str) -> Option<String> {
        variable(&self.destinations, name, None)
    }

    pub(crate) fn put(&self, target: &str, mode: WriteMode, text: &str) -> Manifest {
        put(&self.destinations, &route(target).write_mode(mode), text).unwrap()
    }
}

/// The destinations below a folder, as any process would open them.
pub(crate) fn destinations(folder: &Path) -> Destinations {
    let buffers = Buffers::new().session(folder.join("sessions"), "test").unwrap();
    let files = Files::open(folder.join("root")).unwrap().exclude(folder.join("root/own"));
    let now = Now::at("2026-03-04T05:06:07[UTC]".parse().unwrap());
    Destinations::new(Arc::new(buffers)).files(Arc::new(files)).at(now)
}

pub(crate) fn route(target: &str) -> Route {
    Route::to(Target::parse(target).unwrap())
}

pub(crate) fn put(destinations: &Destinations, route: &Route, text: &str) -> trommel_route::Result<Manifest> {
    let mut write = destinations.open(route, Origin::of("test"))?;
    write.write_all(text.as_bytes()).unwrap();
    write.finish()
}

pub(crate) fn variable(destinations: &Destinations, name: &str, scope: Option<Scope>) -> Option<String> {
    let (_, content) = destinations.buffers().find(name, scope).ok()?;
    let mut text = String::new();
    content.reader(0).read_to_string(&mut text).unwrap();
    Some(text)
}

/// A tool that returns or streams the text in its arguments.
pub(crate) fn says(name: &str) -> impl trommel_tool::Tool + use<> {
    let schema = json!({
        "type": "object",
        "properties": {"text": {"type": "string"}, "times": {"type": "integer"}, "stream": {"type": "boolean"}},
        "required": ["text"]
    });
    Function::new(Metadata::new(name, "Says what it is told to", schema), |call: &mut Call<'_>| {
        let text = call.arguments["text"].as_str().unwrap().to_owned();
        let times = call.arguments.get("times").and_then(serde_json::Value::as_u64).unwrap_or(1);
        if call.arguments.get("stream") != Some(&json!(true)) {
            return Ok(Output::text(text.repeat(usize::try_from(times).unwrap())));
        }
        for _ in 0..times {
            call.writer().write_all(text.as_bytes()).map_err(|error| Failure::raised(&error))?;
        }
        Ok(Output::Nothing)
    })
}
