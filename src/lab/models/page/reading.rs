//! What a comparison found: the models, their figures, the tokens that differ most, and the
//! selected one.

use egui::{Label, ScrollArea, Ui};

use crate::design::fonts::Face;
use crate::design::theme::Theme;
use crate::design::widgets::menu_item;
use crate::generation::formatting::{ordinal, percent, quoted};
use crate::lab::models::figures::nats;
use crate::lab::models::{ComparedModels, ModelsRun, PredictedToken};
use crate::state::{RunStatus, capitalize};

/// How many tokens with the largest divergences are listed.
const N_LARGEST: usize = 6;

/// Draws the column.
pub(super) fn reading_ui(
    ui: &mut Ui,
    run: &ModelsRun,
    compared: &ComparedModels,
    selected: &mut Option<usize>,
) {
    let theme = Theme::of(ui);
    ScrollArea::vertical().auto_shrink(false).show(ui, |ui| {
        // Keep the text clear of the scroll bar.
        ui.set_max_width(ui.available_width() - 12.0);
        ui.spacing_mut().item_spacing.y = 8.0;
        if let RunStatus::Failed { error } = &run.status {
            let words = Face::Small.text(capitalize(error)).color(theme.error);
            ui.add(Label::new(words).wrap());
        }
        if let Some(selected) = *selected {
            token_ui(ui, run, compared, selected);
            ui.separator();
        }
        let names = compared.names();
        for name in &names {
            ui.add(Label::new(Face::SmallMedium.text(name).color(theme.text_1)).wrap());
        }
        let found = compared.sentences().join(" ");
        ui.add(Label::new(Face::Why.text(found).color(theme.text_1)).wrap());
        for sentence in compared.choice_sentences(run.vocabulary()) {
            ui.add(Label::new(Face::Small.text(sentence).color(theme.text_2)).wrap());
        }
        for row in compared.figures().iter().skip(1) {
            if let [a, b, name] = row.as_slice() {
                let words = format!("{}: {a} for A, {b} for B", capitalize(name));
                ui.add(Label::new(Face::Small.text(words).color(theme.text_2)).wrap());
            }
        }
        if compared.divergences().is_some_and(|all| all.largest > 0.0) {
            ui.separator();
            let heading = Face::SmallMedium.text("The largest divergences");
            ui.label(heading.color(theme.text_1));
            ui.spacing_mut().item_spacing.y = 0.0;
            for index in compared.by_divergence().into_iter().take(N_LARGEST) {
                let token = compared.predicted[0].get(index);
                let (Some(token), Some(gap)) = (token, compared.gaps.get(index)) else {
                    continue;
                };
                let words = format!("{} {}", index + 1, quoted(&token.piece));
                let is_selected = *selected == Some(index);
                let hint = format!("{} nats", nats(gap.kl));
                if menu_item(ui, &words, &hint, is_selected).clicked() {
                    *selected = Some(index);
                }
            }
        }
    });
}

/// Describes the selected token.
fn token_ui(ui: &mut Ui, run: &ModelsRun, compared: &ComparedModels, index: usize) {
    let theme = Theme::of(ui);
    let [a, b] = [0, 1].map(|model: usize| {
        let tokens = compared.predicted.get(model);
        tokens.and_then(|tokens| tokens.get(index))
    });
    let (Some(a), Some(b), Some(gap)) = (a, b, compared.gaps.get(index)) else {
        return;
    };
    let heading = format!("Token {} {}", index + 1, quoted(&a.piece));
    ui.label(Face::SmallMedium.text(heading).color(theme.text_1));
    let of = |name: &str, token: &PredictedToken| {
        let rank = match token.rank {
            1 => "first".to_owned(),
            rank => ordinal(rank),
        };
        let prob = percent(token.ln_prob.exp());
        let top = quoted(&token.top_piece);
        match token.rank {
            1 => format!("{name} ranks it first, at {prob}."),
            _ => format!("{name} ranks it {rank}, at {prob}, behind {top}."),
        }
    };
    let noise = if compared.is_close(index) {
        "below"
    } else {
        "above"
    };
    let mut words = vec![
        of("A", a),
        of("B", b),
        format!(
            "KL divergence {} nats. A’s first choice is {} nats ahead of its second, {noise} the \
             noise of {}.",
            nats(gap.kl),
            nats(a.margin),
            nats(gap.noise)
        ),
    ];
    for (settings, [own, other]) in compared.settings.iter().zip(&gap.choices) {
        if own != other {
            let piece = |token| quoted(&run.vocabulary().piece(token));
            let (own, other) = (piece(*own), piece(*other));
            words.push(format!(
                "Under {settings}, B picks {other} instead of {own}."
            ));
        }
    }
    let words = Face::Small.text(words.join(" ")).color(theme.text_1);
    ui.add(Label::new(words).wrap());
}
