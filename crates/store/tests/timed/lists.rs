//! Time of lists with many outputs.

use std::time::{Duration, Instant};

use trommel_store::{Filter, SortBy, SortOrder};

use crate::alone;
use crate::many::{expected, fill};
use crate::support::{Home, all, cases, ids};

fn filters(count: u64) -> Vec<Filter> {
    let mut filters = vec![Filter::default()];
    let vary = |filters: Vec<Filter>, changes: &[&dyn Fn(&mut Filter)]| {
        let mut varied = Vec::new();
        for filter in filters {
            for change in changes {
                let mut filter = filter.clone();
                change(&mut filter);
                varied.push(filter);
            }
        }
        varied
    };
    filters = vary(filters, &[&|_| {}, &|filter| filter.conversation_id = Some("conv-9".into())]);
    filters = vary(filters, &[&|_| {}, &|filter| filter.tool_name = Some("web.fetch".into())]);
    filters = vary(filters, &[&|_| {}, &|filter| filter.success = Some(false)]);
    let middle = 1_700_000_000 + count as i64 / 6;
    filters = vary(
        filters,
        &[&|_| {}, &|filter| filter.after = Some(middle), &|filter| {
            (filter.after, filter.before) = (Some(middle), Some(middle + 1000));
        }],
    );
    filters = vary(
        filters,
        &[&|filter| filter.sort_by = SortBy::CreatedAt, &|filter| filter.sort_by = SortBy::Size, &|filter| {
            filter.sort_by = SortBy::ToolName;
        }],
    );
    filters = vary(
        filters,
        &[&|filter| filter.sort_order = SortOrder::Asc, &|filter| filter.sort_order = SortOrder::Desc],
    );
    vary(
        filters,
        &[&|_| {}, &|filter| filter.offset = count / 2, &|filter| {
            (filter.offset, filter.limit) = (count - 150, 100);
        }],
    )
}

/// R21: any page of any list of many outputs is fast and equals the result of a naive search.
#[test]
fn r21_lists_are_fast() {
    let _alone = alone();
    let home = Home::new();
    // Enough outputs to use the indexes that provide the order.
    let count = cases(4_500, 100_000);
    fill(&home, count);
    home.rebuild().unwrap();
    let everything = home.list(&all()).unwrap().rows;
    let mut times = Vec::new();
    // A short run takes every seventh filter, which still covers all of them.
    for (number, filter) in filters(count).into_iter().enumerate().step_by(cases(7, 1) as usize) {
        // Once to load the pages of the index into memory, which is the usual state.
        let page = home.list(&filter).unwrap();
        let start = Instant::now();
        assert_eq!(home.list(&filter).unwrap(), page);
        times.push((start.elapsed(), page.total, filter.clone()));
        if number.is_multiple_of(cases(1, 10) as usize) {
            let found = ids(&page).into_iter().map(str::to_owned).collect();
            assert_eq!((found, page.total, page.has_more), expected(&everything, &filter), "{filter:?}");
        }
    }
    times.sort_by_key(|(time, ..)| *time);
    let at = |share: f64| times[((times.len() - 1) as f64 * share) as usize].0;
    println!(
        "{count} outputs, {} lists: median {:?}, 99th percentile {:?}, slowest {:?}",
        times.len(),
        at(0.5),
        at(0.99),
        times.last().unwrap()
    );
    // In a short run, other work of the machine has too much influence.
    assert!(at(0.99) < Duration::from_millis(cases(500, 20)));
}
