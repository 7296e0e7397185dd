//! R6 (filters): numbers are compared by value, exactly, at any length and magnitude.

use std::cmp::Ordering::{self, Equal, Greater, Less};
use std::time::{Duration, Instant};

use proptest::prelude::*;
use trommel_base::decimal::{compare_numbers, identity};
use trommel_testkit::effort::cases;

fn check(left: &str, right: &str, order: Ordering) {
    assert_eq!(compare_numbers(left, right), order, "{left} {right}");
    assert_eq!(compare_numbers(right, left), order.reverse(), "{right} {left}");
    assert_eq!(identity(left) == identity(right), order == Equal, "{left} {right}");
}

#[test]
fn spellings_of_one_value_are_equal() {
    let groups: [&[&str]; 9] = [
        &["0", "-0", "0.0", "-0.000", "0e5", "-0E-99999999999999999999999999999999999999999999", "0.0e1"],
        &["1", "1.0", "1e0", "10e-1", "0.1e1", "0.001E+3", "1000e-3", "1.000"],
        &["-12.5", "-125e-1", "-0.125e2", "-12.50", "-1.25E1"],
        &["1e400", "10e399", "0.1e401", "1.0E+400"],
        &[
            "123456789012345678901234567890",
            "12345678901234567890123456789e1",
            "1.2345678901234567890123456789e29",
        ],
        &["0.00001", "1e-5", "0.1e-4", "100e-7"],
        &["9223372036854775807", "9223372036854775807.0", "9.223372036854775807e18"],
        &["1e99999999999999999999999999999999999999", "10e99999999999999999999999999999999999998"],
        &["1e-100000000000000000000000000000000000000", "0.1e-99999999999999999999999999999999999999"],
    ];
    for (index, group) in groups.iter().enumerate() {
        for left in *group {
            for right in *group {
                check(left, right, Equal);
            }
            for other in groups[index + 1..].iter().flat_map(|group| *group) {
                assert_ne!(compare_numbers(left, other), Equal, "{left} {other}");
                assert_ne!(identity(left), identity(other), "{left} {other}");
            }
        }
    }
}

#[test]
fn order_is_by_value() {
    let ascending = [
        "-1e1000000000000000000000000000000000000000000000000",
        "-1e400",
        "-123456789012345678901234567891",
        "-123456789012345678901234567890",
        "-9223372036854775809",
        "-9223372036854775808",
        "-10.01",
        "-10",
        "-9.999999999999999999999999999",
        "-1",
        "-1e-5",
        "-1e-99999999999999999999999999999999999999999999",
        "0",
        "1e-1000000000000000000000000000000000000000000000001",
        "1e-1000000000000000000000000000000000000000000000000",
        "1e-999999999999999999999999999999999999",
        "1e-400",
        "4.9e-324",
        "0.1",
        "0.10000000000000000000000000001",
        "0.9",
        "1",
        "1.5",
        "9",
        "10",
        "9007199254740992",
        "9007199254740992.5",
        "9007199254740993",
        "999999999999999999",
        "1000000000000000000",
        "9223372036854775807",
        "9223372036854775808",
        "1e308",
        "1.7976931348623157e308",
        "1e309",
        "1e9223372036854775807",
        "1e9223372036854775808",
        "9.99e999999999999999999999999999999999",
        "1e1000000000000000000000000000000000000",
        "0.01e1000000000000000000000000000000000003",
        "1e1000000000000000000000000000000000000000000000000",
        "1.1e1000000000000000000000000000000000000000000000000",
        "1e1000000000000000000000000000000000000000000000001",
    ];
    for (index, left) in ascending.iter().enumerate() {
        check(left, left, Equal);
        for right in &ascending[index + 1..] {
            check(left, right, Less);
        }
    }
}

/// Exponents around the number of digits at which the algorithm changes.
#[test]
fn exponents_of_any_length() {
    for digits in [17, 18, 19, 35, 36, 37, 38, 39, 40, 100] {
        let nines = "9".repeat(digits);
        let ten = format!("1{}", "0".repeat(digits));
        check(&format!("10e{nines}"), &format!("1e{ten}"), Equal);
        check(&format!("1e{nines}"), &format!("1e{ten}"), Less);
        check(&format!("100e{nines}"), &format!("1e{ten}"), Greater);
        check(&format!("0.01e{ten}"), &format!("1e{nines}"), Less);
        check(&format!("0.1e-{nines}"), &format!("1e-{ten}"), Equal);
        check(&format!("1e-{nines}"), &format!("1e-{ten}"), Greater);
        check(&format!("-1e-{nines}"), &format!("-1e-{ten}"), Less);
        check(&format!("1e000{nines}"), &format!("1e{nines}"), Equal);
        check(&format!("1e+{nines}"), &format!("1e-{nines}"), Greater);
    }
}

/// A million digits are compared in linear time.
#[test]
fn long_numbers_are_compared_in_linear_time() {
    let start = Instant::now();
    let digits = "7".repeat(1_000_000);
    let (zeros, longer) = ("0".repeat(1_000_000), format!("{digits}1"));
    check(&digits, &format!("{digits}.{zeros}"), Equal);
    check(&digits, &format!("{digits}.{zeros}1"), Less);
    check(&digits, &longer, Less);
    check(&format!("-{digits}"), &format!("-{longer}"), Greater);
    check(&format!("0.{digits}"), &format!("{digits}e-1000000"), Equal);
    check(&format!("1{zeros}"), "1e1000000", Equal);
    check(&format!("0.{zeros}1"), "1e-1000001", Equal);
    check(&format!("1e{digits}"), &format!("10e{digits}"), Less);
    check(&format!("1e{digits}"), &format!("1e{longer}"), Less);
    assert!(start.elapsed() < Duration::from_secs(5));
}

/// A number of at most 15 digits and a small exponent, in one of its notations, with its value
/// times 10^20.
fn medium() -> impl Strategy<Value = (String, i128)> {
    (-999_999_999_i64..=999_999_999, 0_u32..=8, -8_i32..=8, 0_usize..4, 0_usize..4).prop_map(
        |(mantissa, places, exponent, zeros, plus)| {
            // mantissa / 10^places * 10^exponent
            let unsigned = format!("{:0>width$}", mantissa.unsigned_abs(), width = places as usize + 1);
            let (whole, fraction) = unsigned.split_at(unsigned.len() - places as usize);
            let mut text = String::from(if mantissa < 0 { "-" } else { "" });
            text.push_str(whole);
            if !fraction.is_empty() || zeros > 0 {
                text.push('.');
                text.push_str(fraction);
                text.push_str(&"0".repeat(zeros + usize::from(fraction.is_empty() && zeros == 0)));
            }
            let sign = ["", "+", "", "+"][plus];
            match exponent {
                0 if plus < 2 => {}
                0.. => text.extend(["e", sign, &"0".repeat(zeros), &exponent.to_string()]),
                _ => text.extend(["E", &exponent.to_string()]),
            }
            let scale = 10_i128.pow((20 + exponent - places as i32) as u32);
            (text, i128::from(mantissa) * scale)
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig { cases: cases(20_000, 1_000_000) as u32, ..ProptestConfig::default() })]

    /// Compares against fixed-point arithmetic.
    #[test]
    fn agrees_with_integers((left, x) in medium(), (right, y) in medium()) {
        prop_assert_eq!(compare_numbers(&left, &right), x.cmp(&y), "{} {}", left, right);
        prop_assert_eq!(identity(&left) == identity(&right), x == y, "{} {}", left, right);
        prop_assert_eq!(compare_numbers(&left, &identity(&left)), Equal, "{}", left);
    }

    /// The same for values that are close to each other.
    #[test]
    fn agrees_on_neighbours((left, x) in medium(), step in -2_i128..=2, shift in 0_u32..12) {
        let y = x + step * 10_i128.pow(shift);
        let right = format!("{y}e-20");
        prop_assert_eq!(compare_numbers(&left, &right), x.cmp(&y), "{} {}", left, right);
    }

    /// Doubles print as texts that compare like the doubles.
    #[test]
    fn agrees_with_doubles(x in prop::num::f64::NORMAL | prop::num::f64::ZERO | prop::num::f64::SUBNORMAL,
                           y in prop::num::f64::NORMAL | prop::num::f64::ZERO | prop::num::f64::SUBNORMAL) {
        let order = x.partial_cmp(&y).expect("numbers");
        prop_assert_eq!(compare_numbers(&format!("{x:e}"), &format!("{y:e}")), order);
        prop_assert_eq!(compare_numbers(&format!("{x}"), &format!("{y:e}")), order);
        prop_assert_eq!(compare_numbers(&format!("{x}"), &format!("{x:e}")), Equal);
    }

    #[test]
    fn agrees_with_64_bit_integers(x in any::<i64>(), y in any::<i64>()) {
        prop_assert_eq!(compare_numbers(&x.to_string(), &y.to_string()), x.cmp(&y));
        prop_assert_eq!(compare_numbers(&format!("{x}.0"), &format!("{y}e0")), x.cmp(&y));
    }

    /// For any texts, the comparison returns, and swapping the sides reverses it.
    #[test]
    fn never_panics(left in "[-+.eE0-9x]{0,12}", right in any::<String>()) {
        prop_assert_eq!(compare_numbers(&left, &right), compare_numbers(&right, &left).reverse());
    }
}
