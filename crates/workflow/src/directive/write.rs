//! Writes directives as text in a canonical form.

use std::fmt::{self, Display, Formatter};

use trommel_route::Route;

use super::lines::{Directives, Input, Model, Output};
use super::tools::{ToolSelection, ToolUse};

/// Writes lines that [`parse`](Directives::parse) reads as the same directives, apart from their
/// positions.
impl Display for Directives {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        self.inputs.iter().try_for_each(|input| writeln!(f, "{input}"))?;
        match self.tools.selection {
            ToolSelection::All => writeln!(f, "@tools all")?,
            ToolSelection::None => writeln!(f, "@tools none")?,
            ToolSelection::Named => {}
        }
        self.tools.named.iter().try_for_each(|tool| writeln!(f, "@tools {tool}"))?;
        self.outputs.iter().try_for_each(|output| writeln!(f, "{output}"))?;
        if let Some(model) = &self.model {
            writeln!(f, "{model}")?;
        }
        if let Some(mode) = self.write_mode {
            writeln!(f, "@write-mode {mode}")?;
        }
        match &self.header {
            Some(header) => writeln!(f, "@header {header}"),
            None => Ok(()),
        }
    }
}

impl Display for Input {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let mut list = List::default();
        if let Some(route) = &self.route {
            list.route(route);
        }
        list.pair("scope", self.scope);
        list.flag("required", self.required);
        list.flag("refs-only", self.refs_only);
        match &self.properties {
            Some(names) if names.is_empty() => list.flag("properties", true),
            names => list.pair("properties", names.as_ref().map(|names| names.join(","))),
        }
        list.pair("head", self.head);
        write!(f, "@input {}:{}{list}", self.source.scheme(), Base(self.source.name()))
    }
}

impl Display for Output {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let mut list = List::default();
        list.pair("write-mode", self.route.write_mode);
        list.pair("scope", self.route.scope);
        let target = self.route.target.to_string();
        match target.split_once(':') {
            Some((scheme, name)) => write!(f, "@output {scheme}:{}{list}", Base(name)),
            None => write!(f, "@output {target}{list}"),
        }
    }
}

impl Display for Model {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let mut list = List::default();
        list.pair("thinking", self.thinking.as_ref());
        write!(f, "@model {}{list}", Base(self.name.as_deref().unwrap_or("none")))
    }
}

impl Display for ToolUse {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let mut list = List::default();
        match &self.route {
            Some(route) => list.route(route),
            None => list.pair("write-mode", self.write_mode),
        }
        write!(f, "{}{}", self.name, list.to_string().trim_start())
    }
}

/// A list of parameters.
#[derive(Default)]
struct List(Vec<String>);

impl List {
    fn route(&mut self, route: &Route) {
        self.pair("output", Some(&route.target));
        self.pair("write-mode", route.write_mode);
        self.pair("scope", route.scope);
    }

    fn flag(&mut self, key: &str, set: bool) {
        if set {
            self.0.push(key.to_owned());
        }
    }

    fn pair(&mut self, key: &str, value: Option<impl Display>) {
        if let Some(value) = value {
            self.0.push(format!("{key}={}", quoted(&value.to_string())));
        }
    }
}

impl Display for List {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        if self.0.is_empty() { Ok(()) } else { write!(f, " ({})", self.0.join(", ")) }
    }
}

/// Returns the value of a parameter, quoted if necessary.
fn quoted(value: &str) -> String {
    let plain =
        !value.is_empty() && !value.contains([',', '(', ')', '"', '\'', '#', '=']) && value.trim() == value;
    let quote = ['"', '\''].into_iter().find(|quote| !value.contains(*quote));
    match quote {
        Some(quote) if !plain => format!("{quote}{value}{quote}"),
        // A value with both kinds of quotes was written without quotes.
        _ => value.to_owned(),
    }
}

/// The name of a directive, quoted if necessary.
struct Base<'a>(&'a str);

impl Display for Base<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let base = self.0;
        let plain = !base.contains(['(', ')', '"', '\'', '[', '#', ':', '=']) && base.trim() == base;
        let marks = [("\"", "\""), ("'", "'"), ("[[", "]]")];
        // If the name ended with `]`, then `]]` would end it one character early.
        let fits = |closing: &str| !(base.contains(closing) || closing == "]]" && base.ends_with(']'));
        match marks.into_iter().find(|(_, closing)| fits(closing)) {
            Some((opening, closing)) if !plain => write!(f, "{opening}{base}{closing}"),
            _ => f.write_str(base),
        }
    }
}
