//! The function extensions of RFC 9535, section 2.4, as one table. The parser, the printer, the
//! suggestions, and the evaluators all read it.

/// A function extension.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[expect(clippy::exhaustive_enums, reason = "an evaluator must handle all of them")]
pub enum Function {
    /// `length(value)`
    Length,
    /// `count(query)`
    Count,
    /// `value(query)`: the value of the only node, or Nothing.
    Value,
    /// `match(text, pattern)`
    Match,
    /// `search(text, pattern)`
    Search,
}

/// The name and the types of a function.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Signature {
    /// The name, as written in a query.
    pub name: &'static str,
    /// The parameters in order, each with the name that messages show.
    pub parameters: &'static [(&'static str, Parameter)],
    /// The type of the result.
    pub result: FunctionResult,
    /// Lower-case names of the function in other dialects.
    pub(crate) aliases: &'static [&'static str],
}

/// The type of a parameter (section 2.4.1). No function has a parameter of type `LogicalType`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "an evaluator must handle all of them")]
pub enum Parameter {
    /// `ValueType`: a literal, a singular query, or a function with a value.
    Value,
    /// `ValueType`, used as an I-Regexp ([`Pattern`](crate::Pattern)).
    Pattern {
        /// True if the pattern must match the whole text, false if it may match any part of it.
        whole: bool,
    },
    /// `NodesType`: a query. The function uses the number of its nodes.
    NodeCount,
    /// `NodesType`: a query. The function uses the value of its only node. With no node or several
    /// nodes, that is Nothing.
    OnlyNode,
}

/// The type of a function's result (section 2.4.1).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "an evaluator must handle all of them")]
pub enum FunctionResult {
    /// `ValueType`: a number, or Nothing.
    Number,
    /// `ValueType`: any value, or Nothing.
    Value,
    /// `LogicalType`.
    Logical,
}

impl Function {
    /// All functions.
    pub const ALL: [Self; 5] = [Self::Length, Self::Count, Self::Value, Self::Match, Self::Search];

    /// Returns the function's row of the table.
    pub const fn signature(self) -> Signature {
        use FunctionResult::{Logical, Number, Value};
        match self {
            Self::Length => Signature {
                name: "length",
                parameters: &[("value", Parameter::Value)],
                result: Number,
                aliases: &["len", "size", "strlen"],
            },
            Self::Count => Signature {
                name: "count",
                parameters: &[("query", Parameter::NodeCount)],
                result: Number,
                aliases: &[],
            },
            Self::Value => Signature {
                name: "value",
                parameters: &[("query", Parameter::OnlyNode)],
                result: Value,
                aliases: &[],
            },
            Self::Match => Signature {
                name: "match",
                parameters: &[("text", Parameter::Value), ("pattern", Parameter::Pattern { whole: true })],
                result: Logical,
                aliases: &["matches", "regex", "fullmatch"],
            },
            Self::Search => Signature {
                name: "search",
                parameters: &[("text", Parameter::Value), ("pattern", Parameter::Pattern { whole: false })],
                result: Logical,
                aliases: &[],
            },
        }
    }

    /// Returns the function with that name.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|function| function.signature().name == name)
    }
}

impl Signature {
    /// Returns the type of the argument at `index`, or `None` beyond the last parameter.
    pub fn parameter(&self, index: usize) -> Option<Parameter> {
        self.parameters.get(index).map(|(_, parameter)| *parameter)
    }

    /// Returns the call with the names of its parameters: `match(text, pattern)`.
    pub(crate) fn usage(&self) -> String {
        let names: Vec<&str> = self.parameters.iter().map(|(name, _)| *name).collect();
        format!("{}({})", self.name, names.join(", "))
    }
}

impl Parameter {
    /// True if the argument is a query of any kind instead of a value.
    pub(crate) const fn takes_nodes(self) -> bool {
        matches!(self, Self::NodeCount | Self::OnlyNode)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_functions_by_name() {
        for function in Function::ALL {
            assert_eq!(Function::named(function.signature().name), Some(function));
        }
        assert_eq!(Function::named("Length"), None);
    }

    #[test]
    fn usages_name_the_parameters() {
        let usages = Function::ALL.map(|function| function.signature().usage());
        assert_eq!(
            usages,
            [
                "length(value)",
                "count(query)",
                "value(query)",
                "match(text, pattern)",
                "search(text, pattern)"
            ]
        );
    }
}
