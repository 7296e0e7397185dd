//! Blocks in a folder: for a disk that several machines share, and for users without a cloud.

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

/// The blocks of a session.
const BLOCKS: &str = "blocks.jsonl";

/// What is known of a session from its blocks.
const METADATA: &str = "metadata.json";

/// What is locked while a session is begun.
const LOCK: &str = ".lock";

/// Bytes that are read at a time.
const BLOCK: usize = 256 << 10;

/// Bytes of a block's line at most.
const LONGEST: u64 = 8 << 20;

/// What marks a folder as one that blocks are kept in.
const MARK: &str = ".trommel-storage";

/// Blocks in a folder, `<base>/<user>/<project>/<session>/blocks.jsonl`, a line each; beside them
/// `metadata.json` says what they tell of the session.
///
/// The folder is only used where it is known to be one for blocks, by a mark or by blocks: see
/// [`make`](Self::make).
///
/// To read on behind a block reads the file from its beginning; its last block is found from its
/// end.
#[derive(Clone, Debug)]
pub struct FolderStorage {
    base: PathBuf,
}

impl FolderStorage {
    /// In this folder. Where it is not one for blocks, it is out of reach.
    pub fn new(base: impl Into<PathBuf>) -> Self {
        Self { base: base.into() }
    }

    /// In this folder, which is made if it is not there, and marked as one for blocks.
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
        storage.make_place()?;
        Ok(storage)
    }

    /// An error unless the folder is known to be one for blocks. An empty one may be that of a disk
    /// that is not mounted.
    fn check_place(&self) -> Result<()> {
        let folder = self.base.clone();
        Err(match fs::metadata(&self.base) {
            Err(cause) if cause.kind() == io::ErrorKind::NotFound => FolderFault::Missing { folder }.into(),
            Err(cause) => FolderFault::Unreachable { folder, cause }.into(),
            Ok(found) if !found.is_dir() => FolderFault::NotAFolder { path: folder }.into(),
            Ok(_) if self.is_marked() => return Ok(()),
            Ok(_) => FolderFault::Unmarked { folder }.into(),
        })
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

    /// The folder of a session that is begun with this block. Of two that begin it at once, in
    /// different projects, one is first.
    fn begin(&self, key: &Key, first: &Block, watch: &Watch<'_>) -> Result<PathBuf> {
        self.check_place()?;
        let home = self.base.join(key.user());
        files::make_folder(&home)?;
        let _one = lock(opened(&home.join(LOCK))?, &home, watch)?;
        if let Some(folder) = self.folder(key)? {
            return Ok(folder);
        }
        // A first block that does not describe the session, as other programs write it, names no
        // project.
        let description: Description = first.data().unwrap_or_default();
        let folder = home.join(description.project_folder()).join(key.session());
        files::make_folder(&folder)?;
        opened(&folder.join(BLOCKS))?;
        Ok(folder)
    }

    /// The file of a session's blocks, which is begun with this one where there is none, and
    /// locked. The lock is that of a file, as some disks that machines share know none of folders.
    fn begun(&self, key: &Key, first: &Block, watch: &Watch<'_>) -> Result<Blocks> {
        let known = self.folder(key)?;
        let folder = known.map_or_else(|| self.begin(key, first, watch), Ok)?;
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

    /// Appends blocks under the lock of their file. How many are there now.
    fn append(&self, key: &Key, blocks: &[Block], watch: &Watch<'_>) -> Result<(usize, Option<Created>)> {
        watch.check()?;
        let Some(first) = blocks.first() else { return Ok((0, None)) };
        let Blocks { folder, path, mut file, head } = self.begun(key, first, watch)?;
        let (mut text, mut count, mut answer) = (Vec::new(), 0, None);
        for block in blocks {
            if block.sequence <= head {
                answer = Some(self.there(key, block, watch)?);
                if answer == Some(Created::Taken) {
                    break;
                }
            } else if block.sequence == head + 1 + count as u64 - already(blocks, head) {
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
        let told = blocks.iter().take(count).filter(|block| is_told(block)).collect::<Vec<_>>();
        // What was there already may have been cut off before it was told.
        let is_behind = told.iter().all(|block| block.sequence > head);
        self.describe(key, &folder, &Described { blocks: &told, is_behind }, watch)?;
        Ok((count, answer))
    }

    /// What stands where a block is to stand.
    fn there(&self, key: &Key, block: &Block, watch: &Watch<'_>) -> Result<Created> {
        let mut answer = Created::Taken;
        let selection = Selection::range(block.sequence - 1, block.sequence);
        self.read(key, &selection, watch, &mut |there| {
            if there.is_same_as(block) {
                answer = Created::Same;
            }
            Ok(ControlFlow::Break(()))
        })?;
        Ok(answer)
    }

    /// Writes down what blocks tell of the session: behind what was told before, or all of it anew.
    fn describe(&self, key: &Key, folder: &Path, new: &Described<'_>, watch: &Watch<'_>) -> Result<()> {
        if new.blocks.is_empty() {
            return Ok(());
        }
        let path = folder.join(METADATA);
        // One that is damaged, or that another program wrote, is written again from all blocks.
        let known = if new.is_behind { fs::read(&path).ok() } else { None };
        let known = known.and_then(|text| serde_json::from_slice::<Description>(&text).ok());
        // A block that another program wrote may describe nothing.
        let told = |told: Description, block: &Block| told.then(block.data().unwrap_or_default());
        let told = match known {
            Some(known) => new.blocks.iter().fold(known, |all, block| told(all, block)),
            None => self.described(key, watch)?.iter().fold(Description::default(), told),
        };
        let mut file = files::attempt(Op::Create, &path, || tempfile::NamedTempFile::new_in(folder))?;
        files::attempt(Op::Write, &path, || Ok(serde_json::to_writer(&mut file, &told)?))?;
        files::attempt(Op::Rename, &path, || Ok(file.persist(&path)?))?;
        Ok(())
    }

    fn described(&self, key: &Key, watch: &Watch<'_>) -> Result<Vec<Block>> {
        let types = BlockType::ALL.into_iter().filter(|kind| kind.describes()).collect();
        let selection = Selection::of_types(types);
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

/// Blocks that describe a session.
struct Described<'b> {
    blocks: &'b [&'b Block],
    /// True if none of them was stored before.
    is_behind: bool,
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
    let open = || OpenOptions::new().create(true).read(true).append(true).mode(0o600).open(path);
    Ok(files::attempt(Op::Open, path, open)?)
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
    let (sequence, session) = (block.sequence, block.session_id.clone());
    FolderFault::Gap { sequence, session, head }.into()
}

/// The folders in a folder, and their names, sorted; hidden ones are left out.
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
        if span > LONGEST {
            return Err(FolderFault::LongLine { path: path.to_owned() }.into());
        }
        span *= 4;
    }
}

/// Whether a line may be a block of one of these types, which then stands in it. Most are passed
/// over unread so.
fn is_named(words: &[Finder<'_>], line: &[u8]) -> bool {
    words.is_empty() || words.iter().any(|word| word.find(line).is_some())
}

/// A block that says that it is of another session was not stored here by anybody.
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
        self.check_place()
    }

    fn make_place(&self) -> Result<()> {
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
        // A block's number is its line's: those before are not looked at, unless somebody else
        // wrote them in another way.
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
                // What cannot be a session's name is none.
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
