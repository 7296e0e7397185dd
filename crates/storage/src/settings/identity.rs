//! The names of this user and this machine in a storage, where no setting has them.

use std::ffi::OsString;
use std::fs;
use std::io::{self, Write};
use std::path::Path;

use tempfile::{Builder, NamedTempFile};
use trommel_base::files::{self, Op};
use trommel_blocks::Result;

/// Characters of a name at most.
const LONGEST: usize = 200;

/// The user who is logged in.
pub(super) fn user(environment: &dyn Fn(&str) -> Option<OsString>) -> String {
    let name = ["USER", "LOGNAME"].into_iter().filter_map(environment).find(|name| !name.is_empty());
    name.map_or_else(|| "default".to_owned(), |name| as_name(&name.to_string_lossy()))
}

/// A name that a storage takes: `-` stands for each character that it does not take.
fn as_name(name: &str) -> String {
    let is_plain = |at: usize, c: char| c.is_ascii_alphanumeric() || "_-@".contains(c) || c == '.' && at > 0;
    name.chars().take(LONGEST).enumerate().map(|(at, c)| if is_plain(at, c) { c } else { '-' }).collect()
}

/// The name of this machine in blocks: its host name, and a part that no other machine has. Chosen
/// once, and kept in the folder for state.
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
    // Another process was first, or the file holds no name: a disk was full, or its writer ended.
    if let Some(known) = known(&path)? {
        return Ok(known);
    }
    files::attempt(Op::Rename, &path, || Ok(refused.file.persist(&path)?))?;
    Ok(device)
}

/// The name in a file, if it holds one.
fn known(path: &Path) -> Result<Option<String>> {
    let bytes = match files::attempt(Op::Read, path, || fs::read(path)) {
        Err(error) if error.is_missing() => return Ok(None),
        bytes => bytes?,
    };
    let Ok(text) = String::from_utf8(bytes) else { return Ok(None) };
    let name = text.trim();
    let is_name = !name.is_empty() && name.len() <= LONGEST && !name.contains(char::is_control);
    Ok(is_name.then(|| name.to_owned()))
}

/// A new name, in a file that is not in its place yet.
fn chosen(state: &Path) -> io::Result<(NamedTempFile, String)> {
    // A machine without the file has no host name.
    let host = fs::read_to_string("/etc/hostname").unwrap_or_default();
    let host = host.trim().chars().filter(|c| c.is_ascii_alphanumeric() || *c == '-').take(40);
    let host = host.collect::<String>();
    // The name of a temporary file is as good as random.
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
    fn a_device_is_named_once_and_again_where_the_name_is_damaged() {
        let home = tempfile::tempdir().unwrap();
        let state = home.path().join("state");
        let first = device(&state).unwrap();
        assert!(first.contains('-') && first == device(&state).unwrap());
        for damaged in [&b""[..], b" \n", b"\0\0\0\0", b"\xff\xfe", &[b'x'; LONGEST + 1]] {
            fs::write(state.join("device"), damaged).unwrap();
            let anew = device(&state).unwrap();
            assert!(anew != first && anew == device(&state).unwrap(), "{damaged:?}");
        }
        assert_eq!(fs::read_dir(&state).unwrap().count(), 1, "nothing else is left there");
        fs::write(state.join("device"), "desk\n").unwrap();
        assert_eq!(device(&state).unwrap(), "desk");
    }

    #[test]
    fn all_that_name_a_device_at_once_name_it_the_same() {
        let home = tempfile::tempdir().unwrap();
        let names = std::thread::scope(|scope| {
            let started = [(); 8].map(|()| scope.spawn(|| device(home.path()).unwrap()));
            started.map(|started| started.join().unwrap())
        });
        assert!(names.iter().all(|name| *name == names[0]), "{names:?}");
    }

    #[test]
    fn whoever_is_logged_in_has_a_name_in_a_storage() {
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
