//! Blocks in a folder, for a disk that several machines share or for users without a cloud.

mod fault;

use std::fs::{self, File, OpenOptions};
use std::io::{self, BufRead, BufReader, Read, Seek, SeekFrom};
use std::ops::ControlFlow;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use memchr::memmem::Finder;
use trommel_base::files::{self, Op};
use trommel_blocks::data::Description;
use trommel_blocks::{
    Block, BlockDocument, BlockStorage, BlockType, Created, Error, ErrorClass, ErrorKind, Key, Result,
    Selection, Stored, lock,
};
use trommel_session::Watch;

pub use fault::FolderFault;

/// The file of a session's blocks.
const BLOCKS: &str = "blocks.jsonl";

/// The file of a session's description, derived from its blocks.
const METADATA: &str = "metadata.json";

/// The file that is locked while a session is created.
const LOCK: &str = ".lock";

/// Bytes read at a time.
const BLOCK: usize = 256 << 10;

/// Maximum length of a block's line, in bytes.
const MAX_LINE: u64 = 8 << 20;

/// The file that marks a folder as a storage.
const MARK: &str = ".trommel-storage";

/// Blocks in a folder, `<base>/<user>/<project>/<session>/blocks.jsonl`, one per line. The file
/// `metadata.json` next to them has the session's description.
///
/// The folder is used only if it is a storage, which its mark or its blocks show: see
/// [`make`](Self::make).
///
/// Reading from a block on reads the file from its start; the last block is found from its end.
#[derive(Clone, Debug)]
pub struct FolderStorage {
    base: PathBuf,
}

impl FolderStorage {
    /// A storage in this folder. It is unreachable unless the folder is a storage.
    pub fn new(base: impl Into<PathBuf>) -> Self {
        Self { base: base.into() }
    }

    /// Creates the folder if it is missing, and marks it as a storage.
    ///
    /// ```
    /// use std::time::Duration;
    /// use trommel_blocks::BlockStorage;
    /// use trommel_storage::FolderStorage;
    ///
    /// # let home = tempfile::tempdir()?;
    /// let folder = home.path().join("shared");
    /// assert!(FolderStorage::new(&folder).reach(Duration::ZERO).is_err());
    /// FolderStorage::make(&folder)?;
    /// FolderStorage::new(&folder).reach(Duration::ZERO)?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn make(base: impl Into<PathBuf>) -> Result<Self> {
        let storage = Self::new(base);
        storage.create_root()?;
        Ok(storage)
    }

    /// Fails unless the folder is a storage. An empty folder may be the mount point of a disk.
    fn check_root(&self) -> Result<()> {
        let folder = self.base.clone();
        Err(match fs::metadata(&self.base) {
            Err(cause) if cause.kind() == io::ErrorKind::NotFound => FolderFault::Missing { folder }.into(),
            Err(cause) => FolderFault::Unreachable { folder, cause }.into(),
            Ok(found) if !found.is_dir() => FolderFault::NotAFolder { path: folder }.into(),
            Ok(_) if self.is_marked() => return Ok(()),
            Ok(_) => FolderFault::Unmarked { folder }.into(),
        })
    }

    /// True if the folder is marked, or has the folder of a user.
    fn is_marked(&self) -> bool {
        let is_used = |folder: &(String, PathBuf)| folder.1.join(LOCK).is_file();
        self.base.join(MARK).exists() || folders(&self.base).is_ok_and(|found| found.iter().any(is_used))
    }

    /// The folder of a session, in any project.
    fn folder(&self, key: &Key) -> Result<Option<PathBuf>> {
        let found =
            folders(&self.base.join(key.user()))?.into_iter().map(|(_, project)| project.join(key.session()));
        Ok(found.into_iter().find(|folder| folder.join(BLOCKS).is_file()))
    }

    /// Creates the folder of a session whose first block this is. If two processes create it at
    /// once in different projects, the first one wins.
    fn create_folder(&self, key: &Key, first: &Block, watch: &Watch<'_>) -> Result<PathBuf> {
        self.check_root()?;
        let home = self.base.join(key.user());
        files::make_folder(&home)?;
        let _guard = lock(opened(&home.join(LOCK))?, &home, watch)?;
        if let Some(folder) = self.folder(key)? {
            return Ok(folder);
        }
        // A first block of other programs may describe nothing, and so name no project.
        let description: Description = first.data().unwrap_or_default();
        let folder = home.join(description.project_folder()).join(key.session());
        files::make_folder(&folder)?;
        opened(&folder.join(BLOCKS))?;
        Ok(folder)
    }

    /// Opens and locks the file of a session's blocks, and creates it if it is missing. The lock is
    /// on a file, because some shared disks cannot lock folders.
    fn open_blocks(&self, key: &Key, first: &Block, watch: &Watch<'_>) -> Result<Blocks> {
        let known = self.folder(key)?;
        let folder = known.map_or_else(|| self.create_folder(key, first, watch), Ok)?;
        let path = folder.join(BLOCKS);
        let mut file = lock(opened(&path)?, &path, watch)?;
        let (last, end) = last(&mut file, &path)?;
        if end.is_cut {
            files::truncate(&file, &path, end.at)?;
        } else if end.is_open {
            files::write(&mut file, &path, b"\n")?;
        }
        Ok(Blocks { folder, path, file, head: last.map_or(0, |block| block.sequence) })
    }

    /// Appends blocks while holding the lock of their file. Returns the number of blocks that exist
    /// now.
    fn append(&self, key: &Key, blocks: &[Block], watch: &Watch<'_>) -> Result<(usize, Option<Created>)> {
        watch.check()?;
        let Some(first) = blocks.first() else { return Ok((0, None)) };
        let Blocks { folder, path, mut file, head } = self.open_blocks(key, first, watch)?;
        let (mut text, mut count, mut answer) = (Vec::new(), 0, None);
        for block in blocks {
            if block.sequence <= head {
                answer = Some(self.compare_existing(key, block, watch)?);
                if answer == Some(Created::Taken) {
                    break;
                }
            } else if block.sequence == head + 1 + count as u64 - existing_count(blocks, head) {
                answer = Some(Created::New);
                serde_json::to_writer(&mut text, &BlockDocument::new(key, block))
                    .map_err(ErrorKind::Unwritable)?;
                text.push(b'\n');
            } else {
                return Err(gap(block, head));
            }
            count += 1;
        }
        files::write(&mut file, &path, &text)?;
        files::sync(&file, &path)?;
        let descriptions =
            blocks.iter().take(count).filter(|block| is_description(block)).collect::<Vec<_>>();
        // Existing blocks may be from a write that was interrupted before the description was
        // updated.
        let is_new = descriptions.iter().all(|block| block.sequence > head);
        self.describe(key, &folder, &Described { blocks: &descriptions, is_new }, watch)?;
        Ok((count, answer))
    }

    /// Compares a block with the existing one of its number.
    fn compare_existing(&self, key: &Key, block: &Block, watch: &Watch<'_>) -> Result<Created> {
        let mut answer = Created::Taken;
        let selection = Selection::range(block.sequence - 1, block.sequence);
        self.read(key, &selection, watch, &mut |existing| {
            if existing.is_same_as(block) {
                answer = Created::Same;
            }
            Ok(ControlFlow::Break(()))
        })?;
        Ok(answer)
    }

    /// Updates the description of a session: from the new blocks, or from all of them.
    fn describe(&self, key: &Key, folder: &Path, new: &Described<'_>, watch: &Watch<'_>) -> Result<()> {
        if new.blocks.is_empty() {
            return Ok(());
        }
        let path = folder.join(METADATA);
        // A damaged description, or one of another program, is rebuilt from all blocks.
        let known = if new.is_new { fs::read(&path).ok() } else { None };
        let known = known.and_then(|text| serde_json::from_slice::<Description>(&text).ok());
        // A block of another program may describe nothing.
        let merge =
            |description: Description, block: &Block| description.then(block.data().unwrap_or_default());
        let description = match known {
            Some(known) => new.blocks.iter().fold(known, |all, block| merge(all, block)),
            None => self.described(key, watch)?.iter().fold(Description::default(), merge),
        };
        let mut file = files::attempt(Op::Create, &path, || tempfile::NamedTempFile::new_in(folder))?;
        files::attempt(Op::Write, &path, || Ok(serde_json::to_writer(&mut file, &description)?))?;
        files::attempt(Op::Rename, &path, || Ok(file.persist(&path)?))?;
        Ok(())
    }

    fn described(&self, key: &Key, watch: &Watch<'_>) -> Result<Vec<Block>> {
        let types = BlockType::ALL.into_iter().filter(|kind| kind.describes()).collect();
        let selection = Selection::of_types(types);
        let mut found = Vec::new();
        self.read(key, &selection, watch, &mut |block| {
            if is_description(&block) {
                found.push(block);
            }
            Ok(ControlFlow::Continue(()))
        })?;
        Ok(found)
    }
}

/// True if a block describes its session; a piece of a long one does not.
fn is_description(block: &Block) -> bool {
    block.block_type.describes() && block.parent_block_id.is_none()
}

/// Blocks that describe a session.
struct Described<'b> {
    blocks: &'b [&'b Block],
    /// True if none of them was stored before.
    is_new: bool,
}

/// The blocks of a session, locked.
struct Blocks {
    folder: PathBuf,
    path: PathBuf,
    file: File,
    /// The number of the last block.
    head: u64,
}

/// Opens a file for reading and appending, and creates it if it is missing.
fn opened(path: &Path) -> Result<File> {
    let open = || OpenOptions::new().create(true).read(true).append(true).mode(0o600).open(path);
    Ok(files::attempt(Op::Open, path, open)?)
}

/// Skips lines, unless cancelled. Returns false if there are fewer.
fn skip(file: &mut impl BufRead, lines: u64, watch: &Watch<'_>) -> io::Result<bool> {
    let mut left = lines;
    while left > 0 && watch.check().is_ok() {
        let held = file.fill_buf()?;
        if held.is_empty() {
            return Ok(false);
        }
        let mut skipped = held.len();
        for at in memchr::memchr_iter(b'\n', held) {
            left -= 1;
            if left == 0 {
                skipped = at + 1;
                break;
            }
        }
        file.consume(skipped);
    }
    Ok(true)
}

/// The number of blocks at the start that exist already.
fn existing_count(blocks: &[Block], head: u64) -> u64 {
    blocks.iter().take_while(|block| block.sequence <= head).count() as u64
}

fn gap(block: &Block, head: u64) -> Error {
    let (sequence, session) = (block.sequence, block.session_id.clone());
    FolderFault::Gap { sequence, session, head }.into()
}

/// The subfolders of a folder with their names, sorted and without hidden ones.
fn folders(folder: &Path) -> Result<Vec<(String, PathBuf)>> {
    let names = match files::names(folder) {
        Err(error) if error.cause().kind() == io::ErrorKind::NotADirectory => return Ok(Vec::new()),
        names => names?,
    };
    let shown = names.into_iter().filter(|name| !name.starts_with('.') && !name.contains('\\'));
    let paths = shown.map(|name| {
        let path = folder.join(&name);
        (name, path)
    });
    Ok(paths.filter(|(_, path)| path.is_dir()).collect())
}

/// The end of the blocks in their file.
struct End {
    at: u64,
    /// True if the remains of an interrupted write follow.
    is_cut: bool,
    /// True if the last line has no end, which other programs may omit.
    is_open: bool,
}

/// The last block of a file, and the end of its line.
fn last(file: &mut File, path: &Path) -> Result<(Option<Block>, End)> {
    let len = files::attempt(Op::Inspect, path, || file.metadata())?.len();
    let mut span = 64 << 10;
    loop {
        let from = len.saturating_sub(span);
        let mut bytes = Vec::new();
        files::attempt(Op::Read, path, || {
            file.seek(SeekFrom::Start(from))?;
            (&*file).take(span).read_to_end(&mut bytes)
        })?;
        let end = memchr::memrchr(b'\n', &bytes).map_or(0, |at| at + 1);
        let (whole, open) = bytes.split_at(end);
        if (end > 0 || from == 0)
            && !open.is_empty()
            && let Ok(block) = serde_json::from_slice(open)
        {
            return Ok((Some(block), End { at: len, is_cut: false, is_open: true }));
        }
        let before = &whole[..end.saturating_sub(1)];
        let start = memchr::memrchr(b'\n', before).map(|at| at + 1);
        if let Some(start) = start.or_else(|| (from == 0).then_some(0)) {
            let line = &whole[start..];
            let end = End { at: from + end as u64, is_cut: !open.is_empty(), is_open: false };
            let block = if line.is_empty() { None } else { Some(parsed(line, path)?) };
            return Ok((block, end));
        }
        if span > MAX_LINE {
            return Err(FolderFault::LongLine { path: path.to_owned() }.into());
        }
        span *= 4;
    }
}

/// Finds the lines that may be blocks of the selected types, without parsing them.
struct TypeFilter<'s> {
    types: &'s [BlockType],
    /// The name of the type's member as this program writes it, and of the member after it.
    before: Finder<'static>,
    after: Finder<'static>,
}

impl<'s> TypeFilter<'s> {
    fn new(types: &'s [BlockType]) -> Self {
        Self { types, before: Finder::new("\"block_type\":\""), after: Finder::new("\"data\":") }
    }

    /// True unless the line is a block of another type. No string contains these names as they are
    /// searched, because its quotes are escaped; members of the data are excluded by their place.
    /// A line that other programs wrote differently is accepted.
    fn accepts(&self, line: &[u8]) -> bool {
        if self.types.is_empty() {
            return true;
        }
        let head = self.after.find(line).and_then(|end| line.get(..end));
        let named = head.and_then(|head| head.get(self.before.find(head)? + self.before.needle().len()..));
        let name = named.and_then(|named| named.get(..memchr::memchr(b'"', named)?));
        name.is_none_or(|name| self.types.iter().any(|kind| kind.name().as_bytes() == name))
    }
}

/// Refuses a block of another session, which no program stored here.
fn of_session(block: Block, key: &Key, path: &Path) -> Result<Block> {
    if block.session_id == key.session() {
        return Ok(block);
    }
    Err(FolderFault::ForeignBlock { path: path.to_owned(), sequence: block.sequence }.into())
}

fn parsed(line: &[u8], path: &Path) -> Result<Block> {
    serde_json::from_slice(line)
        .map_err(|cause| FolderFault::Malformed { path: path.to_owned(), cause }.into())
}

impl BlockStorage for FolderStorage {
    fn name(&self) -> String {
        format!("the folder {}", self.base.display())
    }

    fn reach(&self, _: Duration) -> Result<()> {
        self.check_root()
    }

    fn create_root(&self) -> Result<()> {
        files::make_folder(&self.base)?;
        let mark = self.base.join(MARK);
        Ok(files::sync(&opened(&mark)?, &mark)?)
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
        let failed = |cause| files::Error::new(Op::Read, &path, cause);
        let mut file = BufReader::with_capacity(BLOCK, files::open(&path)?);
        // The number of a block is the number of its line, so earlier lines are skipped unread,
        // unless another program numbered them differently.
        let mut is_first = skip(&mut file, selection.after, watch).map_err(failed)?;
        if !is_first {
            file.rewind().map_err(failed)?;
        }
        let filter = TypeFilter::new(&selection.types);
        let mut line = Vec::new();
        loop {
            watch.check()?;
            line.clear();
            (&mut file).take(MAX_LINE).read_until(b'\n', &mut line).map_err(failed)?;
            if !line.ends_with(b"\n") {
                let is_more = |last: Option<Block>| last.is_some_and(|last| last.sequence > selection.after);
                if !std::mem::take(&mut is_first) || !is_more(self.head(key, watch)?) {
                    return Ok(());
                }
                file.rewind().map_err(failed)?;
                continue;
            }
            if !is_first && !filter.accepts(&line) {
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
        let mut file = files::open(&path)?;
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
                // Folders whose name is not valid are no sessions.
                let Ok(key) = Key::new(user, &session) else { continue };
                let stored = match self.described(&key, watch) {
                    Err(error) if error.class() == ErrorClass::Cancelled => return Err(error),
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_other_types_are_skipped_and_unfamiliar_lines_are_parsed() {
        let types = [BlockType::Event, BlockType::Rewind];
        let filter = TypeFilter::new(&types);
        let accepts = |line: &str| filter.accepts(line.as_bytes());
        assert!(accepts(r#"{"id":"a","block_type":"event","data":{"line":"x"}}"#));
        assert!(accepts(r#"{"id":"a","block_type":"rewind","data":{}}"#));
        assert!(!accepts(
            r#"{"id":"a","block_type":"event_data","data":{"chunk_data":"{\"block_type\":\"event\""}}"#
        ));
        assert!(!accepts(r#"{"id":"a","block_type":"message","data":{"block_type":"event"}}"#));
        // Another order or format, and no type at all.
        assert!(accepts(r#"{"data":{"block_type":"message"},"block_type":"event"}"#));
        assert!(accepts(r#"{"block_type": "message", "data": {}}"#));
        assert!(accepts(r#"{"block_type":"message"}"#));
        assert!(accepts("{"));
        assert!(TypeFilter::new(&[]).accepts(br#"{"block_type":"message","data":{}}"#));
    }
}
