//! Variables in the entries of clients: `${NAME}`, `${NAME:-DEFAULT}`, and `${env:NAME}`.

use std::ffi::OsString;

/// Replaces the variables in a text by their values.
///
/// # Errors
/// Returns the reason why one has no value.
pub(super) fn filled(text: &str, value: impl Fn(&str) -> Option<OsString>) -> Result<String, String> {
    let mut filled = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(start) = rest.find("${") {
        let Some(length) = rest[start..].find('}') else { break };
        let variable = &rest[start + 2..start + length];
        let (name, default) =
            variable.split_once(":-").map_or((variable, None), |(name, default)| (name, Some(default)));
        let name = name.strip_prefix("env:").unwrap_or(name);
        if name.is_empty() || !name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_') {
            return Err(format!("${{{variable}}} has no value here: write the value itself"));
        }
        filled.push_str(&rest[..start]);
        match (value(name).map(OsString::into_string), default) {
            (Some(Ok(value)), _) => filled.push_str(&value),
            (None, Some(default)) => filled.push_str(default),
            (Some(Err(_)), _) => return Err(format!("the variable {name} is not valid Unicode")),
            (None, None) => return Err(format!("the variable {name} is not set")),
        }
        rest = &rest[start + length + 1..];
    }
    filled.push_str(rest);
    Ok(filled)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn variables_are_filled_in() {
        let value = |name: &str| (name == "TOKEN").then(|| OsString::from("42"));
        let ok = |text| filled(text, value).unwrap();
        assert_eq!(ok("Bearer ${TOKEN}, ${env:TOKEN}!"), "Bearer 42, 42!");
        assert_eq!(ok("${TOKEN:-1}${OTHER:-1}${OTHER:-}"), "421");
        assert_eq!(ok("$TOKEN {TOKEN} ${TOKEN"), "$TOKEN {TOKEN} ${TOKEN");
    }

    #[test]
    fn variables_without_a_value_are_refused() {
        for (text, why) in [
            ("${OTHER}", "the variable OTHER is not set"),
            ("${input:key}", "${input:key} has no value here"),
            ("${workspaceFolder}", "workspaceFolder is not set"),
            ("a${}", "${} has no value here"),
        ] {
            let error = filled(text, |_| None).unwrap_err();
            assert!(error.contains(why), "{text}: {error}");
        }
    }
}
