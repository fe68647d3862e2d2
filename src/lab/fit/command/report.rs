//! Formats a fit as text.

use crate::analysis::sweep::Axis;
use crate::cli::text_table::aligned;
use crate::lab::fit::FitRecord;

/// Returns the best settings with their intervals, when the texts become impossible, and a table
/// of the likelihood over one number, or of the best second number for each first one.
pub(super) fn report(record: &FitRecord<'_>) -> String {
    let (fit, vocabulary) = (record.fit, record.vocabulary);
    let mut lines: Vec<String> = fit.best_sentence(vocabulary).into_iter().collect();
    lines.extend(fit.interval_sentences());
    lines.extend(fit.base_sentence(vocabulary));
    let limits = fit.limits();
    if !limits.is_empty() {
        lines.push(String::new());
    }
    for limit in &limits {
        let (row, words) = fit.limit_words(limit, vocabulary);
        lines.push(if row.is_empty() {
            words
        } else {
            format!("{row}: {words}")
        });
    }
    lines.push(String::new());
    lines.extend(table(record));
    lines.push(String::new());
    lines.extend(fit.left_out_sentences());
    if fit.best().is_some() {
        lines.push(fit.interval_note());
    }
    lines.push(fit.scope_sentence().to_owned());
    lines.join("\n") + "\n"
}

/// Returns a line for each value of the first number, with the most likely second number if there
/// are two.
fn table(record: &FitRecord<'_>) -> Vec<String> {
    let (fit, setup) = (record.fit, &record.fit.setup);
    let mut rows = vec![vec![
        setup.rows.parameter.key(),
        "bits per token".to_owned(),
    ]];
    if let (Some(columns), Some(head)) = (&setup.columns, rows.first_mut()) {
        head.insert(1, format!("best {}", columns.parameter.key()));
    }
    let columns = setup.columns.as_ref().map(Axis::labels);
    for (row, label) in setup.rows.labels().into_iter().enumerate() {
        let n_columns = setup.n_columns();
        let cells = (row * n_columns..(row + 1) * n_columns).filter_map(|cell| {
            let likelihood = fit.cell(cell)?;
            Some((cell, likelihood))
        });
        let best = cells.max_by(|(_, a), (_, b)| a.ln_prob.total_cmp(&b.ln_prob));
        let Some((cell, likelihood)) = best else {
            continue;
        };
        let figure = match (likelihood.ruled_out, fit.bits_per_token(likelihood)) {
            (None, Some(bits)) => format!("{bits:.3}"),
            (Some(place), _) => {
                let place = fit.place_words(place, record.vocabulary);
                format!("can’t generate {place}")
            }
            (None, None) => "–".to_owned(),
        };
        let mut line = vec![label];
        if let Some(columns) = &columns {
            let column = columns.get(cell % n_columns);
            let column = column.filter(|_| likelihood.ruled_out.is_none());
            line.push(column.map_or_else(|| "–".to_owned(), Clone::clone));
        }
        line.push(figure);
        rows.push(line);
    }
    aligned(&rows)
}
