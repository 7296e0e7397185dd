//! Nodes as records: a matcher of another plan runs on each node, on the same cursor.

use trommel_path::{Duplicates, Matcher, Order, Plan, PlanOptions, Scratch, Step, Wants};
use trommel_reader::{Cursor, Result, Validation};
use trommel_testkit::effort::cases;
use trommel_testkit::generate::{self, QueryOptions, Random, Shape};
use trommel_testkit::naive;

use crate::support::{Nodes, expected, feedings, query, record, wants_all};

/// The plan of the records, and that of the queries on each of them.
struct Plans {
    outer: Plan,
    inner: Plan,
    wants: [Wants; 2],
}

impl Plans {
    /// Returns the nodes of the inner query in each node of the outer one, and how often the cursor
    /// had to return to the start of a node.
    fn run(&self, cursor: &mut Cursor<'_>) -> Result<(Vec<Nodes>, usize)> {
        let [mut scratch, mut inner_scratch] = [Scratch::new(), Scratch::new()];
        let mut outer = self.outer.matcher(&mut scratch, cursor, &self.wants[0]);
        let (mut records, mut returns) = (Vec::new(), 0);
        assert!(outer.next_record()?);
        while let Some(step) = outer.advance()? {
            let Step::Enter { times, .. } = step else { continue };
            let (holds, is_left) = (outer.cursor().holds(), !outer.selects_within());
            for time in 1..=times {
                let mark = (time < times || !is_left).then(|| outer.cursor_mut().hold());
                records.push(self.node(&mut outer, &mut inner_scratch)?);
                match &mark {
                    Some(mark) => outer.cursor_mut().rewind(mark),
                    None => outer.skip_entered(),
                }
                returns += usize::from(mark.is_some());
                outer.cursor_mut().release_to(holds);
            }
        }
        Ok((records, returns))
    }

    fn node(&self, outer: &mut Matcher<'_, '_>, scratch: &mut Scratch) -> Result<Nodes> {
        let (depth, start) = (outer.cursor().depth(), outer.cursor().offset());
        let mut inner = outer.on_node(&self.inner, scratch, &self.wants[1]);
        inner.begin_record()?;
        let mut found = record(&self.inner, &mut inner)?;
        let cursor = inner.cursor_mut();
        while cursor.depth() > depth {
            cursor.leave()?;
        }
        if cursor.offset() == start {
            cursor.skip_value()?;
        }
        Ok(found.remove(0))
    }
}

/// R1: each node of a query has the nodes that it has as a document, with the locations in the
/// whole, for any outer and inner query and every way to feed the document.
#[test]
fn nodes_are_documents() {
    let (mut some, mut returned) = (0, 0);
    for seed in 0..cases(250, 12_000) {
        let mut random = Random::new(seed);
        let duplicates =
            [Duplicates::First, Duplicates::First, Duplicates::All, Duplicates::Last][random.below(4)];
        let shape = Shape { duplicates: random.chance(30), ..Shape::plain() };
        let text = generate::document(seed, &shape);
        let tree = naive::parse(&text).unwrap();
        let options = QueryOptions::default();
        let (outer, inner) = (
            query(&generate::query(2 * seed, &tree, &options)),
            query(&generate::query(2 * seed + 1, &tree, &options)),
        );
        let order = if random.chance(50) { Order::Rfc } else { Order::Document };
        let mut wanted: Vec<Nodes> = Vec::new();
        for (path, (start, end)) in expected(&tree, &outer, Order::Document, duplicates) {
            let node = naive::parse(&text[start as usize..end as usize]).unwrap();
            let moved = |(below, (from, to)): (String, (u64, u64))| {
                (format!("{path}{}", &below[1..]), (start + from, start + to))
            };
            wanted.push(expected(&node, &inner, order, duplicates).into_iter().map(moved).collect());
        }
        let plan = |query, order| Plan::new(&[query], PlanOptions::new().order(order).duplicates(duplicates));
        let (outer, inner) = (plan(outer, Order::Any), plan(inner, order));
        let mut wants = Wants::default();
        wants.location = true;
        let mut plans = Plans { wants: [wants, wants_all(&inner)], outer, inner };
        let validation = [Validation::Strict, Validation::Structural][random.below(2)];
        feedings(&text, validation, |how, cursor| {
            let (found, returns) = plans.run(cursor).unwrap();
            assert_eq!(found, wanted, "seed {seed}, {how}: {}", String::from_utf8_lossy(&text));
            returned += returns;
        });
        // Without locations, other ways to search are possible.
        plans.wants.iter_mut().for_each(|wants| wants.location = false);
        wanted.iter_mut().flatten().for_each(|(path, _)| *path = "$".into());
        feedings(&text, validation, |how, cursor| {
            assert_eq!(plans.run(cursor).unwrap().0, wanted, "seed {seed}, {how}, without locations");
        });
        some += usize::from(wanted.iter().any(|nodes| !nodes.is_empty()));
    }
    assert!(some > 20 && returned > 100, "{some} {returned}");
}

/// A query that cannot select anything in its own nodes reads every byte once.
#[test]
fn plain_nodes_are_read_once() {
    let text = format!(r#"{{"a":[{}0],"b":1}}"#, r#"{"x":[1,2],"y":"z"},"#.repeat(100));
    for (outer, returns) in [("$.a[*]", 0), ("$.a[?@.x]", 0), ("$.a[0:50]", 0), ("$.a[*,0]", 1), ("$..x", 0)]
    {
        let plan = |text| Plan::new(&[query(text)], PlanOptions::new().order(Order::Any));
        let plans =
            Plans { outer: plan(outer), inner: plan("$.x[1]"), wants: [Wants::default(), Wants::default()] };
        let mut cursor = Cursor::new(text.as_bytes(), &trommel_reader::Config::new());
        let (records, returned) = plans.run(&mut cursor).unwrap();
        let is_nested = outer.contains("..");
        assert!(returned == returns || is_nested && returned > 0, "{outer}: {returned}");
        assert!(records.len() >= 50);
    }
}
