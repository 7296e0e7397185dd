//! Tools: all of them, and one in detail.

use serde::Serialize;
use serde_json::Value;
use trommel_tool::{Category, Metadata, ToolParameter};

use crate::json;
use crate::options::DisplayOptions;
use crate::panel::{Panel, Section, Show, padded, widest};

/// Least width of the column of names.
const NAMES: usize = 12;
/// Greatest width of the column of names: a single long name must not push all descriptions aside.
const WIDEST_NAME: usize = 30;

/// All tools, by category, in the order given.
///
/// In JSON an array of `{name, category, description}`.
#[derive(Clone, Debug)]
pub struct ToolList<'a> {
    tools: Vec<&'a Metadata>,
}

impl<'a> ToolList<'a> {
    /// Lists tools.
    pub fn new(tools: impl IntoIterator<Item = &'a Metadata>) -> Self {
        Self { tools: tools.into_iter().collect() }
    }

    fn of(&self, category: Category) -> Vec<&'a Metadata> {
        self.tools.iter().filter(|tool| tool.category == category).copied().collect()
    }
}

impl Show for ToolList<'_> {
    fn panel(&self, _: &DisplayOptions) -> Panel {
        let column = widest(self.tools.iter().map(|tool| tool.name.as_str())).clamp(NAMES, WIDEST_NAME);
        let categories = Category::ALL.into_iter().map(|category| (category, self.of(category)));
        let body = categories.filter(|(_, tools)| !tools.is_empty()).fold(
            Section::default().blank(),
            |section, (category, tools)| {
                let heading = format!("{} ({})", category.heading(), tools.len());
                let row = |section: Section, tool: &Metadata| {
                    let name = padded(&tool.name, column);
                    section.led(&format!("  {name} "), summary(&tool.description))
                };
                section.line(&heading).each(tools, row).blank()
            },
        );
        let head = Section::default().line(&format!("Available Tools ({})", self.tools.len()));
        Panel::new([head, body])
    }
}

impl<'a> Serialize for ToolList<'a> {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        #[derive(Serialize)]
        struct Row<'b> {
            name: &'b str,
            category: Category,
            description: &'b str,
        }
        let row = |tool: &&'a Metadata| -> Row<'a> {
            Row { name: &tool.name, category: tool.category, description: &tool.description }
        };
        serializer.collect_seq(self.tools.iter().map(row))
    }
}

/// The first sentence of a description, without its full stop.
fn summary(description: &str) -> &str {
    let description = description.trim();
    let end = description.match_indices(['.', '\n']).find(|(at, mark)| {
        let rest = &description[at + mark.len()..];
        *mark == "\n" || rest.is_empty() || rest.starts_with([' ', '\n', '\r'])
    });
    end.map_or(description, |(at, _)| &description[..at])
}

/// One tool in detail.
///
/// In JSON the tool's metadata, and its `parameters` one by one.
#[derive(Clone, Copy, Debug)]
pub struct ToolDetails<'a> {
    tool: &'a Metadata,
}

impl<'a> ToolDetails<'a> {
    /// Shows a tool.
    pub const fn new(tool: &'a Metadata) -> Self {
        Self { tool }
    }
}

impl Show for ToolDetails<'_> {
    fn panel(&self, _: &DisplayOptions) -> Panel {
        let tool = self.tool;
        let mut head =
            Section::default().led("Tool: ", &tool.name).led("Category: ", tool.category.heading());
        if tool.requires_approval {
            head = head.line("Requires approval");
        }
        let description = Section::default().line("Description:").line(tool.description.trim());
        let parameters = tool.parameters();
        let mut body = Section::default().line("Parameters:").blank();
        if parameters.is_empty() {
            body = body.line("  (none)").blank();
        }
        let properties = tool.args_schema.get("properties");
        let body = body.each(&parameters, |section, parameter| {
            described(section, parameter, properties.and_then(|all| all.get(&parameter.name)))
        });
        Panel::new([head, description, body])
    }
}

impl Serialize for ToolDetails<'_> {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        #[derive(Serialize)]
        struct Fields<'a> {
            #[serde(flatten)]
            tool: &'a Metadata,
            parameters: Vec<ToolParameter>,
        }
        Fields { tool: self.tool, parameters: self.tool.parameters() }.serialize(serializer)
    }
}

fn described(section: Section, parameter: &ToolParameter, schema: Option<&Value>) -> Section {
    let options = parameter.enum_.as_ref().map(|values| {
        let values: Vec<String> = values.iter().map(json::value).collect();
        values.join(", ")
    });
    let mut section = section.led("  ", &heading(parameter));
    if !parameter.description.is_empty() {
        section = section.led("    ", &parameter.description);
    }
    section
        .maybe(options, |section, options| section.led("    Valid options: ", &options))
        .maybe(schema.and_then(ToolParameter::constraints), |section, bounds| {
            section.led("    Constraints: ", &bounds)
        })
        .each(schema.map(elements).unwrap_or_default(), |section, element| {
            let mark = if element.description.is_empty() { "" } else { " - " };
            section.led("    • ", &format!("{}{mark}{}", heading(&element), element.description))
        })
        .blank()
}

/// `limit (integer) [optional, default: 2000]`
fn heading(parameter: &ToolParameter) -> String {
    let ToolParameter { name, type_, required, default, .. } = parameter;
    let need = match default {
        _ if *required => "required".to_owned(),
        None => "optional".to_owned(),
        Some(Value::String(text)) if text.is_empty() => "optional, default: \"\"".to_owned(),
        Some(default) => format!("optional, default: {}", json::value(default)),
    };
    format!("{name} ({type_}) [{need}]")
}

/// The members of a parameter that is an object or an array of objects.
fn elements(schema: &Value) -> Vec<ToolParameter> {
    let object = schema.get("items").unwrap_or(schema);
    ToolParameter::of_object(object)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_summary_is_the_first_sentence() {
        let cases = [
            ("Read contents of a file", "Read contents of a file"),
            ("Read a file.json. Then more.", "Read a file.json"),
            ("One.", "One"),
            (" Two lines\nof text ", "Two lines"),
            ("", ""),
        ];
        for (description, expected) in cases {
            assert_eq!(summary(description), expected);
        }
    }
}
