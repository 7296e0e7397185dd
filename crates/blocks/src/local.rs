//! Blocks in a folder: for a disk that several machines share, and for whoever has no cloud.

use std::fs::{self, File, OpenOptions};
use std::io::{self, BufRead, BufReader, Read, Seek, SeekFrom, Write};
use std::ops::ControlFlow;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use memchr::memmem::Finder;
use trommel_session::Watch;

use crate::block::{Block, BlockType, Written};
use crate::data::Description;
use crate::disk::make;
use crate::error::{Error, ErrorKind, Result};
use crate::landing::lock_file;
use crate::lines::BLOCK;
use crate::storage::{BlockStorage, Created, Key, Selection, Stored};

/// The blocks of a session.
const BLOCKS: &str = "blocks.jsonl";

/// What is known of a session from its blocks.
const METADATA: &str = "metadata.json";

/// How a storage is made on the command line.
const CREATE: &str = "`trommel sessions sync --apply --create`";

/// What is locked while a session is begun.
const LOCK: &str = ".lock";

/// Bytes of a block's line at most.
const LONGEST: u64 = 8 << 20;

/// What marks a folder as one that blocks are kept in.
const MARK: &str = ".trommel-storage";

/// Blocks in a folder, `<base>/<user>/<project>/<session>/blocks.jsonl`, a line each; beside them `metadata.json` says what they tell of
/// the session.
///
/// The folder is only used where it is known to be one for blocks, by a mark or by blocks: see [`make`](Self::make).
///
/// To read on behind a block reads the file from its beginning; its last block is found from its end.
#[derive(Clone, Debug)]
pub struct LocalBlockStorage {
    base: PathBuf,
}

impl LocalBlockStorage {
    /// In this folder. Where it is not one for blocks, it is out of reach.
    pub fn new(base: impl Into<PathBuf>) -> Self {
        Self { base: base.into() }
    }

    /// In this folder, which is made if it is not there, and marked as one for blocks.
    ///
    /// ```
    /// use std::time::Duration;
    /// use trommel_blocks::{BlockStorage, LocalBlockStorage};
    ///
    /// # let home = tempfile::tempdir()?;
    /// let folder = home.path().join("shared");
    /// assert!(LocalBlockStorage::new(&folder).reach(Duration::ZERO).is_err());
    /// LocalBlockStorage::make(&folder)?;
    /// LocalBlockStorage::new(&folder).reach(Duration::ZERO)?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn make(base: impl Into<PathBuf>) -> Result<Self> {
        let storage = Self::new(base);
        storage.make_place()?;
        Ok(storage)
    }

    /// An error unless the folder is known to be one for blocks. An empty one may be that of a disk that is not mounted.
    fn check_place(&self) -> Result<()> {
        let base = self.base.display();
        let offline = |message: String| Err(Error::new(ErrorKind::Offline, message));
        match fs::metadata(&self.base) {
            Err(cause) if cause.kind() == io::ErrorKind::NotFound => offline(format!(
                "the folder {base} is not there: mount its disk, correct the path, or make a new storage there ({CREATE})"
            )),
            Err(cause) => {
                offline(format!("{base} cannot be reached: {cause}; see whether its disk is there"))
            }
            Ok(found) if !found.is_dir() => {
                offline(format!("{base} cannot be reached: it is not a folder; correct the path"))
            }
            Ok(_) if self.is_marked() => Ok(()),
            Ok(_) => offline(format!(
                "the folder {base} has no sessions and is not marked as a storage: mount its disk, correct the path, or make it one ({CREATE})"
            )),
        }
    }

    /// True if the folder has the mark, or the folder of a user that blocks were stored for.
    fn is_marked(&self) -> bool {
        let is_used = |folder: &(String, PathBuf)| folder.1.join(LOCK).is_file();
        self.base.join(MARK).exists() || folders(&self.base).is_ok_and(|found| found.iter().any(is_used))
    }

    /// The folder of a session, in whatever project it is.
    fn folder(&self, key: &Key) -> Result<Option<PathBuf>> {
        let found =
            folders(&self.base.join(key.user()))?.into_iter().map(|(_, project)| project.join(key.session()));
        Ok(found.into_iter().find(|folder| folder.join(BLOCKS).is_file()))
    }

    /// The folder of a session that is begun with this block. Of two that begin it at once, in different projects, one is first.
    fn begin(&self, key: &Key, first: &Block, watch: &Watch<'_>) -> Result<PathBuf> {
        self.check_place()?;
        let home = self.base.join(key.user());
        make(&home)?;
        let _one = lock_file(opened(&home.join(LOCK))?, &home, watch)?;
        if let Some(folder) = self.folder(key)? {
            return Ok(folder);
        }
        let told: Description = first.data().unwrap_or_default();
        let project = told.project_slug.filter(|slug| is_name(slug));
        let folder = home.join(project.unwrap_or_else(|| "default".to_owned())).join(key.session());
        make(&folder)?;
        opened(&folder.join(BLOCKS))?;
        Ok(folder)
    }

    /// The file of a session's blocks, which is begun with this one where there is none, and locked. The lock is that of a file, as some
    /// disks that machines share know none of folders.
    fn begun(&self, key: &Key, first: &Block, watch: &Watch<'_>) -> Result<Blocks> {
        let known = self.folder(key)?;
        let folder = known.map_or_else(|| self.begin(key, first, watch), Ok)?;
        let path = folder.join(BLOCKS);
        let mut file = lock_file(opened(&path)?, &path, watch)?;
        let failed = |cause| Error::io("write", &path, cause);
        let (last, end) = last(&mut file, &path)?;
        if end.is_cut {
            file.set_len(end.at).map_err(failed)?;
        } else if end.is_open {
            file.write_all(b"\n").map_err(failed)?;
        }
        Ok(Blocks { folder, path, file, head: last.map_or(0, |block| block.sequence) })
    }

    /// Appends blocks under the lock of their file. How many are there now.
    fn append(&self, key: &Key, blocks: &[Block], watch: &Watch<'_>) -> Result<(usize, Option<Created>)> {
        watch.check()?;
        let Some(first) = blocks.first() else { return Ok((0, None)) };
        let Blocks { folder, path, mut file, head } = self.begun(key, first, watch)?;
        let failed = |cause| Error::io("write", &path, cause);
        let (mut text, mut count, mut answer) = (Vec::new(), 0, None);
        for block in blocks {
            if block.sequence <= head {
                answer = Some(self.there(key, block, watch)?);
                if answer == Some(Created::Taken) {
                    break;
                }
            } else if block.sequence == head + 1 + count as u64 - already(blocks, head) {
                answer = Some(Created::New);
                serde_json::to_writer(&mut text, &Written::of(key, block))
                    .map_err(|error| failed(error.into()))?;
                text.push(b'\n');
            } else {
                return Err(gap(block, head));
            }
            count += 1;
        }
        file.write_all(&text).and_then(|()| file.sync_all()).map_err(failed)?;
        let told = blocks.iter().take(count).filter(|block| is_told(block)).collect::<Vec<_>>();
        // What was there already may have been cut off before it was told.
        let is_behind = told.iter().all(|block| block.sequence > head);
        self.describe(key, &folder, (&told, is_behind), watch)?;
        Ok((count, answer))
    }

    /// What stands where a block is to stand.
    fn there(&self, key: &Key, block: &Block, watch: &Watch<'_>) -> Result<Created> {
        let mut answer = Created::Taken;
        let selection =
            Selection { after: block.sequence - 1, until: Some(block.sequence), ..Selection::default() };
        self.read(key, &selection, watch, &mut |there| {
            if there.is_same_as(block) {
                answer = Created::Same;
            }
            Ok(ControlFlow::Break(()))
        })?;
        Ok(answer)
    }

    /// Writes down what blocks tell of the session: behind what was told before, or all of it anew.
    fn describe(
        &self,
        key: &Key,
        folder: &Path,
        (new, is_behind): (&[&Block], bool),
        watch: &Watch<'_>,
    ) -> Result<()> {
        if new.is_empty() {
            return Ok(());
        }
        let path = folder.join(METADATA);
        let known = fs::read(&path).ok().filter(|_| is_behind);
        let known = known.and_then(|text| serde_json::from_slice::<Description>(&text).ok());
        let told = |told: Description, block: &Block| told.then(block.data().unwrap_or_default());
        let told = match known {
            Some(known) => new.iter().fold(known, |all, block| told(all, block)),
            None => self.described(key, watch)?.iter().fold(Description::default(), told),
        };
        let failed = |cause| Error::io("write", &path, cause);
        let mut file = tempfile::NamedTempFile::new_in(folder).map_err(failed)?;
        serde_json::to_writer(&mut file, &told).map_err(|error| failed(error.into()))?;
        file.persist(&path).map_err(|error| failed(error.error))?;
        Ok(())
    }

    fn described(&self, key: &Key, watch: &Watch<'_>) -> Result<Vec<Block>> {
        let types = BlockType::ALL.into_iter().filter(|kind| kind.describes()).collect();
        let selection = Selection { types, ..Selection::default() };
        let mut found = Vec::new();
        self.read(key, &selection, watch, &mut |block| {
            if is_told(&block) {
                found.push(block);
            }
            Ok(ControlFlow::Continue(()))
        })?;
        Ok(found)
    }
}

/// Whether a block says something of its session; a piece of a long one does not.
fn is_told(block: &Block) -> bool {
    block.block_type.describes() && block.parent_block_id.is_none()
}

/// The blocks of a session, locked.
struct Blocks {
    folder: PathBuf,
    path: PathBuf,
    file: File,
    /// The last number.
    head: u64,
}

/// A file that is read and appended to, made where there is none.
fn opened(path: &Path) -> Result<File> {
    let mut options = OpenOptions::new();
    let opened = options.create(true).read(true).append(true).mode(0o600).open(path);
    opened.map_err(|cause| Error::io("open", path, cause))
}

/// Passes over so many lines, unless it is to end. Whether there are so many.
fn skip(file: &mut impl BufRead, lines: u64, watch: &Watch<'_>) -> io::Result<bool> {
    let mut left = lines;
    while left > 0 && watch.check().is_ok() {
        let held = file.fill_buf()?;
        if held.is_empty() {
            return Ok(false);
        }
        let mut passed = held.len();
        for at in memchr::memchr_iter(b'\n', held) {
            left -= 1;
            if left == 0 {
                passed = at + 1;
                break;
            }
        }
        file.consume(passed);
    }
    Ok(true)
}

/// Blocks at the beginning of some that are there already.
fn already(blocks: &[Block], head: u64) -> u64 {
    blocks.iter().take_while(|block| block.sequence <= head).count() as u64
}

fn gap(block: &Block, head: u64) -> Error {
    let message = format!(
        "block {} of session {} cannot be stored: the one before it is not there, the last is {head}",
        block.sequence, block.session_id
    );
    Error::new(ErrorKind::Request, message)
}

/// Whether a text can be the name of a folder.
pub(crate) fn is_name(text: &str) -> bool {
    !text.is_empty() && text.len() <= 255 && !text.starts_with('.') && !text.contains(['/', '\\', '\0'])
}

fn folders(folder: &Path) -> Result<Vec<(String, PathBuf)>> {
    let failed = |cause| Error::io("look into", folder, cause);
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
            && is_name(&name)
            && entry.path().is_dir()
        {
            found.push((name, entry.path()));
        }
    }
    found.sort_unstable();
    Ok(found)
}

/// Where blocks end in their file.
struct End {
    at: u64,
    /// Whether something stands behind that was cut off when it was written.
    is_cut: bool,
    /// Whether the last line has no end yet, which another program may leave out.
    is_open: bool,
}

/// The last block of a file, and where its line ends.
fn last(file: &mut File, path: &Path) -> Result<(Option<Block>, End)> {
    let failed = |cause| Error::io("read", path, cause);
    let len = file.metadata().map_err(failed)?.len();
    let mut span = 64 << 10;
    loop {
        let from = len.saturating_sub(span);
        file.seek(SeekFrom::Start(from)).map_err(failed)?;
        let mut bytes = Vec::new();
        (&*file).take(span).read_to_end(&mut bytes).map_err(failed)?;
        let end = bytes.iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1);
        let (whole, open) = bytes.split_at_checked(end).unwrap_or_default();
        if (end > 0 || from == 0)
            && !open.is_empty()
            && let Ok(block) = serde_json::from_slice(open)
        {
            return Ok((Some(block), End { at: len, is_cut: false, is_open: true }));
        }
        let before = whole.get(..end.saturating_sub(1)).unwrap_or_default();
        let start = before.iter().rposition(|byte| *byte == b'\n').map(|at| at + 1);
        if let Some(start) = start.or_else(|| (from == 0).then_some(0)) {
            let line = whole.get(start..).unwrap_or_default();
            let end = End { at: from + end as u64, is_cut: !open.is_empty(), is_open: false };
            let block = if line.is_empty() { None } else { Some(parsed(line, path)?) };
            return Ok((block, end));
        }
        if span > LONGEST {
            let message = format!(
                "{} has a line that is too long for a block: it was not written by trommel",
                path.display()
            );
            return Err(Error::new(ErrorKind::Corrupt, message));
        }
        span *= 4;
    }
}

/// Whether a line may be a block of one of these types, which then stands in it. Most are passed over unread so.
fn is_named(words: &[Finder<'_>], line: &[u8]) -> bool {
    words.is_empty() || words.iter().any(|word| word.find(line).is_some())
}

/// A block that says that it is of another session was not stored here by anybody.
fn of_session(block: Block, key: &Key, path: &Path) -> Result<Block> {
    if block.session_id == key.session() {
        return Ok(block);
    }
    let message = format!(
        "{} holds block {} of another session: it was copied or changed by hand",
        path.display(),
        block.sequence
    );
    Err(Error::new(ErrorKind::Corrupt, message))
}

fn parsed(line: &[u8], path: &Path) -> Result<Block> {
    serde_json::from_slice(line).map_err(|error| {
        let message = format!(
            "{} holds a line that is no block ({error}): it was changed by hand, or the disk failed",
            path.display()
        );
        Error::new(ErrorKind::Corrupt, message)
    })
}

impl BlockStorage for LocalBlockStorage {
    fn name(&self) -> String {
        format!("the folder {}", self.base.display())
    }

    fn reach(&self, _: Duration) -> Result<()> {
        self.check_place()
    }

    fn make_place(&self) -> Result<()> {
        make(&self.base)?;
        let mark = self.base.join(MARK);
        opened(&mark).and_then(|file| file.sync_all().map_err(|cause| Error::io("write", &mark, cause)))
    }

    fn create(&self, key: &Key, block: &Block, watch: &Watch<'_>) -> Result<Created> {
        let (_, answer) = self.append(key, std::slice::from_ref(block), watch)?;
        Ok(answer.unwrap_or(Created::Taken))
    }

    fn create_all(&self, key: &Key, blocks: &[Block], watch: &Watch<'_>) -> Result<usize> {
        self.append(key, blocks, watch).map(|(count, _)| count)
    }

    fn read(
        &self,
        key: &Key,
        selection: &Selection,
        watch: &Watch<'_>,
        take: &mut dyn FnMut(Block) -> Result<ControlFlow<()>>,
    ) -> Result<()> {
        let Some(folder) = self.folder(key)? else { return Ok(()) };
        let path = folder.join(BLOCKS);
        let failed = |cause| Error::io("read", &path, cause);
        let mut file = BufReader::with_capacity(BLOCK, File::open(&path).map_err(failed)?);
        // A block's number is its line's: those before are not looked at, unless somebody else wrote them in another way.
        let mut is_first = skip(&mut file, selection.after, watch).map_err(failed)?;
        if !is_first {
            file.rewind().map_err(failed)?;
        }
        let words = selection.types.iter().map(|kind| Finder::new(kind.name())).collect::<Vec<_>>();
        let mut line = Vec::new();
        loop {
            watch.check()?;
            line.clear();
            (&mut file).take(LONGEST).read_until(b'\n', &mut line).map_err(failed)?;
            if !line.ends_with(b"\n") {
                let is_more = |last: Option<Block>| last.is_some_and(|last| last.sequence > selection.after);
                if !std::mem::take(&mut is_first) || !is_more(self.head(key, watch)?) {
                    return Ok(());
                }
                file.rewind().map_err(failed)?;
                continue;
            }
            if !is_first && !is_named(&words, &line) {
                continue;
            }
            let block = of_session(parsed(&line, &path)?, key, &path)?;
            if std::mem::take(&mut is_first) && block.sequence != selection.after + 1 {
                file.rewind().map_err(failed)?;
                continue;
            }
            if selection.until.is_some_and(|until| block.sequence > until) {
                return Ok(());
            }
            if selection.takes(&block) && take(block)?.is_break() {
                return Ok(());
            }
        }
    }

    fn head(&self, key: &Key, watch: &Watch<'_>) -> Result<Option<Block>> {
        watch.check()?;
        let Some(folder) = self.folder(key)? else { return Ok(None) };
        let path = folder.join(BLOCKS);
        let mut file = File::open(&path).map_err(|cause| Error::io("open", &path, cause))?;
        let (block, _) = last(&mut file, &path)?;
        block.map(|block| of_session(block, key, &path)).transpose()
    }

    fn sessions(
        &self,
        user: &str,
        watch: &Watch<'_>,
        take: &mut dyn FnMut(Stored) -> Result<ControlFlow<()>>,
    ) -> Result<()> {
        for (_, project) in folders(&self.base.join(user))? {
            for (session, folder) in folders(&project)? {
                watch.check()?;
                if !folder.join(BLOCKS).is_file() {
                    continue;
                }
                // What cannot be a session's name is none.
                let Ok(key) = Key::new(user, &session) else { continue };
                let stored = match self.described(&key, watch) {
                    Err(error) if error.kind() == ErrorKind::Cancelled => return Err(error),
                    Err(error) => Stored::unreadable(key, error),
                    Ok(described) => Stored::new(key, described),
                };
                if take(stored)?.is_break() {
                    return Ok(());
                }
            }
        }
        Ok(())
    }
}
