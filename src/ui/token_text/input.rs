//! What a text is drawn from, and how the user interacted with it.

use egui::Color32;

use super::{CardChoice, EditEnd, TextTop};
use crate::analysis::TextLoop;
use crate::analysis::token_kinds::TokenKind;
use crate::analysis::watermark::WatermarkScan;
use crate::generation::Generation;
use crate::state::{PaneKinds, Tint, WhatIfs};

/// The text to show and how to show it. Steps are indices.
#[derive(Debug, Clone, Copy)]
pub struct TokenTextInput<'a> {
    pub generation: &'a Generation,
    /// What the fill behind a token shows.
    pub tint: Tint,
    /// What the tokens say about a watermark, for the tint that shows it.
    pub watermark: Option<&'a WatermarkScan>,
    /// The step pinned in this pane.
    pub pinned: Option<usize>,
    /// The step pinned in another pane, or hovered in a plot.
    pub same_step: Option<usize>,
    /// The first step at which the panes diverge.
    pub fork_step: Option<usize>,
    /// The first step that breaks a grammar.
    pub breaks_at: Option<usize>,
    /// The first step that would break the grammar of another text, if that is marked.
    pub breaks_other_at: Option<usize>,
    /// The step at which the record contradicts itself.
    pub contradicts_at: Option<usize>,
    /// The first step that is not tinted, because it comes after a contradiction.
    pub unjudged_from: Option<usize>,
    /// How many steps from the first are dimmed.
    pub n_dimmed: usize,
    /// The text’s loop, which is underlined.
    pub looping: Option<&'a TextLoop>,
    /// What the current settings would have changed.
    pub what_ifs: Option<&'a WhatIfs>,
    /// The kind of token to underline.
    pub kind: Option<KindMarks<'a>>,
    /// Whether all whitespace has visible marks.
    pub show_marks: bool,
    /// Whether a token shows its card when it is pointed at.
    pub has_cards: bool,
    /// Whether the text can be continued with another token.
    pub can_branch: bool,
    pub end: TextEnd,
    /// The color of the cursor at the end of the text.
    pub pane_color: Color32,
}

/// The tokens of a text that are of a kind.
#[derive(Debug, Clone, Copy)]
pub struct KindMarks<'a> {
    pub kinds: &'a PaneKinds,
    pub kind: TokenKind,
}

impl KindMarks<'_> {
    /// Returns whether a step is of the kind.
    pub(super) fn contains(self, step: usize) -> bool {
        self.kinds.contains(step, Some(self.kind))
    }
}

/// What follows the last token.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum TextEnd {
    /// Nothing.
    #[default]
    Plain,
    /// A cursor; the text is being generated.
    Writing,
    /// A cursor; the text waits for its next step.
    Paused,
    /// A slot with a question mark: the user decides about the next token.
    Slot,
}

/// How the user interacted with the text. Steps are indices.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct TokenTextResponse {
    pub hovered: Option<usize>,
    pub clicked: Option<usize>,
    /// The token that was clicked with the secondary button.
    pub secondary_clicked: Option<usize>,
    /// The token that was clicked twice.
    pub double_clicked: Option<usize>,
    /// What was chosen on a card, to continue with it.
    pub chosen: Option<CardChoice>,
    /// How editing in place ended.
    pub edited: Option<EditEnd>,
    /// Whether Enter was pressed while the text has keyboard focus.
    pub entered: bool,
    /// What is at the top, if the user scrolled there.
    pub scrolled: Option<TextTop>,
    /// Whether the text has keyboard focus, so that arrow keys move the pin.
    pub focused: bool,
}
