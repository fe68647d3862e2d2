//! The window: draws the application state and collects the user's commands.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use egui::emath::GuiRounding as _;
use egui::{Id, Key, Modifiers, Rect, Ui, pos2, vec2};

use super::branch_dialog::branch_dialog_ui;
use super::dock::{DockFrame, dock_ui, held_clicks_ui};
use super::export_dialog::export_dialog_ui;
use super::help::HelpUi;
use super::history::history_ui;
use super::keys::{generate_key_ui, is_covered, keys_ui};
use super::layout::{Breakpoint, EDGE, GAP, Layout, LayoutInput, TOP_BAR};
use super::lessons::{CARD, card_ui, enter_key_ui, lessons_ui, ring_ui};
use super::listening::{MIN_CARD_WIDTH, REQUEST_CARD, request_card_ui};
use super::models::{drop_ui, models_dialog_ui};
use super::palette::palette_ui;
use super::pane::{PaneFrame, pane_height, pane_ui};
use super::pane_header::open_chain_editor;
use super::paste_settings::paste_settings_ui;
use super::path_dialog::path_dialog_ui;
use super::popup_focus::PopupFocus;
use super::prompt_card::{PromptCard, content_height};
use super::run_bar::{RUN_BAR, run_bar_ui};
use super::run_column::run_column_ui;
use super::score_dialog::score_dialog_ui;
use super::settings_dialog::settings_dialog_ui;
use super::tab_order::TabOrder;
use super::toast::toast_ui;
use super::token_text::PaneText;
use super::top_bar::top_bar_ui;
use super::view_bar::{ViewBarInput, view_bar_ui};
use super::watermark_dialog::watermark_dialog_ui;
use crate::design::appearance;
use crate::design::child_ui::child_ui;
use crate::design::theme::Theme;
use crate::lab::{LabCommand, lab_ui};
use crate::lessons::Ring;
use crate::plots::StepAt;
use crate::state::{
    Action, AppState, Command, ConversationCommand, DockTab, LessonRun, Page, PaletteCommand, Pane,
    PaneId, Pin, divergence_summary,
};

/// The time per frame for updating the what-if counts. The rest continues in the next frame.
const REVIEW_BUDGET: Duration = Duration::from_millis(6);

/// View state that lives across frames and matters only for drawing.
#[derive(Debug, Default)]
pub struct WindowUi {
    prompt_card: PromptCard,
    token_views: BTreeMap<PaneId, PaneText>,
    /// The step hovered in a plot in the previous frame.
    hovered_in_plot: Option<StepAt>,
    /// The place of the pane whose text had keyboard focus in the previous frame.
    focused: Option<usize>,
    /// Whether texts were being generated in the previous frame.
    was_running: bool,
    popup_focus: PopupFocus,
    tab_order: TabOrder,
    /// Whether arrow keys moved the pin in the previous frame. The focus follows it.
    follows_pin: bool,
    branch_focus: Option<BranchFocus>,
    help: HelpUi,
    rows: PaneRows,
}

/// What has the focus in the popup that continues from a token of a pane.
#[derive(Debug, Clone, Copy)]
struct BranchFocus {
    pane: PaneId,
    control: Id,
}

impl WindowUi {
    /// Draws the window and returns the user's commands. Settings are edited in place.
    pub fn ui(&mut self, ui: &mut Ui, state: &mut AppState) -> Vec<Command> {
        let mut commands = Vec::new();
        appearance::apply(ui, &state.view);
        self.popup_focus.update(ui);
        self.tab_order.update(ui);
        let generate = generate_key_ui(ui, state);
        enter_key_ui(ui, state, &mut commands);
        keys_ui(ui, state, self.focused, &mut commands);
        self.pane_key_ui(ui, state);
        self.follow_branch_focus(ui, state);
        let began = Instant::now();
        let has_time = || began.elapsed() < REVIEW_BUDGET;
        let mut is_complete = state.review(has_time);
        if state.page == Page::Lab {
            let tab = state.lab.tab;
            is_complete &= tab.advance(state, &mut || has_time());
            if state.lab.has_new_result(tab) {
                commands.push(Command::Lab(LabCommand::Keep(tab)));
            }
        }
        if !is_complete {
            ui.request_repaint();
        }
        let window = ui.max_rect().round_ui();
        ui.painter().rect_filled(window, 0, Theme::of(ui).bg);
        let card = lesson_card(window, state).or_else(|| request_card(window, state));
        let content = card.map_or(window, |card| without_card(window, card));
        self.rows.follow(state.pin);
        let kept_pane = self.rows.kept_pane(state);
        let layout = Layout::of(content, layout_input(ui, content, kept_pane, state));

        let breakpoint = Breakpoint::of(window.width());
        let top = layout.top_bar.with_max_x(window.right() - EDGE);
        top_bar_ui(
            &mut child_ui(ui, top, "top bar"),
            breakpoint,
            state,
            &mut commands,
        );
        let page = Rect::from_min_max(layout.top_bar.left_bottom(), layout.dock.max);
        match state.page {
            Page::Write => self.write_page_ui(ui, &layout, state, &mut commands),
            Page::Lab => lab_ui(ui, page, state, &mut commands),
            Page::History => history_ui(ui, page, state, &mut commands),
            Page::Lessons => lessons_ui(ui, page, state, &mut commands),
        }

        if let Some(card) = card {
            side_card_ui(&mut child_ui(ui, card, "card"), card, state, &mut commands);
        }
        paste_settings_ui(ui, state, &mut commands);
        branch_dialog_ui(ui, &placed(&layout, state), state, &mut commands);
        score_dialog_ui(ui, state, &mut commands);
        watermark_dialog_ui(ui, state, &mut commands);
        export_dialog_ui(ui, state, &mut commands);
        models_dialog_ui(ui, state, &mut commands);
        settings_dialog_ui(ui, state, &mut commands);
        self.help.ui(ui, state, &mut commands);
        path_dialog_ui(ui, state, &mut commands);
        palette_ui(ui, state, &mut commands);
        if let Some(chain) = state
            .dialogs
            .chain_to_edit
            .take_if(|_| state.page == Page::Write)
        {
            open_chain_editor(ui, chain);
        }
        let bottom = match state.page {
            Page::Write => layout.dock.top(),
            Page::Lab | Page::History | Page::Lessons => layout.dock.bottom(),
        };
        toast_ui(ui, bottom, state, &mut commands);
        drop_ui(ui, &mut commands);
        held_clicks_ui(ui, window);
        self.move_focus(&commands);
        commands.extend(generate);
        // A number that is still being typed becomes a command too, and must apply first.
        commands.sort_by_key(|command| matches!(command, Command::GenerateAll));
        commands
    }

    /// F6 moves the focus to the text of the next pane, and Shift F6 to that of the one before. A pane
    /// without a text has what stands for it.
    fn pane_key_ui(&mut self, ui: &Ui, state: &AppState) {
        if state.page != Page::Write || is_covered(ui, state) {
            return;
        }
        let pressed = |modifiers| ui.input_mut(|input| input.consume_key(modifiers, Key::F6));
        let is_back = pressed(Modifiers::SHIFT);
        if !is_back && !pressed(Modifiers::NONE) {
            return;
        }
        let mut panes: Vec<&Pane> = state.panes.iter().collect();
        if is_back {
            panes.reverse();
        }
        let from = self.focused;
        let is_other = |pane: &&&Pane| Some(pane.place) != from;
        let after = panes.iter().skip_while(is_other).nth(1);
        if let Some(pane) = after.or_else(|| panes.first()) {
            self.token_views.entry(pane.id).or_default().take_focus();
            self.rows.bring_back(pane.id);
        }
    }

    /// Lets the focus follow a pin that the arrow keys move, and go to the prompt for a new conversation
    /// or another mode.
    fn move_focus(&mut self, commands: &[Command]) {
        let moves_pin = |command: &Command| matches!(command, Command::MovePinIn(..));
        self.follows_pin = commands.iter().any(moves_pin);
        let is_about_prompt = |command: &Command| {
            let in_palette = |action: &Action| {
                matches!(action, Action::NewConversation | Action::SetPromptMode(_))
            };
            match command {
                Command::Conversation(ConversationCommand::New) | Command::SetPromptMode(_) => true,
                Command::Palette(PaletteCommand::Run(action)) => in_palette(action),
                _ => false,
            }
        };
        if commands.iter().any(is_about_prompt) {
            self.prompt_card.take_focus();
        }
    }

    /// Gives a text the focus when the popup that continues from one of its tokens closes.
    fn follow_branch_focus(&mut self, ui: &Ui, state: &AppState) {
        let dialog = state.branches.dialog.as_ref();
        let control = ui.memory(egui::Memory::focused);
        let now = dialog.zip(control).map(|(dialog, control)| BranchFocus {
            pane: dialog.from.pane,
            control,
        });
        if dialog.is_some() {
            // Escape takes the focus away before it closes the popup.
            self.branch_focus = now.or(self.branch_focus);
        } else if let Some(BranchFocus { pane, control }) = self.branch_focus.take()
            && let Some(view) = self.token_views.get_mut(&pane)
        {
            view.take_focus_from(ui, control);
        }
    }

    /// Draws the prompt, the panes and the dock.
    fn write_page_ui(
        &mut self,
        ui: &mut Ui,
        layout: &Layout,
        state: &mut AppState,
        commands: &mut Vec<Command>,
    ) {
        if let Some(opened) = &state.runs.opened {
            let mut bar = layout.prompt;
            if request_card(ui.max_rect(), state).is_some() {
                // It goes on above the card.
                bar.max.x += GAP + REQUEST_CARD;
            }
            run_bar_ui(ui, bar, opened, state, commands);
        } else {
            let mut prompt = child_ui(ui, layout.prompt, "prompt");
            let card = &mut self.prompt_card;
            card.ui(&mut prompt, layout.prompt, state, commands);
            let mut run = child_ui(ui, layout.run_column, "run");
            run_column_ui(&mut run, layout.breakpoint, state, commands);
        }

        let divergence = divergence_summary(state);
        let mut bar = child_ui(ui, layout.view_bar.shrink2(vec2(2.0, 0.0)), "view bar");
        let shown = ViewBarInput {
            breakpoint: layout.breakpoint,
            divergence: &divergence,
            hidden: &hidden(layout, state),
        };
        let response = view_bar_ui(&mut bar, shown, state, commands);
        if let Some(pane) = response.brought_back {
            self.rows.bring_back(pane);
            ui.request_repaint();
        }
        self.scroll_texts(response.to_fork, divergence.step, state);
        let frames = self.pane_frames(layout, divergence.step, state);
        let hovered = self.panes_ui(ui, &frames, state, commands);
        let frame = DockFrame {
            rect: layout.dock,
            open: layout.dock_open,
            breakpoint: layout.breakpoint,
        };
        let mut dock = child_ui(ui, layout.dock, "dock");
        self.hovered_in_plot = dock_ui(&mut dock, frame, state, hovered, commands);
    }

    /// Scrolls all texts to the fork if the user asks for it or a run has ended; without a fork, to
    /// the top.
    fn scroll_texts(&mut self, to_fork: bool, fork_step: Option<usize>, state: &AppState) {
        let was_running = std::mem::replace(&mut self.was_running, state.is_running());
        let has_ended = was_running && !state.is_running();
        if !to_fork && !has_ended {
            return;
        }
        for view in self.token_views.values_mut() {
            match fork_step {
                Some(step) if to_fork || !view.has_turns() => view.scroll_to(step),
                _ => view.scroll_to_top(),
            }
        }
    }

    fn pane_frames(
        &self,
        layout: &Layout,
        fork_step: Option<usize>,
        state: &AppState,
    ) -> Vec<PaneFrame> {
        let hovered_step = |place| Some(self.hovered_in_plot.filter(|at| at.pane == place)?.step);
        placed(layout, state)
            .into_iter()
            .map(|(place, rect)| PaneFrame {
                rect,
                place,
                breakpoint: layout.breakpoint,
                fork_step,
                hovered_in_plot: hovered_step(place),
                dock_open: layout.dock_open,
            })
            .collect()
    }

    /// Draws the panes. Returns the step whose token is under the pointer.
    fn panes_ui(
        &mut self,
        ui: &mut Ui,
        frames: &[PaneFrame],
        state: &mut AppState,
        commands: &mut Vec<Command>,
    ) -> Option<StepAt> {
        let (mut hovered, mut scrolled) = (None, None);
        self.focused = None;
        self.token_views.retain(|id, _| state.pane(*id).is_some());
        let pin = state.pin.filter(|_| self.follows_pin);
        if let Some(view) = pin.and_then(|pin| self.token_views.get_mut(&pin.pane)) {
            view.take_focus();
        }
        for frame in frames {
            let pane = frame.place;
            let Some(id) = state.panes.get(pane).map(|pane| pane.id) else {
                continue;
            };
            let view = self.token_views.entry(id).or_default();
            let mut ui = child_ui(ui, frame.rect, id.0);
            let response = pane_ui(&mut ui, *frame, state, view, commands);
            ring_ui(&ui, frame.rect, state, Ring::Text(pane));
            scrolled = scrolled.or(response.scrolled.map(|top| (id, top)));
            hovered = hovered.or(response.hovered.map(|step| StepAt { pane, step }));
            self.focused = self.focused.or(response.focused.then_some(pane));
        }
        if let Some((leader, top)) = scrolled.filter(|_| scrolls_together(state)) {
            for (_, view) in self.token_views.iter_mut().filter(|(id, _)| **id != leader) {
                view.scroll_along(top);
            }
            ui.request_repaint();
        }
        hovered
    }
}

/// Which row of panes is shown if the dock leaves no room for two.
#[derive(Debug, Default)]
struct PaneRows {
    /// The pane that was brought back last.
    brought_back: Option<PaneId>,
    /// The pinned token at that time.
    pin: Option<Pin>,
}

impl PaneRows {
    /// Shows the row of this pane until another token is pinned.
    const fn bring_back(&mut self, pane: PaneId) {
        self.brought_back = Some(pane);
    }

    /// Goes back to the row of the pinned token if it is another one now.
    fn follow(&mut self, pin: Option<Pin>) {
        if self.pin != pin {
            *self = Self {
                brought_back: None,
                pin,
            };
        }
    }

    /// Returns the index of the pane whose row is shown: the one that the lesson points at, the one
    /// that was brought back, or else that of the token in the dock.
    fn kept_pane(&self, state: &AppState) -> usize {
        let ringed = match state.lessons.run().and_then(LessonRun::ring) {
            Some(Ring::Settings(place) | Ring::Text(place)) => Some(place),
            _ => None,
        };
        let brought_back = self.brought_back.and_then(|id| state.place_of(id));
        let held = || state.shown_step().map(|(place, _)| place);
        let place = ringed.or(brought_back).or_else(held);
        let index = place.and_then(|place| state.panes.places().position(|other| other == place));
        index.unwrap_or(0)
    }
}

/// Returns the places and the rectangles of the panes that are shown.
fn placed(layout: &Layout, state: &AppState) -> Vec<(usize, Rect)> {
    let places = state.panes.places().skip(layout.first_pane);
    places.zip(layout.panes.iter().copied()).collect()
}

/// Returns the panes that are not shown, with their places.
fn hidden(layout: &Layout, state: &AppState) -> Vec<(usize, PaneId)> {
    let shown = layout.first_pane..layout.first_pane + layout.panes.len();
    let panes = state.panes.iter().enumerate();
    let hidden = panes.filter(|(index, _)| !shown.contains(index));
    hidden.map(|(_, pane)| (pane.place, pane.id)).collect()
}

/// Draws the card of the running lesson or of the opened request.
fn side_card_ui(ui: &mut Ui, card: Rect, state: &mut AppState, commands: &mut Vec<Command>) {
    if state.lessons.run().is_some() {
        let has_keys = !is_covered(ui, state);
        card_ui(ui, card, has_keys, state, commands);
    } else {
        request_card_ui(ui, card, state, commands);
    }
}

/// Returns the rectangle of the running lesson's card.
fn lesson_card(window: Rect, state: &AppState) -> Option<Rect> {
    let has_card = matches!(state.page, Page::Write | Page::Lab);
    let is_shown = has_card && state.lessons.run().is_some();
    is_shown.then(|| card_on_the_right(window, CARD))
}

/// Returns the rectangle of the opened request's card, if there is room for it.
fn request_card(window: Rect, state: &AppState) -> Option<Rect> {
    let has_room = window.width() >= MIN_CARD_WIDTH;
    let is_shown = state.page == Page::Write && has_room && state.opened_request().is_some();
    is_shown.then(|| {
        let card = card_on_the_right(window, REQUEST_CARD);
        card.with_min_y(card.top() + RUN_BAR + GAP)
    })
}

/// Returns the rectangle of a card of this width, below the top bar on the right.
fn card_on_the_right(window: Rect, width: f32) -> Rect {
    let inner = window.shrink2(vec2(EDGE, 0.0));
    let size = vec2(width, inner.height() - TOP_BAR - EDGE);
    let min = pos2(inner.right() - width, inner.top() + TOP_BAR);
    Rect::from_min_size(min, size)
}

/// Returns the window without the card. Its margin on the right becomes the gap between the two.
fn without_card(window: Rect, card: Rect) -> Rect {
    window.with_max_x(card.left() - GAP + EDGE)
}

/// Returns whether scrolling one text scrolls all of them.
fn scrolls_together(state: &AppState) -> bool {
    state.view.compare.scroll_together && state.view.dock_tab == DockTab::Compare
}

/// The default height of the dock if the window isn't wide. All tabs share it, so that the row of
/// tabs stays where it is; the tables of Loop and Compare need it.
const DOCK_HEIGHT: f32 = 304.0;

fn layout_input(ui: &Ui, window: Rect, kept_pane: usize, state: &AppState) -> LayoutInput {
    let breakpoint = Breakpoint::of(window.width());
    let card_width = window.width() - 3.0 * EDGE - breakpoint.run_column();
    let view = &state.view;
    LayoutInput {
        n_panes: state.panes.len(),
        kept_pane,
        five_lines: pane_height(5, state.panes_name_models()),
        prompt_height: content_height(ui, state, card_width),
        run_bar: state.runs.opened.is_some(),
        dock_open: view.dock_open,
        dock_height: view
            .dock_height
            .or_else(|| (breakpoint < Breakpoint::Wide).then_some(DOCK_HEIGHT)),
    }
}
