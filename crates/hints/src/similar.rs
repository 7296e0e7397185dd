//! Names that are near enough to be what was meant.

/// Characters of a name that is compared; longer ones resemble nothing.
const LONGEST: usize = 64;

/// The name nearest to one that does not exist, the first of several equally near; none rather than a silly one.
pub(super) fn nearest<'a>(wanted: &str, names: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    let wanted_plain = plain(wanted)?;
    let rated = names.filter(|name| *name != wanted).filter_map(|name| {
        let distance = slips(&wanted_plain, &plain(name)?)?;
        Some((distance, name))
    });
    rated.min_by_key(|(distance, _)| *distance).map(|(_, name)| name)
}

/// A name without case and without the marks between its words, as `userName`, `user_name`, and `user-name` are one name.
fn plain(name: &str) -> Option<Vec<char>> {
    let letters = name.chars().filter(|c| !matches!(c, '_' | '-' | ' ' | '.')).flat_map(char::to_lowercase);
    let letters: Vec<char> = letters.take(LONGEST + 1).collect();
    (!letters.is_empty() && letters.len() <= LONGEST).then_some(letters)
}

/// The number of slips between two names, if they are few for the names' length.
fn slips(a: &[char], b: &[char]) -> Option<usize> {
    let longer = a.len().max(b.len());
    let most = match longer {
        0..=2 => 0,
        3..=7 => 1,
        8..=13 => 2,
        _ => 3,
    };
    if a.len().abs_diff(b.len()) > most {
        return None;
    }
    // A short name with another letter is another word: `fork` and `work`, `cat` and `car`.
    let is_word = match longer {
        0..=3 => !is_permuted(a, b),
        4 => a.first() != b.first(),
        _ => false,
    };
    if is_word && a != b {
        return None;
    }
    Some(distance(a, b)).filter(|distance| *distance <= most)
}

/// True if two names have the same letters.
fn is_permuted(a: &[char], b: &[char]) -> bool {
    let sorted = |letters: &[char]| {
        let mut letters = letters.to_vec();
        letters.sort_unstable();
        letters
    };
    sorted(a) == sorted(b)
}

/// The characters to insert, remove, replace, or swap with their neighbor.
fn distance(a: &[char], b: &[char]) -> usize {
    let width = b.len() + 1;
    let mut before: Vec<usize> = vec![0; width];
    let mut last: Vec<usize> = (0..width).collect();
    let at = |row: &[usize], column: usize| row.get(column).copied().unwrap_or(usize::MAX / 2);
    for (i, c) in a.iter().enumerate() {
        let mut row = Vec::with_capacity(width);
        row.push(i + 1);
        for (j, d) in b.iter().enumerate() {
            let replaced = at(&last, j) + usize::from(c != d);
            let mut cheapest = replaced.min(at(&last, j + 1) + 1).min(at(&row, j) + 1);
            let is_swap = i > 0 && j > 0 && a.get(i - 1) == Some(d) && b.get(j - 1) == Some(c);
            if is_swap {
                cheapest = cheapest.min(at(&before, j - 1) + 1);
            }
            row.push(cheapest);
        }
        before = std::mem::replace(&mut last, row);
    }
    last.last().copied().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn one<'a>(wanted: &str, names: &[&'a str]) -> Option<&'a str> {
        nearest(wanted, names.iter().copied())
    }

    #[test]
    fn finds_the_name_that_was_meant() {
        for (wanted, name) in [
            ("prise", "price"),
            ("emial", "email"),
            ("user", "users"),
            ("Total", "total"),
            ("userName", "user_name"),
            ("adress", "address"),
            ("nam", "name"),
            ("nane", "name"),
            ("mgs", "msg"),
            ("ID", "id"),
            ("created_ta", "created_at"),
        ] {
            assert_eq!(one(wanted, &["x", "other", name]), Some(name), "{wanted}");
        }
        assert_eq!(one("items", &["item", "itemz"]), Some("item"));
    }

    #[test]
    fn suggests_nothing_silly() {
        for (wanted, names) in [
            ("nope", &["name", "nodes"][..]),
            ("fork", &["work"]),
            ("a", &["b"]),
            ("id", &["ip", "in", "idx"]),
            ("get", &["set", "got it"]),
            ("level", &["label", "lever arm"]),
            ("", &["a"]),
            ("quantity", &["quality control"]),
        ] {
            assert_eq!(one(wanted, names), None, "{wanted}");
        }
    }

    #[test]
    fn distances_count_swaps_once() {
        let chars = |text: &str| text.chars().collect::<Vec<_>>();
        for (a, b, expected) in
            [("", "", 0), ("abc", "", 3), ("", "ab", 2), ("kitten", "sitting", 3), ("ab", "ba", 1)]
        {
            assert_eq!(distance(&chars(a), &chars(b)), expected, "{a} {b}");
            assert_eq!(distance(&chars(b), &chars(a)), expected, "{b} {a}");
        }
    }
}
