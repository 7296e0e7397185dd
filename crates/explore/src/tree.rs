//! The tree: which containers are expanded, and the visible rows, found from pages of children.
//!
//! A [`TreePath`] is the number of the child at each level below the root. Nothing is known about
//! rows that are not visible. A lookup that needs an unread page ends with that [`Need`], and is
//! repeated once the page was read.

use std::cell::RefCell;
use std::collections::{HashMap, HashSet};

use trommel::reader::Kind;

use crate::list::{PAGE, Page, Row};
use crate::source::{Holder, Node};

/// Bytes of pages in memory. Pages on the screen are kept in any case.
const MAX_BYTES: usize = 24 << 20;

/// Paths of expanded containers; the oldest ones are forgotten.
const MAX_EXPANDED: usize = 10_000;

pub(crate) type TreePath = Vec<u64>;

/// The data that a lookup lacks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Need {
    /// The page with this number.
    Page(Holder, u64),
    /// The number of children.
    Count(Holder),
}

pub(crate) type Lookup<T> = Result<T, Need>;

/// Pages that were read, and numbers of children.
#[derive(Debug, Default)]
pub(crate) struct Cache {
    pages: HashMap<(Holder, u64), (u64, Page)>,
    counts: HashMap<Holder, u64>,
    clock: u64,
    /// The time at which the screen was used last.
    screen: u64,
    bytes: usize,
    /// Changes with every change of the pages.
    version: u64,
}

/// The path that was looked up last, and the containers around it, the root first.
#[derive(Debug, Default)]
struct LastLookup {
    version: u64,
    path: TreePath,
    holders: Vec<Holder>,
}

impl Cache {
    fn page(&self, holder: Holder, number: u64) -> Lookup<&Page> {
        self.pages.get(&(holder, number)).map(|(_, page)| page).ok_or(Need::Page(holder, number))
    }

    /// The row with an index; `None` after the last one.
    pub(crate) fn row(&self, holder: Holder, index: u64) -> Lookup<Option<&Row>> {
        if self.counts.get(&holder).is_some_and(|count| index >= *count) {
            return Ok(None);
        }
        let page = self.page(holder, index / PAGE)?;
        match page.rows.get((index % PAGE) as usize) {
            None if page.is_partial => Err(Need::Page(holder, index / PAGE)),
            row => Ok(row),
        }
    }

    pub(crate) fn known_count(&self, holder: Holder) -> Option<u64> {
        self.counts.get(&holder).copied()
    }

    /// The error that ends the rows, if they end before the one with this index.
    pub(crate) fn error_before(&self, holder: Holder, index: u64) -> Option<&str> {
        let number = index.saturating_sub(1) / PAGE;
        let page = self.page(holder, number).ok()?;
        let is_end = number * PAGE + page.rows.len() as u64 == index;
        if is_end { page.error.as_deref() } else { None }
    }

    pub(crate) fn insert(&mut self, holder: Holder, number: u64, page: Page) {
        if let Some(count) = page.count {
            self.counts.insert(holder, count);
        }
        self.clock += 1;
        self.version += 1;
        self.bytes += page.bytes();
        if let Some((_, earlier)) = self.pages.insert((holder, number), (self.clock, page)) {
            self.bytes -= earlier.bytes();
        }
        if self.bytes > MAX_BYTES {
            self.evict();
        }
    }

    /// Drops the pages that are not on the screen. They are read again if they are needed.
    fn evict(&mut self) {
        let (screen, bytes) = (self.screen, &mut self.bytes);
        self.pages.retain(|_, (used, page)| {
            let is_kept = *used >= screen;
            *bytes -= if is_kept { 0 } else { page.bytes() };
            is_kept
        });
    }

    /// The pages that are used from now on are on the screen.
    pub(crate) fn begin_screen(&mut self) {
        self.clock += 1;
        self.screen = self.clock;
    }

    /// Keeps the page of a row that is on the screen.
    pub(crate) fn touch(&mut self, holder: Holder, index: u64) {
        if let Some((used, _)) = self.pages.get_mut(&(holder, index / PAGE)) {
            *used = self.clock;
        }
    }

    pub(crate) fn set_count(&mut self, holder: Holder, count: u64) {
        self.counts.insert(holder, count);
    }

    /// Forgets the end of the records, which has moved.
    pub(crate) fn forget_end(&mut self, holder: Holder) {
        self.counts.remove(&holder);
        self.version += 1;
        let bytes = &mut self.bytes;
        self.pages.retain(|(of, _), (_, page)| {
            let is_kept = *of != holder || page.count.is_none();
            *bytes -= if is_kept { 0 } else { page.bytes() };
            is_kept
        });
    }

    pub(crate) fn clear(&mut self) {
        (self.pages, self.counts, self.bytes) = (HashMap::new(), HashMap::new(), 0);
        self.version += 1;
    }
}

/// The tree.
#[derive(Debug)]
pub(crate) struct Tree {
    pub(crate) root: Holder,
    expanded: HashSet<TreePath>,
    pub(crate) top: TreePath,
    pub(crate) selected: TreePath,
    pub(crate) cache: Cache,
    /// Neighbors have most of their paths in common.
    last: RefCell<LastLookup>,
}

impl Tree {
    pub(crate) fn new(root: Holder) -> Self {
        let (top, selected, expanded) = (TreePath::new(), TreePath::new(), HashSet::from([TreePath::new()]));
        Self { root, expanded, top, selected, cache: Cache::default(), last: RefCell::default() }
    }

    pub(crate) fn is_expanded(&self, path: &[u64]) -> bool {
        self.expanded.contains(path)
    }

    pub(crate) fn expand(&mut self, path: &[u64]) {
        if self.expanded.len() >= MAX_EXPANDED {
            let kept = |other: &TreePath| self.selected.starts_with(other);
            let kept = self.expanded.iter().filter(|other| kept(other)).cloned().collect();
            self.expanded = kept;
        }
        self.expanded.insert(path.to_vec());
    }

    pub(crate) fn collapse(&mut self, path: &[u64]) {
        self.expanded.remove(path);
    }

    /// The row at a path other than the root; `None` if it does not exist.
    pub(crate) fn row(&self, path: &[u64]) -> Lookup<Option<&Row>> {
        let Some((last, above)) = path.split_last() else { return Ok(None) };
        match self.holder(above)? {
            Some(holder) => self.cache.row(holder, *last),
            None => Ok(None),
        }
    }

    /// The container at a path.
    pub(crate) fn holder(&self, path: &[u64]) -> Lookup<Option<Holder>> {
        let mut last = self.last.borrow_mut();
        if last.version != self.cache.version || last.holders.first() != Some(&self.root) {
            *last =
                LastLookup { version: self.cache.version, path: TreePath::new(), holders: vec![self.root] };
        }
        let common = common(&last.path, path);
        last.path.truncate(common);
        last.holders.truncate(common + 1);
        let mut holder = last.holders[common];
        for index in &path[common..] {
            match self.cache.row(holder, *index)? {
                Some(row) if row.node.kind.is_container() => holder = Holder::Value(row.node),
                _ => return Ok(None),
            }
            last.path.push(*index);
            last.holders.push(holder);
        }
        Ok(Some(holder).filter(is_container))
    }

    /// Keeps the page of a path that is on the screen.
    pub(crate) fn touch(&mut self, path: &[u64]) {
        if let Some((last, above)) = path.split_last()
            && let Ok(Some(holder)) = self.holder(above)
        {
            self.cache.touch(holder, *last);
        }
    }

    /// Keeps the pages of the containers around the first row of the screen.
    pub(crate) fn touch_top(&mut self) {
        for depth in 1..=self.top.len() {
            let path = self.top[..depth].to_vec();
            self.touch(&path);
        }
    }

    fn exists(&self, path: &[u64]) -> Lookup<bool> {
        Ok(path.is_empty() || self.row(path)?.is_some())
    }

    pub(crate) fn count(&self, path: &[u64]) -> Lookup<u64> {
        let Some(holder) = self.holder(path)? else { return Ok(0) };
        if let Some(count) = self.cache.known_count(holder) {
            return Ok(count);
        }
        match self.row(path)?.and_then(|row| row.children) {
            Some(count) => Ok(count),
            None => Err(Need::Count(holder)),
        }
    }

    /// The visible row after another.
    pub(crate) fn next(&self, path: &[u64]) -> Lookup<Option<TreePath>> {
        let mut next = path.to_vec();
        if self.is_expanded(path) {
            next.push(0);
            if self.exists(&next)? {
                return Ok(Some(next));
            }
            next.pop();
        }
        while let Some(index) = next.pop() {
            next.push(index + 1);
            if self.exists(&next)? {
                return Ok(Some(next));
            }
            next.pop();
        }
        Ok(None)
    }

    /// The visible row before another.
    pub(crate) fn previous(&self, path: &[u64]) -> Lookup<Option<TreePath>> {
        let Some((last, above)) = path.split_last() else { return Ok(None) };
        let Some(before) = last.checked_sub(1) else { return Ok(Some(above.to_vec())) };
        self.last_within(&[above, &[before]].concat()).map(Some)
    }

    /// The last visible row in a container, or itself.
    pub(crate) fn last_within(&self, path: &[u64]) -> Lookup<TreePath> {
        let mut last = path.to_vec();
        while self.is_expanded(&last) {
            let Some(index) = self.count(&last)?.checked_sub(1) else { break };
            last.push(index);
            if self.row(&last)?.is_none() {
                // Rows end at a fault, also before the last of the children that were counted.
                last.pop();
                match self.count(&last)?.checked_sub(1) {
                    Some(before) if before < index => last.push(before),
                    _ => break,
                }
            }
        }
        Ok(last)
    }

    /// Moves the selection by a number of rows, as far as there are rows.
    pub(crate) fn step(&mut self, rows: i64) -> Lookup<()> {
        for _ in 0..rows.unsigned_abs() {
            let to = if rows < 0 { self.previous(&self.selected)? } else { self.next(&self.selected)? };
            match to {
                Some(path) => self.selected = path,
                None => break,
            }
        }
        Ok(())
    }

    /// Moves the first visible row so that the selection is among `height` rows.
    pub(crate) fn scroll(&mut self, height: usize) -> Lookup<()> {
        if self.selected < self.top {
            self.top.clone_from(&self.selected);
            return Ok(());
        }
        let mut path = self.top.clone();
        for _ in 1..height.max(1) {
            if path == self.selected {
                return Ok(());
            }
            match self.next(&path)? {
                Some(next) => path = next,
                None => break,
            }
        }
        if path == self.selected {
            return Ok(());
        }
        // The selection becomes the last row; without the rows above it, the first.
        let mut top = self.selected.clone();
        self.top.clone_from(&top);
        for _ in 1..height.max(1) {
            match self.previous(&top)? {
                Some(before) => top = before,
                None => break,
            }
        }
        self.top = top;
        Ok(())
    }

    /// Expands the containers around a path, and selects it.
    pub(crate) fn reveal(&mut self, path: TreePath) {
        for depth in 0..path.len() {
            self.expand(&path[..depth]);
        }
        self.selected = path;
    }
}

/// The length of the common prefix of two paths.
fn common(known: &[u64], asked: &[u64]) -> usize {
    let shorter = known.len().min(asked.len());
    // Usually one path is a prefix of the other, or a neighbor of it.
    let starts = [shorter, shorter.saturating_sub(1)];
    let fast = starts.into_iter().find(|length| known[..*length] == asked[..*length]);
    let rest = || known.iter().zip(asked).take_while(|(known, asked)| known == asked).count();
    fast.unwrap_or_else(rest)
}

fn is_container(holder: &Holder) -> bool {
    match holder {
        Holder::Records => true,
        Holder::Value(Node { kind, .. }) => matches!(kind, Kind::Array | Kind::Object),
    }
}
