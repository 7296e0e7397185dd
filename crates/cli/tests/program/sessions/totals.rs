//! Totals of many sessions, and pages about sessions.

use std::fs;

use serde_json::{Value, json};

use super::{APP, Home, WEB};

/// The tokens of a total by name.
fn total<'a>(answer: &'a Value, key: &str, name: &str) -> &'a Value {
    let totals = answer["totals"][key].as_array().unwrap();
    totals.iter().find(|total| total["name"] == name).unwrap_or_else(|| panic!("{name}: {totals:?}"))
}

/// Totals are the sums of the sessions' own figures.
#[test]
fn totals_are_those_of_all_sessions() {
    let home = Home::new("totals");
    let answer = home.json("usage --by day,week,month,project,model --utc");
    let app = home.json(&format!("analyze {APP} usage"));
    let web = home.json(&format!("analyze {WEB} usage"));
    for member in ["llm_requests", "total_tokens", "total_input_tokens", "total_output_tokens", "tool_calls"]
    {
        let sum = app[member].as_u64().unwrap() + web[member].as_u64().unwrap();
        assert_eq!(answer[member], sum, "{member}");
    }
    for key in ["day", "week", "month", "project", "model"] {
        let totals = answer["totals"][key].as_array().unwrap();
        let tokens: Vec<u64> = totals.iter().map(|total| total["total"].as_u64().unwrap()).collect();
        assert_eq!(tokens.iter().sum::<u64>(), answer["total_tokens"].as_u64().unwrap(), "{key}");
        assert!(tokens.is_sorted_by(|left, right| left >= right), "{key}: {tokens:?}");
    }
    assert_eq!(total(&answer, "project", "-home-u-app")["total"], app["total_tokens"]);
    assert_eq!(total(&answer, "project", "-home-u-web")["total"], web["total_tokens"]);
    assert_eq!(total(&answer, "day", "2026-03-01")["total"], app["total_tokens"]);
    assert!(total(&answer, "month", "2026-03")["requests"].as_u64() >= app["llm_requests"].as_u64());
    let project = home.json("usage --project app --by model");
    assert_eq!(project["total_tokens"], app["total_tokens"]);
    let none = home.json("usage --date-range 2020-01-01 --by day");
    assert_eq!((&none["sessions"], &none["total_tokens"]), (&json!(0), &json!(0)));
    // Of a session that lasts longer, only the requested days count.
    let day = home.json("usage --date-range 2026-03-01 --by day --utc");
    assert_eq!(day["totals"]["day"].as_array().unwrap().len(), 1);
}

#[test]
fn prices_are_those_of_the_file() {
    let home = Home::new("prices");
    let models = home.json("usage --by model");
    let name = models["totals"]["model"][0]["name"].as_str().unwrap().to_owned();
    let prices = home.0.file(
        "prices.json",
        json!({"currency": "EUR", "per_tokens": 1000, "models": {&*name: {"input": 1.0, "output": 2.0, "cache_read": 0.5}}})
            .to_string(),
    );
    let answer = home.json(&format!("usage --by model --prices {prices}"));
    let row = total(&answer, "model", &name);
    let tokens = |member: &str| row[member].as_f64().unwrap();
    let expected =
        (tokens("input") + 2.0 * tokens("output") + 0.5 * tokens("cache_read") + tokens("cache_write"))
            / 1000.0;
    assert!((row["cost"].as_f64().unwrap() - expected).abs() < 1e-9, "{row}");
    assert_eq!(answer["currency"], "EUR");
    let shown = home.shown(&format!("usage --by model --prices {prices}"));
    assert!(shown.contains("cost EUR") && shown.contains(&format!("{expected:.2}")), "{shown}");
    let broken = home.0.file("broken.json", "{");
    let failed = home.line(&format!("usage --prices {broken}")).failed(1);
    assert!(failed.contains("cannot read the prices") && failed.contains("prices.example.json"), "{failed}");
}

#[test]
fn pages_have_all_sections() {
    let home = Home::new("pages");
    let page = home.line(&format!("report {APP} --utc")).ok();
    for heading in ["Timeline", "Tools", "Errors", "Tokens by model", "Tokens by day"] {
        assert!(page.contains(&format!(">{heading}</h2>")), "{heading}");
    }
    assert!(page.contains("Session Disk trouble") && page.contains("grep"));
    let file = home.0.path("days.html");
    let options = format!("report --date-range 2026-03-01:2026-03-31 --to {}", file.display());
    assert_eq!(home.line(&options).ok(), "");
    let page = fs::read_to_string(&file).unwrap();
    for heading in [
        "Tokens by day",
        "Tokens by week",
        "Tokens by model",
        "Tokens by project",
        "Sessions",
        "Tools",
        "Errors",
    ] {
        assert!(page.contains(&format!(">{heading}</h2>")), "{heading}");
    }
    assert!(page.contains(APP) && page.contains("Sessions of 2026-03-01:2026-03-31"));
    let page = home.line(&format!("report {APP} --title 'Full disks' --no-redact")).ok();
    assert!(page.contains("<title>Full disks") && page.contains("io: disk full"), "{page}");
    let failed = home.line(&format!("report {APP} --max-size 1KB")).failed(2);
    assert!(failed.contains("the smallest page has ") && failed.contains("--max-size"), "{failed}");
    assert!(home.line(&format!("report {APP} --date-range today")).failed(2).contains("cannot be used with"));
    home.line("report nothing-like-it").failed(2);
}
