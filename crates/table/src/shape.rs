//! The types of all values of a column, from which its type follows.

use indexmap::IndexMap;
use trommel::reader::{Config, Cursor, Event, Kind, Payload, Result, Scalar};

use crate::number::Numbers;
use crate::types::{ColumnType, Renamed, fields};

/// Objects are maps if they have more distinct names, none of which is in half of the objects.
const MAX_FIELDS_OF_MAP: usize = 100;

/// Maximum number of fields of all shapes together. Objects with further names are JSON.
pub(crate) const MAX_FIELDS: usize = 20_000;

/// The types of all values at one place.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Shape {
    pub(crate) bools: bool,
    pub(crate) strings: bool,
    pub(crate) numbers: Option<Numbers>,
    pub(crate) list: Option<Box<Shape>>,
    pub(crate) object: Option<Box<ObjectShape>>,
    /// True if a container is deeper than allowed, or has too many fields.
    pub(crate) is_bounded: bool,
}

#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct ObjectShape {
    pub(crate) objects: u64,
    /// Each field with the number of objects that have it.
    pub(crate) fields: IndexMap<String, (Shape, u64)>,
}

/// The limits on shapes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Bounds {
    /// Levels of containers in a column.
    pub(crate) depth: u32,
    /// Fields that may still be added.
    pub(crate) fields_left: usize,
}

impl Shape {
    /// Adds a value, which is valid JSON. Recursion is limited by `depth` of the bounds.
    //
    // Most columns hold scalars, and a cursor would cost more than all the rest.
    #[expect(clippy::expect_used, reason = "the value is valid JSON")]
    pub(crate) fn observe(&mut self, value: &[u8], config: &Config, bounds: &mut Bounds) {
        match value.first() {
            Some(b'"') => self.strings = true,
            Some(b't' | b'f') => self.bools = true,
            Some(b'n') => {}
            Some(b'-' | b'0'..=b'9') => {
                let lexeme = str::from_utf8(value).expect("numbers are ASCII");
                self.numbers.get_or_insert_default().observe(lexeme);
            }
            _ => {
                let mut cursor = Cursor::new(value, config);
                let depth = bounds.depth;
                let event = cursor.begin_value();
                let observed = event.and_then(|event| self.event(event, &mut cursor, depth, bounds));
                observed.expect("a valid value");
            }
        }
    }

    fn event(
        &mut self,
        event: Event,
        cursor: &mut Cursor<'_>,
        depth: u32,
        bounds: &mut Bounds,
    ) -> Result<()> {
        match event {
            Event::Scalar(_) => {
                if let Payload::Scalar(scalar) = cursor.payload() {
                    self.scalar(scalar);
                }
                Ok(())
            }
            Event::Begin(_) if depth == 0 => {
                self.is_bounded = true;
                cursor.leave()
            }
            Event::Begin(Kind::Array) => {
                let list = self.list.get_or_insert_default();
                while let Some(event) = cursor.advance()? {
                    if matches!(event, Event::End(_)) {
                        break;
                    }
                    list.event(event, cursor, depth - 1, bounds)?;
                }
                Ok(())
            }
            Event::Begin(_) => self.object(cursor, depth - 1, bounds),
            Event::End(_) | Event::Name => unreachable!("a value was expected"),
        }
    }

    fn object(&mut self, cursor: &mut Cursor<'_>, depth: u32, bounds: &mut Bounds) -> Result<()> {
        let object = self.object.get_or_insert_default();
        object.objects += 1;
        while let Some(event) = cursor.advance()? {
            if matches!(event, Event::End(_)) {
                break;
            }
            let Some(name) = cursor.name() else { unreachable!("a name was expected") };
            let name = name.decode();
            let known = match object.fields.get_index_of(&*name) {
                None if bounds.fields_left == 0 => None,
                None => {
                    bounds.fields_left -= 1;
                    let name = name.into_owned();
                    Some(object.fields.insert_full(name, (Shape::default(), 0)).0)
                }
                known => known,
            };
            let Some((_, (field, count))) = known.and_then(|known| object.fields.get_index_mut(known)) else {
                self.is_bounded = true;
                cursor.skip_value()?;
                continue;
            };
            *count += 1;
            let event = cursor.begin_value()?;
            field.event(event, cursor, depth, bounds)?;
        }
        Ok(())
    }

    /// Adds a scalar.
    pub(crate) fn scalar(&mut self, scalar: Scalar<'_>) {
        match scalar {
            Scalar::Null => {}
            Scalar::Bool(_) => self.bools = true,
            Scalar::Number(number) => self.numbers.get_or_insert_default().observe(number.lexeme()),
            Scalar::String(_) => self.strings = true,
        }
    }

    /// Adds the values of a later part of the input. Objects with too many fields are JSON.
    pub(crate) fn merge(&mut self, later: Self, fields_left: &mut usize) {
        self.bools |= later.bools;
        self.strings |= later.strings;
        self.is_bounded |= later.is_bounded;
        if let Some(numbers) = later.numbers {
            self.numbers.get_or_insert_default().merge(numbers);
        }
        if let Some(list) = later.list {
            self.list.get_or_insert_default().merge(*list, fields_left);
        }
        let Some(object) = later.object else { return };
        let known = self.object.get_or_insert_default();
        known.objects = known.objects.saturating_add(object.objects);
        for (name, (shape, count)) in object.fields {
            if let Some((field, total)) = known.fields.get_mut(&name) {
                *total = total.saturating_add(count);
                field.merge(shape, fields_left);
            } else if let Some(left) = fields_left.checked_sub(1 + shape.fields()) {
                *fields_left = left;
                known.fields.insert(name, (shape, count));
            } else {
                self.is_bounded = true;
            }
        }
    }

    /// The number of fields of all objects within.
    pub(crate) fn fields(&self) -> usize {
        let list = self.list.as_ref().map_or(0, |list| list.fields());
        let object = self.object.as_ref();
        let within =
            object.map_or(0, |object| object.fields.values().map(|(shape, _)| 1 + shape.fields()).sum());
        list + within
    }

    /// The type that holds all values, each of them exactly unless numbers are `rounded`.
    pub(crate) fn column_type(self, rounded: bool, renamed: &mut Vec<Renamed>) -> ColumnType {
        let Self { bools, strings, numbers, list, object, is_bounded } = self;
        let kinds = [bools, strings, numbers.is_some(), list.is_some(), object.is_some()];
        if is_bounded || kinds.iter().filter(|kind| **kind).count() > 1 {
            return ColumnType::Json;
        }
        if let Some(numbers) = numbers {
            return number_type(numbers, rounded);
        }
        if let Some(list) = list {
            return ColumnType::List(Box::new(list.column_type(rounded, renamed)));
        }
        match object {
            Some(object) => object.column_type(rounded, renamed),
            None if bools => ColumnType::Boolean,
            None if strings => ColumnType::Text,
            None => ColumnType::Null,
        }
    }
}

impl ObjectShape {
    fn column_type(self, rounded: bool, renamed: &mut Vec<Renamed>) -> ColumnType {
        let most = self.fields.values().map(|(_, count)| *count).max().unwrap_or(0);
        let is_map = self.fields.len() > MAX_FIELDS_OF_MAP && most * 2 < self.objects;
        // Files have no columns without fields.
        if is_map || self.fields.is_empty() {
            return ColumnType::Json;
        }
        let mut nested = Vec::new();
        let typed = self.fields.into_iter().map(|(name, (shape, _))| {
            let column_type = shape.column_type(rounded, &mut nested);
            (name, column_type)
        });
        let typed = typed.collect::<Vec<_>>();
        let fields = fields(typed, renamed);
        renamed.append(&mut nested);
        ColumnType::Struct(fields)
    }
}

fn number_type(numbers: Numbers, rounded: bool) -> ColumnType {
    match numbers {
        Numbers { int64: true, .. } => ColumnType::Int64,
        Numbers { uint64: true, .. } => ColumnType::UInt64,
        Numbers { decimal: true, .. } => ColumnType::Decimal,
        Numbers { double: true, .. } => ColumnType::Float64 { rounded: false },
        Numbers { rounded: true, .. } if rounded => ColumnType::Float64 { rounded: true },
        _ => ColumnType::NumberText,
    }
}
