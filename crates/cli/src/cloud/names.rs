//! What this user and this machine are called in a storage, where no setting says it.

use std::env;
use std::fs::{self, File};
use std::io::{self, Write};
use std::path::Path;

use tempfile::{Builder, NamedTempFile};
use trommel_blocks::{Error, Result};

/// Characters of a name at most.
const LONGEST: usize = 200;

/// Who is logged in.
pub(super) fn user() -> String {
    let name = ["USER", "LOGNAME"].iter().find_map(|name| env::var_os(name).filter(|name| !name.is_empty()));
    name.map_or_else(|| "default".to_owned(), |name| as_name(&name.to_string_lossy()))
}

/// A name that can be one in a storage: `-` stands for whatever cannot be in it.
fn as_name(name: &str) -> String {
    let is_plain =
        |(at, c): (usize, char)| c.is_ascii_alphanumeric() || "_-@".contains(c) || c == '.' && at > 0;
    name.chars().take(LONGEST).enumerate().map(|(at, c)| if is_plain((at, c)) { c } else { '-' }).collect()
}

/// What this machine is called in blocks: its name, and something that no other one has, made once.
pub(super) fn device(state: &Path) -> Result<String> {
    let path = state.join("device");
    let failed = |cause| Error::io("write", &path, cause);
    if let Some(known) = known(&path)? {
        return Ok(known);
    }
    fs::create_dir_all(state).map_err(failed)?;
    let (file, device) = made(state).map_err(failed)?;
    match file.persist_noclobber(&path) {
        Ok(_) => Ok(device),
        Err(refused) if refused.error.kind() == io::ErrorKind::AlreadyExists => {
            // Somebody else was first, or what is there is no name: a disk was full, or whoever wrote it was ended.
            if let Some(known) = known(&path)? {
                return Ok(known);
            }
            refused.file.persist(&path).map_err(|refused| failed(refused.error))?;
            Ok(device)
        }
        Err(refused) => Err(failed(refused.error)),
    }
}

/// The name in a file, where there is one.
fn known(path: &Path) -> Result<Option<String>> {
    let text = match fs::read(path) {
        Ok(text) => String::from_utf8(text).unwrap_or_default(),
        Err(cause) if cause.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(cause) => return Err(Error::io("read", path, cause)),
    };
    let name = text.trim();
    let is_name = !name.is_empty() && name.len() <= LONGEST && !name.contains(char::is_control);
    Ok(is_name.then(|| name.to_owned()))
}

/// A new name, in a file that is not in its place yet.
fn made(state: &Path) -> io::Result<(NamedTempFile, String)> {
    let host = fs::read_to_string("/etc/hostname").unwrap_or_default();
    let host = host.trim().chars().filter(|c| c.is_ascii_alphanumeric() || *c == '-').take(40);
    let host = host.collect::<String>();
    // The name of a temporary file is as good as random.
    let mut file = Builder::new().prefix("").rand_bytes(10).tempfile_in(state)?;
    let own = file.path().file_name().unwrap_or_default().to_string_lossy().into_owned();
    let device = format!("{}-{own}", if host.is_empty() { "device" } else { &host });
    file.write_all(device.as_bytes())?;
    File::sync_all(file.as_file())?;
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
