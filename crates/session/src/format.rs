//! The interface of a session log format, which keeps all other code independent of formats.

use std::borrow::Cow;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use trommel_base::files::{self, Op};

use crate::error::Result;
use crate::fields::FieldValues;
use crate::layout::Layout;
use crate::message::{self, MessageReader};
use crate::metadata::{DescriptionMembers, SessionFacts};
use crate::searcher::SearchedMembers;

/// The file names of a session's parts, for formats whose sessions are folders.
pub(crate) const METADATA: &str = "metadata.json";
pub(crate) const TRANSCRIPT: &str = "transcript.jsonl";
pub(crate) const EVENTS: &str = "events.jsonl";

/// The file name of a decided change's plan.
pub(crate) const PLAN: &str = ".trommel-change.json";

/// The ID and path of a session, as a format needs them.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SessionRef<'a> {
    pub(crate) id: &'a str,
    /// The session's folder or file.
    pub(crate) path: &'a Path,
}

/// Receives the ID and path of each session.
pub(crate) type SessionVisitor<'a> = &'a mut dyn FnMut(String, PathBuf) -> Result<()>;

/// A format of session logs. The default methods suit formats whose sessions are single files of
/// messages.
pub(crate) trait LogFormat: Sync {
    /// The properties of the format.
    fn profile(&self) -> &'static Profile;

    /// True if a record at the start of a file identifies this format.
    fn recognizes(&self, _record: &FirstRecord<'_>) -> bool {
        false
    }

    /// Returns the names and folders of the projects below the program's folder.
    fn projects(&self, root: &Path) -> Result<Vec<(String, PathBuf)>> {
        folders(&root.join("projects"))
    }

    /// Passes the sessions in a project's folder to a callback.
    fn each_session(&self, _project: &Path, _visit: SessionVisitor<'_>) -> Result<()> {
        Ok(())
    }

    /// Returns the path of a session below the program's folder, if the project and ID determine
    /// it.
    fn path_of(&self, _root: &Path, _project: &str, _id: &str) -> Option<PathBuf> {
        None
    }

    /// Returns the program's folder that contains a session, if the session is in its usual
    /// location.
    fn root<'p>(&self, _path: &'p Path) -> Option<&'p Path> {
        None
    }

    /// Returns the folder that names a session's project.
    fn project<'p>(&self, path: &'p Path) -> Option<&'p Path> {
        project_above(path).or_else(|| path.parent())
    }

    /// True if no other session spawned it.
    fn is_top_level(&self, _id: &str) -> bool {
        true
    }

    /// True for a sub-agent's log, in which every message is marked as a sidechain.
    fn is_sub_agent(&self, _id: &str) -> bool {
        false
    }

    /// Returns the ID of the session that spawned this one.
    fn parent(&self, _session: SessionRef<'_>) -> Result<Option<String>> {
        Ok(None)
    }

    /// Returns the properties of a session that lists, searches, and counts need.
    fn facts(&self, session: SessionRef<'_>) -> SessionFacts;

    /// Returns the members of a session's description.
    fn description(&self, _session: SessionRef<'_>) -> Result<DescriptionMembers> {
        Ok(DescriptionMembers::default())
    }

    /// Returns the IDs that a session's events may carry. Empty if events carry none.
    fn event_ids(&self, _session: SessionRef<'_>) -> Vec<String> {
        Vec::new()
    }

    /// Returns the function that reads a record as a message.
    fn message_reader(&self) -> MessageReader {
        message::read_message
    }
}

/// The properties of a format.
#[derive(Debug)]
pub(crate) struct Profile {
    /// The display name.
    pub(crate) name: &'static str,
    /// A shorter display name, for tables.
    pub(crate) short_name: &'static str,
    /// The program that writes the format, as messages name it.
    pub(crate) program: &'static str,
    /// The first records of a file, as messages name them.
    pub(crate) records: Option<&'static str>,
    /// The fields that identify records of the format.
    pub(crate) marks: &'static [&'static str],
    /// The files in a session's folder. Empty if a session is a single file.
    pub(crate) files: &'static [&'static str],
    /// True if sessions can be rewound and repaired.
    pub(crate) is_changeable: bool,
    /// The location of descriptions.
    pub(crate) description: PartLocation,
    /// The location of events.
    pub(crate) events: PartLocation,
    /// True if turns have to be counted, as the description has no count.
    pub(crate) counts_turns: bool,
    /// True if call IDs are unique, so that a repeated ID is a repeated call.
    pub(crate) has_unique_calls: bool,
    /// The paths of the members of an event.
    pub(crate) layout: &'static Layout,
    /// The members that searches read.
    pub(crate) searched: SearchedParts,
    /// The default location of the program's sessions.
    pub(crate) home: Option<Home>,
}

/// The location of a part of a session.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PartLocation {
    Nowhere,
    /// In the records of the messages.
    InRecords,
    InFile,
}

/// The members that searches read.
#[derive(Debug)]
pub(crate) struct SearchedParts {
    pub(crate) description: &'static SearchedMembers,
    pub(crate) messages: &'static SearchedMembers,
    pub(crate) events: &'static SearchedMembers,
}

/// The default location of a program's sessions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Home {
    /// The folder's name in the user's home folder.
    pub folder: &'static str,
    /// The environment variable that overrides it.
    pub variable: &'static str,
    /// The command-line option that overrides it.
    pub option: &'static str,
}

/// The identifying fields of a record at the start of a file.
#[derive(Clone, Copy, Debug)]
pub(crate) struct FirstRecord<'f> {
    pub(crate) names: &'f [&'static str],
    pub(crate) found: &'f FieldValues,
}

impl FirstRecord<'_> {
    fn slot(&self, name: &str) -> Option<usize> {
        self.names.iter().position(|known| *known == name)
    }

    /// True if the record has a field.
    pub(crate) fn has(&self, name: &str) -> bool {
        self.slot(name).is_some_and(|slot| self.found.get(slot).is_some())
    }

    /// The text of a field.
    pub(crate) fn text(&self, name: &str) -> Option<Cow<'_, str>> {
        self.found.text(self.slot(name)?)
    }
}

/// True if the last component of a path is `name`.
pub(crate) fn is_named(path: &Path, name: &str) -> bool {
    path.file_name().is_some_and(|found| found == name)
}

/// Returns the parent of the `sessions` folder that a path is in.
pub(crate) fn project_above(path: &Path) -> Option<&Path> {
    path.parent().filter(|parent| is_named(parent, "sessions"))?.parent()
}

/// Returns the parent of the `projects` folder that contains a project's folder.
pub(crate) fn root_above(project: &Path) -> Option<&Path> {
    project.parent().filter(|projects| is_named(projects, "projects"))?.parent()
}

/// Returns the folders in a folder, like [`entries`].
pub(crate) fn folders(folder: &Path) -> Result<Vec<(String, PathBuf)>> {
    let mut found = entries(folder)?;
    found.retain(|(_, path)| path.is_dir());
    Ok(found)
}

/// Returns the names and paths in a folder, sorted. Empty if the folder does not exist. Skips
/// hidden names, and names that are not UTF-8.
pub(crate) fn entries(folder: &Path) -> Result<Vec<(String, PathBuf)>> {
    let failed = |cause| files::Error::new(Op::List, folder, cause);
    let listed = match fs::read_dir(folder) {
        Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => {
            return Ok(Vec::new());
        }
        listed => listed.map_err(failed)?,
    };
    let mut found = Vec::new();
    for entry in listed {
        let entry = entry.map_err(failed)?;
        if let Ok(name) = entry.file_name().into_string()
            && !name.starts_with('.')
        {
            found.push((name, entry.path()));
        }
    }
    found.sort_unstable();
    Ok(found)
}
