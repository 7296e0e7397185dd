//! Equality of values by RFC 9535.

use super::tree::{Data, Document, Member, ValueId};
use crate::decimal::Decimal;
use std::collections::BTreeMap;

/// Returns true if two values, possibly of different documents, are equal (RFC 9535, section
/// 2.3.5.2.2): numbers by mathematical value, strings by their characters, arrays element by
/// element, objects regardless of the order of their members. Of several members with the same
/// name, the first one counts.
pub fn equal(left: (&Document, ValueId), right: (&Document, ValueId)) -> bool {
    equal_by(left, right, false)
}

/// Like [`equal`]. If `last` is true, the last of several members with the same name counts.
pub fn equal_by(left: (&Document, ValueId), right: (&Document, ValueId), last: bool) -> bool {
    let mut open = vec![(left.1, right.1)];
    while let Some((a, b)) = open.pop() {
        match (&left.0[a].data, &right.0[b].data) {
            (Data::Number(a), Data::Number(b)) => {
                if Decimal::new(a) != Decimal::new(b) {
                    return false;
                }
            }
            (Data::Array(a), Data::Array(b)) => {
                if a.len() != b.len() {
                    return false;
                }
                open.extend(a.iter().copied().zip(b.iter().copied()));
            }
            (Data::Object(a), Data::Object(b)) => {
                let (a, b) = (by_name(a, last), by_name(b, last));
                if !a.keys().eq(b.keys()) {
                    return false;
                }
                open.extend(a.into_values().zip(b.into_values()));
            }
            (a, b) => {
                if a != b {
                    return false;
                }
            }
        }
    }
    true
}

fn by_name(members: &[Member], last: bool) -> BTreeMap<&str, ValueId> {
    let mut values = BTreeMap::new();
    for member in members {
        let value = values.entry(member.name.as_str()).or_insert(member.value);
        if last {
            *value = member.value;
        }
    }
    values
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::naive::parse;

    #[test]
    fn compares_by_value() {
        let same = |a: &str, b: &str| {
            let (a, b) = (parse(a.as_bytes()).unwrap(), parse(b.as_bytes()).unwrap());
            equal((&a, a.root()), (&b, b.root()))
        };
        assert!(same(r#"{"a":[1,{}],"b":"\u0041"}"#, r#"{"b":"A","a":[10e-1,{}]}"#));
        assert!(same(r#"{"a":1,"a":2}"#, r#"{"a":1}"#));
        assert!(!same(r#"{"a":1,"a":2}"#, r#"{"a":2}"#));
        assert!(!same(r#"{"a":1}"#, r#"{"a":1,"b":1}"#));
        assert!(!same("[1,2]", "[2,1]") && !same("[1]", "[1,1]") && !same("[]", "{}"));
        assert!(!same("0", "false") && !same("\"1\"", "1") && !same("null", "false"));
    }
}
