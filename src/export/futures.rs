//! Futures as a CSV table: one row per future, quoted according to RFC 4180.
//!
//! `future` counts from 1, and `seed` reproduces the text in a pane with these settings.

use super::csv::{as_text, push_row};
use crate::generation::{Future, FuturesPlan, PaneSettings, PieceKind, Vocabulary};

const COLUMNS: [&str; 8] = [
    "pane",
    "settings",
    "seed",
    "future",
    "tokens",
    "text",
    "finish",
    "grammar_complete",
];

/// The futures of one pane.
#[derive(Debug, Clone)]
pub struct PaneFutures<'a> {
    /// The pane's letter.
    pub pane: String,
    pub plan: &'a FuturesPlan,
    pub futures: &'a [Future],
    pub vocabulary: &'a Vocabulary,
}

/// Renders the table of these panes with its header row.
pub fn render_futures(panes: &[PaneFutures<'_>]) -> Vec<u8> {
    let mut table = String::new();
    push_row(&mut table, COLUMNS.map(str::to_owned));
    for pane in panes {
        let settings = PaneSettings::from(pane.plan.config.chain.clone()).to_string();
        for future in pane.futures {
            push_row(&mut table, row(pane, &settings, future));
        }
    }
    table.into_bytes()
}

fn row(pane: &PaneFutures<'_>, settings: &str, future: &Future) -> [String; 8] {
    let ids: Vec<String> = future.tokens.iter().map(ToString::to_string).collect();
    let pieces = future
        .tokens
        .iter()
        .map(|token| pane.vocabulary.piece(*token));
    let visible = pieces.filter(|piece| piece.kind == PieceKind::Text);
    let bytes: Vec<u8> = visible.flat_map(|piece| piece.bytes).collect();
    [
        pane.pane.clone(),
        settings.to_owned(),
        pane.plan.seed_of(future.index).to_string(),
        (future.index + 1).to_string(),
        ids.join(" "),
        as_text(&String::from_utf8_lossy(&bytes)),
        future.finish.to_string(),
        future
            .grammar_complete
            .map_or_else(String::new, |complete| complete.to_string()),
    ]
}

#[cfg(test)]
mod tests {
    use super::{PaneFutures, render_futures};
    use crate::decoding::{SelectorState, TokenId};
    use crate::generation::testing::generation;
    use crate::generation::{FinishReason, Future, FuturesPlan, PromptForm};

    #[test]
    fn every_future_is_a_row_with_the_seed_that_reproduces_it() {
        let text = generation(&[(" a", 0.5), (", \"fox\"", 0.5)]);
        let plan = FuturesPlan {
            text: text.prompt.tokens.clone(),
            n_prompt: 3,
            form: PromptForm::Raw,
            selector_state: SelectorState::NEW,
            config: text.config.clone(),
            n_futures: 2,
            n_tokens: 2,
            width: FuturesPlan::DEFAULT_WIDTH,
        };
        let future = |index, finish| Future {
            index,
            tokens: vec![TokenId(2), TokenId(8)],
            finish,
            grammar_complete: None,
        };
        let table = render_futures(&[PaneFutures {
            pane: "B".to_owned(),
            plan: &plan,
            futures: &[
                future(0, FinishReason::MaxTokens),
                future(1, FinishReason::EndOfText),
            ],
            vocabulary: &text.vocabulary,
        }]);
        let table = String::from_utf8(table).unwrap();
        let rows: Vec<&str> = table.split("\r\n").collect();
        assert_eq!(rows.len(), 4, "{table}");
        assert_eq!(
            rows[0],
            "pane,settings,seed,future,tokens,text,finish,grammar_complete"
        );
        assert!(rows[1].starts_with("B,"), "{table}");
        let end = ",42,1,2 8,\" a, \"\"fox\"\"\",Token limit,";
        assert!(rows[1].ends_with(end), "{table}");
        assert!(
            rows[2].contains(",43,2,2 8,") && rows[2].ends_with(",End of text,"),
            "{table}"
        );
    }
}
