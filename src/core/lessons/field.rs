//! Values that a lesson can read by name.

use super::value::Value;

/// A named value that can be read from a `T`.
#[derive(Debug)]
pub struct Field<T: ?Sized> {
    pub name: &'static str,
    /// The description for the documentation.
    pub help: &'static str,
    read: fn(&T) -> Option<Value>,
}

impl<T: ?Sized> PartialEq for Field<T> {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name
    }
}

impl<T: ?Sized> Field<T> {
    pub(super) fn value(&self, of: &T) -> Option<Value> {
        (self.read)(of)
    }
}

pub(super) const fn field<T: ?Sized>(
    name: &'static str,
    help: &'static str,
    read: fn(&T) -> Option<Value>,
) -> Field<T> {
    Field { name, help, read }
}

/// Returns the field with this name.
pub(super) fn named<T: ?Sized>(
    fields: &'static [Field<T>],
    name: &str,
) -> Option<&'static Field<T>> {
    fields.iter().find(|field| field.name == name)
}

/// Checks that the documentation lists all fields, with `before` and a dot in front of their names.
#[cfg(test)]
pub(super) fn assert_documented<T: ?Sized>(before: &str, fields: &[Field<T>]) {
    let documentation = include_str!("../../../assets/lessons/README.md");
    let rows: Vec<String> = fields
        .iter()
        .map(|field| format!("| `{before}.{}` | {} |", field.name, field.help))
        .collect();
    let missing = rows.iter().any(|row| !documentation.contains(row.as_str()));
    assert!(!missing, "the README needs:\n{}", rows.join("\n"));
}
