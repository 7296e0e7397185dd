//! The questions that a format of session logs answers, so that all other code is the same for
//! every format.

use std::borrow::Cow;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use trommel_base::files::{self, Op};

use crate::error::Result;
use crate::layout::Layout;
use crate::message::{self, Look};
use crate::metadata::{Described, Facts};
use crate::project::Found;
use crate::seek::Members;

/// The names of a session's parts, which are files where a session is a folder.
pub(crate) const METADATA: &str = "metadata.json";
pub(crate) const TRANSCRIPT: &str = "transcript.jsonl";
pub(crate) const EVENTS: &str = "events.jsonl";

/// The plan of a change that was decided.
pub(crate) const PLAN: &str = ".trommel-change.json";

/// A session as a format sees it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Place<'a> {
    pub(crate) id: &'a str,
    /// Its folder, or its file.
    pub(crate) path: &'a Path,
}

/// Takes the ID and the path of a session.
pub(crate) type Take<'a> = &'a mut dyn FnMut(String, PathBuf) -> Result<()>;

/// A format of session logs. A method with a default suits a format whose sessions are single files
/// of messages.
pub(crate) trait LogFormat: Sync {
    /// The properties of the format.
    fn profile(&self) -> &'static Profile;

    /// True if one of the first records of a file is of this format.
    fn recognizes(&self, _record: &FirstRecord<'_>) -> bool {
        false
    }

    /// The projects below the folder of the program: their names and folders.
    fn projects(&self, root: &Path) -> Result<Vec<(String, PathBuf)>> {
        folders(&root.join("projects"))
    }

    /// Hands over the sessions in the folder of a project.
    fn each_session(&self, _project: &Path, _take: Take<'_>) -> Result<()> {
        Ok(())
    }

    /// The path of a session below the folder of the program, where the project and the ID decide
    /// about it.
    fn path_of(&self, _root: &Path, _project: &str, _id: &str) -> Option<PathBuf> {
        None
    }

    /// The folder of the program that a session is in, if it is where the program keeps its
    /// sessions.
    fn root<'p>(&self, _path: &'p Path) -> Option<&'p Path> {
        None
    }

    /// The folder that has the name of a session's project.
    fn project<'p>(&self, path: &'p Path) -> Option<&'p Path> {
        project_above(path).or_else(|| path.parent())
    }

    /// True if no other session spawned it.
    fn is_top_level(&self, _id: &str) -> bool {
        true
    }

    /// True for the log of a sub-agent, whose messages all are marked as those of a sidechain.
    fn is_sub_agent(&self, _id: &str) -> bool {
        false
    }

    /// The session that spawned one.
    fn parent(&self, _session: Place<'_>) -> Result<Option<String>> {
        Ok(None)
    }

    /// What lists, searches, and counts need to know about a session.
    fn facts(&self, session: Place<'_>) -> Facts;

    /// The members of a session's description.
    fn description(&self, _session: Place<'_>) -> Result<Described> {
        Ok(Described::default())
    }

    /// The IDs by which the events of a session name it. Empty if they name none.
    fn event_ids(&self, _session: Place<'_>) -> Vec<String> {
        Vec::new()
    }

    /// Reads a record as a message.
    fn look(&self) -> Look {
        message::look
    }
}

/// The properties of a format.
#[derive(Debug)]
pub(crate) struct Profile {
    /// Its name, for people.
    pub(crate) name: &'static str,
    /// A shorter name, for tables.
    pub(crate) short_name: &'static str,
    /// The program that writes it, as messages name it.
    pub(crate) program: &'static str,
    /// The first records of a file of it, as messages name them.
    pub(crate) records: Option<&'static str>,
    /// The fields of records that it is recognized by.
    pub(crate) marks: &'static [&'static str],
    /// The files of a session's folder. Empty where a session is one file.
    pub(crate) files: &'static [&'static str],
    /// True if sessions can be rewound and repaired.
    pub(crate) is_changeable: bool,
    /// Where descriptions are.
    pub(crate) description: Kept,
    /// Where events are.
    pub(crate) events: Kept,
    /// True if a session's turns have to be counted, as no description says how many there are.
    pub(crate) counts_turns: bool,
    /// True if no two calls of tools have the same ID, so that a repeated ID is a repeated call.
    pub(crate) has_unique_calls: bool,
    /// Where the members of an event are.
    pub(crate) layout: &'static Layout,
    /// The members that searches read.
    pub(crate) searched: Searched,
    /// Where the program keeps its sessions.
    pub(crate) home: Option<Home>,
}

/// Where a part of a session is kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kept {
    Nowhere,
    /// The records of the messages are it, or hold it.
    InRecords,
    InFile,
}

/// The members that searches read.
#[derive(Debug)]
pub(crate) struct Searched {
    pub(crate) description: &'static Members,
    pub(crate) messages: &'static Members,
    pub(crate) events: &'static Members,
}

/// Where a program keeps its sessions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Home {
    /// The folder, in the home of the user.
    pub folder: &'static str,
    /// The environment variable that names another one.
    pub variable: &'static str,
    /// The option that names another one.
    pub option: &'static str,
}

/// The fields of a record by which formats are recognized.
#[derive(Clone, Copy, Debug)]
pub(crate) struct FirstRecord<'f> {
    pub(crate) names: &'f [&'static str],
    pub(crate) found: &'f Found,
}

impl FirstRecord<'_> {
    fn place(&self, name: &str) -> Option<usize> {
        self.names.iter().position(|known| *known == name)
    }

    /// True if the record has a field.
    pub(crate) fn has(&self, name: &str) -> bool {
        self.place(name).is_some_and(|place| self.found.get(place).is_some())
    }

    /// The text of a field.
    pub(crate) fn text(&self, name: &str) -> Option<Cow<'_, str>> {
        self.found.text(self.place(name)?)
    }
}

/// True if the last name of a path is this one.
pub(crate) fn is_named(path: &Path, name: &str) -> bool {
    path.file_name().is_some_and(|found| found == name)
}

/// The folder above the folder `sessions` that a path is in.
pub(crate) fn project_above(path: &Path) -> Option<&Path> {
    path.parent().filter(|parent| is_named(parent, "sessions"))?.parent()
}

/// The folder above `projects`, by the folder of a project in it.
pub(crate) fn root_above(project: &Path) -> Option<&Path> {
    project.parent().filter(|projects| is_named(projects, "projects"))?.parent()
}

/// The folders in a folder, as [`entries`].
pub(crate) fn folders(folder: &Path) -> Result<Vec<(String, PathBuf)>> {
    let mut found = entries(folder)?;
    found.retain(|(_, path)| path.is_dir());
    Ok(found)
}

/// The names in a folder with their paths, sorted; none if there is no folder. Hidden names, and
/// names that are not UTF-8, are left out.
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
