//! The bar between the prompt and the panes: where the panes diverge, and the token tint.

use egui::{Align, Layout, Popup, Rect, Role, Sense, Ui, Vec2, WidgetInfo, vec2};

use super::explained::explained;
use super::layout::Breakpoint;
use super::lessons::ring_ui;
use super::order_menu::sentences_ui;
use crate::design::fonts::Face;
use crate::design::icons::{Icon, icon_button};
use crate::design::theme::Theme;
use crate::design::widgets::{
    Button, Chip, SMALL_BADGE, focus_ring, legend, menu_item, paint_badge, small_legend,
};
use crate::generation::formatting::pane_letter;
use crate::lessons::Ring;
use crate::state::{
    AppState, Command, DivergenceSummary, MAX_PANES, PaneId, Tint, WatermarkCommand,
    divergence_reasons,
};

/// What the bar shows besides the state.
#[derive(Debug, Clone, Copy)]
pub(super) struct ViewBarInput<'a> {
    pub breakpoint: Breakpoint,
    pub divergence: &'a DivergenceSummary,
    /// The panes that are not shown, with their places.
    pub hidden: &'a [(usize, PaneId)],
}

/// What was clicked in the bar.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct ViewBarResponse {
    /// Whether the sentence was clicked, which scrolls the panes to the point where they diverge.
    pub to_fork: bool,
    /// The hidden pane whose badge was clicked.
    pub brought_back: Option<PaneId>,
}

/// Draws the bar.
pub(super) fn view_bar_ui(
    ui: &mut Ui,
    input: ViewBarInput<'_>,
    state: &mut AppState,
    commands: &mut Vec<Command>,
) -> ViewBarResponse {
    let ViewBarInput {
        breakpoint,
        divergence,
        hidden,
    } = input;
    ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
        let has_legend = breakpoint > Breakpoint::Tight;
        if has_legend {
            legend(ui, state.view.tint, state.view.tint_legend(&state.panes));
        } else {
            small_legend(ui, state.view.tint, state.view.tint_legend(&state.panes));
        }
        tint_ui(ui, has_legend, state, commands);
        add_pane_ui(ui, breakpoint, state, commands);
        let brought_back = hidden_panes_ui(ui, hidden);
        let to_fork = ui.with_layout(Layout::left_to_right(Align::Center), |ui| {
            repetition_ui(ui, state, commands);
            sentence_ui(ui, breakpoint, divergence, state)
        });
        ViewBarResponse {
            to_fork: to_fork.inner,
            brought_back,
        }
    })
    .inner
}

/// The size of the button of a hidden pane.
const HIDDEN_PANE: f32 = 24.0;

/// Draws the badges of the panes that are not shown, from right to left. Returns the pane whose badge
/// was clicked.
fn hidden_panes_ui(ui: &mut Ui, hidden: &[(usize, PaneId)]) -> Option<PaneId> {
    let mut brought_back = None;
    for (place, pane) in hidden.iter().rev() {
        let name = format!("Show pane {}", pane_letter(*place));
        let size = Vec2::splat(HIDDEN_PANE);
        let (rect, response) = ui.allocate_exact_size(size, Sense::click());
        response.widget_info(|| WidgetInfo::labeled(Role::Button, true, &name));
        let theme = Theme::of(ui);
        if response.hovered() {
            ui.painter().rect_filled(rect, 6, theme.surface_3);
        }
        let badge = Rect::from_center_size(rect.center(), Vec2::splat(SMALL_BADGE));
        paint_badge(ui.painter(), theme, badge, *place);
        focus_ring(ui, &response, 6);
        if response.on_hover_text(&name).clicked() {
            brought_back = Some(*pane);
        }
    }
    brought_back
}

/// Draws the button that adds a pane.
fn add_pane_ui(ui: &mut Ui, breakpoint: Breakpoint, state: &AppState, commands: &mut Vec<Command>) {
    let name = "Add a pane";
    let can_add = state.panes.len() < MAX_PANES;
    let response = ui
        .add_enabled_ui(can_add, |ui| {
            if breakpoint < Breakpoint::Normal {
                return icon_button(ui, Icon::Plus, name);
            }
            let button = Button::new("Pane").icon(Icon::Plus).quiet();
            ui.add(button).accessible_name(name).on_hover_text(name)
        })
        .inner
        .on_disabled_hover_text(format!("At most {MAX_PANES} panes fit"));
    if response.clicked() {
        commands.push(Command::AddPane);
    }
}

/// Says that the last run changed nothing, and offers another seed.
fn repetition_ui(ui: &mut Ui, state: &AppState, commands: &mut Vec<Command>) {
    let Some(repetition) = state.repetition() else {
        return;
    };
    ui.add_space(2.0);
    let words = Face::SmallMedium.text(repetition.words());
    ui.label(words.color(Theme::of(ui).text_1));
    if state.panes.can_vary_by_seed() {
        let chip = ui.add(Chip::new("Another seed"));
        let tip = format!("Runs all panes with seed {}", state.seed.wrapping_add(1));
        if chip.on_hover_text(tip).clicked() {
            commands.push(Command::AnotherSeed);
        }
    }
    ui.add_space(8.0);
}

fn sentence_ui(
    ui: &mut Ui,
    breakpoint: Breakpoint,
    divergence: &DivergenceSummary,
    state: &AppState,
) -> bool {
    let theme = Theme::of(ui);
    // The prompt card already shows why the prompt can't be used.
    let main = &state.models.main;
    let length = state.prompt.length(main).filter(|length| !length.fits());
    let shown = [
        state.prompt.refusal(main),
        length.map(|length| length.to_string()),
    ];
    let is_new = |blocking_reason: &String| !shown.iter().flatten().any(|it| it == blocking_reason);
    let blocking_reason = state.blocking_reason().filter(is_new);
    // An empty reply is no reason to hide what the texts say.
    let waits = state.prompt.text.is_empty() && state.is_replying();
    let blocking_reason = blocking_reason.filter(|_| !waits);
    // An opened run is complete: nothing about it waits for the user.
    let can_run = !state.is_running() && state.runs.opened.is_none();
    let blocking_reason = blocking_reason.filter(|_| can_run);
    let sentence = if breakpoint >= Breakpoint::Normal {
        &divergence.long
    } else {
        &divergence.short
    };
    let skipped = state.skipped_pane_words().filter(|_| can_run);
    let blocking_reason = blocking_reason.or(skipped);
    let has_text = state.generations().iter().any(Option::is_some);
    let reopening = state.models.reopening_words().filter(|_| !has_text);
    let (icon, sentence, color) = match &blocking_reason {
        Some(blocking_reason)
            if main.ready().is_some()
                && !state.prompt.text.is_empty()
                && !state.waits_for_pane_model() =>
        {
            (Some(Icon::Warning), blocking_reason, theme.error)
        }
        Some(blocking_reason) => (None, blocking_reason, theme.text_2),
        None => match &reopening {
            Some(words) => (None, words, theme.text_2),
            None => (divergence.step.map(|_| Icon::Fork), sentence, theme.text_2),
        },
    };
    ui.add_space(2.0);
    if let Some(icon) = icon {
        let (rect, _) = ui.allocate_exact_size(vec2(14.0, 14.0), Sense::hover());
        icon.paint(ui.painter(), rect, color);
        ui.add_space(4.0);
    }
    let clickable = blocking_reason.is_none() && reopening.is_none() && divergence.step.is_some();
    let sense = if clickable {
        Sense::click()
    } else {
        Sense::hover()
    };
    let text = Face::Small.text(sentence).color(color);
    let label = egui::Label::new(text).truncate().sense(sense);
    let response = ui.add(label);
    focus_ring(ui, &response, 4);
    if !clickable {
        return false;
    }
    let response = response.on_hover_ui(|ui| {
        let mut sentences = vec!["Scroll all panes to this token".to_owned()];
        sentences.extend(divergence_reasons(state));
        sentences_ui(ui, &sentences);
    });
    response.clicked()
}

/// Draws the menu of tints. It contains the legend if the bar shows only swatches.
fn tint_ui(ui: &mut Ui, has_legend: bool, state: &mut AppState, commands: &mut Vec<Command>) {
    let labels = state.view.tint_legend(&state.panes);
    let chip = Chip::new(state.view.tint.name()).label("Tint").name("Tint");
    let response = ui.add(chip.chevron().quiet());
    ring_ui(ui, response.rect, state, Ring::Tint);
    let view = &mut state.view;
    Popup::menu(&response)
        .width(220.0)
        .gap(4.0)
        .accessible_name("Tint")
        .show(|ui| {
            for tint in Tint::ALL {
                let item = menu_item(ui, tint.name(), "", tint == view.tint);
                if explained(item, tint.name()).clicked() {
                    view.tint = tint;
                    // Close the menu after a choice with the keyboard, too.
                    ui.close();
                }
            }
            ui.separator();
            let marks = "Show spaces and line breaks";
            if menu_item(ui, marks, "", view.show_marks).clicked() {
                view.show_marks = !view.show_marks;
            }
            if !has_legend && view.tint != Tint::None {
                ui.separator();
                ui.horizontal(|ui| legend(ui, view.tint, labels));
            }
            if view.tint == Tint::Watermark {
                ui.separator();
                if menu_item(ui, "Watermark to look for…", "", false).clicked() {
                    commands.push(Command::Watermark(WatermarkCommand::Open(None)));
                }
            }
        });
}
