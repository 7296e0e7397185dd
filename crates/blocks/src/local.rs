//! Blocks in a folder: for a disk that several machines share, and for whoever has no cloud.

use std::fs::{self, File, OpenOptions};
use std::io::{self, BufRead, BufReader, Read, Seek, SeekFrom, Write};
use std::ops::ControlFlow;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use trommel_session::Watch;

use crate::block::{Block, BlockType};
use crate::data::Description;
use crate::error::{Error, ErrorKind, Result};
use crate::landing::lock;
use crate::lines::BLOCK;
use crate::storage::{BlockStorage, Created, Key, Selection, Stored};

/// The blocks of a session.
const BLOCKS: &str = "blocks.jsonl";

/// What is known of a session from its blocks.
const METADATA: &str = "metadata.json";

/// Bytes of a block's line at most.
const LONGEST: u64 = 8 << 20;

/// Blocks in a folder, `<base>/<user>/<project>/<session>/blocks.jsonl`, a line each; beside them `metadata.json` says what they tell of
/// the session.
///
/// To read on behind a block reads the file from its beginning; its last block is found from its end.
#[derive(Clone, Debug)]
pub struct LocalBlockStorage {
    base: PathBuf,
}

impl LocalBlockStorage {
    /// In this folder, which is made when something is stored.
    pub fn new(base: impl Into<PathBuf>) -> Self {
        Self { base: base.into() }
    }

    /// The folder of a session, in whatever project it is.
    fn folder(&self, key: &Key) -> Result<Option<PathBuf>> {
        let found =
            folders(&self.base.join(key.user()))?.into_iter().map(|(_, project)| project.join(key.session()));
        Ok(found.into_iter().find(|folder| folder.join(BLOCKS).is_file()))
    }

    /// The folder of a session that is begun with this block.
    fn begun(&self, key: &Key, block: &Block) -> Result<PathBuf> {
        let told: Description = block.data().unwrap_or_default();
        let project = told.project_slug.filter(|slug| is_name(slug)).unwrap_or_else(|| "default".to_owned());
        let folder = self.base.join(key.user()).join(project).join(key.session());
        fs::create_dir_all(&folder).map_err(|cause| Error::io("make", &folder, cause))?;
        Ok(folder)
    }

    /// Appends blocks under the folder's lock. How many are there now.
    fn append(&self, key: &Key, blocks: &[Block], watch: &Watch<'_>) -> Result<(usize, Option<Created>)> {
        watch.check()?;
        let Some(first) = blocks.first() else { return Ok((0, None)) };
        let folder = match self.folder(key)? {
            Some(folder) => folder,
            None => self.begun(key, first)?,
        };
        let _lock = lock(&folder, watch)?;
        let path = folder.join(BLOCKS);
        let failed = |cause| Error::io("write", &path, cause);
        let mut file = OpenOptions::new()
            .create(true)
            .read(true)
            .append(true)
            .mode(0o600)
            .open(&path)
            .map_err(failed)?;
        let (last, end) = last(&mut file, &path)?;
        file.set_len(end).map_err(failed)?;
        let head = last.map_or(0, |block| block.sequence);
        let (mut text, mut count, mut answer) = (Vec::new(), 0, None);
        for block in blocks {
            if block.sequence <= head {
                answer = Some(self.there(key, block)?);
                if answer == Some(Created::Taken) {
                    break;
                }
            } else if block.sequence == head + 1 + count as u64 - already(blocks, head) {
                answer = Some(Created::New);
                serde_json::to_writer(&mut text, block).map_err(|error| failed(error.into()))?;
                text.push(b'\n');
            } else {
                return Err(gap(block, head));
            }
            count += 1;
        }
        file.write_all(&text).and_then(|()| file.sync_all()).map_err(failed)?;
        if blocks.iter().take(count).any(|block| block.block_type.describes()) {
            self.describe(key, &folder)?;
        }
        Ok((count, answer))
    }

    /// What stands where a block is to stand.
    fn there(&self, key: &Key, block: &Block) -> Result<Created> {
        let mut answer = Created::Taken;
        let selection =
            Selection { after: block.sequence - 1, until: Some(block.sequence), ..Selection::default() };
        self.read(key, &selection, &Watch::new(), &mut |there| {
            if there.is_same_as(block) {
                answer = Created::Same;
            }
            Ok(ControlFlow::Break(()))
        })?;
        Ok(answer)
    }

    /// Writes down what the blocks tell of the session.
    fn describe(&self, key: &Key, folder: &Path) -> Result<()> {
        let mut told = Description::default();
        for block in self.described(key)? {
            told = told.then(block.data().unwrap_or_default());
        }
        let path = folder.join(METADATA);
        let failed = |cause| Error::io("write", &path, cause);
        let mut file = tempfile::NamedTempFile::new_in(folder).map_err(failed)?;
        serde_json::to_writer(&mut file, &told).map_err(|error| failed(error.into()))?;
        file.persist(&path).map_err(|error| failed(error.error))?;
        Ok(())
    }

    fn described(&self, key: &Key) -> Result<Vec<Block>> {
        let types = BlockType::ALL.into_iter().filter(|kind| kind.describes()).collect();
        let selection = Selection { types, ..Selection::default() };
        let mut found = Vec::new();
        self.read(key, &selection, &Watch::new(), &mut |block| {
            if block.parent_block_id.is_none() {
                found.push(block);
            }
            Ok(ControlFlow::Continue(()))
        })?;
        Ok(found)
    }
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

/// The last block of a file, and where its line ends. What stands behind was cut off when it was written.
fn last(file: &mut File, path: &Path) -> Result<(Option<Block>, u64)> {
    let failed = |cause| Error::io("read", path, cause);
    let len = file.metadata().map_err(failed)?.len();
    let mut span = 64 << 10;
    loop {
        let from = len.saturating_sub(span);
        file.seek(SeekFrom::Start(from)).map_err(failed)?;
        let mut bytes = Vec::new();
        file.take(span).read_to_end(&mut bytes).map_err(failed)?;
        let end = bytes.iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1);
        let whole = bytes.get(..end).unwrap_or_default();
        let before = whole.get(..end.saturating_sub(1)).unwrap_or_default();
        let start = before.iter().rposition(|byte| *byte == b'\n').map(|at| at + 1);
        if let Some(start) = start.or_else(|| (from == 0).then_some(0)) {
            let line = whole.get(start..).unwrap_or_default();
            if line.is_empty() {
                return Ok((None, 0));
            }
            return Ok((Some(parsed(line, path)?), from + end as u64));
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
        let failed = |cause| {
            let message =
                format!("{} cannot be reached: {cause}; see whether its disk is there", self.base.display());
            Err(Error::new(ErrorKind::Offline, message))
        };
        match fs::metadata(&self.base) {
            // It is made when something is stored, where there is a disk to make it on.
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                match self.base.parent().map(fs::metadata) {
                    Some(Ok(_)) | None => Ok(()),
                    Some(Err(cause)) => failed(cause),
                }
            }
            Err(cause) => failed(cause),
            Ok(found) if !found.is_dir() => failed(io::ErrorKind::NotADirectory.into()),
            Ok(_) => Ok(()),
        }
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
            let block = parsed(&line, &path)?;
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
        last(&mut file, &path).map(|(block, _)| block)
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
                let key = Key::new(user, &session)?;
                let described = self.described(&key)?;
                if take(Stored::new(key, described))?.is_break() {
                    return Ok(());
                }
            }
        }
        Ok(())
    }
}
