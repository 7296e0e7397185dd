//! The state of an explorer, and the work that it starts.
//!
//! One thread holds the state, handles messages, and draws. It reads nothing of the input itself:
//! it collects what the visible rows need, and other threads read that, one need at a time.

use std::collections::VecDeque;
use std::io;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread;

use ratatui::crossterm::event::KeyEvent;
use trommel::reader::{Event, Framing, Kind, Span};
use trommel::{Analysis, Cancel};
use trommel_guide::Guide;

use crate::list::{self, PAGE};
use crate::message::{Message, Met, Outcome, Root};
use crate::source::{Holder, Node, Source};
use crate::task::{Listed, MAX_HITS, Meter, Pattern, Task};
use crate::tree::{Lookup, Need, Tree, TreePath};
use crate::view::{Results, Scroll, Text, View};

/// Bytes after which the first record is taken for the only one, until a guide says otherwise.
const FIRST_RECORD: u64 = 1 << 20;

/// Builds the guide of the input in the background, and keeps it.
pub(crate) type Builder = Box<dyn FnOnce(&Analysis) -> Result<Guide, String> + Send>;

/// The state of the pass in the background.
#[derive(Debug)]
pub(crate) enum Background {
    Off,
    Running(Cancel, Arc<Meter>),
    Ready,
    Failed(String),
}

/// A line that is being typed.
#[derive(Clone, Debug)]
pub(crate) struct Prompt {
    pub(crate) kind: PromptKind,
    pub(crate) text: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PromptKind {
    Search,
    Query,
    Filter,
    Write,
    /// The next key chooses what is copied.
    Copy,
}

/// A movement that waits for pages.
#[derive(Clone, Debug)]
pub(crate) enum Movement {
    Step(i64),
    /// To the last row.
    End,
    /// To a path that a search has found.
    To(TreePath),
}

/// Text for the clipboard of the terminal, and the end of the program.
#[derive(Debug, Default)]
pub(crate) struct Effects {
    pub(crate) copied: Option<String>,
    pub(crate) quits: bool,
}

/// An explorer.
pub(crate) struct App {
    pub(crate) source: Arc<Source>,
    pub(crate) tree: Option<Tree>,
    /// The only document, and its preview.
    pub(crate) root: Option<(Node, String)>,
    /// The reason why nothing can be shown.
    pub(crate) fault: Option<String>,
    pub(crate) length: u64,
    pub(crate) views: Vec<View>,
    pub(crate) prompt: Option<Prompt>,
    pub(crate) status: String,
    pub(crate) background: Background,
    pub(crate) follows: bool,
    pub(crate) searched: Option<Pattern>,
    /// The path and the offset that were found last.
    pub(crate) found: Option<(TreePath, u64)>,
    /// Rows of the body, and columns.
    pub(crate) size: (u16, u16),
    pub(crate) effects: Effects,
    pub(crate) task: Option<(Cancel, Arc<Meter>, &'static str)>,
    /// The number of the current task.
    tasks: u64,
    pub(crate) movement: Option<Movement>,
    /// Keys that wait for the movement before them.
    pub(crate) typed: VecDeque<KeyEvent>,
    need: Option<(Need, Cancel)>,
    sender: Sender<Message>,
    pub(crate) receiver: Receiver<Message>,
}

impl App {
    pub(crate) fn new(source: Source, builder: Option<Builder>, follows: bool) -> io::Result<Self> {
        let (sender, receiver) = channel();
        let length = source.length()?;
        let background = if source.guide().is_some() { Background::Ready } else { Background::Off };
        let mut app = Self {
            source: Arc::new(source),
            tree: None,
            root: None,
            fault: None,
            length,
            views: Vec::new(),
            prompt: None,
            status: String::new(),
            background,
            follows,
            searched: None,
            found: None,
            size: (24, 80),
            effects: Effects::default(),
            task: None,
            tasks: 0,
            movement: None,
            typed: VecDeque::new(),
            need: None,
            sender,
            receiver,
        };
        app.find_root();
        if let Some(builder) = builder
            && matches!(app.background, Background::Off)
        {
            app.build(builder);
        }
        Ok(app)
    }

    pub(crate) fn sender(&self) -> Sender<Message> {
        self.sender.clone()
    }

    fn find_root(&self) {
        let (source, sender) = (Arc::clone(&self.source), self.sender.clone());
        thread::spawn(move || {
            // Without a receiver, the program ends.
            let _ = sender.send(Message::Root(root(&source)));
        });
    }

    fn build(&mut self, builder: Builder) {
        let (cancel, meter) = (Cancel::new(), Arc::new(Meter::default()));
        let settings = Analysis::new().threads(1).cancel_with(&cancel).on_progress(meter.callback());
        let (source, sender) = (Arc::clone(&self.source), self.sender.clone());
        thread::spawn(move || {
            let built = builder(&settings).map(|guide| source.set_guide(Some(guide)));
            let _ = sender.send(Message::Guide(built));
        });
        self.background = Background::Running(cancel, meter);
    }

    /// Handles a message other than one of the terminal.
    pub(crate) fn receive(&mut self, message: Message) {
        match message {
            Message::Root(Ok((holder, node))) => {
                self.root = node;
                self.tree = Some(Tree::new(holder));
                self.correct_root();
            }
            Message::Root(Err(error)) => self.fault = Some(error),
            Message::Rows(holder, number, page) => {
                if let Some(tree) = &mut self.tree {
                    tree.cache.insert(holder, number, page);
                }
            }
            Message::Met(need, met) => self.met(need, met),
            // A cancelled task may have sent results before it ended.
            Message::Hits(number, _) | Message::Done(number, _) if number != self.tasks => {}
            Message::Hits(_, hits) => {
                if let Some(View::Results(results)) = self.views.last_mut() {
                    results.hits.extend(hits);
                }
            }
            Message::Done(_, outcome) => {
                self.task = None;
                self.finish(outcome);
            }
            Message::Guide(Ok(())) => self.use_guide(),
            Message::Guide(Err(error)) => self.background = Background::Failed(error),
            Message::Terminal(_) | Message::Signal(_) => {}
        }
        self.update();
    }

    /// Reads all rows again, with what the guide knows.
    fn use_guide(&mut self) {
        self.background = Background::Ready;
        let Some(tree) = &mut self.tree else { return };
        tree.cache.clear();
        if let Some((_, cancel)) = self.need.take() {
            cancel.cancel();
        }
        self.correct_root();
    }

    /// Shows records, if the first one was long and taken for the only one.
    fn correct_root(&mut self) {
        let records = self.source.index().map_or(0, |index| index.records());
        if records > 1 && self.tree.as_ref().is_some_and(|tree| tree.root != Holder::Records) {
            (self.tree, self.root) = (Some(Tree::new(Holder::Records)), None);
        }
    }

    fn met(&mut self, need: Need, met: Met) {
        if self.need.as_ref().is_some_and(|(awaited, _)| *awaited == need) {
            self.need = None;
        }
        let Some(tree) = &mut self.tree else { return };
        match (need, met) {
            (Need::Page(holder, number), Met::Page(page)) => tree.cache.insert(holder, number, page),
            (Need::Count(holder), Met::Count(count)) => tree.cache.set_count(holder, count),
            (Need::Count(_), Met::Page(_)) | (Need::Page(..), Met::Count(_)) => {}
        }
    }

    /// Moves as far as the known rows allow, and starts to read what the screen needs.
    pub(crate) fn update(&mut self) {
        let need = loop {
            match self.advance() {
                Err(need) => break Some(need),
                Ok(()) if self.is_moving() || self.typed.is_empty() => break self.missing(),
                Ok(()) => self.type_next(),
            }
        };
        match (need, &self.need) {
            (Some(need), Some((awaited, _))) if need == *awaited => {}
            (need, _) => {
                if let Some((_, cancel)) = self.need.take() {
                    cancel.cancel();
                }
                if let Some(need) = need {
                    self.meet(need);
                }
            }
        }
    }

    /// True if the row that will be selected is not known yet.
    pub(crate) fn is_moving(&self) -> bool {
        self.movement.is_some() || self.tree.is_none() && self.fault.is_none()
    }

    fn advance(&mut self) -> Lookup<()> {
        let height = usize::from(self.size.0);
        let Some(tree) = &mut self.tree else { return Ok(()) };
        match &self.movement {
            Some(Movement::Step(rows)) => tree.step(*rows)?,
            Some(Movement::End) => tree.selected = tree.last_within(&[])?,
            Some(Movement::To(path)) => {
                if path.is_empty() || tree.row(path)?.is_some() {
                    tree.reveal(path.clone());
                } else {
                    self.status = "it is after a fault of the input, up to which rows are listed".into();
                }
            }
            None => {}
        }
        self.movement = None;
        tree.scroll(height)
    }

    /// What the rows of the screen need.
    fn missing(&mut self) -> Option<Need> {
        let height = u64::from(self.size.0);
        let tree = self.tree.as_mut()?;
        tree.cache.begin_screen();
        tree.touch_top();
        if let Some(View::Table(table)) = self.views.last_mut() {
            if table.goes_to_end {
                match tree.count(&table.path) {
                    Ok(count) => table.scroll.step(i64::MAX, count),
                    Err(need) => return Some(need),
                }
                table.goes_to_end = false;
            }
            // The end may have been passed before it was known.
            if let Some(count) = tree.cache.known_count(table.holder) {
                table.scroll.step(0, count);
            }
            // The names of the columns are above the rows.
            table.scroll.show(height.saturating_sub(1));
            tree.touch(&table.path);
            return table.collect_columns(&mut tree.cache, height).err();
        }
        let mut path = tree.top.clone();
        for _ in 0..height {
            tree.touch(&path);
            match tree.next(&path) {
                Ok(Some(next)) => path = next,
                Ok(None) => return None,
                Err(need) => return Some(need),
            }
        }
        None
    }

    fn meet(&mut self, need: Need) {
        let cancel = Cancel::new();
        self.need = Some((need, cancel.clone()));
        let (source, sender) = (Arc::clone(&self.source), self.sender.clone());
        thread::spawn(move || {
            let met = match need {
                Need::Page(holder, number) => {
                    let mut early = |page: &list::Page| {
                        let _ = sender.send(Message::Rows(holder, number, page.clone()));
                    };
                    Met::Page(list::list(&source, holder, number * PAGE, &cancel, &mut early))
                }
                Need::Count(holder) => Met::Count(list::count(&source, holder, &cancel)),
            };
            if !cancel.is_cancelled() {
                let _ = sender.send(Message::Met(need, met));
            }
        });
    }

    pub(crate) fn go(&mut self, movement: Movement) {
        self.movement = match (self.movement.take(), movement) {
            (Some(Movement::Step(before)), Movement::Step(rows)) => {
                Some(Movement::Step(before.saturating_add(rows)))
            }
            (_, movement) => Some(movement),
        };
    }

    /// True if rows of the screen are still being read.
    pub(crate) fn is_waiting(&self) -> bool {
        self.need.is_some() || self.tree.is_none() && self.fault.is_none()
    }

    /// Starts a task. The one before it is cancelled.
    pub(crate) fn start(&mut self, name: &'static str, work: impl FnOnce(&Task) -> Outcome + Send + 'static) {
        self.cancel_task();
        let (cancel, meter) = (Cancel::new(), Arc::new(Meter::default()));
        self.tasks += 1;
        let task = Task {
            number: self.tasks,
            source: Arc::clone(&self.source),
            cancel: cancel.clone(),
            meter: Arc::clone(&meter),
            sender: self.sender.clone(),
        };
        self.task = Some((cancel.clone(), meter, name));
        self.status.clear();
        thread::spawn(move || {
            let outcome = work(&task);
            if !cancel.is_cancelled() {
                let _ = task.sender.send(Message::Done(task.number, outcome));
            }
        });
    }

    /// Cancels the task. Returns false if nothing runs.
    pub(crate) fn cancel_task(&mut self) -> bool {
        let Some((cancel, _, name)) = self.task.take() else { return false };
        cancel.cancel();
        self.tasks += 1;
        self.status = format!("{name}: cancelled");
        if let Some(View::Results(results)) = self.views.last_mut() {
            results.ended.get_or_insert_with(|| "cancelled: more results may follow".into());
        }
        if let Some(View::Table(table)) = self.views.last_mut()
            && table.indices().is_none()
        {
            table.order = None;
        }
        true
    }

    fn finish(&mut self, outcome: Outcome) {
        match outcome {
            Outcome::Found(Ok(Some((offset, steps)))) => {
                self.views.clear();
                let path: TreePath = steps.iter().map(|step| step.index).collect();
                self.found = Some((path.clone(), offset));
                self.go(Movement::To(path));
            }
            Outcome::Found(Ok(None)) => self.status = "not found".into(),
            Outcome::Listed(listed) => {
                if let Some(View::Results(results)) = self.views.last_mut() {
                    results.ended = Some(Results::ending(listed));
                }
            }
            Outcome::Text(Ok(lines)) => {
                let title = "description".to_owned();
                self.views.push(View::Text(Text { title, lines, scroll: Scroll::default() }));
            }
            Outcome::Sorted(Ok((indices, left))) => {
                if let Some(View::Table(table)) = self.views.last_mut()
                    && let Some(order) = &mut table.order
                {
                    self.status = match left {
                        0 => String::new(),
                        _ => format!(
                            "sorted the first {} of {} elements",
                            indices.len(),
                            indices.len() as u64 + left
                        ),
                    };
                    order.indices = Some(indices.into());
                    table.scroll = Scroll::default();
                }
            }
            Outcome::Written(Ok(bytes)) => self.status = format!("wrote {}", crate::size::bytes(bytes)),
            Outcome::Found(Err(error))
            | Outcome::Text(Err(error))
            | Outcome::Sorted(Err(error))
            | Outcome::Written(Err(error)) => self.status = error,
        }
    }

    /// Writes a value to a new file.
    pub(crate) fn write(&mut self, span: Span, path: PathBuf) {
        self.start("write", move |task| Outcome::Written(task.write(span, &path)));
    }

    /// Notices that the input has grown, and shows new records.
    pub(crate) fn poll(&mut self) {
        if !self.follows {
            return;
        }
        let Ok(length) = self.source.length() else { return };
        if length == self.length {
            return;
        }
        if length < self.length {
            self.status = "the input has become shorter: it is read again".into();
            self.source.set_guide(None);
        }
        let was_shorter = length < self.length;
        self.length = length;
        let Some(tree) = &mut self.tree else { return };
        if was_shorter {
            tree.cache.clear();
        }
        let is_at_end =
            tree.next(&tree.selected).is_ok_and(|next| next.is_none()) && !tree.selected.is_empty();
        tree.cache.forget_end(Holder::Records);
        if is_at_end {
            self.go(Movement::End);
        }
        self.update();
    }
}

impl Drop for App {
    fn drop(&mut self) {
        if let Background::Running(cancel, _) = &self.background {
            cancel.cancel();
        }
        self.cancel_task();
        if let Some((_, cancel)) = self.need.take() {
            cancel.cancel();
        }
    }
}

impl Results {
    fn ending(listed: Result<Listed, String>) -> String {
        let Listed { found, malformed } = match listed {
            Ok(listed) => listed,
            Err(error) => return error,
        };
        let found = match found {
            1 => "1 result".to_owned(),
            found if found > MAX_HITS as u64 => format!("the first {MAX_HITS}; there are more"),
            found => format!("{found} results"),
        };
        match malformed {
            0 => found,
            1 => format!("{found}; skipped 1 malformed record"),
            many => format!("{found}; skipped {many} malformed records"),
        }
    }
}

/// What holds the first rows: the only document, or the stream of records.
fn root(source: &Source) -> Result<Root, String> {
    let cancel = Cancel::new();
    let records = source.index().map(|index| index.records());
    let found = source.read_records(0, &cancel, |cursor| {
        if !cursor.next_record()? {
            return Ok(None);
        }
        let Some(kind) = cursor.peek()? else {
            // Reports the error.
            return cursor.begin_value().map(|_| None);
        };
        let node = Node { start: cursor.offset(), kind, depth: 0 };
        let is_stream = match source.framing() {
            Framing::Single => false,
            Framing::Auto => match records {
                Some(records) => records > 1,
                None => match more_follows(cursor, node.start) {
                    // The rows will show the fault.
                    Err(_) if kind.is_container() => false,
                    follows => follows?,
                },
            },
            _ => true,
        };
        Ok(Some((node, is_stream)))
    });
    match found {
        Ok(Some((_, true))) => Ok((Holder::Records, None)),
        Ok(Some((node, false))) => {
            let preview = source.bytes(node.start, list::PREVIEW_BYTES).map(|bytes| list::preview(&bytes));
            Ok((Holder::Value(node), Some((node, preview.map_err(|error| error.to_string())?))))
        }
        Ok(None) => Err("the input is empty".into()),
        Err(error) => Err(error.to_string()),
    }
}

/// True if another record follows a short one.
fn more_follows(cursor: &mut trommel::reader::Cursor<'_>, start: u64) -> trommel::reader::Result<bool> {
    if let Event::Begin(mut kind) = cursor.begin_value()? {
        while cursor.depth() > 0 {
            if cursor.offset() - start > FIRST_RECORD {
                return Ok(false);
            }
            if list::next_child(cursor, kind)? && cursor.peek()?.is_some_and(Kind::is_container) {
                cursor.begin_value()?;
            }
            kind = cursor.kind_at(cursor.depth()).unwrap_or(kind);
        }
    }
    cursor.next_record()
}
