//! The editor of a pane's chain: a popup beside the pane, never over it, so that one sees what one
//! changes.

use egui::{
    Align, Id, Layout, Popup, PopupAnchor, PopupCloseBehavior, Rect, RectAlign, Response,
    ScrollArea, SetOpenCommand, Ui,
};

use super::fonts::Face;
use super::icons::{Icon, icon_button};
use super::run_column::seed_field_ui;
use super::stage_row::{effect_words, stage_row_ui};
use super::stage_words::{COMMON, RARE, Usual, long_words};
use super::theme::Theme;
use super::widgets::{Button, Chip, Notice, NoticeKind, SMALL_BADGE, badge, letter};
use crate::decoding::{ChainConfig, Filter, Selector, Stage, Trace};
use crate::state::{AppState, Command, Pane, remark};

const WIDTH: f32 = 448.0;

/// What the editor's head, its foot and the window's edges take of the window's height.
const AROUND_STAGES: f32 = 280.0;

/// The list of stages is at least so high, and is scrolled where it needs more than there is.
const LEAST_STAGES: f32 = 120.0;

/// Opens and draws the editor of the pane at this place; `chip` is what opens it, `card` its pane.
pub(super) fn chain_editor_ui(
    chip: &Response,
    id: Id,
    card: Rect,
    (place, state): (usize, &mut AppState),
    commands: &mut Vec<Command>,
) {
    let ctx = chip.ctx.clone();
    let left_half = card.center().x < ctx.content_rect().center().x;
    let align = if left_half {
        RectAlign::RIGHT_START
    } else {
        RectAlign::LEFT_START
    };
    Popup::new(id, ctx, PopupAnchor::ParentRect(card), chip.layer_id)
        .open_memory(chip.clicked().then_some(SetOpenCommand::Toggle))
        .align(align)
        .align_alternatives(&[RectAlign::RIGHT_START, RectAlign::LEFT_START])
        .gap(8.0)
        .width(WIDTH)
        .close_behavior(PopupCloseBehavior::CloseOnClickOutside)
        .accessible_name(format!("How {} chooses", letter(place)))
        .show(|ui| {
            ui.set_width(WIDTH - 12.0);
            editor_ui(ui, place, state, commands);
        });
}

fn editor_ui(ui: &mut Ui, place: usize, state: &mut AppState, commands: &mut Vec<Command>) {
    let shared_seed = state.seed;
    let trace = trace_of(state, place).cloned();
    let n_candidates = state.model.ready().map(|model| model.info.n_vocab);
    let Some(pane) = state.panes.get_mut(place) else {
        return;
    };
    let mut chain = pane.settings.chain.clone();
    head_ui(ui, place, pane, commands);
    ui.spacing_mut().item_spacing.y = 0.0;
    if let Some(n) = n_candidates {
        model_row_ui(ui, n);
    }
    let most = (ui.content_rect().height() - AROUND_STAGES).max(LEAST_STAGES);
    let edited = ScrollArea::vertical()
        .id_salt("stages")
        .max_height(most)
        .show(ui, |ui| {
            stages_ui(ui, &mut chain, trace.as_ref()) | add_ui(ui, &mut chain)
        })
        .inner;
    ui.add_space(6.0);
    ui.separator();
    ui.add_space(6.0);
    ui.spacing_mut().item_spacing.y = 6.0;
    let drawn = draw_ui(ui, &mut chain.selector);
    if chain.selector == Selector::Multinomial {
        own_seed_ui(ui, &mut pane.settings.seed, shared_seed);
    }
    if let Some(words) = remark(&chain) {
        Notice::new(NoticeKind::Note, &words).show(ui);
    }
    if edited || drawn {
        commands.push(Command::SetChain(pane.id, chain));
    }
}

/// The evidence of the step that is shown, where it was made by the chain as it is set now.
fn trace_of(state: &AppState, place: usize) -> Option<&Trace> {
    let pane = state.panes.get(place)?;
    let generation = pane.generation()?;
    let pinned = state.pin.filter(|pin| pin.pane == pane.id);
    let step = pinned.map_or(generation.steps.len().checked_sub(1)?, |pin| pin.step);
    let same = generation.config.chain == pane.settings.chain;
    generation
        .steps
        .get(step)
        .filter(|_| same)
        .map(|step| &step.trace)
}

fn head_ui(ui: &mut Ui, place: usize, pane: &Pane, commands: &mut Vec<Command>) {
    ui.horizontal(|ui| {
        ui.set_min_height(36.0);
        ui.add_space(4.0);
        badge(ui, place, SMALL_BADGE + 4.0);
        let title = format!("How {} chooses", letter(place));
        ui.label(Face::Strong.text(title).color(Theme::of(ui).text_1));
        ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
            if icon_button(ui, Icon::Close, "Close the editor").clicked() {
                ui.close();
            }
            if ui.add(Button::new("Reset").quiet()).clicked() {
                commands.push(Command::ResetSettings(pane.id));
            }
        });
    });
}

fn model_row_ui(ui: &mut Ui, n_candidates: usize) {
    let theme = Theme::of(ui);
    ui.horizontal(|ui| {
        ui.set_min_height(24.0);
        ui.add_space(10.0);
        ui.label(Face::Small.text("Model").color(theme.text_3));
        ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
            ui.add_space(10.0);
            let words = format!("{} candidates", super::words::grouped(n_candidates as f64));
            ui.label(Face::Small.text(words).color(theme.text_3));
        });
    });
}

/// The stages from first to last; says whether one was changed.
fn stages_ui(ui: &mut Ui, chain: &mut ChainConfig, trace: Option<&Trace>) -> bool {
    let mut edited = false;
    let mut removed = None;
    let mut n_enabled = 0;
    for (index, stage) in chain.stages.iter_mut().enumerate() {
        let effect = trace
            .filter(|_| stage.enabled)
            .and_then(|trace| effect_words(trace, n_enabled));
        n_enabled += usize::from(stage.enabled);
        let change = ui
            .push_id(index, |ui| stage_row_ui(ui, stage, effect.as_deref()))
            .inner;
        edited |= change.edited;
        if change.removed {
            removed = Some(index);
        }
    }
    if let Some(index) = removed {
        chain.stages.remove(index);
    }
    edited || removed.is_some()
}

/// A chip for each kind of stage that the chain lacks; says whether one was added.
fn add_ui(ui: &mut Ui, chain: &mut ChainConfig) -> bool {
    let more_id = ui.scope_id().with("more stages");
    let mut more = ui.data(|data| data.get_temp(more_id).unwrap_or(false));
    let mut added = None;
    let inside = egui::Margin {
        left: 10,
        right: 4,
        top: 6,
        bottom: 0,
    };
    egui::Frame::new().inner_margin(inside).show(ui, |ui| {
        ui.horizontal_wrapped(|ui| {
            ui.spacing_mut().interact_size.y = 24.0;
            ui.spacing_mut().item_spacing = egui::vec2(6.0, 6.0);
            ui.label(Face::Small.text("Add").color(Theme::of(ui).text_3));
            let offered = COMMON.iter().chain(RARE.iter().filter(|_| more));
            for filter in lacking(chain, offered) {
                if add_chip_ui(ui, &filter) {
                    added = Some(filter);
                }
            }
            let (words, name) = if more {
                ("Less", "Offer fewer stages")
            } else {
                ("More…", "Offer more stages")
            };
            if ui.add(Chip::new(words).name(name).quiet()).clicked() {
                more = !more;
            }
        });
    });
    ui.data_mut(|data| data.insert_temp(more_id, more));
    let Some(filter) = added else {
        return false;
    };
    let at = place_for(chain, &filter);
    chain.stages.insert(at, Stage::from(filter));
    true
}

fn add_chip_ui(ui: &mut Ui, filter: &Filter) -> bool {
    let name = format!("Add {}", filter.name());
    let response = ui.add(Chip::new(filter.name()).name(&name));
    response.on_hover_text(long_words(filter)).clicked()
}

fn lacking<'a>(
    chain: &'a ChainConfig,
    offered: impl Iterator<Item = &'a Usual>,
) -> impl Iterator<Item = Filter> {
    let has = |filter: &Filter| {
        let mut stages = chain.stages.iter();
        stages.any(|stage| same_kind(&stage.filter, filter))
    };
    offered
        .map(|usual| usual())
        .filter(move |filter| !has(filter))
}

fn same_kind(one: &Filter, other: &Filter) -> bool {
    std::mem::discriminant(one) == std::mem::discriminant(other)
}

/// Before the first stage that usually stands after this one; otherwise at the end.
fn place_for(chain: &ChainConfig, filter: &Filter) -> usize {
    chain
        .stages
        .iter()
        .position(|stage| rank(&stage.filter) > rank(filter))
        .unwrap_or(chain.stages.len())
}

/// What looks back stands before what bends the scores, and that before what cuts.
fn rank(filter: &Filter) -> (u8, Option<usize>) {
    let place = COMMON.iter().position(|usual| same_kind(&usual(), filter));
    let group = match filter {
        Filter::LogitBias(_)
        | Filter::RepetitionPenalty(_)
        | Filter::FrequencyPenalty(_)
        | Filter::PresencePenalty(_)
        | Filter::NoRepeatNgram(_)
        | Filter::Dry(_) => 0,
        filter if !filter.cuts() => 1,
        _ => 2,
    };
    (group, place.or(Some(usize::MAX)))
}

/// What picks the token in the end; says whether that was changed.
fn draw_ui(ui: &mut Ui, selector: &mut Selector) -> bool {
    let before = *selector;
    let choices = [
        (
            Selector::Multinomial,
            "By coin",
            "A coin from the seed falls on one of the tokens that are left, each as often as its \
             probability says.",
        ),
        (
            Selector::Greedy,
            "Top token",
            "Takes the most likely of the tokens that are left. The same as temperature 0: no coin, \
             the same text every time.",
        ),
    ];
    ui.horizontal(|ui| {
        ui.add_space(10.0);
        ui.label(Face::Small.text("Draw").color(Theme::of(ui).text_3));
        ui.add_space(20.0);
        ui.spacing_mut().item_spacing.x = 4.0;
        for (choice, words, why) in choices {
            let chip = Chip::new(words).open(choice == *selector);
            let response = ui.add(chip).on_hover_text(why);
            if response.clicked() {
                *selector = choice;
            }
        }
    });
    *selector != before
}

fn own_seed_ui(ui: &mut Ui, own: &mut Option<u64>, shared: u64) {
    ui.horizontal(|ui| {
        ui.add_space(10.0);
        ui.label(Face::Small.text("Seed").color(Theme::of(ui).text_3));
        ui.add_space(20.0);
        ui.spacing_mut().item_spacing.x = 4.0;
        let words = format!("{shared}, shared");
        let chip = Chip::new(&words).name("Shared seed").open(own.is_none());
        if ui.add(chip).clicked() {
            *own = None;
        }
        let chip = Chip::new("Its own").name("Own seed").open(own.is_some());
        if ui.add(chip).clicked() {
            *own = own.or(Some(shared));
        }
        if let Some(seed) = own {
            seed_field_ui(ui, "Seed of this pane", seed);
        }
    });
}

#[cfg(test)]
mod tests {
    use super::{COMMON, place_for};
    use crate::decoding::ChainConfig;

    #[test]
    fn a_stage_is_added_where_it_usually_stands() {
        let [repetition, _, presence, temperature, top_k, top_p, min_p] =
            COMMON.map(|usual| usual());
        let chain = ChainConfig::sampled([presence, temperature, top_p]);
        for (filter, place) in [(repetition, 0), (top_k, 2), (min_p, 3)] {
            assert_eq!(place_for(&chain, &filter), place, "{filter}");
        }
    }
}
