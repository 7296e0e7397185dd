//! The explorer against values that a simple parser has read.

mod background;
mod gestures;
mod messages;

use std::fs;
use std::io;
use std::io::Write;
use std::sync::{Arc, Mutex};

use trommel::reader::{Framing, Input, Kind, Limits};
use trommel::{Analysis, Cancel};
use trommel_guide::{Guide, Identity, Index, IndexBuilder, Shape};
use trommel_testkit::generate::{Random, Shape as DocumentShape, document};
use trommel_testkit::naive;

use crate::app::App;
use crate::list::{self, Row};
use crate::locate::locate;
use crate::message::{Message, Outcome};
use crate::print::Printer;
use crate::source::{Holder, Node, Source};
use crate::task::Listed;
use crate::tree::{Lookup, Need, Tree, TreePath};
use crate::view::View;

/// A source of bytes that can change, read through a small window.
fn source_of(bytes: &Arc<Mutex<Vec<u8>>>, framing: Framing) -> Source {
    let bytes = Arc::clone(bytes);
    Source::new("data.json", framing, move || {
        Input::from_seekable(io::Cursor::new(bytes.lock().unwrap().clone()))
    })
}

fn source(text: impl Into<Vec<u8>>, framing: Framing) -> Source {
    source_of(&Arc::new(Mutex::new(text.into())), framing)
}

fn guided(source: Source, spacing: u64) -> Source {
    let document = source.document().unwrap();
    let index = Index::build(&document, IndexBuilder::new(spacing), Box::new(|_| Ok(()))).unwrap();
    let guide = Guide::new(Identity::Output([0; 32]), source.framing(), index, Shape::default());
    source.guided_by(guide)
}

fn printer(source: Source, size: (u16, u16)) -> Printer {
    Printer::new(App::new(source, None, false).unwrap(), size).unwrap()
}

/// The screen after some keys.
fn screen(text: &str, keys: &str) -> String {
    let mut printer = printer(source(text, Framing::Auto), (100, 14));
    printer.press(keys).unwrap();
    printer.text()
}

/// Meets needs until a lookup succeeds.
fn known<T>(source: &Source, tree: &mut Tree, lookup: impl Fn(&Tree) -> Lookup<T>) -> T {
    for _ in 0..100 {
        match lookup(tree) {
            Ok(found) => return found,
            Err(Need::Page(holder, number)) => {
                let page = list::list(source, holder, number * list::PAGE, &Cancel::new(), &mut |_| {});
                tree.cache.insert(holder, number, page);
            }
            Err(Need::Count(holder)) => {
                let count = list::count(source, holder, &Cancel::new());
                tree.cache.set_count(holder, count);
            }
        }
    }
    panic!("a need was met and came back");
}

const fn kind_of(data: &naive::Data) -> Kind {
    match data {
        naive::Data::Null => Kind::Null,
        naive::Data::Bool(_) => Kind::Bool,
        naive::Data::Number(_) => Kind::Number,
        naive::Data::String(_) => Kind::String,
        naive::Data::Array(_) => Kind::Array,
        naive::Data::Object(_) => Kind::Object,
    }
}

/// The path of a value in a document.
fn place_of(document: &naive::Document, id: naive::ValueId) -> TreePath {
    let mut path = TreePath::new();
    let mut at = id;
    while let (Some(parent), Some(position)) = (document.parent(at), document.position(at)) {
        path.push(position as u64);
        at = parent;
    }
    path.reverse();
    path
}

/// Random documents, with and without a guide.
fn each_source(mut check: impl FnMut(&Source, &[u8], &naive::Document)) {
    let mut checked = 0;
    for seed in 0..400 {
        let text = document(seed, &DocumentShape::default());
        let Ok(parsed) = naive::parse(&text) else { continue };
        let mut random = Random::new(seed);
        let window = random.between(1, 200);
        let open = || source(text.clone(), Framing::Single).window(window);
        check(&open(), &text, &parsed);
        check(&guided(open(), random.between(8, 128) as u64), &text, &parsed);
        checked += 1;
    }
    assert!(checked > 300, "{checked}");
}

#[test]
fn rows_are_those_of_the_document() {
    each_source(|source, text, parsed| {
        let root = &parsed[parsed.root()];
        let node = Node { start: root.span.start, kind: kind_of(&root.data), depth: 0 };
        let mut tree = Tree::new(Holder::Value(node));
        let mut path = TreePath::new();
        let mut ids = parsed.ids().filter(|id| *id != parsed.root()).collect::<Vec<_>>();
        ids.sort_by_key(|id| parsed[*id].span.start);
        for id in ids {
            tree.expand(&path);
            let next = known(source, &mut tree, |tree| tree.next(&path)).unwrap();
            assert_eq!(next, place_of(parsed, id), "{}", String::from_utf8_lossy(text));
            let before = known(source, &mut tree, |tree| tree.previous(&next)).unwrap();
            assert_eq!(before, path);
            let row = known(source, &mut tree, |tree| tree.row(&next).map(Option::<&Row>::cloned)).unwrap();
            let value = &parsed[id];
            assert_eq!((row.node.start, row.end), (value.span.start, Some(value.span.end)));
            assert_eq!(row.node.kind, kind_of(&value.data));
            if row.node.kind.is_container() {
                assert_eq!(row.children, Some(parsed.children(id).len() as u64));
            }
            path = next;
        }
        tree.expand(&path);
        assert_eq!(known(source, &mut tree, |tree| tree.next(&path)), None);
        assert_eq!(known(source, &mut tree, |tree| tree.last_within(&[])), path);
    });
}

#[test]
fn offsets_are_located() {
    each_source(|source, text, parsed| {
        let root = &parsed[parsed.root()];
        let holder = Holder::Value(Node { start: root.span.start, kind: kind_of(&root.data), depth: 0 });
        for offset in 0..text.len() as u64 {
            let steps = locate(source, holder, offset, &Cancel::new()).unwrap();
            let path: TreePath = steps.iter().map(|step| step.index).collect();
            let holds = |id: &naive::ValueId| {
                let name = parsed
                    .parent(*id)
                    .and_then(|parent| parsed.members(parent).iter().find(|member| member.value == *id));
                let start = name.map_or(parsed[*id].span.start, |member| member.name_span.start);
                start <= offset && offset < parsed[*id].span.end
            };
            let innermost = parsed.ids().filter(holds).max_by_key(|id| parsed[*id].depth);
            let expected = innermost.map_or_else(TreePath::new, |id| place_of(parsed, id));
            assert_eq!(path, expected, "{offset} {}", String::from_utf8_lossy(text));
        }
    });
}

/// Keys of a user who does not read the help.
const KEYS: [&str; 34] = [
    "j",
    "j",
    "j",
    "k",
    "l",
    "l",
    "h",
    "G",
    "g",
    "<Space>",
    "<PgUp>",
    "<C-d>",
    "<C-u>",
    "<Enter>",
    "<Enter>",
    "t",
    "s",
    "d",
    "?",
    "<Esc>",
    "<Esc>",
    "/a<Enter>",
    "n",
    "N",
    ":$..*<Enter>",
    ":$[<Enter>",
    "f@.a<Enter>",
    "f@>1<Enter>",
    "yp",
    "yv",
    "yc",
    "w<Esc>",
    "/<Backspace>",
    ":$..a<Enter><Enter>",
];

#[test]
fn any_keys_leave_a_selected_row_on_the_screen() {
    let mut pressed = 0;
    for seed in 0..120 {
        let mut random = Random::new(seed);
        let lines = random.chance(30);
        let mut text = document(seed, &DocumentShape::default());
        if lines {
            text.retain(|byte| *byte != b'\n' && *byte != b'\r');
            text = [&text[..], b"\n", &text, b"\n[1,2]\n"].concat();
        }
        if random.chance(20) {
            text = trommel_testkit::generate::damage(seed, &text);
        }
        let framing = if lines { Framing::Lines } else { Framing::Auto };
        let size = (random.between(1, 120) as u16, random.between(1, 30) as u16);
        let mut printer = printer(source(text, framing).window(random.between(16, 300)), size);
        for _ in 0..90 {
            let key = random.pick(&KEYS);
            printer.press(key).unwrap();
            pressed += 1;
            let app = &printer.app;
            let Some(tree) = &app.tree else { continue };
            if !app.views.is_empty() {
                continue;
            }
            let row = tree.row(&tree.selected);
            assert!(
                tree.selected.is_empty() || matches!(row, Ok(Some(_))),
                "{seed}: {:?} {row:?}",
                tree.selected
            );
            let mut path = Some(tree.top.clone());
            let shown = (0..app.size.0.max(1)).any(|_| {
                let here = path.take();
                path = here.as_ref().and_then(|here| tree.next(here).ok().flatten());
                here.as_ref() == Some(&tree.selected)
            });
            assert!(shown, "{seed}: {:?} {:?}", tree.top, tree.selected);
        }
    }
    assert!(pressed > 10_000);
}

const SHOP: &str = r#"{
    "shop": {"name": "Corner", "open": true, "books": [
        {"title": "A", "price": 8}, {"title": "B", "price": 12.5, "isbn": "x"}, {"title": "C", "price": 10}
    ]},
    "seen": null
}"#;

#[test]
fn the_first_screen() {
    let expected = "\x20data.json  192 B  $
▾ $                               object              2 100.0%  {\"shop\":{\"name\":\"Corner\",\"open\":tru…
  ▸ shop                          object              3  82.3%  {\"name\":\"Corner\",\"open\":true,\"books…
    seen                          null                    2.1%  null
";
    assert!(screen(SHOP, "").starts_with(expected), "{}", screen(SHOP, ""));
    assert!(screen(SHOP, "").ends_with("q quit\n"));
}

#[test]
fn containers_are_expanded_and_collapsed() {
    let open = screen(SHOP, "jlljj");
    assert!(open.contains("$['shop']['books']\n"), "{open}");
    assert!(open.contains("    ▸ books"), "{open}");
    let items = screen(SHOP, "jlljjl");
    assert!(items.contains("      ▸ [2]"), "{items}");
    let back = screen(SHOP, "jlljjlhh");
    assert!(back.contains("  $['shop']\n"), "{back}");
    let closed = screen(SHOP, "jlljjlhhh");
    assert!(closed.contains("  ▸ shop"), "{closed}");
}

#[test]
fn queries_list_results_that_can_be_entered() {
    let results = screen(SHOP, ":$..price<Enter>");
    assert!(results.contains("$['shop']['books'][1]['price']"), "{results}");
    assert!(results.contains("3 results"), "{results}");
    let path = screen(SHOP, ":$..price<Enter>j<Enter>");
    assert!(path.contains("  $['shop']['books'][1]['price']\n"), "{path}");
    let fault = screen(SHOP, ":$.[<Enter>");
    assert!(fault.lines().last().unwrap().contains("expected"), "{fault}");
}

#[test]
fn filters_select_elements_and_records() {
    let results = screen(SHOP, "jlljjlf@.price > 9<Enter>");
    assert!(results.contains("$['shop']['books'][1] ") && results.contains("2 results"), "{results}");
    let path = screen(SHOP, "jlljjlf@.price > 9<Enter>j<Enter>");
    assert!(path.contains("  $['shop']['books'][2]\n"), "{path}");
    let records = screen("{\"a\":1}\n{\"a\":2}\n{\"a\":3}\n", "f@.a > 1<Enter>j<Enter>");
    assert!(records.contains("record 2  $\n"), "{records}");
    let none = screen(SHOP, "f@.price > 9<Enter>");
    assert!(none.contains("select an array"), "{none}");
}

#[test]
fn tables_are_sorted() {
    let table = screen(SHOP, "jlljjt");
    assert!(table.contains("title") && table.contains("price") && table.contains("isbn"), "{table}");
    let order = |keys: &str| {
        let table = screen(SHOP, keys);
        let titles = table.lines().skip(2).take(3).map(|line| line.split('"').nth(1).unwrap().to_owned());
        titles.collect::<String>()
    };
    assert_eq!(order("jlljjt"), "ABC");
    assert_eq!(order("jlljjtls"), "ACB");
    assert_eq!(order("jlljjtlss"), "BCA");
    assert_eq!(order("jlljjtlsss"), "ABC");
    // Elements without the member are last.
    assert_eq!(order("jlljjtllss"), "BAC");
    let path = screen(SHOP, "jlljjtlsj<Enter>");
    assert!(path.contains("  $['shop']['books'][2]\n"), "{path}");
}

#[test]
fn searches_find_names_and_values_in_both_directions() {
    for (keys, path) in [
        ("/corner<Enter>", "$['shop']['name']"),
        ("/price<Enter>", "$['shop']['books'][0]['price']"),
        ("/price<Enter>n", "$['shop']['books'][1]['price']"),
        ("/price<Enter>N", "$['shop']['books'][2]['price']"),
        ("/price<Enter>nnn", "$['shop']['books'][0]['price']"),
        ("/C<Enter>", "$['shop']['name']"),
        ("/null<Enter>", "$['seen']"),
    ] {
        let shown = screen(SHOP, keys);
        assert!(shown.contains(&format!("  {path}\n")), "{keys} {shown}");
    }
    assert!(screen(SHOP, "/absent<Enter>").contains("not found"));
}

#[test]
fn values_are_described_copied_and_written() {
    let described = screen(SHOP, "jlljjd");
    assert!(described.contains("types       object 3, array 1, string 4, number 3"), "{described}");
    let mut printer = printer(source(SHOP, Framing::Auto), (100, 14));
    printer.press("jllyp").unwrap();
    assert_eq!(printer.app.effects.copied.take().as_deref(), Some("$['shop']['name']"));
    printer.press("yv").unwrap();
    assert_eq!(printer.app.effects.copied.take().as_deref(), Some("\"Corner\""));
    printer.press("yc").unwrap();
    let command = r"trommel extract data.json '$['\''shop'\'']['\''name'\'']'";
    assert_eq!(printer.app.effects.copied.take().as_deref(), Some(command));
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("value.json");
    printer.press(&format!("w{}<Enter>", path.display())).unwrap();
    assert_eq!(fs::read_to_string(&path).unwrap(), "\"Corner\"");
    printer.press(&format!("w{}<Enter>", path.display())).unwrap();
    assert!(printer.text().contains("exists"), "{}", printer.text());
}

#[test]
fn records_are_followed() {
    let bytes = Arc::new(Mutex::new(b"{\"n\":0}\n".to_vec()));
    let app = App::new(source_of(&bytes, Framing::Lines), None, true).unwrap();
    let mut printer = Printer::new(app, (80, 10)).unwrap();
    printer.press("G").unwrap();
    for number in 1..200 {
        writeln!(bytes.lock().unwrap(), "{{\"n\":{number}}}").unwrap();
        printer.app.poll();
        printer.draw().unwrap();
        let shown = printer.text();
        assert!(shown.contains(&format!("[{number}]")), "{number} {shown}");
        assert!(shown.contains(&format!("record {number} ")), "{number} {shown}");
    }
    *bytes.lock().unwrap() = b"{\"n\":7}\n".to_vec();
    printer.app.poll();
    printer.press("g").unwrap();
    let shown = printer.text();
    assert!(shown.contains("[0]") && !shown.contains("[1]"), "{shown}");
}

/// The guide of a log that has grown knows its first records only.
#[test]
fn a_guide_is_used_for_the_lines_before() {
    let bytes = Arc::new(Mutex::new(Vec::new()));
    let append = |numbers: std::ops::Range<u32>| {
        numbers.for_each(|number| writeln!(bytes.lock().unwrap(), "{{\"n\":{number}}}").unwrap());
    };
    append(0..100);
    let source = source_of(&bytes, Framing::Lines);
    let mut document = source.document().unwrap();
    let index = Index::build(&document, IndexBuilder::new(32), Box::new(|_| Ok(()))).unwrap();
    let shape = Shape::build(&mut document, &Analysis::new()).unwrap();
    let source = source.guided_by(Guide::new(Identity::Output([0; 32]), Framing::Lines, index, shape));
    append(100..150);
    let mut printer = printer(source, (100, 14));
    printer.press("G").unwrap();
    assert!(printer.text().contains("[149]"), "{}", printer.text());
    printer.press("gd").unwrap();
    assert!(printer.text().contains("object 150"), "{}", printer.text());
}

#[test]
fn malformed_input_is_shown_up_to_the_fault() {
    let shown = screen("{\"a\": 1, \"b\": [1, 2,, 3], \"c\": 4}", "jjl");
    assert!(shown.contains("[1]") && shown.contains("! "), "{shown}");
    assert!(screen("", "jlG").contains("empty"));
    assert!(screen("nonsense", "jlG").contains("not a JSON literal"), "{}", screen("nonsense", "jlG"));
    let cut = screen("[1, 2, {\"a\": ", "j");
    assert!(cut.contains("[1]") && cut.contains("! "), "{cut}");
}

#[test]
fn malformed_records_do_not_end_the_list() {
    let lines = "{\"a\":1}\n{\"a\":2} x\nnonsense\n[1,\n{\"a\":5}\n";
    let shown = |keys: &str| {
        let mut printer = printer(source(lines, Framing::Lines), (120, 14));
        printer.press(keys).unwrap();
        printer.text()
    };
    let rows = shown("G");
    let faults: Vec<_> = rows.lines().skip(2).take(5).map(|line| line.contains("  ! ")).collect();
    assert_eq!(faults, [false, true, true, true, false], "{rows}");
    assert!(rows.contains("[2]") && rows.contains("invalid") && rows.contains(": nonsense"), "{rows}");
    assert!(rows.contains("record 4  $\n"), "{rows}");
    let inside = shown("jjjjl");
    assert!(inside.contains("    [0]") && inside.contains("    ! "), "{inside}");
    let results = shown(":$.a<Enter>");
    assert!(results.contains("2 results; skipped 3 malformed records"), "{results}");
    assert!(shown("d").contains("malformed   3"), "{}", shown("d"));
    for (text, record) in [("nonsense", 2), ("x", 1), ("[1", 3), ("5", 4)] {
        let found = shown(&format!("/{text}<Enter>"));
        assert!(found.contains(&format!("record {record}  ")), "{text} {found}");
    }
}

/// Lines with faults anywhere, listed from every page on.
#[test]
fn malformed_records_keep_their_numbers() {
    let mut malformed = 0;
    for seed in 0..8 {
        let mut random = Random::new(seed);
        let mut lines = Vec::new();
        for number in 0..300 {
            let mut line =
                document(seed * 1000 + number, &DocumentShape { depth: 2, ..DocumentShape::default() });
            if random.chance(20) {
                line = trommel_testkit::generate::damage(number, &line);
            }
            line.retain(|byte| *byte != b'\n' && *byte != b'\r');
            if line.iter().any(|byte| !byte.is_ascii_whitespace()) {
                lines.push(line);
            }
        }
        let text = lines.join(&b'\n');
        let source = source(text, Framing::Lines).window(random.between(16, 300));
        let (mut start, mut rows) = (0, Vec::new());
        for page in 0..=lines.len() as u64 / list::PAGE {
            let listed = list::list(&source, Holder::Records, page * list::PAGE, &Cancel::new(), &mut |_| {});
            assert_eq!(listed.error, None);
            rows.extend(listed.rows);
        }
        assert_eq!(rows.len(), lines.len());
        assert_eq!(list::count(&source, Holder::Records, &Cancel::new()), lines.len() as u64);
        for (index, (row, line)) in rows.iter().zip(&lines).enumerate() {
            let blank = line.iter().take_while(|byte| byte.is_ascii_whitespace()).count() as u64;
            assert_eq!((row.index, row.node.start), (index as u64, start + blank));
            // Reading by masks misses faults, but never reports one that is not there.
            let is_valid = naive::parse(line).is_ok();
            assert!(!is_valid || row.fault.is_none(), "{row:?}");
            malformed += u64::from(row.fault.is_some());
            let steps = locate(&source, Holder::Records, row.node.start, &Cancel::new()).unwrap();
            assert_eq!(steps.first().map(|step| step.index), Some(index as u64));
            start += line.len() as u64 + 1;
        }
    }
    assert!(malformed > 100, "{malformed}");
}

/// Keys of the tree.
const TREE_KEYS: [&str; 12] = ["j", "j", "j", "k", "l", "l", "h", "G", "g", "<Space>", "<PgUp>", "<Enter>"];

/// The title, and the names of the rows. Counts of rows that were never on the screen are unknown.
fn names(screen: &str) -> Vec<String> {
    let name = |(number, line): (usize, &str)| line.chars().take(if number == 0 { 80 } else { 26 }).collect();
    screen.lines().enumerate().map(name).collect()
}

/// Nothing has been read when the later keys arrive.
#[test]
fn keys_that_are_typed_ahead_wait_for_their_row() {
    for seed in 0..80 {
        let mut random = Random::new(seed);
        let text = document(seed, &DocumentShape::default());
        let keys: String = (0..random.between(1, 40)).map(|_| random.pick(&TREE_KEYS)).collect();
        let open = || printer(source(text.clone(), Framing::Auto), (80, 300));
        let mut slow = open();
        slow.press(&keys).unwrap();
        let app = App::new(source(text.clone(), Framing::Auto), None, false).unwrap();
        let mut fast = Printer::start(app, (80, 300)).unwrap();
        fast.type_ahead(&keys).unwrap();
        fast.draw().unwrap();
        assert_eq!(names(&fast.text()), names(&slow.text()), "{seed} {keys}");
    }
    let app = App::new(source(SHOP, Framing::Auto), None, false).unwrap();
    let mut printer = Printer::start(app, (100, 14)).unwrap();
    printer.type_ahead("jl<Esc>j").unwrap();
    printer.draw().unwrap();
    assert!(printer.text().contains("  $['shop']\n"), "{}", printer.text());
    assert!(!printer.text().contains("    ▸ books"), "{}", printer.text());
}

#[test]
fn results_of_a_cancelled_task_are_not_shown() {
    let mut printer = printer(source(SHOP, Framing::Auto), (100, 14));
    printer.press(":$..price<Enter>").unwrap();
    let Some(View::Results(results)) = printer.app.views.last() else { panic!("no results") };
    let (hits, count) = (results.hits.clone(), results.hits.len());
    printer.type_ahead(":$..title<Enter>").unwrap();
    let done = Outcome::Listed(Ok(Listed { found: 77, malformed: 0 }));
    printer.app.receive(Message::Hits(1, hits));
    printer.app.receive(Message::Done(1, done));
    printer.draw().unwrap();
    let shown = printer.text();
    assert_eq!(count, 3);
    assert!(shown.contains("3 results") && !shown.contains("price"), "{shown}");
}

#[test]
fn names_and_values_cannot_control_the_terminal() {
    let shown = screen("{\"\\u001b[2J\": \"\\u202eevil\u{202e}\", \"\u{9b}31m\": 1}", "");
    assert!(shown.chars().all(|c| c == '\n' || !trommel_base::text::is_unsafe(c)), "{shown:?}");
}

#[test]
fn deep_values() {
    let deep = format!("{}1{}", "[".repeat(300), "]".repeat(300));
    let shown = screen(&deep, &"lj".repeat(300));
    assert!(shown.contains("number"), "{shown}");
}

#[test]
fn wide_values() {
    let wide = format!("[{}]", (0..100_000).map(|n| format!("{{\"n\":{n}}}")).collect::<Vec<_>>().join(","));
    for source in [source(&*wide, Framing::Auto), guided(source(&*wide, Framing::Auto), 1024)] {
        let mut printer = printer(source.limits(Limits::default()), (100, 14));
        printer.press("G").unwrap();
        assert!(printer.text().contains("  ▸ [99999]"), "{}", printer.text());
        printer.press("kkkk<PgUp>").unwrap();
        assert!(printer.text().contains("  $[99983]\n"), "{}", printer.text());
        printer.press(":$[54321].n<Enter><Enter>").unwrap();
        assert!(printer.text().contains("  $[54321]['n']\n"), "{}", printer.text());
        printer.press("ht").unwrap();
        printer.press("G").unwrap();
        assert!(printer.text().contains("   99999  99999"), "{}", printer.text());
    }
}

/// Pages beyond the limit of memory are dropped, but not those on the screen.
#[test]
fn pages_off_the_screen_are_dropped() {
    let members = (0..64).map(|number| format!("\"{}{number}\":0", "n".repeat(200)));
    let text = format!("{{{}}}", members.collect::<Vec<_>>().join(","));
    let source = source(text, Framing::Single);
    let holder = Holder::Value(Node { start: 0, kind: Kind::Object, depth: 0 });
    let mut page = list::list(&source, holder, 0, &Cancel::new(), &mut |_| {});
    // As if more rows followed each page.
    page.count = None;
    let most = (24 << 20) / page.bytes() as u64;
    let mut tree = Tree::new(holder);
    for number in 0..3 * most {
        // A page of the same number replaces the earlier one.
        tree.cache.insert(holder, number, page.clone());
        tree.cache.insert(holder, number, page.clone());
        tree.cache.begin_screen();
        tree.cache.touch(holder, 5);
    }
    let held = (0..3 * most).filter(|number| tree.cache.row(holder, number * list::PAGE).is_ok()).count();
    assert!(tree.cache.row(holder, 5).unwrap().is_some(), "it is on the screen");
    assert!(held as u64 <= most && held > 0, "{held} of at most {most} pages");
}

/// Of too many expanded containers, only those around the selected row are kept.
#[test]
fn expanded_containers_are_forgotten() {
    let mut tree = Tree::new(Holder::Value(Node { start: 0, kind: Kind::Array, depth: 0 }));
    for number in 0..10_000 {
        tree.expand(&[number]);
    }
    assert!(tree.is_expanded(&[]) && tree.is_expanded(&[9_999]) && !tree.is_expanded(&[9_998]));
    tree.selected = vec![9_999, 1];
    for number in 0..9_999 {
        tree.expand(&[9_999, number]);
    }
    assert!(tree.is_expanded(&[]) && tree.is_expanded(&[9_999]) && tree.is_expanded(&[9_999, 9_998]));
    assert!(!tree.is_expanded(&[9_999, 5]));
}

/// Rows are shown before a long value among them was read to its end.
#[test]
fn rows_before_a_long_value_are_early() {
    let long = format!("[{}]", "[0,1,2,3,4,5,6,7,8,9],".repeat(20_000).trim_end_matches(','));
    let text = format!("{{\"first\":1,\"long\":{{\"inner\":{long}}},\"last\":2}}");
    let source = source(&*text, Framing::Single);
    let node = Node { start: 0, kind: Kind::Object, depth: 0 };
    let mut early = Vec::new();
    let page =
        list::list(&source, Holder::Value(node), 0, &Cancel::new(), &mut |page| early.push(page.clone()));
    assert_eq!(early.len(), 1);
    let names: Vec<_> = early[0].rows.iter().map(|row| row.name.as_deref().unwrap()).collect();
    assert_eq!((names, early[0].rows[1].end), (vec!["first", "long"], None));
    assert_eq!(
        (page.rows.len(), page.rows[1].children, page.rows[1].end),
        (3, None, Some(text.len() as u64 - 10))
    );
}
