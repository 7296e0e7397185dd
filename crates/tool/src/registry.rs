//! The registered tools.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

use serde::Serialize;
use trommel_base::nearest;

use crate::arguments::schema::{Schema, SchemaError, validator};
use crate::contract::metadata::Category;
use crate::contract::tool::Tool;
use crate::names::Names;
use crate::text::shortened;

/// Maximum characters of a name.
const MAX_NAME: usize = 128;

/// Maximum number of suggested names.
const MAX_SUGGESTIONS: usize = 3;

/// The registered tools, by name.
///
/// Tools are added and removed through a shared reference, while others are called. A call that has
/// started continues with the tool it started with.
pub struct Registry {
    tools: RwLock<BTreeMap<String, Arc<Entry>>>,
    number: u64,
}

/// A tool with its schema compiled.
pub(crate) struct Entry {
    pub(crate) tool: Arc<dyn Tool>,
    pub(crate) schema: Schema,
}

impl Default for Registry {
    fn default() -> Self {
        Self::new()
    }
}

impl Registry {
    /// A registry without tools.
    pub fn new() -> Self {
        static REGISTRIES: AtomicU64 = AtomicU64::new(1);
        Self { tools: RwLock::default(), number: REGISTRIES.fetch_add(1, Ordering::Relaxed) }
    }

    /// Adds a tool. It never replaces one.
    pub fn register(&self, tool: impl Tool + 'static) -> Result<(), RegistryError> {
        let tool: Arc<dyn Tool> = Arc::new(tool);
        let metadata = tool.metadata();
        let name = metadata.name.clone();
        if !is_name(&name) {
            return Err(RegistryError::InvalidName { name });
        }
        let unusable = |schema: &'static str| {
            let name = name.clone();
            move |why| RegistryError::InvalidSchema { name, schema, why }
        };
        let schema = Schema::compile(&metadata.args_schema).map_err(unusable("args_schema"))?;
        validator(&metadata.result_schema).map_err(unusable("result_schema"))?;
        let mut tools = self.write();
        if tools.contains_key(&name) {
            return Err(RegistryError::AlreadyRegistered { name });
        }
        tools.insert(name, Arc::new(Entry { tool, schema }));
        Ok(())
    }

    /// Removes a tool.
    pub fn deregister(&self, name: &str) -> Result<Arc<dyn Tool>, RegistryError> {
        let taken = self.write().remove(name);
        taken.map(|entry| Arc::clone(&entry.tool)).ok_or_else(|| RegistryError::NotRegistered {
            name: shown(name),
            suggestions: self.suggestions(name),
        })
    }

    /// The tool of this name or [exported](crate::names) name.
    pub fn get(&self, name: &str) -> Option<Arc<dyn Tool>> {
        self.entry(name).map(|entry| Arc::clone(&entry.tool))
    }

    pub(crate) fn entry(&self, name: &str) -> Option<Arc<Entry>> {
        let tools = self.read();
        let found = tools.get(name).or_else(|| {
            let names = Names::of(tools.keys().map(String::as_str));
            tools.get(names.original(name)?)
        });
        found.map(Arc::clone)
    }

    /// True if there is a tool of this name or exported name.
    pub fn contains(&self, name: &str) -> bool {
        self.entry(name).is_some()
    }

    /// All names, sorted.
    pub fn names(&self) -> Vec<String> {
        self.read().keys().cloned().collect()
    }

    /// All tools, in the order of their names.
    pub fn tools(&self) -> Vec<Arc<dyn Tool>> {
        self.read().values().map(|entry| Arc::clone(&entry.tool)).collect()
    }

    /// The tools of a category, in the order of their names.
    pub fn in_category(&self, category: Category) -> Vec<Arc<dyn Tool>> {
        let mut tools = self.tools();
        tools.retain(|tool| tool.metadata().category == category);
        tools
    }

    /// The number of tools.
    pub fn len(&self) -> usize {
        self.read().len()
    }

    /// True if the registry is empty.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The names similar to an unknown one, the most similar first.
    pub fn suggestions(&self, name: &str) -> Vec<String> {
        let tools = self.read();
        let near = nearest(name, tools.keys().map(String::as_str), MAX_SUGGESTIONS);
        near.into_iter().map(str::to_owned).collect()
    }

    /// The state of the registry.
    pub fn state(&self) -> RegistryState {
        let tools = self.read();
        let count = |category| tools.values().filter(|one| one.tool.metadata().category == category).count();
        RegistryState {
            instance_id: format!("{:#014x}", self.number),
            total: tools.len(),
            by_category: Category::ALL.iter().map(|category| (*category, count(*category))).collect(),
            names: tools.keys().cloned().collect(),
        }
    }

    fn read(&self) -> RwLockReadGuard<'_, BTreeMap<String, Arc<Entry>>> {
        self.tools.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn write(&self) -> RwLockWriteGuard<'_, BTreeMap<String, Arc<Entry>>> {
        self.tools.write().unwrap_or_else(PoisonError::into_inner)
    }
}

impl fmt::Debug for Registry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Registry").field("names", &self.names()).finish_non_exhaustive()
    }
}

/// True for letters, digits, `_`, `-`, and `.`: the names of the Model Context Protocol.
fn is_name(name: &str) -> bool {
    let legal = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.');
    !name.is_empty() && name.len() <= MAX_NAME && name.chars().all(legal)
}

/// A received name, truncated to the longest one that a tool can have.
pub(crate) fn shown(name: &str) -> String {
    shortened(name, MAX_NAME).unwrap_or_else(|| name.to_owned())
}

/// The state of a registry.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct RegistryState {
    /// The ID of the registry in this process: `0x000000000001` is the first.
    pub instance_id: String,
    /// The number of tools.
    pub total: usize,
    /// The number of tools of each category, in the order of all categories.
    #[serde(serialize_with = "as_map")]
    pub by_category: Vec<(Category, usize)>,
    /// The names, sorted.
    pub names: Vec<String>,
}

fn as_map<S: serde::Serializer>(counts: &[(Category, usize)], serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_map(counts.iter().copied())
}

/// The reason why a tool cannot be added or removed.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum RegistryError {
    /// Another tool has this name.
    AlreadyRegistered {
        /// The name.
        name: String,
    },
    /// No tool has this name.
    NotRegistered {
        /// The name.
        name: String,
        /// Similar names.
        suggestions: Vec<String>,
    },
    /// The name is not valid.
    InvalidName {
        /// The name.
        name: String,
    },
    /// A schema cannot be used.
    InvalidSchema {
        /// The tool.
        name: String,
        /// The schema: `args_schema` or `result_schema`.
        schema: &'static str,
        /// The reason.
        why: SchemaError,
    },
}

impl RegistryError {
    /// The advice, line by line.
    pub fn advice(&self) -> Vec<String> {
        let lines: &[&str] = match self {
            Self::AlreadyRegistered { .. } => &[
                "To replace an existing tool:",
                "  1. Deregister the existing tool first",
                "  2. Register the new tool",
                "",
                "Or use a different tool name.",
            ],
            Self::NotRegistered { suggestions, .. } if suggestions.is_empty() => &[],
            Self::NotRegistered { suggestions, .. } => {
                let meant = suggestions.iter().map(|name| format!("  • {name}"));
                return std::iter::once("Did you mean one of these?".to_owned()).chain(meant).collect();
            }
            Self::InvalidName { .. } => &["Use 1 to 128 letters, digits, `_`, `-` and `.`."],
            Self::InvalidSchema { schema, .. } => {
                return vec![format!("Correct {schema} and register the tool again.")];
            }
        };
        lines.iter().map(|line| (*line).to_owned()).collect()
    }
}

impl fmt::Display for RegistryError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::AlreadyRegistered { name } => {
                write!(f, "Cannot register tool \"{name}\": a tool with this name already exists.")
            }
            Self::NotRegistered { name, .. } => write!(f, "The tool \"{name}\" is not registered."),
            Self::InvalidName { name } => {
                write!(
                    f,
                    "Cannot register tool \"{}\": this is no name for a tool.",
                    shown(name).escape_debug()
                )
            }
            Self::InvalidSchema { name, schema, why } => {
                write!(f, "Cannot register tool \"{name}\": its {schema} cannot be used: {why}")
            }
        }
    }
}

impl std::error::Error for RegistryError {}
