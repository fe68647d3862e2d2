//! Every export marks the tokens that the user picked.

use std::sync::Arc;

use super::{ExportFormat, render};
use crate::decoding::Picked;
use crate::generation::testing::generation;
use crate::generation::{EarlierSettings, Generation};

/// A text whose second and third token were picked by hand.
fn picked() -> Generation {
    let mut text = generation(&[(" a", 0.5), (" fox", 0.25), ("\n", 0.25)]);
    for step in text.steps.iter_mut().skip(1) {
        let draw = &mut Arc::make_mut(&mut step.trace).draw;
        (draw.picked, draw.coin) = (Picked::ByHand, None);
    }
    text
}

fn exported(format: ExportFormat, text: &Generation) -> String {
    String::from_utf8(render(format, &[text])).unwrap()
}

#[test]
fn texts_name_the_tokens_picked_by_hand() {
    let words = "Picked by hand: ‘fox’ (token 2), ‘\\n’ (token 3)";
    let page = exported(ExportFormat::Text, &picked());
    assert!(page.ends_with(&format!("\n\n{words}\n")), "{page}");
    let page = exported(ExportFormat::Markdown, &picked());
    // A backslash is escaped in Markdown.
    assert!(page.contains(&words.replace('\\', "\\\\")), "{page}");
    for format in [ExportFormat::Text, ExportFormat::Markdown] {
        let page = exported(format, &generation(&[(" a", 0.5)]));
        assert!(!page.contains("by hand"), "{page}");
    }
}

#[test]
fn tables_and_pages_mark_each_token_picked_by_hand() {
    let table = exported(ExportFormat::Csv, &picked());
    assert_eq!(table.matches(",by_hand").count(), 2, "{table}");
    assert_eq!(table.matches(",by_chain").count(), 1, "{table}");
    let rows = exported(ExportFormat::JsonLines, &picked());
    assert_eq!(rows.matches(r#""picked":"by_hand""#).count(), 2, "{rows}");
    let page = exported(ExportFormat::Html, &picked());
    assert!(page.contains(r#" n" title="#), "the text marks them");
    assert!(page.contains(r#""by_hand""#), "their cards name them");
}

#[test]
fn a_run_file_keeps_who_picked_each_token() {
    let file = render(ExportFormat::Json, &[&picked()]);
    let read = super::json::parse(&file).unwrap();
    let picks: Vec<Picked> = read[0]
        .steps
        .iter()
        .map(|step| step.trace.draw.picked)
        .collect();
    assert_eq!(picks, [Picked::ByChain, Picked::ByHand, Picked::ByHand]);
}

#[test]
fn pages_say_which_settings_wrote_the_first_tokens_and_where_a_file_contradicts_itself() {
    let mut text = picked();
    // The prompt is what its tokens say.
    let prompt = Arc::make_mut(&mut text.prompt);
    let pieces = prompt
        .tokens
        .iter()
        .map(|token| text.vocabulary.piece(*token));
    prompt.pieces = pieces.collect();
    prompt.text = text.vocabulary.visible_text(&prompt.tokens);
    text.config.limits.max_new_tokens = text.steps.len();
    let mut config = text.config.clone();
    config.seed = 7;
    text.earlier = vec![EarlierSettings { n_steps: 2, config }];
    text.contradiction = Some("pane A, token 1: its rank is 3, its probabilities say 2".into());
    for format in [
        ExportFormat::Text,
        ExportFormat::Markdown,
        ExportFormat::Html,
    ] {
        let page = exported(format, &text);
        for words in [
            "Tokens 1 to 2 were written under T 0.7, seed 7",
            "The file of this run contradicts itself: pane A, token 1: its rank is 3,",
        ] {
            assert!(page.contains(words), "{page}");
        }
    }
    let file = render(ExportFormat::Json, &[&text]);
    let read = super::read_marked(&file).unwrap();
    assert_eq!(read.panes[0].earlier, text.earlier);
    let words = super::contradiction_words(&read.panes[0]).unwrap();
    let start = "The file of this run contradicts itself: pane A, token 1: ";
    assert!(words.starts_with(start), "{words}");
}
