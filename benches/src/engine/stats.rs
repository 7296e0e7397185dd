//! A profile of a cursor's events.

use trommel::reader::{Config, Cursor, Result};
use trommel::statistics::{Accumulator, Profile, ProfileOptions, Summary};

use crate::engine::STRICT;
use crate::{Column, Task};

pub(super) fn columns<'a>(task: &'a Task, bytes: &'a [u8]) -> Vec<Column<'a>> {
    let options = options(&task.name);
    vec![Column::reads(STRICT, move || {
        let summary =
            profile(options.clone(), Cursor::new(bytes, &Config::new())).expect("the input is valid");
        assert_eq!(summary.arrays.is_some(), options.per_path, "rows are present only if requested");
        assert_eq!(summary.schema.is_some(), options.schema, "a schema is present only if requested");
        assert_eq!(summary.values.is_some(), options.values, "figures are present only if requested");
        summary.structure.total_values
    })]
}

fn options(task: &str) -> ProfileOptions {
    let mut options = ProfileOptions::default();
    match task {
        "stats/types" | "stats/numbers" => options.per_path = false,
        "stats/full" => {}
        "stats/schema" => options.schema = true,
        "stats/values" => options.values = true,
        name => panic!("no statistics named {name}"),
    }
    options
}

fn profile(options: ProfileOptions, mut cursor: Cursor<'_>) -> Result<Summary> {
    let mut profile = Profile::new(options);
    while cursor.next_record()? {
        profile.begin();
        let event = cursor.begin_value()?;
        profile.observe(event, cursor.payload(), cursor.span().start);
        cursor.listen(0, u64::MAX, &mut profile)?;
        profile.end();
    }
    profile.normalize();
    Ok(profile.summary())
}
