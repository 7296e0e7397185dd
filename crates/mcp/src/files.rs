//! Small files that are replaced at once.

use std::io;
use std::path::Path;

use trommel_base::files;

/// Replaces a file, or the target of a link: a reader sees the old bytes or the new ones. The file
/// keeps its permissions; a new one is private.
pub(crate) fn replace(path: &Path, bytes: &[u8]) -> io::Result<()> {
    // The target of a link keeps its name.
    let path = &std::fs::canonicalize(path).unwrap_or_else(|_new| path.to_owned());
    let folder = path.parent().unwrap_or(Path::new("."));
    std::fs::create_dir_all(folder)?;
    let name = path.file_name().map_or_else(String::new, |name| name.to_string_lossy().into_owned());
    let staged = folder.join(format!(".{name}.{}.new", std::process::id()));
    let written = files::remove(&staged).and_then(|_| files::create(&staged)).and_then(|mut file| {
        files::write(&mut file, &staged, bytes)?;
        if path.exists() {
            files::copy_mode(&file, &staged, path)?;
        }
        files::sync(&file, &staged)?;
        files::rename(&staged, path)?;
        files::sync_folder(folder)
    });
    written.map_err(|error| {
        // The error matters more than a leftover.
        let _ = files::remove(&staged);
        error.into_cause()
    })
}
