//! The tokens of a logit bias: found by text or id, then biased or banned.

use egui::{Align, Id, Layout, TextEdit, Ui, vec2};

use super::number_line::{INDENT, finite_f32};
use super::token_words::exact_word;
use crate::decoding::TokenId;
use crate::decoding::filters::{LogitBias, TokenBias};
use crate::design::fonts::Face;
use crate::design::icons::{Icon, icon_button};
use crate::design::theme::Theme;
use crate::design::widgets::{Chip, Number, field_frame};
use crate::generation::{Vocabulary, unescape};
use crate::ui::keys;

/// The maximum number of tokens offered while typing.
const MAX_FOUND: usize = 6;

const BIAS_TIP: &str = "Added to the token’s logit: 1 multiplies its odds by 2.7, -1 divides them \
                        by 2.7. 0 has no effect; -5 to 5 is usual.";
const BAN_TIP: &str = "The token is never sampled, whatever its logit. Usually used for a \
                       few tokens that must not appear.";

/// What to do with a token.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Act {
    Bias,
    Ban,
    Remove,
}

/// Draws the list of tokens. Returns whether it was changed.
pub(super) fn bias_ui(
    ui: &mut Ui,
    id: Id,
    filter: &mut LogitBias,
    vocabulary: Option<&Vocabulary>,
) -> bool {
    let mut changed = false;
    let mut acts = Vec::new();
    for entry in &mut filter.biases {
        let act = token_line_ui(ui, entry.token, vocabulary, |ui| {
            changed |= biased_ui(ui, entry.token, &mut entry.bias);
            let label = format!("Ban token {}", entry.token);
            let chip = Chip::new("Ban").name(&label).quiet();
            ui.add(chip)
                .on_hover_text(BAN_TIP)
                .clicked()
                .then_some(Act::Ban)
        });
        acts.extend(act.map(|act| (entry.token, act)));
    }
    for token in &filter.banned {
        let act = token_line_ui(ui, *token, vocabulary, |ui| {
            let label = format!("Allow token {token}");
            let chip = Chip::new("Banned").name(&label).open(true);
            ui.add(chip)
                .on_hover_text(BAN_TIP)
                .clicked()
                .then_some(Act::Bias)
        });
        acts.extend(act.map(|act| (*token, act)));
    }
    acts.extend(search_ui(ui, id, vocabulary));
    for (token, act) in acts {
        apply_act(filter, token, act);
        changed = true;
    }
    changed
}

fn apply_act(filter: &mut LogitBias, token: TokenId, act: Act) {
    let is_biased = filter.biases.iter().any(|entry| entry.token == token);
    match act {
        Act::Bias => {
            filter.banned.retain(|other| *other != token);
            if !is_biased {
                filter.biases.push(TokenBias { token, bias: 0.0 });
            }
        }
        Act::Ban => {
            filter.biases.retain(|entry| entry.token != token);
            if !filter.banned.contains(&token) {
                filter.banned.push(token);
            }
        }
        Act::Remove => {
            filter.biases.retain(|entry| entry.token != token);
            filter.banned.retain(|other| *other != token);
        }
    }
}

/// Draws a token of the list: its text and id, its controls, and a button that removes it.
fn token_line_ui(
    ui: &mut Ui,
    token: TokenId,
    vocabulary: Option<&Vocabulary>,
    controls: impl FnOnce(&mut Ui) -> Option<Act>,
) -> Option<Act> {
    line_ui(ui, token, vocabulary, |ui| {
        let remove = format!("Remove token {token}");
        let removed = icon_button(ui, Icon::Close, &remove).clicked();
        let act = controls(ui);
        if removed { Some(Act::Remove) } else { act }
    })
}

fn line_ui<R>(
    ui: &mut Ui,
    token: TokenId,
    vocabulary: Option<&Vocabulary>,
    controls: impl FnOnce(&mut Ui) -> R,
) -> R {
    let theme = Theme::of(ui);
    ui.horizontal(|ui| {
        ui.set_min_height(30.0);
        ui.add_space(INDENT);
        let piece = Face::Code
            .text(exact_word(token, vocabulary))
            .color(theme.text_1);
        ui.scope(|ui| {
            ui.set_max_width(150.0);
            ui.add(egui::Label::new(piece).truncate());
        });
        let known = vocabulary.is_some();
        if known {
            let words = Face::Micro.text(token.to_string()).color(theme.text_3);
            ui.label(words);
        }
        ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
            ui.spacing_mut().item_spacing.x = 4.0;
            ui.add_space(4.0);
            controls(ui)
        })
        .inner
    })
    .inner
}

fn biased_ui(ui: &mut Ui, token: TokenId, bias: &mut f32) -> bool {
    let name = format!("Bias of token {token}");
    let mut value = f64::from(*bias);
    let number = Number::new(&name, -10.0..=10.0, 2);
    let response = number.field_ui(ui, &mut value).on_hover_text(BIAS_TIP);
    let typed = finite_f32(value).filter(|_| response.changed());
    if let Some(typed) = typed {
        *bias = typed;
    }
    typed.is_some()
}

/// The text of the search field, and the tokens found for it.
#[derive(Debug, Clone, Default)]
struct Search {
    typed: String,
    found: Vec<TokenId>,
}

/// Draws the search field and the tokens found.
fn search_ui(ui: &mut Ui, id: Id, vocabulary: Option<&Vocabulary>) -> Option<(TokenId, Act)> {
    let mut search: Search = ui.data(|data| data.get_temp(id).unwrap_or_default());
    let mut entered = false;
    ui.horizontal(|ui| {
        ui.add_space(INDENT);
        let hint = match vocabulary {
            Some(_) => "Find a token by its text or id",
            None => "Open a model to find its tokens",
        };
        let edit = TextEdit::singleline(&mut search.typed)
            .font(Face::Body.font())
            .hint_text(hint)
            .frame(field_frame(ui))
            .desired_width(ui.available_width() - 20.0);
        let response = ui.add_enabled(vocabulary.is_some(), edit);
        entered = keys::entered(ui, &response);
        if response.changed()
            && let Some(vocabulary) = vocabulary
        {
            search.found = vocabulary.find(&unescape(&search.typed), MAX_FOUND);
        }
        response.accessible_name("Find a token");
    });
    let mut act = None;
    for token in search.found.clone() {
        act = act.or(line_ui(ui, token, vocabulary, |ui| found_ui(ui, token)));
    }
    if search.found.is_empty() && !search.typed.is_empty() && vocabulary.is_some() {
        ui.horizontal(|ui| {
            ui.add_space(INDENT);
            let words = Face::Small.text("No token of this model matches");
            ui.label(words.color(Theme::of(ui).text_3));
        });
    }
    ui.allocate_space(vec2(0.0, 6.0));
    if entered && act.is_none() {
        act = search.found.first().map(|token| (*token, Act::Bias));
    }
    if act.is_some() {
        search = Search::default();
    }
    ui.data_mut(|data| data.insert_temp(id, search));
    act
}

fn found_ui(ui: &mut Ui, token: TokenId) -> Option<(TokenId, Act)> {
    let ban = format!("Add token {token} as banned");
    let banned = ui.add(Chip::new("Ban").name(&ban)).on_hover_text(BAN_TIP);
    let bias = format!("Add token {token} with a bias");
    let biased = ui
        .add(Chip::new("Bias").name(&bias))
        .on_hover_text(BIAS_TIP);
    let act = match (banned.clicked(), biased.clicked()) {
        (true, _) => Act::Ban,
        (_, true) => Act::Bias,
        _ => return None,
    };
    Some((token, act))
}

#[cfg(test)]
mod tests {
    use super::{Act, apply_act};
    use crate::decoding::TokenId;
    use crate::decoding::filters::LogitBias;

    #[test]
    fn a_token_is_biased_or_banned_and_never_both() {
        let mut filter = LogitBias::default();
        let token = TokenId(7);
        for (act, n_biased, n_banned) in [
            (Act::Bias, 1, 0),
            (Act::Bias, 1, 0),
            (Act::Ban, 0, 1),
            (Act::Ban, 0, 1),
            (Act::Bias, 1, 0),
            (Act::Remove, 0, 0),
            (Act::Ban, 0, 1),
            (Act::Remove, 0, 0),
        ] {
            apply_act(&mut filter, token, act);
            assert_eq!(
                (filter.biases.len(), filter.banned.len()),
                (n_biased, n_banned)
            );
        }
    }
}
