//! The prices of models, from a file of the user.

use std::collections::BTreeMap;
use std::path::Path;

use serde::Deserialize;
use trommel_session::Usage;

use crate::errors::Failure;

/// A table of prices.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct PriceTable {
    /// The currency, which is shown with each cost.
    #[serde(default)]
    pub(super) currency: String,
    /// The number of tokens that a price is for.
    #[serde(default = "million")]
    per_tokens: f64,
    /// Prices by model. A name may end with `*`.
    models: BTreeMap<String, Price>,
}

/// The prices of one model.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Price {
    input: f64,
    output: f64,
    /// Without a price, tokens read from the cache cost as much as others.
    cache_read: Option<f64>,
    cache_write: Option<f64>,
}

const fn million() -> f64 {
    1e6
}

impl PriceTable {
    /// Reads a table.
    pub(super) fn read(path: &Path) -> Result<Self, Failure> {
        let invalid = |message: String| Failure::Form {
            message: "cannot read the prices",
            position: path.display().to_string(),
            note: message,
            help: "docs/prices.example.json has the form of the file",
        };
        let text = std::fs::read_to_string(path).map_err(|error| invalid(error.to_string()))?;
        let table: Self = serde_json::from_str(&text).map_err(|error| invalid(error.to_string()))?;
        let is_price = |price: f64| price.is_finite() && price >= 0.0;
        let are_prices = table.models.values().all(|price| {
            let cached = [price.cache_read, price.cache_write].into_iter().flatten();
            cached.chain([price.input, price.output]).all(is_price)
        });
        if !(are_prices && table.per_tokens > 0.0 && table.per_tokens.is_finite()) {
            return Err(invalid("prices are numbers from 0, and per_tokens is more than 0".to_owned()));
        }
        Ok(table)
    }

    /// The cost of tokens. `None` if the model has no price.
    pub(super) fn cost(&self, model: &str, usage: &Usage) -> Option<f64> {
        let price = self.price(model)?;
        let parts = [
            (usage.input, price.input),
            (usage.output, price.output),
            (usage.cache_read, price.cache_read.unwrap_or(price.input)),
            (usage.cache_write, price.cache_write.unwrap_or(price.input)),
        ];
        Some(parts.iter().map(|(tokens, price)| *tokens as f64 * price).sum::<f64>() / self.per_tokens)
    }

    /// The price with the longest name that fits.
    fn price(&self, model: &str) -> Option<&Price> {
        let fits = |name: &str| match name.strip_suffix('*') {
            Some(start) => model.starts_with(start),
            None => model == name,
        };
        let fitting = self.models.iter().filter(|(name, _)| fits(name));
        // A whole name is more specific than the same one with `*`.
        fitting
            .max_by_key(|(name, _)| (name.trim_end_matches('*').len(), !name.ends_with('*')))
            .map(|(_, price)| price)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table(text: &str) -> Result<PriceTable, Failure> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("prices.json");
        std::fs::write(&path, text).unwrap();
        PriceTable::read(&path)
    }

    #[test]
    fn the_longest_fitting_name_has_the_price() {
        let text = r#"{"per_tokens":10,"models":{"m*":{"input":1,"output":2},"m-2*":{"input":3,"output":0,"cache_read":0.5},"m-2":{"input":5,"output":5}}}"#;
        let table = table(text).unwrap();
        let mut usage = Usage::default();
        (usage.input, usage.output, usage.cache_read) = (10, 20, 4);
        let cost = |model: &str| table.cost(model, &usage);
        assert_eq!(cost("m-1"), Some((10.0 + 40.0 + 4.0) / 10.0));
        assert_eq!(cost("m-2-large"), Some((30.0 + 2.0) / 10.0));
        assert_eq!(cost("m-2"), Some((50.0 + 100.0 + 20.0) / 10.0));
        assert_eq!(cost("other"), None);
    }

    #[test]
    fn invalid_tables_are_errors() {
        for text in [
            "",
            "{}",
            r#"{"models":{"a":{"input":-1,"output":0}}}"#,
            r#"{"models":{"a":{"input":1}}}"#,
            r#"{"models":{},"per_tokens":0}"#,
            r#"{"models":{},"unknown":1}"#,
        ] {
            assert!(table(text).is_err(), "{text}");
        }
    }

    #[test]
    fn the_example_is_a_table() {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/prices.example.json");
        let table = PriceTable::read(&path).unwrap();
        assert!(!table.currency.is_empty() && !table.models.is_empty());
    }
}
