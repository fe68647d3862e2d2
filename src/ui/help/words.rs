//! The glossary: each word with its sentence and its formula.

use egui::{Label, Ui};

use crate::design::fonts::Face;
use crate::design::theme::Theme;
use crate::glossary::TERMS;

/// Draws all words, one below the other.
pub(super) fn words_ui(ui: &mut Ui) {
    let theme = Theme::of(ui);
    for term in TERMS {
        ui.label(Face::Strong.text(term.name).color(theme.text_1));
        let sentence = Face::Why.text(term.sentence).color(theme.text_2);
        ui.add(Label::new(sentence).wrap());
        if let Some(formula) = term.formula {
            let formula = Face::Code.text(formula).color(theme.text_2);
            ui.add(Label::new(formula).wrap());
        }
        ui.add_space(10.0);
    }
}
