//! A validator for the parts of JSON Schema that our schema uses. Any other keyword is an error, so
//! that nothing in the schema goes unchecked.

use serde_json::{Map, Value};

/// Checks a value. Returns the path and the reason of the first violation.
pub(crate) fn check(schema: &Value, value: &Value) -> Result<(), String> {
    Validator { root: schema }.check(schema, value, "file")
}

struct Validator<'a> {
    root: &'a Value,
}

impl Validator<'_> {
    fn check(&self, schema: &Value, value: &Value, path: &str) -> Result<(), String> {
        let keywords = schema.as_object().unwrap();
        for (keyword, wanted) in keywords {
            let is_valid = match keyword.as_str() {
                "$schema" | "$defs" | "title" | "description" => true,
                "$ref" => {
                    let name = wanted.as_str().unwrap().strip_prefix("#/$defs/").unwrap();
                    self.check(&self.root["$defs"][name], value, path)?;
                    true
                }
                "type" => has_type(wanted, value),
                "const" => value == wanted,
                "enum" => wanted.as_array().unwrap().contains(value),
                "anyOf" => {
                    let mut all = wanted.as_array().unwrap().iter();
                    all.any(|schema| self.check(schema, value, path).is_ok())
                }
                "minimum" => value.as_f64().is_none_or(|n| n >= wanted.as_f64().unwrap()),
                "maximum" => value.as_f64().is_none_or(|n| n <= wanted.as_f64().unwrap()),
                "pattern" => {
                    let pattern = regex::Regex::new(wanted.as_str().unwrap()).unwrap();
                    value.as_str().is_none_or(|text| pattern.is_match(text))
                }
                "minItems" => len(value).is_none_or(|n| n >= wanted.as_u64().unwrap()),
                "maxItems" => len(value).is_none_or(|n| n <= wanted.as_u64().unwrap()),
                "items" | "prefixItems" => {
                    for (index, item) in value.as_array().into_iter().flatten().enumerate() {
                        let schema = wanted.get(index).unwrap_or(wanted);
                        self.check(schema, item, &format!("{path}[{index}]"))?;
                    }
                    true
                }
                "properties" | "required" | "additionalProperties" => {
                    let object = value.as_object();
                    object.map_or(Ok(()), |fields| self.fields(keywords, fields, path))?;
                    true
                }
                other => return Err(format!("{path}: the keyword {other} is not checked")),
            };
            if !is_valid {
                return Err(format!("{path}: {value} violates {keyword} {wanted}"));
            }
        }
        Ok(())
    }

    fn fields(
        &self,
        schema: &Map<String, Value>,
        fields: &Map<String, Value>,
        path: &str,
    ) -> Result<(), String> {
        let required = schema.get("required").and_then(Value::as_array);
        for required in required.into_iter().flatten() {
            if !fields.contains_key(required.as_str().unwrap()) {
                return Err(format!("{path}: {required} is missing"));
            }
        }
        for (name, value) in fields {
            match schema.get("properties").and_then(|fields| fields.get(name)) {
                Some(schema) => self.check(schema, value, &format!("{path}.{name}"))?,
                None if schema.get("additionalProperties") == Some(&Value::Bool(false)) => {
                    return Err(format!("{path}: {name} is not in the schema"));
                }
                None => {}
            }
        }
        Ok(())
    }
}

fn len(value: &Value) -> Option<u64> {
    Some(value.as_array()?.len() as u64)
}

fn has_type(wanted: &Value, value: &Value) -> bool {
    if let Some(any) = wanted.as_array() {
        return any.iter().any(|wanted| has_type(wanted, value));
    }
    match wanted.as_str().unwrap() {
        "object" => value.is_object(),
        "array" => value.is_array(),
        "string" => value.is_string(),
        "number" => value.is_number(),
        "integer" => value.is_u64() || value.is_i64(),
        "boolean" => value.is_boolean(),
        "null" => value.is_null(),
        other => panic!("unknown type {other}"),
    }
}
