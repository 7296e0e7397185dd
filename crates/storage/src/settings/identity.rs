//! The default names of the user and the machine in a storage.

use std::ffi::OsString;
use std::fs;
use std::io::{self, Write};
use std::path::Path;

use tempfile::{Builder, NamedTempFile};
use trommel_base::files::{self, Op};
use trommel_blocks::Result;

/// Maximum characters of a name.
const MAX_NAME: usize = 200;

/// The user who is logged in.
pub(super) fn user(environment: &dyn Fn(&str) -> Option<OsString>) -> String {
    let name = ["USER", "LOGNAME"].into_iter().filter_map(environment).find(|name| !name.is_empty());
    name.map_or_else(|| "default".to_owned(), |name| as_name(&name.to_string_lossy()))
}

/// A valid name in a storage: other characters are replaced by `-`.
fn as_name(name: &str) -> String {
    let is_plain = |at: usize, c: char| c.is_ascii_alphanumeric() || "_-@".contains(c) || c == '.' && at > 0;
    name.chars().take(MAX_NAME).enumerate().map(|(at, c)| if is_plain(at, c) { c } else { '-' }).collect()
}

/// The name of this machine in blocks: its host name with a unique suffix. It is chosen once, and
/// kept in the state folder.
pub(super) fn device(state: &Path) -> Result<String> {
    let path = state.join("device");
    if let Some(known) = known(&path)? {
        return Ok(known);
    }
    files::make_folder(state)?;
    let (file, device) = files::attempt(Op::Create, &path, || chosen(state))?;
    let Err(refused) = file.persist_noclobber(&path) else { return Ok(device) };
    if refused.error.kind() != io::ErrorKind::AlreadyExists {
        return Err(files::Error::new(Op::Rename, &path, refused.error).into());
    }
    // Another process was first, or the file has no name because its writer was interrupted.
    if let Some(known) = known(&path)? {
        return Ok(known);
    }
    files::attempt(Op::Rename, &path, || Ok(refused.file.persist(&path)?))?;
    Ok(device)
}

/// The name in a file, if it has one.
fn known(path: &Path) -> Result<Option<String>> {
    let bytes = match files::attempt(Op::Read, path, || fs::read(path)) {
        Err(error) if error.is_missing() => return Ok(None),
        bytes => bytes?,
    };
    let Ok(text) = String::from_utf8(bytes) else { return Ok(None) };
    let name = text.trim();
    let is_name = !name.is_empty() && name.len() <= MAX_NAME && !name.contains(char::is_control);
    Ok(is_name.then(|| name.to_owned()))
}

/// Chooses a new name, in a file that is not renamed into place yet.
fn chosen(state: &Path) -> io::Result<(NamedTempFile, String)> {
    // A machine without this file has no host name.
    let host = fs::read_to_string("/etc/hostname").unwrap_or_default();
    let host = host.trim().chars().filter(|c| c.is_ascii_alphanumeric() || *c == '-').take(40);
    let host = host.collect::<String>();
    // The name of a temporary file is random enough.
    let mut file = Builder::new().prefix("").rand_bytes(10).tempfile_in(state)?;
    let own = file.path().file_name().map_or_else(String::new, |own| own.to_string_lossy().into_owned());
    let device = format!("{}-{own}", if host.is_empty() { "device" } else { &host });
    file.write_all(device.as_bytes())?;
    file.as_file().sync_all()?;
    Ok((file, device))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn devices_are_named_once_and_again_after_damage() {
        let home = tempfile::tempdir().unwrap();
        let state = home.path().join("state");
        let first = device(&state).unwrap();
        assert!(first.contains('-') && first == device(&state).unwrap());
        for damaged in [&b""[..], b" \n", b"\0\0\0\0", b"\xff\xfe", &[b'x'; MAX_NAME + 1]] {
            fs::write(state.join("device"), damaged).unwrap();
            let renamed = device(&state).unwrap();
            assert!(renamed != first && renamed == device(&state).unwrap(), "{damaged:?}");
        }
        assert_eq!(fs::read_dir(&state).unwrap().count(), 1, "nothing else is left there");
        fs::write(state.join("device"), "desk\n").unwrap();
        assert_eq!(device(&state).unwrap(), "desk");
    }

    #[test]
    fn concurrent_processes_name_a_device_once() {
        let home = tempfile::tempdir().unwrap();
        let names = std::thread::scope(|scope| {
            let started = [(); 8].map(|()| scope.spawn(|| device(home.path()).unwrap()));
            started.map(|started| started.join().unwrap())
        });
        assert!(names.iter().all(|name| *name == names[0]), "{names:?}");
    }

    #[test]
    fn user_names_become_valid() {
        for (name, expected) in [
            ("ada", "ada"),
            ("DOM\\ada", "DOM-ada"),
            ("Ada L.", "Ada-L."),
            (".ada", "-ada"),
            ("é@x_y", "-@x_y"),
        ] {
            assert_eq!(as_name(name), expected);
        }
    }
}
