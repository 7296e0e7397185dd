//! Keys and the mouse.

use std::path::PathBuf;

use ratatui::crossterm::event::{
    Event, KeyCode, KeyEvent, KeyEventKind, KeyModifiers, MouseButton, MouseEvent, MouseEventKind,
};
use trommel::path::Query;
use trommel::reader::{Kind, Span};

use crate::app::{App, Movement, Prompt, PromptKind};
use crate::locate::locate;
use crate::message::Outcome;
use crate::source::Holder;
use crate::task::Pattern;
use crate::view::{Order, Results, Scroll, Table, Text, View};

/// Rows of a turn of the wheel.
const WHEEL: i64 = 3;

/// Keys that wait for a movement at most.
const MAX_TYPED: usize = 1000;

/// Bytes of a value that are copied at most: terminals drop longer texts.
const MAX_COPIED: u64 = 100_000;

/// The keys.
const HELP: &str = "\
j k ↓ ↑           next and previous row
l → Enter         expand; the first child
h ←               collapse; the container around it
Space PgDn PgUp   a screen down, up
Ctrl-D Ctrl-U     half a screen down, up
g G Home End      the first row, the last row
/ n N             search for text; next, previous (without capitals, case does not matter)
:                 JSONPath: list its results; Enter goes to one
f                 filter the elements or records, as in @.price > 10
t                 show an array or the records as a table
s                 in a table: sort by the column; again: descending; again: as in the input
d                 describe the value: types, fields, sizes
y p, y v, y c     copy the path, the value, a command that prints it
w                 write the value to a new file
Esc               cancel what runs, or close what lies over the tree
q                 quit";

impl App {
    pub(crate) fn handle(&mut self, event: &Event) {
        match event {
            Event::Key(key) if key.kind != KeyEventKind::Release => self.press(*key),
            Event::Mouse(mouse) => self.mouse(*mouse),
            Event::Paste(text) => {
                if let Some(prompt) = &mut self.prompt {
                    prompt.text.extend(text.chars().filter(|c| !c.is_control()));
                }
            }
            _ => {}
        }
        self.update();
    }

    /// Handles a key, or keeps it until the movement before it has ended: its row is not selected
    /// yet. Keys that end or replace the movement do not wait.
    fn press(&mut self, key: KeyEvent) {
        let ctrl = key.modifiers.contains(KeyModifiers::CONTROL);
        let waits = self.is_moving() && self.prompt.is_none() || !self.typed.is_empty();
        let is_final = match key.code {
            KeyCode::Esc => true,
            KeyCode::Char('c') if ctrl => true,
            KeyCode::Char('q' | 'g' | 'G') | KeyCode::Home | KeyCode::End => self.typed.is_empty(),
            _ => false,
        };
        if !waits || is_final {
            self.key(key);
        } else if self.typed.len() < MAX_TYPED {
            self.typed.push_back(key);
        }
    }

    /// Handles the first key that waits.
    pub(crate) fn type_next(&mut self) {
        if let Some(key) = self.typed.pop_front() {
            self.key(key);
        }
    }

    fn key(&mut self, key: KeyEvent) {
        let ctrl = key.modifiers.contains(KeyModifiers::CONTROL);
        if ctrl && key.code == KeyCode::Char('c') {
            self.effects.quits = true;
            return;
        }
        if self.prompt.is_some() {
            return self.type_key(key.code, ctrl);
        }
        let (height, half) = (i64::from(self.size.0).max(1), i64::from(self.size.0 / 2).max(1));
        match key.code {
            KeyCode::Char('q') => self.effects.quits = true,
            KeyCode::Esc => self.escape(),
            KeyCode::Char('d') if ctrl => self.step(half),
            KeyCode::Char('u') if ctrl => self.step(-half),
            KeyCode::Char('f') if ctrl => self.step(height),
            KeyCode::Char('b') if ctrl => self.step(-height),
            _ if ctrl => {}
            KeyCode::Char('j') | KeyCode::Down => self.step(1),
            KeyCode::Char('k') | KeyCode::Up => self.step(-1),
            KeyCode::Char(' ') | KeyCode::PageDown => self.step(height),
            KeyCode::PageUp => self.step(-height),
            KeyCode::Char('g') | KeyCode::Home => self.first(),
            KeyCode::Char('G') | KeyCode::End => self.last(),
            KeyCode::Char('l') | KeyCode::Right => self.right(),
            KeyCode::Char('h') | KeyCode::Left => self.left(),
            KeyCode::Enter => self.enter(),
            KeyCode::Char(character) => self.command(character),
            _ => {}
        }
    }

    fn command(&mut self, character: char) {
        let prompt = |kind| Some(Prompt { kind, text: String::new() });
        match character {
            '?' => {
                let lines = HELP.lines().map(str::to_owned).collect();
                self.views.push(View::Text(Text { title: "keys".into(), lines, scroll: Scroll::default() }));
            }
            '/' => self.prompt = prompt(PromptKind::Search),
            ':' => self.prompt = prompt(PromptKind::Query),
            'f' => self.prompt = prompt(PromptKind::Filter),
            'w' => self.prompt = prompt(PromptKind::Write),
            'y' => self.prompt = prompt(PromptKind::Copy),
            'n' => self.search_again(true),
            'N' => self.search_again(false),
            't' => self.table(),
            's' => self.sort(),
            'd' => self.describe(),
            _ => {}
        }
    }

    fn escape(&mut self) {
        let was_moving = self.stop_moving();
        if self.cancel_task() || was_moving {
            return;
        }
        self.status.clear();
        self.views.pop();
    }

    /// Ends a movement that waits for rows. Returns true if one was waiting.
    fn stop_moving(&mut self) -> bool {
        self.typed.clear();
        self.movement.take().is_some()
    }

    fn step(&mut self, rows: i64) {
        let height = u64::from(self.size.0);
        let table_rows = self.table_rows();
        match self.views.last_mut() {
            Some(View::Results(results)) => {
                results.scroll.step(rows, results.hits.len() as u64);
                results.scroll.show(height);
            }
            Some(View::Text(text)) => {
                let last = (text.lines.len() as u64).saturating_sub(height);
                text.scroll.top = text.scroll.top.saturating_add_signed(rows).min(last);
            }
            Some(View::Table(table)) => {
                table.goes_to_end = false;
                table.scroll.step(rows, table_rows);
                table.scroll.show(height.saturating_sub(1));
            }
            None => self.go(Movement::Step(rows)),
        }
    }

    /// The number of rows of the table, as far as it is known.
    fn table_rows(&self) -> u64 {
        let (Some(View::Table(table)), Some(tree)) = (self.views.last(), &self.tree) else { return 0 };
        match table.indices() {
            Some(indices) => indices.len() as u64,
            // Until the end is known, one page after the selected row can be reached.
            None => tree.count(&table.path).unwrap_or(table.scroll.selected + crate::list::PAGE),
        }
    }

    fn first(&mut self) {
        if !self.views.is_empty() {
            self.step(i64::MIN);
        } else if let Some(tree) = &mut self.tree {
            tree.selected = Vec::new();
            self.movement = None;
        }
    }

    fn last(&mut self) {
        match self.views.last_mut() {
            Some(View::Table(table)) if table.indices().is_none() => table.goes_to_end = true,
            Some(_) => self.step(i64::MAX),
            None => self.go(Movement::End),
        }
    }

    fn right(&mut self) {
        if let Some(View::Table(table)) = self.views.last_mut() {
            table.column = (table.column + 1).min(table.columns.len().saturating_sub(1));
            return;
        }
        let Some(tree) = &mut self.tree else { return };
        if !self.views.is_empty() {
            return;
        }
        let path = tree.selected.clone();
        if tree.is_expanded(&path) {
            self.go(Movement::Step(1));
        } else if matches!(tree.holder(&path), Ok(Some(_))) {
            tree.expand(&path);
        }
    }

    fn left(&mut self) {
        if let Some(View::Table(table)) = self.views.last_mut() {
            table.column = table.column.saturating_sub(1);
            return;
        }
        let Some(tree) = &mut self.tree else { return };
        if !self.views.is_empty() {
            return;
        }
        let path = tree.selected.clone();
        if tree.is_expanded(&path) && !path.is_empty() {
            tree.collapse(&path);
        } else if let Some((_, above)) = path.split_last() {
            tree.selected = above.to_vec();
        }
    }

    fn enter(&mut self) {
        match self.views.last() {
            Some(View::Results(results)) => {
                let Some(hit) = results.hits.get(results.scroll.selected as usize) else { return };
                self.locate(hit.start);
            }
            Some(View::Table(table)) => {
                let Some(element) = table.element(table.scroll.selected) else { return };
                let path = [&table.path[..], &[element]].concat();
                self.views.clear();
                self.go(Movement::To(path));
            }
            Some(View::Text(_)) => {
                self.views.pop();
            }
            None => {
                let Some(tree) = &mut self.tree else { return };
                let path = tree.selected.clone();
                if tree.is_expanded(&path) {
                    tree.collapse(&path);
                } else if matches!(tree.holder(&path), Ok(Some(_))) {
                    tree.expand(&path);
                }
            }
        }
    }

    /// Goes to the value at an offset.
    fn locate(&mut self, offset: u64) {
        let Some(root) = self.tree.as_ref().map(|tree| tree.root) else { return };
        self.start("go", move |task| {
            let steps = locate(&task.source, root, offset, &task.cancel).map_err(|error| error.to_string());
            Outcome::Found(steps.map(|steps| Some((offset, steps))))
        });
    }

    fn table(&mut self) {
        let Some(tree) = &self.tree else { return };
        if !self.views.is_empty() {
            return;
        }
        let is_array = |holder: &Holder| match holder {
            Holder::Records => true,
            Holder::Value(node) => node.kind == Kind::Array,
        };
        // The selected array, or the one around the selected value.
        let mut path = tree.selected.clone();
        loop {
            if let Ok(Some(holder)) = tree.holder(&path)
                && is_array(&holder)
            {
                self.views.push(View::Table(Table::new(holder, path)));
                return;
            }
            if path.pop().is_none() {
                self.status = "a table shows an array: select one".into();
                return;
            }
        }
    }

    fn sort(&mut self) {
        let Some(View::Table(table)) = self.views.last_mut() else {
            self.status = "only a table can be sorted: t shows an array as a table".into();
            return;
        };
        let Some(column) = table.columns.get(table.column).cloned() else { return };
        let Some(array) = table.array() else {
            self.status = "records cannot be sorted".into();
            return;
        };
        let descending = match &table.order {
            Some(order) if order.column == column && order.descending => {
                (table.order, table.scroll) = (None, Scroll::default());
                return;
            }
            Some(order) => order.column == column,
            None => false,
        };
        table.order = Some(Order { column: column.clone(), descending, indices: None });
        self.start("sort", move |task| Outcome::Sorted(task.sort(array, &column, descending)));
    }

    fn describe(&mut self) {
        let Some(tree) = &self.tree else { return };
        let is_root = tree.selected.is_empty();
        let span = match tree.row(&tree.selected) {
            Ok(Some(row)) => row.end.map(|end| Span::new(row.node.start, end)),
            _ => is_root.then(|| Span::new(0, self.length)),
        };
        match span {
            Some(span) => self.start("describe", move |task| Outcome::Text(task.describe(span, is_root))),
            None => self.status = "the end of this value is not known yet".into(),
        }
    }

    fn search_again(&mut self, forward: bool) {
        let Some(pattern) = self.searched.clone() else {
            self.status = "nothing was searched: / searches".into();
            return;
        };
        let Some(tree) = &self.tree else { return };
        let from = match (&self.found, tree.row(&tree.selected)) {
            (Some((path, offset)), _) if *path == tree.selected => *offset,
            // Also finds the name before the value.
            (_, Ok(Some(row))) => {
                let name = row.name.as_ref().map_or(0, |name| name.len() as u64 + 4);
                row.node.start.saturating_sub(name)
            }
            _ => 0,
        };
        let root = tree.root;
        self.start("search", move |task| {
            let found = task.search(&pattern, from, forward).and_then(|found| {
                let steps = found.map(|offset| {
                    let steps = locate(&task.source, root, offset, &task.cancel);
                    steps.map(|steps| (offset, steps)).map_err(|error| error.to_string())
                });
                steps.transpose()
            });
            Outcome::Found(found)
        });
    }

    fn type_key(&mut self, code: KeyCode, ctrl: bool) {
        let Some(prompt) = &mut self.prompt else { return };
        match code {
            KeyCode::Esc => self.prompt = None,
            KeyCode::Char(character) if prompt.kind == PromptKind::Copy => {
                self.prompt = None;
                self.copy(character);
            }
            KeyCode::Char('u') if ctrl => prompt.text.clear(),
            KeyCode::Char(character) if !ctrl => prompt.text.push(character),
            KeyCode::Backspace if prompt.text.pop().is_none() => self.prompt = None,
            KeyCode::Enter => {
                let prompt = self.prompt.take();
                if let Some(Prompt { kind, text }) = prompt.filter(|prompt| !prompt.text.is_empty()) {
                    self.submit(kind, &text);
                }
            }
            _ => {}
        }
    }

    fn submit(&mut self, kind: PromptKind, text: &str) {
        match kind {
            PromptKind::Search => {
                self.searched = Some(Pattern::new(text));
                self.search_again(true);
            }
            PromptKind::Query => match text.parse::<Query>() {
                Ok(query) => {
                    self.list(text);
                    self.start("query", move |task| Outcome::Listed(task.query(query)));
                }
                Err(error) => self.status = error.to_string(),
            },
            PromptKind::Filter => self.filter(text),
            PromptKind::Write => match self.selected_span() {
                Some(span) => self.write(span, PathBuf::from(text)),
                None => self.status = "the end of this value is not known yet".into(),
            },
            PromptKind::Copy => {}
        }
    }

    fn list(&mut self, title: &str) {
        self.views.push(View::Results(Results { title: title.to_owned(), ..Results::default() }));
    }

    fn filter(&mut self, text: &str) {
        let filter = match Query::parse_filter(text) {
            Ok(filter) => filter,
            Err(error) => {
                self.status = error.to_string();
                return;
            }
        };
        let Some(tree) = &self.tree else { return };
        let mut path = tree.selected.clone();
        loop {
            match (tree.holder(&path), path.is_empty()) {
                (Ok(Some(Holder::Records)), _) => {
                    self.list(text);
                    self.start("filter", move |task| Outcome::Listed(task.filter_records(filter)));
                    return;
                }
                (Ok(Some(Holder::Value(node))), _) if node.kind == Kind::Array => {
                    let end = tree.row(&path).ok().flatten().map_or(Some(self.length), |row| row.end);
                    let Some(end) = end else {
                        self.status = "the end of the array is not known yet".into();
                        return;
                    };
                    let (span, location) = (Span::new(node.start, end), self.location(&path).1);
                    self.list(text);
                    self.start("filter", move |task| {
                        Outcome::Listed(task.filter_elements(span, &location, filter))
                    });
                    return;
                }
                (_, true) => {
                    self.status = "a filter selects elements: select an array, or a value in one".into();
                    return;
                }
                _ => {
                    path.pop();
                }
            }
        }
    }

    /// The bytes of the selected value, if its end is known.
    pub(crate) fn selected_span(&self) -> Option<Span> {
        let tree = self.tree.as_ref()?;
        match tree.row(&tree.selected) {
            Ok(Some(row)) => row.end.map(|end| Span::new(row.node.start, end)),
            Ok(None) => Some(Span::new(0, self.length)),
            Err(_) => None,
        }
    }

    fn copy(&mut self, what: char) {
        let Some(tree) = &self.tree else { return };
        let (record, path) = self.location(&tree.selected);
        let copied = match what {
            'p' => path,
            'c' => self.shell_command(record, &path),
            'v' => match self.selected_span() {
                Some(span) if span.len() <= MAX_COPIED => {
                    match self.source.bytes(span.start, span.len() as usize) {
                        Ok(bytes) => String::from_utf8_lossy(&bytes).into_owned(),
                        Err(error) => {
                            self.status = error.to_string();
                            return;
                        }
                    }
                }
                _ => {
                    self.status = "the value is too long to copy: w writes it to a file".into();
                    return;
                }
            },
            _ => return,
        };
        self.status = format!("copied: {}", trommel_base::text::excerpt(&copied, 200));
        self.effects.copied = Some(copied);
    }

    fn mouse(&mut self, mouse: MouseEvent) {
        match mouse.kind {
            MouseEventKind::ScrollDown => self.step(WHEEL),
            MouseEventKind::ScrollUp => self.step(-WHEEL),
            MouseEventKind::Down(MouseButton::Left) => self.click(u64::from(mouse.row).saturating_sub(1)),
            _ => {}
        }
    }

    /// Selects a row of the body. The selected one is expanded or collapsed, or entered.
    fn click(&mut self, row: u64) {
        if row >= u64::from(self.size.0) || self.prompt.is_some() {
            return;
        }
        self.stop_moving();
        let select = |scroll: &mut Scroll, first: u64, count: u64| {
            let clicked = (scroll.top + row).checked_sub(first).filter(|clicked| *clicked < count);
            let is_selected = clicked == Some(scroll.selected);
            scroll.selected = clicked.unwrap_or(scroll.selected);
            is_selected
        };
        let table_rows = self.table_rows();
        let is_selected = match self.views.last_mut() {
            Some(View::Results(results)) => select(&mut results.scroll, 0, results.hits.len() as u64),
            // The names of the columns are above the rows.
            Some(View::Table(table)) => select(&mut table.scroll, 1, table_rows),
            Some(View::Text(_)) => return,
            None => {
                let Some(tree) = &mut self.tree else { return };
                let mut path = tree.top.clone();
                for _ in 0..row {
                    match tree.next(&path) {
                        Ok(Some(next)) => path = next,
                        _ => return,
                    }
                }
                let is_selected = path == tree.selected;
                tree.selected = path;
                is_selected
            }
        };
        if is_selected {
            self.enter();
        }
    }
}
