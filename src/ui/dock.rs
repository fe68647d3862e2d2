//! The dock at the bottom of the window: a row of tabs, and the plots or tables of the selected
//! tab.

use egui::{
    Align, CursorIcon, Id, Layout, Popup, Pos2, Rect, Role, Sense, Stroke, StrokeKind, Ui,
    WidgetInfo, pos2, vec2,
};

use super::branches::{branch_memory_ui, branches_ui};
use super::compare::compare_ui;
use super::futures::{futures_bar_ui, futures_ui};
use super::kinds::{kind_chip_ui, kind_list_ui, step_button_name};
use super::layout::{Breakpoint, GAP, TABS};
use super::lessons::ring_ui;
use super::loop_view::{loop_ui, strategy_label};
use super::numbers::numbers_ui;
use super::picture_menu::{is_verified, picture_button_ui, pictures};
use super::plots_tab::plots_ui;
use super::score_choice::score_choice_ui;
use crate::design::child_ui::child_ui;
use crate::design::fonts::Face;
use crate::design::icons::{Icon, icon_button};
use crate::design::theme::Theme;
use crate::design::widgets::{Chip, SMALL_BADGE, badge, checkbox, focus_ring, menu_item};
use crate::lessons::{self, Ring};
use crate::plots::StepAt;
use crate::state::{
    Action, AppState, BranchCommand, BranchesView, Command, ConversationCommand, DockTab,
    KindAction, Pane, TurnsPlotted, ViewChange, ViewChoices,
};
use crate::ui::xray::xray_ui;

/// The dock's place in the layout.
#[derive(Debug, Clone, Copy)]
pub(super) struct DockFrame {
    pub rect: Rect,
    /// Whether it shows more than its tab row.
    pub open: bool,
    pub breakpoint: Breakpoint,
}

/// The minimum width for the choice of what the score shows and the buttons of the pinned token.
const MIN_SCORE_CHOICE: f32 = 220.0;

/// The width of the chip of the kind when only its numbers are shown, in points.
const KIND_CHIP: f32 = 96.0;

/// Draws the dock. `hovered` is the step hovered in a pane's text. Returns the step hovered in a
/// plot.
pub(super) fn dock_ui(
    ui: &mut Ui,
    frame: DockFrame,
    state: &mut AppState,
    hovered: Option<StepAt>,
    commands: &mut Vec<Command>,
) -> Option<StepAt> {
    let theme = Theme::of(ui);
    let rect = frame.rect;
    ui.painter().rect_filled(rect, 8, theme.surface_1);
    let edge = Stroke::new(1.0, theme.stroke_1);
    ui.painter().rect_stroke(rect, 8, edge, StrokeKind::Inside);
    let (tabs, body) = rect.split_top_bottom_at_y(rect.top() + TABS);
    if frame.open {
        resize_ui(ui, rect, &mut state.view);
    }
    let inside = tabs.shrink2(vec2(8.0, 0.0));
    tabs_ui(&mut child_ui(ui, inside, "tabs"), frame, state, commands);
    if !frame.open {
        return None;
    }
    ui.painter()
        .hline(rect.shrink(1.0).x_range(), tabs.bottom(), edge);
    if state.lessons.hides_evidence() {
        let words = Face::Body.text("This tab opens once you have guessed.");
        let mut hidden = child_ui(ui, body, "hidden");
        hidden.centered_and_justified(|ui| ui.label(words.color(theme.text_3)));
        return None;
    }
    match state.view.dock_tab {
        DockTab::Plots => plots_ui(ui, body, state, hovered, commands),
        DockTab::Xray => {
            xray_ui(ui, body, state, commands);
            None
        }
        DockTab::Loop => {
            loop_ui(ui, body, state, commands);
            None
        }
        DockTab::Branches if state.view.branches == BranchesView::Futures => {
            futures_ui(ui, body, state, commands);
            None
        }
        DockTab::Branches => {
            branches_ui(ui, body, state, commands);
            None
        }
        DockTab::Compare => {
            compare_ui(ui, body, state, commands);
            None
        }
        DockTab::Numbers => {
            if let Some(kind) = state.view.kind.filter(|_| state.shown_step().is_some()) {
                kind_list_ui(ui, body, kind, state, commands);
                return None;
            }
            let inside = body.shrink2(vec2(14.0, 6.0));
            numbers_ui(&mut child_ui(ui, inside, "numbers"), state);
            None
        }
    }
}

/// Lets the user resize the dock by dragging the gap above it.
fn resize_ui(ui: &Ui, rect: Rect, view: &mut ViewChoices) {
    let gap = Rect::from_min_max(
        pos2(rect.left(), rect.top() - GAP),
        pos2(rect.right(), rect.top() + 2.0),
    );
    let response = ui
        .interact(gap, ui.scope_id().with("dock edge"), Sense::drag())
        .on_hover_cursor(CursorIcon::ResizeVertical);
    response.widget_info(|| WidgetInfo::labeled(Role::Splitter, true, "Dock height"));
    if response.dragged() {
        view.dock_height = Some(rect.height() - response.drag_delta().y);
    }
    if response.hovered() || response.dragged() {
        let line = Rect::from_center_size(gap.center() - vec2(0.0, 1.0), vec2(36.0, 3.0));
        ui.painter().rect_filled(line, 1.5, Theme::of(ui).surface_4);
    }
}

fn tabs_ui(ui: &mut Ui, frame: DockFrame, state: &mut AppState, commands: &mut Vec<Command>) {
    ui.with_layout(Layout::left_to_right(Align::Center), |ui| {
        ui.spacing_mut().item_spacing.x = 2.0;
        for tab in DockTab::ALL {
            let selected = frame.open && tab == state.view.dock_tab;
            let shown = ui.scope(|ui| tab_ui(ui, tab.name(), selected));
            let name = tab.name().to_lowercase();
            if let Some(name) = lessons::TABS.into_iter().find(|other| *other == name) {
                ring_ui(ui, shown.response.rect, state, Ring::Tab(name));
            }
            if shown.inner {
                commands.push(Command::ChangeView(ViewChange::Tab(tab)));
                hold_clicks(ui);
            }
        }
        ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
            let (icon, name) = if frame.open {
                (Icon::Down, "Collapse the dock")
            } else {
                (Icon::Up, "Expand the dock")
            };
            if icon_button(ui, icon, name).clicked() {
                state.view.dock_open = Some(!frame.open);
                hold_clicks(ui);
            }
            let n_texts = state.generations().iter().flatten().count();
            let has_text = n_texts > 0;
            let tab = state.view.dock_tab;
            let has_picture = match tab {
                DockTab::Plots | DockTab::Xray | DockTab::Loop => has_text,
                DockTab::Branches => has_text && state.view.branches == BranchesView::Written,
                DockTab::Compare => n_texts > 1 || is_verified(state),
                DockTab::Numbers => false,
            };
            if frame.open && has_picture {
                let pictures = pictures(state);
                picture_button_ui(ui, &pictures, &mut state.view, commands);
            }
            let has_room = ui.available_width() >= MIN_SCORE_CHOICE;
            if frame.open && tab == DockTab::Plots && has_text && has_room {
                ui.add_space(6.0);
                score_choice_ui(ui, frame.breakpoint, &mut state.view);
                ui.add_space(6.0);
            }
            if frame.open
                && tab == DockTab::Branches
                && state.view.branches == BranchesView::Written
            {
                branch_memory_ui(ui, state, commands);
            }
            if frame.open && tab == DockTab::Compare {
                compare_choices_ui(ui, state);
            }
            if frame.open && state.view.dock_tab == DockTab::Branches {
                futures_bar_ui(ui, frame.breakpoint, state, commands);
            }
            shown_step_ui(ui, frame, state, commands);
            if !state.lessons.hides_evidence() {
                kind_chip_ui(ui, state, commands);
            }
            if frame.open {
                shown_turn_ui(ui, state, commands);
            }
        });
    });
}

/// Draws the choices of the Compare tab, from right to left.
fn compare_choices_ui(ui: &mut Ui, state: &mut AppState) {
    if let Some(verification) = &mut state.runs.verification {
        for (name, shown) in [("Then and now", true), ("Panes", false)] {
            let is_selected = verification.shown == shown;
            if tab_ui(ui, name, is_selected) {
                verification.shown = shown;
            }
        }
        return;
    }
    let label = Face::Small.text("Dim the shared prefix");
    checkbox(ui, &mut state.view.compare.dim_shared, label);
    ui.add_space(8.0);
    let label = Face::Small.text("Scroll together");
    checkbox(ui, &mut state.view.compare.scroll_together, label);
    let mut metrics = state.panes.iter().filter_map(Pane::text_metrics);
    if metrics.any(|metrics| metrics.n_thought_tokens.is_some()) {
        ui.add_space(8.0);
        let label = Face::Small.text("Leave thinking out");
        let counts = &mut state.view.compare.counts_thinking;
        let mut is_left_out = !*counts;
        checkbox(ui, &mut is_left_out, label);
        *counts = !is_left_out;
    }
}

/// Blocks clicks until the pointer moves. Switching tabs resizes the dock, which may put another
/// control under the pointer, where a second click would hit it.
fn hold_clicks(ui: &Ui) {
    let at = ui.input(|input| input.pointer.latest_pos());
    ui.data_mut(|data| data.insert_temp(held_id(), at));
}

fn held_id() -> Id {
    Id::unique("held clicks")
}

/// Swallows clicks after a tab was clicked, until the pointer moves. Call it last: it covers the
/// window.
pub(super) fn held_clicks_ui(ui: &Ui, window: Rect) {
    let held: Option<Option<Pos2>> = ui.data(|data| data.get_temp(held_id()));
    let Some(held) = held else {
        return;
    };
    if held.is_some() && held == ui.input(|input| input.pointer.latest_pos()) {
        ui.interact(window, held_id(), Sense::CLICK | Sense::DRAG);
    } else {
        ui.data_mut(|data| data.remove::<Option<Pos2>>(held_id()));
    }
}

/// Draws a tab. Returns whether it was clicked.
pub(crate) fn tab_ui(ui: &mut Ui, name: &str, selected: bool) -> bool {
    let theme = Theme::of(ui);
    let galley = ui
        .painter()
        .layout_no_wrap(name.to_owned(), Face::Medium.font(), theme.text_1);
    let size = vec2(galley.size().x + 20.0, TABS);
    let (rect, response) = ui.allocate_exact_size(size, Sense::click());
    response.widget_info(|| WidgetInfo::selected(Role::Tab, true, selected, name));
    let color = if selected || response.hovered() {
        theme.text_1
    } else {
        theme.text_2
    };
    let at = egui::Align2::CENTER_CENTER.align_size_within_rect(galley.size(), rect);
    ui.painter()
        .galley_with_override_text_color(at.min, galley, color);
    if selected {
        let line = Rect::from_min_max(
            pos2(at.left(), rect.bottom() - 1.0),
            pos2(at.right(), rect.bottom() + 1.0),
        );
        ui.painter().rect_filled(line, 1.0, theme.text_1);
    }
    focus_ring(
        ui,
        &response.clone().with_new_rect(rect.shrink2(vec2(2.0, 6.0))),
        6,
    );
    response.clicked()
}

/// Draws the menu of the turns of a conversation: the tabs show the chosen one.
fn shown_turn_ui(ui: &mut Ui, state: &mut AppState, commands: &mut Vec<Command>) {
    let n_turns = state.panes.n_turns();
    if n_turns < 2 {
        return;
    }
    let shown = state.panes.shown_turn().unwrap_or(n_turns - 1);
    let is_plots = state.view.dock_tab == DockTab::Plots;
    let all = is_plots && state.view.turns_plotted == TurnsPlotted::All;
    let words = if all {
        format!("All {n_turns} turns")
    } else {
        format!("Turn {} of {n_turns}", shown + 1)
    };
    ui.add_space(6.0);
    let chip = ui.add(
        Chip::new(&words)
            .name("The turn that the tabs show")
            .chevron(),
    );
    Popup::menu(&chip)
        .width(if is_plots { 280.0 } else { 160.0 })
        .gap(4.0)
        .accessible_name("The turn that the tabs show")
        .show(|ui| {
            let hint = "except Speed and Watermark";
            if is_plots && menu_item(ui, "All turns", hint, all).clicked() {
                state.view.turns_plotted = TurnsPlotted::All;
            }
            for turn in 0..n_turns {
                let label = format!("Turn {}", turn + 1);
                if menu_item(ui, &label, "", turn == shown && !all).clicked() {
                    if is_plots {
                        state.view.turns_plotted = TurnsPlotted::Shown;
                    }
                    let show = ConversationCommand::ShowTurn(Some(turn));
                    commands.push(Command::Conversation(show));
                }
            }
        });
}

/// Names the pinned token, with buttons that move the pin or remove it. X-ray and Loop also
/// name the latest token when none is pinned.
fn shown_step_ui(ui: &mut Ui, frame: DockFrame, state: &AppState, commands: &mut Vec<Command>) {
    let is_pinned = state.pinned().is_some();
    let names_latest = frame.open && matches!(state.view.dock_tab, DockTab::Xray | DockTab::Loop);
    if !is_pinned
        && names_latest
        && state.view.dock_tab == DockTab::Loop
        && let Some((place, label)) = strategy_label(state)
    {
        return step_label_ui(ui, place, [&label, &label]);
    }
    let shown = state.shown_step().and_then(|(place, step)| {
        let generation = state.panes.get(place)?.generation()?;
        Some((place, step, generation.steps.len()))
    });
    let Some((place, step, n_steps)) = shown else {
        return;
    };
    // Added from right to left.
    if is_pinned && icon_button(ui, Icon::Close, "Unpin the token").clicked() {
        commands.push(Command::Unpin);
    }
    if is_pinned || state.view.kind.is_some() {
        step_buttons_ui(ui, state, commands);
    }
    if is_pinned {
        let can_branch = state.pin.is_some_and(|pin| state.can_branch(pin));
        let name = "Continue from this token (C)";
        let branch = |ui: &mut Ui| icon_button(ui, Icon::Fork, name).clicked();
        if ui.add_enabled_ui(can_branch, branch).inner {
            let open = BranchCommand::Open(state.pin);
            commands.push(Command::Branch(open));
        }
    }
    if !is_pinned && !names_latest {
        return;
    }
    ui.add_space(4.0);
    let is_ahead = !is_pinned
        && state.view.dock_tab == DockTab::Loop
        && state.sampler_place() == Some(place)
        && state.upcoming(place).is_some();
    if is_ahead {
        let label = format!("Token {}, before the draw", n_steps + 1);
        step_label_ui(ui, place, [&label, &label]);
    } else {
        let short = format!("{} of {n_steps}", step + 1);
        step_label_ui(ui, place, [&format!("Token {short}"), &short]);
    }
}

/// Draws the buttons that hold the next token of the chosen kind and the one before.
fn step_buttons_ui(ui: &mut Ui, state: &AppState, commands: &mut Vec<Command>) {
    for (icon, action) in [
        (Icon::Right, KindAction::Next),
        (Icon::Left, KindAction::Previous),
    ] {
        let name = step_button_name(ui, state, action);
        let command = Action::OfKind(action).command(state);
        let button = |ui: &mut Ui| icon_button(ui, icon, &name);
        let shown = ui.add_enabled_ui(command.is_ok(), button);
        match command {
            Ok(command) => commands.extend(shown.inner.clicked().then_some(command)),
            Err(reason) => {
                shown.inner.on_disabled_hover_text(reason);
            }
        }
    }
}

/// Shows a label and the badge of its pane, unless the tabs leave no space in a narrow window. The
/// second, short label is shown if only that leaves room for the kind.
fn step_label_ui(ui: &mut Ui, place: usize, labels: [&str; 2]) {
    let room = ui.available_width() - SMALL_BADGE - 16.0;
    let fits = |label: &&str, kept: f32| Face::Small.width(ui, label) + kept <= room;
    let beside_kind = labels.into_iter().find(|label| fits(label, KIND_CHIP));
    let Some(label) = beside_kind.or(labels.into_iter().find(|label| fits(label, 0.0))) else {
        return;
    };
    let [name, _] = labels;
    let label = ui.label(Face::Small.text(label).color(Theme::of(ui).text_2));
    label.widget_info(|| WidgetInfo::labeled(Role::Label, true, name));
    ui.add_space(2.0);
    badge(ui, place, SMALL_BADGE);
}
