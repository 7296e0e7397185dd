//! The mouse, pasted text, and keys of lists, texts, and prompts.

use ratatui::crossterm::event::{Event, KeyModifiers, MouseButton, MouseEvent, MouseEventKind};
use trommel::reader::Framing;

use super::{SHOP, printer, source};
use crate::print::Printer;

fn shop() -> Printer {
    printer(source(SHOP, Framing::Auto), (100, 14))
}

fn happen(printer: &mut Printer, event: &Event) {
    printer.app.handle(event);
    printer.draw().unwrap();
}

fn mouse(printer: &mut Printer, kind: MouseEventKind, row: u16) {
    happen(printer, &Event::Mouse(MouseEvent { kind, column: 3, row, modifiers: KeyModifiers::NONE }));
}

fn click(printer: &mut Printer, row: u16) {
    mouse(printer, MouseEventKind::Down(MouseButton::Left), row);
}

#[test]
fn a_click_selects_and_another_one_expands() {
    let mut printer = shop();
    click(&mut printer, 2);
    assert!(printer.text().contains("  $['shop']\n"), "{}", printer.text());
    assert!(!printer.text().contains("    ▸ books"), "{}", printer.text());
    click(&mut printer, 2);
    assert!(printer.text().contains("    ▸ books"), "{}", printer.text());
    click(&mut printer, 5);
    assert!(printer.text().contains("  $['shop']['books']\n"), "{}", printer.text());
    click(&mut printer, 2);
    click(&mut printer, 2);
    assert!(!printer.text().contains("    ▸ books"), "{}", printer.text());
    // Below the last row, at the bottom line, and with another button.
    let before = printer.text();
    click(&mut printer, 9);
    click(&mut printer, 13);
    mouse(&mut printer, MouseEventKind::Down(MouseButton::Right), 3);
    assert_eq!(printer.text(), before);
}

#[test]
fn the_wheel_moves_by_three_rows() {
    let numbers = (0..100).map(|number| number.to_string()).collect::<Vec<_>>().join(",");
    let mut printer = printer(source(format!("[{numbers}]"), Framing::Auto), (100, 14));
    mouse(&mut printer, MouseEventKind::ScrollDown, 2);
    mouse(&mut printer, MouseEventKind::ScrollDown, 2);
    assert!(printer.text().contains("  $[5]\n"), "{}", printer.text());
    mouse(&mut printer, MouseEventKind::ScrollUp, 2);
    assert!(printer.text().contains("  $[2]\n"), "{}", printer.text());
    mouse(&mut printer, MouseEventKind::Moved, 2);
    assert!(printer.text().contains("  $[2]\n"), "{}", printer.text());
}

#[test]
fn results_and_tables_are_clicked() {
    let mut printer = shop();
    printer.press(":$..price<Enter>").unwrap();
    click(&mut printer, 2);
    click(&mut printer, 2);
    assert!(printer.text().contains("  $['shop']['books'][1]['price']\n"), "{}", printer.text());
    printer.press("t").unwrap();
    // The first row has the names of the columns.
    click(&mut printer, 1);
    assert!(printer.text().contains("table of $['shop']['books']"), "{}", printer.text());
    click(&mut printer, 4);
    click(&mut printer, 4);
    assert!(printer.text().contains("  $['shop']['books'][2]\n"), "{}", printer.text());
    printer.press("?").unwrap();
    click(&mut printer, 1);
    assert!(printer.text().contains("  keys\n"), "{}", printer.text());
}

#[test]
fn text_is_pasted_into_prompts_only() {
    let mut printer = shop();
    let before = printer.text();
    happen(&mut printer, &Event::Paste("q".into()));
    assert_eq!(printer.text(), before);
    printer.press(":").unwrap();
    happen(&mut printer, &Event::Paste("$..title\n\u{1b}".into()));
    assert!(printer.text().contains(":$..title▏"), "{}", printer.text());
    click(&mut printer, 2);
    printer.press("<Enter>").unwrap();
    assert!(printer.text().contains("3 results"), "{}", printer.text());
    happen(&mut printer, &Event::FocusLost);
    assert!(printer.text().contains("3 results"), "{}", printer.text());
}

#[test]
fn prompts_are_edited_and_closed() {
    let mut printer = shop();
    printer.press("/corner<C-u>boo<C-x><Left>ks").unwrap();
    assert!(printer.text().contains("/books▏"), "{}", printer.text());
    printer.press("<Esc>").unwrap();
    assert!(!printer.text().contains("/books"), "{}", printer.text());
    printer.press("/a<Backspace>").unwrap();
    assert!(printer.text().contains("/▏"), "{}", printer.text());
    printer.press("<Backspace>").unwrap();
    assert!(!printer.text().contains("/▏"), "{}", printer.text());
    // Nothing was typed.
    printer.press(":<Enter>").unwrap();
    assert!(printer.app.views.is_empty() && printer.app.prompt.is_none());
    printer.press("yx").unwrap();
    assert!(printer.app.effects.copied.is_none());
    printer.press("y<Esc>").unwrap();
    assert!(printer.app.prompt.is_none() && !printer.app.effects.quits);
    printer.press(":<C-c>").unwrap();
    assert!(printer.app.effects.quits);
}

#[test]
fn screens_are_turned_in_every_list() {
    let objects = (0..100).map(|number| format!(r#"{{"n":{number}}}"#)).collect::<Vec<_>>().join(",");
    let mut printer = printer(source(format!("[{objects}]"), Framing::Auto), (100, 14));
    printer.press("<C-f><C-f><C-b><C-x><Down>").unwrap();
    assert!(printer.text().contains("  $[12]\n"), "{}", printer.text());
    printer.press("<Home>").unwrap();
    assert!(printer.text().contains("  $\n"), "{}", printer.text());
    printer.press(":$[*].n<Enter><C-f><C-f><C-b><Down><Up><Enter>").unwrap();
    assert!(printer.text().contains("  $[12]['n']\n"), "{}", printer.text());
    printer.press("t<End><Enter>").unwrap();
    assert!(printer.text().contains("  $[99]\n"), "{}", printer.text());
    printer.press("t<Space><Home><Enter>").unwrap();
    assert!(printer.text().contains("  $[0]\n"), "{}", printer.text());
    let seventy = (0..70).map(|number| format!(r#"{{"n":{number}}}"#)).collect::<Vec<_>>().join(",");
    let mut table = super::printer(source(format!("[{seventy}]"), Framing::Auto), (100, 14));
    table.press("t").unwrap();
    // The end is passed before it is known.
    (0..7).for_each(|_| table.press("<Space>").unwrap());
    table.press("<Enter>").unwrap();
    assert!(table.text().contains("  $[69]\n"), "{}", table.text());
    // The keys fit the screen but for the last ones.
    printer.press("?").unwrap();
    assert!(printer.text().contains("expand; the first child"), "{}", printer.text());
    printer.press("<End>").unwrap();
    assert!(printer.text().contains("quit") && !printer.text().contains("first child"), "{}", printer.text());
    // A text has no columns.
    printer.press("<Left><Right>ts").unwrap();
    assert!(printer.text().contains("only a table can be sorted"), "{}", printer.text());
    printer.press("<Home><Enter>").unwrap();
    assert!(printer.app.views.is_empty());
}
