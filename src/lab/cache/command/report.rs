//! Formats a measurement of the KV cache as text.

use crate::cli::text_table::aligned;
use crate::generation::CacheShape;
use crate::lab::cache::figures::{CacheLab, CacheTable};

/// Returns the findings, the memory formula, and every table.
pub(super) fn report(lab: &CacheLab) -> String {
    let mut lines = lab.sentences();
    lines.extend(lab.agreement_words());
    lines.push(String::new());
    if let Some(shape) = &lab.facts.shape {
        lines.push(format!("Bytes for one token: {}", CacheShape::FORMULA));
        lines.push(format!("  {}", shape.filled_in()));
        lines.push(shape.words());
    }
    lines.extend(lab.memory_words());
    lines.extend(lab.read_words());
    for CacheTable { title, head, rows } in lab.tables() {
        lines.push(String::new());
        lines.push(title);
        let all: Vec<Vec<String>> = std::iter::once(head).chain(rows).collect();
        lines.extend(aligned(&all));
    }
    lines.join("\n") + "\n"
}
