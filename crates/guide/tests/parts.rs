//! Parts of a document: each element is in one of them, and merged answers are those of one run.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::fs::File;
use std::io::Write;

use trommel::path::Query;
use trommel::reader::{Framing, Validation};
use trommel::{Analysis, Answer, Document, Group, Match, Measure, Stats};
use trommel_guide::{FileIdentity, Guide, Identity, Index, IndexBuilder, Part, Shape};
use trommel_testkit::generate::{Shape as DocumentShape, document};

/// A file, its guide with places everywhere, and its text.
struct Divided {
    file: tempfile::NamedTempFile,
    guide: Guide,
}

impl Divided {
    fn new(text: &[u8], spacing: u64) -> Self {
        let mut file = tempfile::NamedTempFile::new().unwrap();
        file.write_all(text).unwrap();
        let document = Document::open(file.path()).unwrap().framing(Framing::Single);
        let index = Index::build(&document, IndexBuilder::new(spacing), Box::new(|_| Ok(()))).unwrap();
        let identity = FileIdentity::of(file.as_file()).unwrap();
        let guide = Guide::new(Identity::File(identity), Framing::Single, index, Shape::default());
        Self { file, guide }
    }

    fn document(&self) -> Document<'static> {
        self.guide.guide(Document::open(self.file.path()).unwrap().framing(Framing::Single))
    }

    fn parts(&self, each: &Query, count: u64) -> Vec<Part> {
        let file = File::open(self.file.path()).unwrap();
        self.guide.parts(&file, &mut self.document(), each, count).unwrap()
    }

    fn longest(&self) -> Option<Query> {
        self.guide.longest_array(&File::open(self.file.path()).unwrap()).unwrap()
    }
}

fn analysis(each: &Query) -> Analysis {
    let mut stats = Stats::new();
    (stats.schema, stats.values, stats.fields) = (true, true, true);
    Analysis::new()
        .validation(Validation::Structural)
        .each(each.clone())
        .count("$..*".parse().unwrap())
        .group(Group::new().by("a", "$.a".parse().unwrap()))
        .ask(Measure::Stats(stats))
}

/// The answers as text, and the values of the elements.
fn whole(analysis: &Analysis, document: &mut Document<'_>) -> (String, Vec<Vec<u8>>) {
    let mut values = Vec::new();
    let extracting = analysis.clone().extract("$".parse().unwrap());
    let report = extracting.run_with(document, &mut |found: &Match<'_>| {
        values.push(found.value.to_vec());
        Ok(())
    });
    let answers: Vec<Answer> = report.unwrap().answers.into_iter().take(3).collect();
    (format!("{answers:?}"), values)
}

fn merged(divided: &Divided, analysis: &Analysis, parts: &[Part]) -> (String, Vec<Vec<u8>>) {
    let mut values = Vec::new();
    let partials = (0..).zip(parts).map(|(number, part)| {
        let of_part = analysis.clone().elements(part.elements.clone());
        let mut document = divided.document();
        values.extend(whole(&of_part, &mut document).1);
        of_part.run_part(&mut divided.document(), number, &mut |_: &Match<'_>| Ok(())).unwrap()
    });
    let merged = partials.reduce(|one, next| one.merge(next).unwrap()).unwrap();
    (format!("{:?}", analysis.finish(merged).unwrap().answers), values)
}

#[test]
fn merged_parts_equal_one_run() {
    let (mut divided_arrays, mut named) = (0, 0);
    for seed in 0..150 {
        let inner = document(seed, &DocumentShape::default());
        let elements = (0..20).map(|number| match number % 3 {
            0 => String::from_utf8_lossy(&inner).into_owned(),
            1 => format!("{{\"a\":{number}}}"),
            _ => number.to_string(),
        });
        let rows = elements.collect::<Vec<_>>().join(" , ");
        let text = format!("{{\"x\":[1,2],\"d\\u0061ta\":[{{}},{{\"ro ws\":[{rows}]}}],\"y\":{{\"z\":3}}}}");
        let divided = Divided::new(text.as_bytes(), 16 + seed % 100);
        let each: Query = "$.data[1]['ro ws'][*]".parse().unwrap();
        let longest = divided.longest().map(|longest| longest.to_string());
        named += usize::from(longest.is_some());
        assert!(longest.is_none_or(|longest| longest == each.to_string()), "{text}");
        let asked = analysis(&each);
        let one = whole(&asked, &mut divided.document());
        for count in [1, 2, 3, 7, 50] {
            let parts = divided.parts(&each, count);
            assert!(parts.len() as u64 <= count);
            assert_eq!((parts[0].elements.start, parts.last().unwrap().elements.end), (0, 20));
            assert!(parts.windows(2).all(|pair| pair[0].elements.end == pair[1].elements.start));
            assert_eq!(merged(&divided, &asked, &parts), one, "{count} {text}");
            divided_arrays += usize::from(parts.len() > 1 && parts[0].bytes.is_some());
        }
    }
    assert!(divided_arrays > 300 && named > 100, "{divided_arrays} {named}");
}

#[test]
fn short_and_empty_arrays_have_parts() {
    let divided = Divided::new(br#"{"a":[],"b":[1,2,3],"c":4}"#, 1 << 20);
    assert_eq!(divided.longest(), None);
    for (query, expected) in [("$.a[*]", "[0..0]"), ("$.b[*]", "[0..1, 1..3]"), ("$.none[*]", "[0..0]")] {
        let parts = divided.parts(&query.parse().unwrap(), 2);
        let ranges: Vec<_> = parts.into_iter().map(|part| part.elements).collect();
        assert_eq!(format!("{ranges:?}"), expected, "{query}");
    }
}

#[test]
fn parts_of_a_long_array_have_about_the_same_size() {
    let rows: Vec<String> =
        (0..50_000).map(|number| format!("{{\"n\":{number},\"text\":\"abc\"}}")).collect();
    let text = format!("{{\"rows\":[{}]}}", rows.join(","));
    let divided = Divided::new(text.as_bytes(), 4096);
    let each = divided.longest().unwrap();
    assert_eq!(each.to_string(), "$['rows'][*]");
    let parts = divided.parts(&each, 8);
    assert_eq!(parts.len(), 8);
    for part in parts {
        let share = part.bytes.unwrap() * 8 * 100 / text.len() as u64;
        assert!((95..=105).contains(&share), "{part:?} {share}");
    }
}
