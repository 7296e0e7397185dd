//! Time of an index rebuild.

use std::fs;
use std::time::{Duration, Instant};

use trommel_store::Filter;

use crate::alone;
use crate::many::{fill, origin, pages, remove_index};
use crate::support::{Home, cases, file_of, put_as};

/// R20: the index can be deleted. The rebuilt one yields byte-identical lists.
#[test]
fn r20_the_index_is_disposable() {
    let _alone = alone();
    let home = Home::new();
    let count = cases(2_000, 100_000);
    fill(&home, count);
    for number in 0..20 {
        put_as(&home, origin(number), format!("[{number}]"));
    }
    fs::write(file_of(&home, "output-00000005", ".meta.json"), "damaged").unwrap();
    home.rebuild().unwrap();
    let before = pages(&home);
    let start = Instant::now();
    remove_index(home.root());
    // A process that has it open continues with a new one, as does one that opens it.
    home.list(&Filter::default()).unwrap();
    let took = start.elapsed();
    println!("{count} outputs: the index was rebuilt and a page listed, in {took:?}");
    assert!(took < Duration::from_secs(30));
    assert!(pages(&home) == before);
    remove_index(home.root());
    assert!(pages(&home.again()) == before);
    assert!(pages(&home) == before);
    let rebuilt = home.rebuild().unwrap();
    assert_eq!((rebuilt.outputs, rebuilt.corrupted, rebuilt.strays), (count + 20, 1, 0));
    assert!(pages(&home) == before);
}
