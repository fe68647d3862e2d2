//! The watermark that the window looks for, and the dialog that tests any text for it.

use super::{Effect, PaneId, Panes, Plot, ScoreDialog, Tint, ViewChoices, capitalize};
use crate::analysis::trend::Trend;
use crate::analysis::watermark::{WatermarkScan, first_mark, watermark_legend};
use crate::decoding::TokenId;
use crate::decoding::filters::{GreenList, SynthId};
use crate::decoding::selector::GumbelMark;
use crate::decoding::watermark::{LayerKeys, Watermark};
use crate::generation::{Generation, PieceKind, PromptForm, PromptText, PromptToken};
use crate::worker::Request;

/// The watermark to look for until the user or a chain specifies another.
const USUAL: Watermark = Watermark::GumbelMark(GumbelMark { key: 42, window: 4 });

/// What the user can do about watermarks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WatermarkCommand {
    /// Open the dialog with this pane's text, or with an empty one.
    Open(Option<PaneId>),
    /// The text or the settings in the dialog were changed.
    Edited,
    /// Close the dialog.
    Close,
}

/// The dialog that tests a text for a watermark.
#[derive(Debug, Clone, PartialEq)]
pub struct WatermarkDialog {
    pub text: String,
    /// The watermark to look for, here and in the panes.
    pub watermark: Watermark,
    /// The text as it was when it was last tokenized, and its tokens.
    tokenized: Option<(String, Result<Vec<PromptToken>, String>)>,
    scan: Option<WatermarkScan>,
}

impl WatermarkDialog {
    /// Returns the result, or `None` if there is no text or its tokens are not known yet.
    pub fn scan(&self) -> Option<&WatermarkScan> {
        self.scan.as_ref().filter(|_| !self.text.trim().is_empty())
    }

    /// Returns the tokens that were scanned.
    pub fn tokens(&self) -> &[PromptToken] {
        match &self.tokenized {
            Some((_, Ok(tokens))) => tokens,
            _ => &[],
        }
    }

    /// Returns why the text could not be tokenized, if that failed.
    pub fn error(&self) -> Option<String> {
        match &self.tokenized {
            Some((_, Err(error))) => Some(capitalize(error)),
            _ => None,
        }
    }

    fn scan_tokens(&mut self, n_vocab: usize) {
        let ids: Vec<TokenId> = self.tokens().iter().map(|token| token.id).collect();
        let n_vocab = n_vocab as u32;
        self.scan
            .get_or_insert_with(|| WatermarkScan::new(self.watermark, n_vocab))
            .follow(self.watermark, n_vocab, &ids);
    }
}

impl ViewChoices {
    /// Returns the watermark to look for: the chosen one, or else the first that a text on screen
    /// or a pane's settings leave.
    pub fn watermark_in(&self, panes: &Panes) -> Option<Watermark> {
        let of_texts = || first_mark(panes.texts().map(|text| &text.config.chain));
        let of_panes = || first_mark(panes.iter().map(|pane| &pane.settings.chain));
        self.watermark.or_else(of_texts).or_else(of_panes)
    }

    /// Returns whether the window shows where the watermark is.
    pub fn shows_watermark(&self) -> bool {
        let plot = Plot::Trend(Trend::Watermark);
        self.tint == Tint::Watermark || self.right_plot.0 == plot
    }

    /// Returns the labels of the steps of the current tint; a step that does not occur has an empty
    /// label.
    pub fn tint_legend(&self, panes: &Panes) -> [&'static str; 5] {
        match self.tint {
            Tint::Watermark => watermark_legend(self.watermark_in(panes).as_ref()),
            tint => tint.legend(),
        }
    }
}

impl WatermarkDialog {
    /// Opens, closes or updates the dialog. Returns the request for the tokens of its text.
    pub(super) fn apply(
        open: &mut Option<Self>,
        command: WatermarkCommand,
        panes: &Panes,
        view: &mut ViewChoices,
        n_vocab: Option<usize>,
    ) -> Option<Effect> {
        match command {
            WatermarkCommand::Open(pane) => {
                let pane = pane.and_then(|id| panes.pane(id));
                let text = pane.and_then(|pane| pane.generation().map(Generation::text));
                *open = Some(Self {
                    text: text.unwrap_or_default(),
                    watermark: view.watermark_in(panes).unwrap_or(USUAL),
                    tokenized: None,
                    scan: None,
                });
            }
            WatermarkCommand::Edited => {
                let dialog = open.as_mut()?;
                view.watermark = Some(dialog.watermark);
                if let Some(n_vocab) = n_vocab {
                    dialog.scan_tokens(n_vocab);
                }
            }
            WatermarkCommand::Close => *open = None,
        }
        n_vocab?;
        open.as_ref()?.tokenize()
    }

    /// Requests the tokens of the text, unless they are known.
    fn tokenize(&self) -> Option<Effect> {
        let tokenized = self.tokenized.as_ref();
        let is_known = tokenized.is_some_and(|(text, _)| *text == self.text);
        (!is_known && !self.text.trim().is_empty()).then(|| {
            Effect::Send(Request::Tokenize {
                prompt: PromptText::raw(&*self.text),
                model: None,
            })
        })
    }

    /// Scans the tokens of the text.
    pub(super) fn on_tokenized(
        &mut self,
        prompt: &PromptText,
        tokens: &Result<Vec<PromptToken>, String>,
        n_vocab: Option<usize>,
    ) {
        if prompt.form != PromptForm::Raw || prompt.text != self.text {
            return;
        }
        // The special tokens that begin a text were not generated.
        let tokens = tokens.clone().map(|tokens| {
            let is_special = |token: &PromptToken| token.piece.kind == PieceKind::Special;
            tokens.into_iter().skip_while(is_special).collect()
        });
        self.tokenized = Some((prompt.text.clone(), tokens));
        if let Some(n_vocab) = n_vocab {
            self.scan_tokens(n_vocab);
        }
    }
}

impl WatermarkDialog {
    /// Opens the dialog with a text of the user's own or, if that is empty, with the text of its pane.
    /// Returns the request for the tokens of the text.
    pub(super) fn open_on(
        open: &mut Option<Self>,
        own: ScoreDialog,
        panes: &Panes,
        view: &mut ViewChoices,
        n_vocab: Option<usize>,
    ) -> Option<Effect> {
        let of_pane = WatermarkCommand::Open(Some(own.pane));
        let request = Self::apply(open, of_pane, panes, view, n_vocab);
        if own.text.trim().is_empty() {
            return request;
        }
        let dialog = open.as_mut()?;
        dialog.text = own.text;
        n_vocab?;
        dialog.tokenize()
    }
}

/// The kinds of watermarks, with their default settings, in menu order.
pub const WATERMARKS: [Watermark; 3] = [
    USUAL,
    Watermark::GreenList(GreenList {
        bias: 2.0,
        ratio: 0.25,
        key: 42,
        window: 1,
    }),
    Watermark::SynthId(SynthId {
        window: 4,
        keys: LayerKeys::USUAL,
    }),
];

impl WatermarkDialog {
    /// Looks for another kind of watermark, with the same key if it has one.
    pub fn choose(&mut self, usual: Watermark) {
        let key = self.watermark.key();
        self.watermark = match usual {
            Watermark::GreenList(list) => Watermark::GreenList(GreenList { key, ..list }),
            Watermark::GumbelMark(mark) => Watermark::GumbelMark(GumbelMark { key, ..mark }),
            Watermark::SynthId(synth) => Watermark::SynthId(synth),
        };
    }
}

#[cfg(test)]
mod tests {
    use super::{WATERMARKS, WatermarkCommand};
    use crate::analysis::watermark::Verdict;
    use crate::decoding::selector::GumbelMark;
    use crate::decoding::watermark::Watermark;
    use crate::decoding::{ChainConfig, Selector, TokenId};
    use crate::generation::{Piece, PromptText, PromptToken};
    use crate::state::tests::{ready, written};
    use crate::state::{Command, Effect, Tint};
    use crate::worker::{Event, Request};

    const MARK: GumbelMark = GumbelMark { key: 9, window: 2 };

    #[test]
    fn the_watermark_looked_for_is_that_of_a_chain_until_one_is_chosen() {
        let mut state = ready();
        assert_eq!(state.view.watermark_in(&state.panes), None);
        state.panes[1].settings.chain = ChainConfig {
            selector: Selector::GumbelMark(MARK),
            ..ChainConfig::sampled([])
        };
        assert_eq!(
            state.view.watermark_in(&state.panes),
            Some(Watermark::GumbelMark(MARK))
        );
        state.apply(Command::Watermark(WatermarkCommand::Open(None)));
        let dialog = state.dialogs.watermark.as_mut().unwrap();
        assert_eq!(dialog.watermark, Watermark::GumbelMark(MARK));
        dialog.choose(WATERMARKS[1]);
        assert_eq!(dialog.watermark.key(), 9);
        state.apply(Command::Watermark(WatermarkCommand::Edited));
        assert!(
            matches!(state.view.watermark_in(&state.panes), Some(Watermark::GreenList(list)) if list.key == 9)
        );
    }

    #[test]
    fn the_text_in_the_dialog_is_scanned_once_its_tokens_arrive() {
        let mut state = ready();
        state.apply(Command::Watermark(WatermarkCommand::Open(None)));
        state.dialogs.watermark.as_mut().unwrap().text = "a a".to_owned();
        let effects = state.apply(Command::Watermark(WatermarkCommand::Edited));
        let [Effect::Send(Request::Tokenize { prompt, .. })] = &effects[..] else {
            panic!("{effects:?}");
        };
        let prompt: PromptText = prompt.clone();
        let token = |id, piece| PromptToken {
            id: TokenId(id),
            piece,
        };
        let tokens = vec![
            token(0, Piece::special("<s>")),
            token(1, Piece::text("a")),
            token(1, Piece::text(" a")),
        ];
        state.on_event(Event::Tokenized {
            prompt,
            model: None,
            tokens: Ok(tokens),
        });
        let dialog = state.dialogs.watermark.as_ref().unwrap();
        let scan = dialog.scan().unwrap();
        assert_eq!((scan.n_scored(), scan.verdict()), (2, Verdict::TooShort));
        assert_eq!(dialog.tokens().len(), 2);
        state.apply(Command::Watermark(WatermarkCommand::Close));
        assert_eq!(state.dialogs.watermark, None);
    }

    #[test]
    fn the_texts_are_scanned_while_the_tint_shows_it() {
        let mut state = written();
        state.view.watermark = Some(Watermark::GumbelMark(MARK));
        state.review(|| true);
        assert!(state.panes.iter().all(|pane| pane.watermark().is_none()));
        state.view.tint = Tint::Watermark;
        state.review(|| true);
        for pane in &state.panes {
            let n_steps = pane.generation().map(|text| text.steps.len());
            let n_scanned = pane.watermark().map(|scan| scan.marks().len());
            assert_eq!(n_scanned, n_steps);
        }
    }
}
