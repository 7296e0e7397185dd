//! Looks up settings in several layers: parameters, environment, file.

use std::ffi::OsString;
use std::ops::RangeInclusive;
use std::path::PathBuf;

use serde_json::Value;
use trommel_base::nearest_one;
use trommel_blocks::Result;

use super::data::Parameters;
use super::fault::SettingFault;
use super::file::{self, Section};
use super::parse;
use super::table::{SecretPlace, Setting};
use crate::secret::Secret;

/// A value and its location.
struct LocatedValue {
    value: Value,
    origin: String,
}

pub(super) struct Layers<'a> {
    parameters: &'a Parameters,
    environment: &'a dyn Fn(&str) -> Option<OsString>,
    section: Section,
    warnings: Vec<String>,
}

impl<'a> Layers<'a> {
    pub(super) fn new(
        parameters: &'a Parameters,
        environment: &'a dyn Fn(&str) -> Option<OsString>,
        section: Section,
    ) -> Self {
        Self { parameters, environment, section, warnings: Vec::new() }
    }

    /// The warnings without duplicates.
    pub(super) fn into_warnings(mut self) -> Vec<String> {
        self.warnings.sort();
        self.warnings.dedup();
        self.warnings
    }

    /// Warns about unknown names in the section.
    pub(super) fn warn_unknown_names(&mut self) {
        let warnings = self.section.unknown_names();
        self.warnings.extend(warnings);
    }

    /// True if the setting is set in any layer.
    pub(super) fn has(&self, setting: Setting) -> bool {
        self.parameter(setting).is_some()
            || setting.variables.iter().any(|name| self.variable(name).is_some())
            || !self.section.find(setting).is_empty()
    }

    fn parameter(&self, setting: Setting) -> Option<Value> {
        let given = self.parameters;
        let text = match setting {
            Setting::MODE => &given.mode,
            Setting::LOCAL_PATH => &given.local_path,
            Setting::USER => &given.user,
            Setting::DEVICE => &given.device_id,
            Setting::ENDPOINT => &given.endpoint,
            Setting::DATABASE => &given.database,
            Setting::CONTAINER => &given.container,
            Setting::AUTH => &given.auth_method,
            Setting::OBJECTS_URL => &given.objects_url,
            Setting::CONNECT_TIMEOUT => return given.connect_timeout_ms.map(Value::from),
            Setting::FIRST_ANSWER_TIMEOUT => return given.first_answer_timeout_ms.map(Value::from),
            Setting::ANSWER_TIMEOUT => return given.answer_timeout_ms.map(Value::from),
            _ => return None,
        };
        text.clone().map(Value::String)
    }

    /// The value of a variable, unless it is empty.
    fn variable(&self, name: &str) -> Option<OsString> {
        (self.environment)(name).filter(|value| !value.is_empty())
    }

    fn in_environment(&mut self, setting: Setting) -> Result<Option<LocatedValue>> {
        let set = setting.variables.iter().filter_map(|name| Some((*name, self.variable(name)?)));
        let set = set.collect::<Vec<_>>();
        let Some((name, value)) = set.first() else { return Ok(None) };
        for (other, _) in set.iter().skip(1).filter(|(_, other)| other != value) {
            self.warnings.push(format!("{name} and {other} are both set and differ; using {name}"));
        }
        let text = value.to_str().ok_or_else(|| Setting::invalid_value(name, "text in UTF-8"))?;
        Ok(Some(LocatedValue { value: Value::String(text.to_owned()), origin: (*name).to_owned() }))
    }

    fn in_settings(&mut self, setting: Setting) -> Option<LocatedValue> {
        let mut found = self.section.find(setting).into_iter();
        let (path, value) = found.next()?;
        for (other, _) in found.filter(|(_, other)| *other != value) {
            self.warnings.push(format!("`{path}` and `{other}` are both set and differ; using `{path}`"));
        }
        Some(LocatedValue { value, origin: format!("`{path}` in {}", self.section.name()) })
    }

    fn find(&mut self, setting: Setting) -> Result<Option<LocatedValue>> {
        if let Some(value) = self.parameter(setting) {
            return Ok(Some(LocatedValue {
                value,
                origin: format!("the parameter for {}", setting.display_name()),
            }));
        }
        if let Some(found) = self.in_environment(setting)? {
            return Ok(Some(found));
        }
        Ok(self.in_settings(setting))
    }

    pub(super) fn text(&mut self, setting: Setting) -> Result<Option<String>> {
        self.find(setting)?.map(|found| text(&found)).transpose()
    }

    /// A list of texts, or one text with commas.
    pub(super) fn texts(&mut self, setting: Setting) -> Result<Vec<String>> {
        let Some(found) = self.find(setting)? else { return Ok(Vec::new()) };
        let all = match &found.value {
            Value::String(text) => {
                Some(text.split(',').map(|part| part.trim().to_owned()).collect::<Vec<_>>())
            }
            Value::Array(items) => items.iter().map(|item| item.as_str().map(str::to_owned)).collect(),
            _ => None,
        };
        let all = all.ok_or_else(|| Setting::invalid_value(&found.origin, "a list of names"))?;
        Ok(all.into_iter().filter(|name| !name.is_empty()).collect())
    }

    /// One of the allowed words.
    pub(super) fn word<T: Copy>(&mut self, setting: Setting, words: &[(&str, T)]) -> Result<Option<T>> {
        let Some(found) = self.find(setting)? else { return Ok(None) };
        let word = text(&found)?.to_ascii_lowercase().replace('-', "_");
        if let Some((_, meant)) = words.iter().find(|(known, _)| *known == word) {
            return Ok(Some(*meant));
        }
        let known = words.iter().map(|(known, _)| *known);
        let near = nearest_one(&word, known.clone());
        let near = near.map_or_else(String::new, |near| format!("; did you mean `{near}`?"));
        let allowed = known.map(|word| format!("`{word}`")).collect::<Vec<_>>().join(", ");
        Err(Setting::invalid_value(&found.origin, format!("one of {allowed}{near}")))
    }

    pub(super) fn truth(&mut self, setting: Setting) -> Result<Option<bool>> {
        let Some(found) = self.find(setting)? else { return Ok(None) };
        let truth = match &found.value {
            Value::Bool(truth) => Some(*truth),
            // The words of YAML 1.1, and the usual values of variables.
            Value::String(word) => match word.trim().to_ascii_lowercase().as_str() {
                "true" | "yes" | "on" | "1" => Some(true),
                "false" | "no" | "off" | "0" => Some(false),
                _ => None,
            },
            _ => None,
        };
        truth.map(Some).ok_or_else(|| Setting::invalid_value(&found.origin, "`true` or `false`"))
    }

    pub(super) fn number(&mut self, setting: Setting, allowed: RangeInclusive<u64>) -> Result<Option<u64>> {
        self.count(setting, allowed, "", parse::count)
    }

    /// A duration in seconds, or with its unit: `90s`, `5m`, `1h`.
    pub(super) fn seconds(&mut self, setting: Setting, allowed: RangeInclusive<u64>) -> Result<Option<u64>> {
        self.count(setting, allowed, " (seconds, or with a unit: `90s`, `5m`, `1h`)", parse::seconds)
    }

    fn count(
        &mut self,
        setting: Setting,
        allowed: RangeInclusive<u64>,
        unit: &str,
        parse: fn(&str) -> Option<u64>,
    ) -> Result<Option<u64>> {
        let Some(found) = self.find(setting)? else { return Ok(None) };
        let number = match &found.value {
            Value::Number(number) => number.as_u64(),
            Value::String(text) => parse(text.trim()),
            _ => None,
        };
        let fits = number.filter(|number| allowed.contains(number));
        fits.map(Some).ok_or_else(|| {
            let (min, max) = (allowed.start(), allowed.end());
            Setting::invalid_value(&found.origin, format!("a whole number from {min} to {max}{unit}"))
        })
    }

    /// A secret: from the environment, from a secret file, or from the settings file, which must
    /// then be private.
    pub(super) fn secret(&mut self, place: SecretPlace) -> Result<Option<Secret>> {
        let SecretPlace { setting, file } = place;
        if let Some(found) = self.in_environment(setting)? {
            if !self.section.find(setting).is_empty() && self.section.is_open() {
                let advice = self.section.closing();
                self.warnings.push(format!(
                    "{} contains a secret that other users may read: {advice}",
                    self.section.name()
                ));
            }
            return Ok(Some(Secret::new(text(&found)?)));
        }
        if let Some(found) = self.in_settings(file) {
            let path = self.home(&text(&found)?);
            return file::secret(&self.section.beside(path)).map(Some);
        }
        let Some(found) = self.in_settings(setting) else { return Ok(None) };
        if self.section.is_open() {
            let (origin, closing) = (found.origin, self.section.closing());
            return Err(SettingFault::OpenFile { origin, closing }.into());
        }
        text(&found).map(|text| Some(Secret::new(text)))
    }

    /// Resolves a path that may start with `~/`.
    pub(super) fn home(&self, path: &str) -> PathBuf {
        match (path.strip_prefix("~/"), self.variable("HOME")) {
            (Some(rest), Some(home)) => PathBuf::from(home).join(rest),
            _ => PathBuf::from(path),
        }
    }
}

fn text(found: &LocatedValue) -> Result<String> {
    let text = found.value.as_str().map(str::trim).filter(|text| !text.is_empty());
    text.map(str::to_owned).ok_or_else(|| {
        Setting::invalid_value(&found.origin, "non-empty text (in quotes if it is all digits)")
    })
}
