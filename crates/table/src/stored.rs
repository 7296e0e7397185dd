//! The stored form of shapes: a list of nodes, so that reading it recurses no deeper than a shape
//! may be.

use serde::{Deserialize, Serialize};

use crate::error::{Error, SchemaError};
use crate::number::Numbers;
use crate::observe::{MAX_DEPTH, TableShape};
use crate::shape::{MAX_FIELDS, ObjectShape, Shape};

/// The version of the stored form. Readers refuse other versions.
const VERSION: u32 = 1;

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct StoredShape {
    trommel_table_shape: u32,
    columns: usize,
    /// The nodes of each column in preorder: a node, the elements of its lists, its fields.
    nodes: Vec<Node>,
}

/// A shape without those within.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Node {
    #[serde(default, skip_serializing_if = "is_false")]
    bools: bool,
    #[serde(default, skip_serializing_if = "is_false")]
    strings: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    numbers: Option<Numbers>,
    #[serde(default, skip_serializing_if = "is_false")]
    list: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    object: Option<Object>,
    #[serde(default, skip_serializing_if = "is_false")]
    bounded: bool,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Object {
    objects: u64,
    /// Each field with the number of objects that have it.
    fields: Vec<(String, u64)>,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "the signature that serde requires")]
fn is_false(value: &bool) -> bool {
    !value
}

impl TableShape {
    /// Returns the stored form: JSON, with the same bytes for the same shapes.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut nodes = Vec::new();
        self.shapes.iter().for_each(|shape| flatten(shape, &mut nodes));
        let stored = StoredShape { trommel_table_shape: VERSION, columns: self.shapes.len(), nodes };
        serde_json::to_vec(&stored).unwrap_or_else(|_| unreachable!("numbers and texts are always JSON"))
    }

    /// Reads the stored form.
    ///
    /// # Errors
    /// If the bytes are damaged, or have another version.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, Error> {
        let damaged = |why: String| Error::Schema(SchemaError::NotShape(why));
        let stored: StoredShape =
            serde_json::from_slice(bytes).map_err(|error| damaged(error.to_string()))?;
        if stored.trommel_table_shape != VERSION {
            return Err(damaged(format!("it has version {}", stored.trommel_table_shape)));
        }
        let mut nodes = stored.nodes.into_iter();
        let mut fields_left = MAX_FIELDS;
        let mut shapes = Vec::new();
        for _ in 0..stored.columns {
            // A column has MAX_DEPTH levels of containers, and values below them.
            let shape = build(&mut nodes, MAX_DEPTH + 1, &mut fields_left);
            shapes.push(shape.ok_or_else(|| damaged("its nodes are not those of its columns".into()))?);
        }
        match nodes.next() {
            None => Ok(Self { shapes }),
            Some(_) => Err(damaged("it has more nodes than columns".into())),
        }
    }
}

fn flatten(shape: &Shape, nodes: &mut Vec<Node>) {
    let Shape { bools, strings, numbers, list, object, is_bounded } = shape;
    let fields = |object: &ObjectShape| {
        object.fields.iter().map(|(name, (_, count))| (name.clone(), *count)).collect::<Vec<_>>()
    };
    nodes.push(Node {
        bools: *bools,
        strings: *strings,
        numbers: *numbers,
        list: list.is_some(),
        object: object.as_deref().map(|object| Object { objects: object.objects, fields: fields(object) }),
        bounded: *is_bounded,
    });
    if let Some(list) = list {
        flatten(list, nodes);
    }
    for (shape, _) in object.iter().flat_map(|object| object.fields.values()) {
        flatten(shape, nodes);
    }
}

/// Builds the next shape. `None` if nodes are missing, too deep, or too many, or if a name repeats.
fn build(nodes: &mut impl Iterator<Item = Node>, depth: u32, fields_left: &mut usize) -> Option<Shape> {
    let depth = depth.checked_sub(1)?;
    let Node { bools, strings, numbers, list, object, bounded: is_bounded } = nodes.next()?;
    let list = if list { Some(Box::new(build(nodes, depth, fields_left)?)) } else { None };
    let mut shape = Shape { bools, strings, numbers, list, object: None, is_bounded };
    if let Some(Object { objects, fields }) = object {
        *fields_left = fields_left.checked_sub(fields.len())?;
        let mut object = ObjectShape { objects, ..ObjectShape::default() };
        for (name, count) in fields {
            let field = build(nodes, depth, fields_left)?;
            if object.fields.insert(name, (field, count)).is_some() {
                return None;
            }
        }
        shape.object = Some(Box::new(object));
    }
    Some(shape)
}
