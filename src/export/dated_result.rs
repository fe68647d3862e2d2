//! The dates of results of experiments: a column of their tables, and a field of their JSON.

use serde_json::Value;

use super::finish_date::finish_stamp;

/// Appends a column to a table with a header row: when the experiment finished, in seconds since 1970.
pub(crate) fn dated_table(table: &[u8], finished_at: u64) -> Vec<u8> {
    let stamp = finish_stamp(finished_at).unwrap_or_default();
    let mut dated = Vec::with_capacity(table.len());
    let (mut is_quoted, mut n_rows) = (false, 0);
    let mut bytes = table.iter().peekable();
    while let Some(byte) = bytes.next() {
        is_quoted ^= *byte == b'"';
        let ends_row = *byte == b'\r' && bytes.peek() == Some(&&b'\n') && !is_quoted;
        if ends_row {
            let field = if n_rows == 0 { "finished_at" } else { &stamp };
            dated.push(b',');
            dated.extend_from_slice(field.as_bytes());
            n_rows += 1;
        }
        dated.push(*byte);
    }
    dated
}

/// Adds a field to a JSON object: when the experiment finished, in seconds since 1970.
pub(crate) fn dated_json(json: Vec<u8>, finished_at: u64) -> Vec<u8> {
    let Ok(Value::Object(mut object)) = serde_json::from_slice(&json) else {
        return json;
    };
    object.insert("finished_at".to_owned(), finished_at.into());
    let mut dated = serde_json::to_vec_pretty(&object).unwrap_or(json);
    dated.push(b'\n');
    dated
}

#[cfg(test)]
mod tests {
    use super::{dated_json, dated_table};

    #[test]
    fn every_row_of_a_table_ends_with_the_date() {
        let table = "text,n\r\n\"a \"\"b\"\"\r\nc\",1\r\nd,2\r\n";
        let dated = String::from_utf8(dated_table(table.as_bytes(), 1_700_000_000)).unwrap();
        assert_eq!(
            dated,
            "text,n,finished_at\r\n\"a \"\"b\"\"\r\nc\",1,2023-11-14T22:13:20Z\r\nd,2,2023-11-14T22:13:20Z\r\n"
        );
    }

    #[test]
    fn an_object_gets_a_date_and_keeps_its_numbers() {
        let json = br#"{"a": [0.1, 4e-6, 7], "format": "quartet cache"}"#;
        let dated = dated_json(json.to_vec(), 7);
        let read: serde_json::Value = serde_json::from_slice(&dated).unwrap();
        let before: serde_json::Value = serde_json::from_slice(json).unwrap();
        assert_eq!(
            (&read["a"], &read["finished_at"]),
            (&before["a"], &7.into())
        );
    }
}
