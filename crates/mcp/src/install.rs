//! The configuration files of clients: adds this server to them, and removes it again.

mod clients;
pub(crate) mod edit;

use std::collections::BTreeMap;
use std::fmt;
use std::fmt::Write as _;
use std::io;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use edit::Document;

pub use clients::{Client, UnknownClient};
/// The name of the entry in a client's file.
const NAME: &str = "trommel";

/// Adds this server to clients, and removes it.
#[derive(Clone, Debug)]
pub struct Installer {
    /// The home directory.
    pub home: PathBuf,
    /// The program that clients start.
    pub program: PathBuf,
    /// Arguments of the program besides `mcp`.
    pub args: Vec<String>,
    /// The folder of backups.
    pub backups: PathBuf,
}

/// A change of a client's file, which was not made yet.
#[derive(Debug)]
pub struct Change {
    client: Client,
    files: Vec<FileChange>,
    notes: Vec<String>,
    backups: PathBuf,
    is_install: bool,
}

#[derive(Debug)]
struct FileChange {
    path: PathBuf,
    before: Option<Vec<u8>>,
    /// `None` to remove the file.
    after: Option<Vec<u8>>,
}

/// The reason why a client's file cannot be changed.
#[derive(Debug)]
#[non_exhaustive]
pub enum InstallError {
    /// A file cannot be read or written.
    File(PathBuf, io::Error),
    /// A file is not valid. Nothing was changed.
    Invalid(PathBuf, String),
    /// A file was changed after the change was computed. Nothing was written to it.
    Changed(PathBuf),
}

impl fmt::Display for InstallError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::File(path, error) => write!(f, "cannot access {}: {error}", path.display()),
            Self::Invalid(path, why) => {
                write!(f, "{} is not valid, and was left as it is: {why}", path.display())
            }
            Self::Changed(path) => {
                write!(f, "{} was changed meanwhile: run the command again", path.display())
            }
        }
    }
}

impl std::error::Error for InstallError {}

type Result<T> = std::result::Result<T, InstallError>;

/// The record of an installation, beside the backups.
#[derive(Debug, Default, Serialize, Deserialize)]
struct Record {
    files: Vec<RecordedFile>,
}

#[derive(Debug, Serialize, Deserialize)]
struct RecordedFile {
    path: PathBuf,
    /// The file with the bytes before, in the folder of backups; none if the file did not exist.
    backup: Option<String>,
    /// The hash of the bytes after.
    hash: String,
}

impl Installer {
    /// Computes the change that adds this server to a client. With `wrap_existing`, the other
    /// servers of the client move behind this one.
    ///
    /// # Errors
    /// Returns an error if the client's file is not valid.
    pub fn install(&self, client: Client, wrap_existing: bool) -> Result<Change> {
        let path = client.path(&self.home);
        let before = read(&path)?;
        let mut document = Document::parse(&path, before.as_deref(), client.format())?;
        let mut change = self.change(client, true);
        let wrapped_path = self.wrapped(client);
        let mut args = self.args.clone();
        let mut wrapped = wrapped_servers(&wrapped_path)?;
        if wrap_existing {
            for (name, entry) in document.servers() {
                if name != NAME {
                    wrapped.insert(name.clone(), client.portable(entry));
                    document.remove(&name);
                    change.notes.push(format!("the server {name} is wrapped"));
                }
            }
        }
        if !wrapped.is_empty() {
            args.extend(["--config".to_owned(), wrapped_path.display().to_string()]);
            let text = serde_json::to_vec_pretty(&json!({ "mcpServers": wrapped })).map_err(io::Error::other);
            let text = text.map_err(|error| InstallError::File(wrapped_path.clone(), error))?;
            change.add(wrapped_path.clone(), read(&wrapped_path)?, Some(text));
        }
        let entry = client.entry(&self.program, &args);
        if document.servers().get(NAME) != Some(&entry) {
            if document.servers().contains_key(NAME) {
                change.notes.push(format!("the entry {NAME} is replaced"));
            }
            document.set(NAME, &entry);
        }
        change.add(path, before, Some(document.bytes()));
        Ok(change)
    }

    /// Computes the change that removes this server from a client. If the file is as the
    /// installation left it, it gets its bytes of before; otherwise only the entry is removed.
    ///
    /// # Errors
    /// Returns an error if the client's file is not valid.
    pub fn uninstall(&self, client: Client) -> Result<Change> {
        let mut change = self.change(client, false);
        let path = client.path(&self.home);
        let before = read(&path)?;
        let record = self.record(client)?;
        let recorded = record.files.iter().find(|file| file.path == path);
        let hash = before.as_deref().map(|bytes| blake3::hash(bytes).to_hex().to_string());
        let wrapped_path = self.wrapped(client);
        if let Some(recorded) = recorded.filter(|recorded| Some(&recorded.hash) == hash.as_ref()) {
            let after = match &recorded.backup {
                Some(backup) => read(&self.backups.join(backup))?,
                None => None,
            };
            change.add(path, before, after);
        } else if before.is_some() {
            let mut document = Document::parse(&path, before.as_deref(), client.format())?;
            if recorded.is_some() {
                change.notes.push("the file was edited since: only the entry is removed".to_owned());
            }
            document.remove(NAME);
            for (name, entry) in wrapped_servers(&wrapped_path)? {
                document.set(&name, &client.native(entry));
            }
            change.add(path, before, Some(document.bytes()));
        }
        if let Some(wrapped) = read(&wrapped_path)? {
            change.add(wrapped_path, Some(wrapped), None);
        }
        Ok(change)
    }

    fn change(&self, client: Client, is_install: bool) -> Change {
        Change { client, files: Vec::new(), notes: Vec::new(), backups: self.backups.clone(), is_install }
    }

    /// The file of the servers that were moved behind this one.
    fn wrapped(&self, client: Client) -> PathBuf {
        self.backups.join(format!("{}.servers.json", client.name()))
    }

    fn record(&self, client: Client) -> Result<Record> {
        record(&self.backups, client)
    }
}

fn record(backups: &Path, client: Client) -> Result<Record> {
    let path = backups.join(format!("{}.json", client.name()));
    let Some(bytes) = read(&path)? else { return Ok(Record::default()) };
    serde_json::from_slice(&bytes).map_err(|error| InstallError::Invalid(path, error.to_string()))
}

/// The servers that were moved behind this one by an earlier installation.
fn wrapped_servers(path: &Path) -> Result<Map<String, Value>> {
    #[derive(Deserialize)]
    struct File {
        #[serde(rename = "mcpServers")]
        servers: Map<String, Value>,
    }
    let Some(bytes) = read(path)? else { return Ok(Map::new()) };
    let file: File = serde_json::from_slice(&bytes)
        .map_err(|error| InstallError::Invalid(path.to_owned(), error.to_string()))?;
    Ok(file.servers)
}

impl Change {
    fn add(&mut self, path: PathBuf, before: Option<Vec<u8>>, after: Option<Vec<u8>>) {
        if before != after {
            self.files.push(FileChange { path, before, after });
        }
    }

    /// True if nothing has to be changed.
    pub fn is_empty(&self) -> bool {
        self.files.is_empty()
    }

    /// Describes the change: the files, and the lines that come and go. Values of variables and
    /// headers are not shown.
    pub fn describe(&self) -> String {
        let mut text = String::new();
        for note in &self.notes {
            let _ = writeln!(text, "# {note}");
        }
        for file in &self.files {
            let what = match (&file.before, &file.after) {
                (None, _) => "new file",
                (_, None) => "removed",
                _ => "changed",
            };
            let _ = writeln!(text, "# {} ({what})", file.path.display());
            text.push_str(&lines(file.before.as_deref(), file.after.as_deref()));
        }
        text
    }

    /// Writes the change: first backups of all files, then the files.
    ///
    /// # Errors
    /// Returns an error if a file was changed meanwhile, or cannot be written. Files that were
    /// written before stay written; their backups exist.
    pub fn apply(&self) -> Result<()> {
        for file in &self.files {
            if read(&file.path)? != file.before {
                return Err(InstallError::Changed(file.path.clone()));
            }
        }
        let record_path = self.backups.join(format!("{}.json", self.client.name()));
        if self.is_install {
            let record = self.back_up()?;
            let text = serde_json::to_vec_pretty(&record).map_err(io::Error::other);
            write(&record_path, &text.map_err(|error| InstallError::File(record_path.clone(), error))?)?;
        }
        for file in &self.files {
            match &file.after {
                Some(bytes) => write(&file.path, bytes)?,
                None => remove(&file.path)?,
            }
        }
        if !self.is_install {
            for recorded in record(&self.backups, self.client)?.files {
                if let Some(backup) = recorded.backup {
                    remove(&self.backups.join(backup))?;
                }
            }
            remove(&record_path)?;
        }
        Ok(())
    }

    /// Keeps the bytes of each file. Those of before an earlier installation stay, unless the file
    /// was edited since.
    fn back_up(&self) -> Result<Record> {
        let mut files: BTreeMap<PathBuf, RecordedFile> = record(&self.backups, self.client)?
            .files
            .into_iter()
            .map(|file| (file.path.clone(), file))
            .collect();
        for (number, file) in self.files.iter().enumerate() {
            let hash = |bytes: &[u8]| blake3::hash(bytes).to_hex().to_string();
            let after = hash(file.after.as_deref().unwrap_or(b""));
            let before = file.before.as_deref().map(hash);
            match files.get_mut(&file.path) {
                Some(recorded) if before.as_ref() == Some(&recorded.hash) => recorded.hash = after,
                _ => {
                    let backup = match &file.before {
                        Some(bytes) => {
                            let name = format!("{}.{number}.before", self.client.name());
                            write(&self.backups.join(&name), bytes)?;
                            Some(name)
                        }
                        None => None,
                    };
                    let recorded = RecordedFile { path: file.path.clone(), backup, hash: after };
                    files.insert(file.path.clone(), recorded);
                }
            }
        }
        Ok(Record { files: files.into_values().collect() })
    }
}

fn read(path: &Path) -> Result<Option<Vec<u8>>> {
    match std::fs::read(path) {
        Ok(bytes) => Ok(Some(bytes)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(InstallError::File(path.to_owned(), error)),
    }
}

fn remove(path: &Path) -> Result<()> {
    trommel_base::files::remove(path)
        .map(drop)
        .map_err(|error| InstallError::File(path.to_owned(), error.into_cause()))
}

/// Replaces a file, or the target of a link, at once. It keeps its permissions.
fn write(path: &Path, bytes: &[u8]) -> Result<()> {
    crate::files::replace(path, bytes).map_err(|error| InstallError::File(path.to_owned(), error))
}

/// The lines that differ, without the values of secrets.
fn lines(before: Option<&[u8]>, after: Option<&[u8]>) -> String {
    let split = |bytes: Option<&[u8]>| -> Vec<String> {
        let text = String::from_utf8_lossy(bytes.unwrap_or(b"")).into_owned();
        text.lines().map(str::to_owned).collect()
    };
    let (before, after) = (split(before), split(after));
    let same = before.iter().zip(&after).take_while(|(one, other)| one == other).count();
    let rest = before.len().min(after.len()) - same;
    let tail = before
        .iter()
        .rev()
        .zip(after.iter().rev())
        .take(rest)
        .take_while(|(one, other)| one == other)
        .count();
    let mut text = String::new();
    for (mark, lines) in [('-', &before), ('+', &after)] {
        let mut secrets = edit::Secrets::default();
        for (number, line) in lines.iter().enumerate() {
            let shown = secrets.hide(line);
            if (same..lines.len() - tail).contains(&number) {
                let _ = writeln!(text, "{mark} {}", trommel_base::text::safe(&shown));
            }
        }
    }
    text
}

#[cfg(test)]
mod tests;
