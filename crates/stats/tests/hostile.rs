//! Hostile input and inconsistent events.

mod support;

use support::{options, summary};
use trommel_reader::{Event, Kind, Payload, Scalar, Text};
use trommel_stats::{Accumulator as _, Profile};
use trommel_testkit::effort::cases;
use trommel_testkit::generate::Random;

/// R12: profiles with different hash keys give the same result.
#[test]
fn random_keys_never_show() {
    let names: Vec<String> = (0..300).map(|n| format!(r#""{}":{n}"#, n * 7919 % 1000)).collect();
    let document = format!("{{{}}}", names.join(","));
    let all = |options: &mut trommel_stats::ProfileOptions| {
        options.schema = true;
        options.values = true;
    };
    let first = summary(options(all), &[&document]);
    for _ in 0..5 {
        assert_eq!(summary(options(all), &[&document]), first);
    }
}

/// R13: events in any order cause no panic, and the counts never decrease.
#[test]
fn senseless_events() {
    let name = Text::plain("a");
    let broken = Text::from_raw(b"\\ud800\xFF\\", true);
    for seed in 0..cases(2000, 50_000) {
        let random = &mut Random::new(seed);
        let mut profile = Profile::new(options(|options| {
            options.schema = true;
            options.values = true;
            options.limits.names_per_path = 1;
            options.limits.bytes = [64 << 20, 5000][seed as usize % 2];
        }));
        let mut values = 0;
        for at in 0..60 {
            let open = |profile: &mut Profile, event, payload| profile.observe(event, payload, at);
            match random.below(9) {
                0 => profile.begin(),
                1 => profile.end(),
                2 => open(&mut profile, Event::Begin(Kind::Array), Payload::None),
                3 => open(&mut profile, Event::Begin(Kind::Object), Payload::None),
                4 => open(&mut profile, Event::End(Kind::Array), Payload::None),
                5 => open(&mut profile, Event::Name, Payload::Name([name, broken][random.below(2)])),
                6 => open(&mut profile, Event::Scalar(Kind::String), Payload::Scalar(Scalar::String(broken))),
                7 => open(&mut profile, Event::Name, Payload::None),
                _ => open(&mut profile, Event::Scalar(Kind::Null), Payload::Scalar(Scalar::Null)),
            }
            let total = profile.summary().structure.total_values;
            assert!(total >= values);
            values = total;
        }
    }
}
