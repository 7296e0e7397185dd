//! The screen: a title, the body, and a line at the bottom.

use std::borrow::Cow;

use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::style::{Color, Modifier, Style};
use ratatui::text::{Line, Span};
use trommel::reader::Kind;
use trommel_base::text::{grouped, safe};
use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

use crate::app::{App, Background, PromptKind};
use crate::list::Row;
use crate::size::{bytes, share};
use crate::tree::Tree;
use crate::view::{Results, Table, Text, View};

/// Columns of the facts between name and preview: children and share.
const COUNT_WIDTH: usize = 13;
const SHARE_WIDTH: usize = 7;

/// Columns that a name has at any depth.
const MIN_NAME: usize = 14;

/// Columns of a cell of a table.
const CELL_WIDTH: usize = 24;

const DIM: Style = Style::new().add_modifier(Modifier::DIM);
const SELECTED: Style = Style::new().add_modifier(Modifier::REVERSED);
const FAULT: Style = Style::new().fg(Color::Red);

impl App {
    pub(crate) fn draw(&mut self, frame: &mut Frame<'_>) {
        let area = frame.area();
        let height = area.height.saturating_sub(2);
        if self.size != (height, area.width) {
            self.size = (height, area.width);
            self.update();
        }
        let width = usize::from(area.width);
        let line = |y: u16| Rect { x: 0, y, width: area.width, height: 1 };
        if area.height == 0 {
            return;
        }
        frame.render_widget(Line::styled(fit(&self.title(), width), SELECTED), line(0));
        for (row, text) in (1..=height).zip(self.body(width)) {
            frame.render_widget(text, line(row));
        }
        if area.height > 1 {
            frame.render_widget(self.bottom(width), line(area.height - 1));
        }
    }

    fn title(&self) -> String {
        let shown = match (self.views.last(), &self.tree) {
            (Some(View::Table(table)), _) => format!("table of {}", self.shown_location(&table.path)),
            (Some(View::Results(results)), _) => safe(&results.title).into_owned(),
            (Some(View::Text(text)), _) => text.title.clone(),
            (None, Some(tree)) => self.shown_location(&tree.selected),
            (None, None) => String::new(),
        };
        let background = match &self.background {
            Background::Off => String::new(),
            Background::Running(_, meter) => match meter.percent() {
                Some(percent) => format!("  guide: {percent} %"),
                None => "  guide: reading".into(),
            },
            Background::Ready => "  guide".into(),
            Background::Failed(_) => "  no guide".into(),
        };
        // The path in the document matters more than the folder.
        let name = self.source.name();
        let name = name.rsplit_once('/').map_or(name, |(_, last)| last);
        format!(" {}  {}{background}  {shown}", safe(name), bytes(self.length))
    }

    fn shown_location(&self, path: &[u64]) -> String {
        let (record, path) = self.location(path);
        let path = safe(&path).into_owned();
        record.map_or_else(|| path.clone(), |record| format!("record {}  {path}", grouped(record)))
    }

    fn body(&self, width: usize) -> Vec<Line<'static>> {
        let height = usize::from(self.size.0);
        match (self.views.last(), &self.tree) {
            (Some(View::Table(table)), Some(tree)) => table_lines(table, tree, height, width),
            (Some(View::Results(results)), _) => result_lines(results, height, width),
            (Some(View::Text(text)), _) => text_lines(text, height, width),
            (_, Some(tree)) => self.tree_lines(tree, height, width),
            (_, None) => self.fault.iter().map(|error| fault(error, 0, width)).collect(),
        }
    }

    fn tree_lines(&self, tree: &Tree, height: usize, width: usize) -> Vec<Line<'static>> {
        let mut lines = Vec::with_capacity(height);
        // Deep rows keep some columns for their names.
        let levels = name_width(width).saturating_sub(MIN_NAME) / 2;
        let hidden = tree.selected.len().saturating_sub(levels);
        let indent = |depth: usize| depth.saturating_sub(hidden).min(levels);
        let mut path = Some(tree.top.clone());
        while let Some(at) = path.take()
            && lines.len() < height
        {
            let style = if at == tree.selected { SELECTED } else { Style::new() };
            match at.split_last() {
                None => lines.push(self.root_line(tree, width, style)),
                Some((index, above)) => {
                    let (Ok(Some(row)), Ok(Some(holder))) = (tree.row(&at), tree.holder(above)) else {
                        break;
                    };
                    let whole = match above {
                        [] => Some(self.length),
                        _ => tree.row(above).ok().flatten().and_then(|row| Some(row.end? - row.node.start)),
                    };
                    let (indent, is_expanded) = (indent(at.len()), tree.is_expanded(&at));
                    lines.push(RowLine { indent, is_expanded, whole, width, style }.of(row));
                    if let Some(error) = tree.cache.error_before(holder, index + 1) {
                        lines.push(fault(error, indent, width));
                    }
                }
            }
            if let Ok(Some(inside)) = tree.holder(&at)
                && tree.is_expanded(&at)
                && let Some(error) = tree.cache.error_before(inside, 0)
            {
                lines.push(fault(error, indent(at.len() + 1), width));
            }
            match tree.next(&at) {
                Ok(next) => path = next,
                Err(_) => lines.push(Line::styled("  reading…", DIM)),
            }
        }
        lines.truncate(height);
        lines
    }

    fn root_line(&self, tree: &Tree, width: usize, style: Style) -> Line<'static> {
        let (kind, preview) = match &self.root {
            Some((node, preview)) => (node.kind.name(), preview.as_str()),
            None => ("records", ""),
        };
        let is_scalar = self.root.as_ref().is_some_and(|(node, _)| !node.kind.is_container());
        let (mark, count) = if is_scalar {
            (" ", String::new())
        } else {
            (mark(tree.is_expanded(&[])), tree.count(&[]).map_or_else(|_| String::new(), grouped))
        };
        let name = fit(&format!("{mark} $"), name_width(width));
        let text = format!("{name} {kind:<8}{count:>COUNT_WIDTH$}{:>SHARE_WIDTH$}  {preview}", "100.0%");
        Line::styled(fit(&text, width), style)
    }

    fn bottom(&self, width: usize) -> Line<'static> {
        if let Some(prompt) = &self.prompt {
            let start = match prompt.kind {
                PromptKind::Search => "/",
                PromptKind::Query => ":",
                PromptKind::Filter => "filter: ",
                PromptKind::Write => "write to: ",
                PromptKind::Copy => "copy: p path, v value, c command",
            };
            return Line::raw(fit(&format!("{start}{}▏", safe(&prompt.text)), width));
        }
        if let Some((_, meter, name)) = &self.task {
            let percent = meter.percent().map_or_else(String::new, |percent| format!(" {percent} %"));
            return Line::styled(fit(&format!("{name}…{percent}  Esc cancels"), width), DIM);
        }
        if !self.status.is_empty() {
            return Line::raw(fit(&safe(&self.status), width));
        }
        if let Some(View::Results(results)) = self.views.last() {
            let count = results.hits.len();
            let ending = results.ended.clone().unwrap_or_else(|| format!("{count} results so far"));
            return Line::raw(fit(&format!("{}  Enter goes to one, Esc closes", safe(&ending)), width));
        }
        if let Background::Failed(error) = &self.background {
            return Line::styled(fit(&format!("no guide: {}", safe(error)), width), FAULT);
        }
        Line::styled(
            fit("? keys  / search  : query  f filter  t table  d describe  y copy  q quit", width),
            DIM,
        )
    }
}

/// The columns of marks and names.
fn name_width(width: usize) -> usize {
    (width / 3).clamp(12, 48)
}

const fn mark(is_expanded: bool) -> &'static str {
    if is_expanded { "▾" } else { "▸" }
}

fn fault(error: &str, depth: usize, width: usize) -> Line<'static> {
    Line::styled(fit(&format!("{}! {}", "  ".repeat(depth), first_line(error)), width), FAULT)
}

fn first_line(error: &str) -> Cow<'_, str> {
    safe(error.lines().next().unwrap_or(""))
}

/// The look of a row.
struct RowLine {
    indent: usize,
    is_expanded: bool,
    /// The bytes of its container.
    whole: Option<u64>,
    width: usize,
    style: Style,
}

impl RowLine {
    fn of(&self, row: &Row) -> Line<'static> {
        let Self { indent, is_expanded, whole, width, style } = *self;
        let mark = if row.node.kind.is_container() { mark(is_expanded) } else { " " };
        let named = row.name.as_ref().map(|name| safe(name).into_owned());
        let name = named.unwrap_or_else(|| format!("[{}]", row.index));
        let name = fit(&format!("{}{mark} {name}", "  ".repeat(indent)), name_width(width));
        let count = row.children.map_or_else(String::new, grouped);
        let share = match (row.end, whole) {
            (Some(end), Some(whole)) => share(end - row.node.start, whole),
            _ => "…".into(),
        };
        let kind = match &row.fault {
            Some(_) if !row.node.kind.is_container() => "invalid",
            _ => row.node.kind.name(),
        };
        let facts = format!(" {kind:<8}{count:>COUNT_WIDTH$}{share:>SHARE_WIDTH$}  ");
        let preview = match &row.fault {
            Some(error) => Cow::Owned(format!("! {}: {}", first_line(error), row.preview)),
            None => Cow::Borrowed(row.preview.as_str()),
        };
        let preview = fit(&preview, width.saturating_sub(name_width(width) + facts.width()));
        if style == SELECTED {
            return Line::styled(format!("{name}{facts}{preview}"), style);
        }
        let value = match row.node.kind {
            _ if row.fault.is_some() => FAULT,
            Kind::String => Style::new().fg(Color::Green),
            Kind::Number => Style::new().fg(Color::Cyan),
            Kind::Bool | Kind::Null => Style::new().fg(Color::Yellow),
            Kind::Array | Kind::Object => DIM,
        };
        Line::from(vec![Span::raw(name), Span::styled(facts, DIM), Span::styled(preview, value)])
    }
}

fn result_lines(results: &Results, height: usize, width: usize) -> Vec<Line<'static>> {
    let top = results.scroll.top as usize;
    let shown = results.hits.iter().enumerate().skip(top).take(height);
    let path_width = width / 2;
    let line = |(number, hit): (usize, &crate::task::Hit)| {
        let style = if number as u64 == results.scroll.selected { SELECTED } else { Style::new() };
        let record = if hit.record > 0 { format!("{} ", grouped(hit.record)) } else { String::new() };
        let path = fit(&format!("{record}{}", safe(&hit.location)), path_width);
        Line::styled(fit(&format!("{path}  {}", hit.preview), width), style)
    };
    shown.map(line).collect()
}

fn text_lines(text: &Text, height: usize, width: usize) -> Vec<Line<'static>> {
    let shown = text.lines.iter().skip(text.scroll.top as usize).take(height);
    shown.map(|line| Line::raw(fit(&safe(line), width))).collect()
}

fn table_lines(table: &Table, tree: &Tree, height: usize, width: usize) -> Vec<Line<'static>> {
    let index_width = 10;
    let fitting = (width.saturating_sub(index_width) / (CELL_WIDTH + 1)).max(1);
    // The selected column is visible.
    let left = table.column.saturating_sub(fitting - 1);
    let columns: Vec<&String> = table.columns.iter().skip(left).take(fitting).collect();
    let mut header = vec![Span::styled(fit("", index_width), DIM)];
    for (number, name) in columns.iter().enumerate() {
        let sorted = table.order.as_ref().filter(|order| order.column == **name);
        let arrow = sorted.map_or("", |order| if order.descending { " ▼" } else { " ▲" });
        let style = if left + number == table.column { SELECTED } else { Style::new() };
        header.push(Span::styled(fit(&format!("{}{arrow}", safe(name)), CELL_WIDTH), style));
        header.push(Span::raw(" "));
    }
    let mut lines = vec![Line::from(header)];
    for row in table.scroll.top.. {
        if lines.len() >= height {
            break;
        }
        let Some(element) = table.element(row) else { break };
        let found = match tree.cache.row(table.holder, element) {
            Ok(Some(found)) => found,
            Ok(None) => {
                let error = tree.cache.error_before(table.holder, element);
                lines.extend(error.map(|error| fault(error, 0, width)));
                break;
            }
            Err(_) => {
                lines.push(Line::styled("  reading…", DIM));
                break;
            }
        };
        let style = if row == table.scroll.selected { SELECTED } else { Style::new() };
        lines.push(Line::styled(table_row(found, &columns, index_width), style));
    }
    lines
}

fn table_row(row: &Row, columns: &[&String], index_width: usize) -> String {
    let mut text = fit(&format!("{:>8}", row.index), index_width);
    if let Some(error) = &row.fault {
        return text + "! " + &first_line(error);
    }
    if row.cells.is_empty() && row.node.kind != Kind::Object {
        return text + &row.preview;
    }
    for column in columns {
        let cell = row.cells.iter().find(|(name, _)| name == *column);
        text += &fit(cell.map_or("", |(_, value)| value), CELL_WIDTH);
        text.push(' ');
    }
    text
}

/// A text in exactly `width` columns: cut with an ellipsis, or filled with spaces.
fn fit(text: &str, width: usize) -> String {
    let mut fitted = String::with_capacity(width);
    let mut used = 0;
    for character in text.chars() {
        let columns = character.width().unwrap_or(0);
        if used + columns > width {
            while used + 1 > width {
                let Some(last) = fitted.pop() else { return fitted };
                used -= last.width().unwrap_or(0);
            }
            fitted.push('…');
            used += 1;
            break;
        }
        fitted.push(character);
        used += columns;
    }
    fitted.extend(std::iter::repeat_n(' ', width.saturating_sub(used)));
    fitted
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_fit() {
        assert_eq!(fit("abc", 5), "abc  ");
        assert_eq!(fit("abcdef", 5), "abcd…");
        assert_eq!(fit("日本語", 5), "日本…");
        assert_eq!(fit("日本語", 4), "日… ");
        assert_eq!(fit("a", 0), "");
    }
}
