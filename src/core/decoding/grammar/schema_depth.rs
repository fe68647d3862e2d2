//! How deeply a JSON Schema is nested if its references are followed, as compiling does, with one
//! recursive call per level.

use std::collections::BTreeMap;

use serde_json::Value;

/// How deeply a schema may be nested, because each level takes stack space.
pub(super) const MAX_SCHEMA_DEPTH: usize = 256;

/// Measures one schema.
pub(super) struct SchemaDepth<'a> {
    schema: &'a Value,
    /// The depth of each part that is referred to. 0 while it is being measured, so that a part
    /// that contains itself counts once.
    known: BTreeMap<&'a str, usize>,
}

impl<'a> SchemaDepth<'a> {
    /// Prepares to measure a schema.
    pub(super) const fn new(schema: &'a Value) -> Self {
        Self {
            schema,
            known: BTreeMap::new(),
        }
    }

    /// Returns whether a part that is `n_above` levels deep stays within the limit.
    pub(super) fn is_shallow(&mut self, part: &'a Value, n_above: usize) -> bool {
        self.depth(part, n_above).is_some()
    }

    /// Returns how many levels a part has, or `None` if they exceed the limit.
    fn depth(&mut self, part: &'a Value, n_above: usize) -> Option<usize> {
        if n_above > MAX_SCHEMA_DEPTH {
            return None;
        }
        let mut deepest = 0;
        match part {
            Value::Array(items) => {
                for item in items {
                    deepest = deepest.max(self.depth(item, n_above + 1)?);
                }
            }
            Value::Object(fields) => {
                for (name, value) in fields {
                    let depth = match value {
                        Value::String(target) if name == "$ref" => {
                            self.depth_of_target(target, n_above + 1)?
                        }
                        value => self.depth(value, n_above + 1)?,
                    };
                    deepest = deepest.max(depth);
                }
            }
            _ => {}
        }
        Some(deepest + 1)
    }

    fn depth_of_target(&mut self, target: &'a str, n_above: usize) -> Option<usize> {
        if let Some(depth) = self.known.get(target) {
            return (n_above + depth <= MAX_SCHEMA_DEPTH).then_some(*depth);
        }
        let part = target.strip_prefix('#');
        let Some(part) = part.and_then(|pointer| self.schema.pointer(pointer)) else {
            // Compiling reports dangling references.
            return Some(0);
        };
        self.known.insert(target, 0);
        let depth = self.depth(part, n_above)?;
        self.known.insert(target, depth);
        Some(depth)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::{MAX_SCHEMA_DEPTH, SchemaDepth};
    use crate::decoding::{GrammarKind, GrammarRule};

    fn is_shallow(schema: &Value) -> bool {
        SchemaDepth::new(schema).is_shallow(schema, 0)
    }

    /// A definition that refers to the next one, `n` times.
    fn chain(n: usize) -> Value {
        let link = |i: usize| json!({"properties": {"x": {"$ref": format!("#/$defs/a{}", i + 1)}}});
        let links = (0..n).map(|i| (format!("a{i}"), link(i)));
        let mut parts: serde_json::Map<String, Value> = links.collect();
        parts.insert(format!("a{n}"), json!({"type": "integer"}));
        json!({"$defs": parts, "$ref": "#/$defs/a0"})
    }

    #[test]
    fn a_chain_of_references_is_as_deep_as_what_it_stands_for() {
        assert!(is_shallow(&chain(60)));
        assert!(!is_shallow(&chain(MAX_SCHEMA_DEPTH)));
        assert!(!is_shallow(&chain(100_000)));
    }

    #[test]
    fn a_schema_at_the_limit_can_be_compiled() {
        let mut n = 1;
        while is_shallow(&chain(n + 1)) {
            n += 1;
        }
        let schema = chain(n).to_string();
        let rule = GrammarRule::new(GrammarKind::Schema, &schema);
        assert_eq!(rule.validate(), Ok(()));
    }

    #[test]
    fn a_schema_that_contains_itself_or_doubles_is_measured_in_no_time() {
        assert!(is_shallow(&json!({"properties": {"next": {"$ref": "#"}}})));
        let double = |i: usize| json!([{"$ref": format!("#/$defs/a{}", i + 1)}, {"$ref": format!("#/$defs/a{}", i + 1)}]);
        let parts: serde_json::Map<String, Value> = (0..60)
            .map(|i| (format!("a{i}"), json!({"anyOf": double(i)})))
            .collect();
        assert!(is_shallow(&json!({"$defs": parts, "$ref": "#/$defs/a0"})));
    }
}
