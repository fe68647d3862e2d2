//! The popup that continues from a token: an alternative, typed text, another seed or other
//! settings, in place or in a new pane.

mod alternatives;

use egui::{
    EventFilter, Id, Key, Modifiers, Popup, PopupCloseBehavior, Rect, RectAlign, Response,
    TextEdit, Ui, vec2,
};

use self::alternatives::{Alternative, alternative_ui, alternatives};
use super::keys::{DIGITS, entered};
use crate::design::fonts::Face;
use crate::design::icons::{Icon, icon_button};
use crate::design::theme::Theme;
use crate::design::widgets::{Button, field_frame, hint_ui, menu_item, switch_part};
use crate::generation::Generation;
use crate::generation::formatting::pane_letter;
use crate::generation::formatting::token_word;
use crate::state::{
    AppState, BranchChange, BranchCommand, BranchDialog, BranchTarget, Command, MAX_PANES, Pane,
};

const WIDTH: f32 = 320.0;

/// What the user chose. `target`, if any, overrides the popup's target.
struct Choice {
    change: BranchChange,
    target: Option<BranchTarget>,
}

/// What the popup shows besides its own state.
struct Context<'a> {
    place: usize,
    pane: &'a Pane,
    text: &'a Generation,
    /// The letter of a new pane, and whether there is room for one.
    next_letter: String,
    can_add_pane: bool,
    next_seed: u64,
    /// Says how many tokens are cached, or how many must be prefilled again.
    cache_words: String,
}

/// Draws the popup beside its pane, if it is open. `panes` are the places and the rectangles of the
/// panes that are shown.
pub(super) fn branch_dialog_ui(
    ui: &Ui,
    panes: &[(usize, Rect)],
    state: &mut AppState,
    commands: &mut Vec<Command>,
) {
    let Some(mut dialog) = state.branches.dialog.take() else {
        return;
    };
    let Some(context) = context(state, &dialog) else {
        return;
    };
    let mut rects = panes.iter();
    let Some((_, rect)) = rects.find(|(place, _)| *place == context.place) else {
        // Its row is not shown now.
        state.branches.dialog = Some(dialog);
        return;
    };
    let mut open = true;
    let mut choice = None;
    let popup = Popup::new(
        Id::unique("branch dialog"),
        ui.ctx().clone(),
        *rect,
        ui.layer_id(),
    );
    // The popup must end above the dock.
    let bottoms = panes.iter().map(|(_, rect)| rect.bottom());
    let bottom = bottoms.fold(rect.bottom(), f32::max);
    let height = popup.get_expected_size().map_or(0.0, |size| size.y);
    let top = rect.top().min(bottom - height).max(0.0);
    popup
        .anchor(rect.with_min_y(top))
        .align(RectAlign::LEFT_START)
        .align_alternatives(&[RectAlign::RIGHT_START])
        .gap(8.0)
        .width(WIDTH + 16.0)
        .open_bool(&mut open)
        .close_behavior(PopupCloseBehavior::CloseOnClickOutside)
        .accessible_name("Continue from a token")
        .show(|ui| {
            egui::Frame::new().inner_margin(8).show(ui, |ui| {
                ui.set_width(WIDTH);
                choice = popup_ui(ui, &context, &mut dialog);
            });
        });
    if let Some(Choice { change, target }) = choice {
        commands.push(Command::Branch(BranchCommand::Branch {
            from: dialog.from,
            change,
            target: target.unwrap_or(dialog.target),
        }));
    } else if !open {
        commands.push(Command::Branch(BranchCommand::Open(None)));
    }
    state.branches.dialog = Some(dialog);
}

fn context<'a>(state: &'a AppState, dialog: &BranchDialog) -> Option<Context<'a>> {
    let pane = state.pane(dialog.from.pane)?;
    let text = pane.generation()?;
    text.steps.get(dialog.from.step)?;
    Some(Context {
        place: state.place_of(dialog.from.pane)?,
        pane,
        text,
        next_letter: state.panes.next_letter(),
        can_add_pane: state.panes.has_room(),
        next_seed: state.seed_of(pane).wrapping_add(1),
        cache_words: dialog.cache_words(state.memory.cache_megabytes),
    })
}

/// Draws the popup's contents. Returns what the user chose.
fn popup_ui(ui: &mut Ui, context: &Context<'_>, dialog: &mut BranchDialog) -> Option<Choice> {
    let theme = Theme::of(ui);
    ui.spacing_mut().item_spacing.y = 4.0;
    let number = dialog.from.step + 1;
    ui.horizontal(|ui| {
        let title = format!(
            "Continue from token {number} of {}",
            pane_letter(context.place)
        );
        ui.label(Face::SmallMedium.text(title).color(theme.text_1));
        ui.with_layout(egui::Layout::right_to_left(egui::Align::Center), |ui| {
            if icon_button(ui, Icon::Close, "Close").clicked() {
                ui.close();
            }
        });
    });
    let step = context.text.steps.get(dialog.from.step)?;
    let instead = format!(
        "Pick another token instead of ‘{}’",
        token_word(&step.piece)
    );
    hint_ui(ui, &instead);
    let rows = alternatives(context.text, step);
    let choose = |row: &Alternative, target| Choice {
        change: BranchChange::Tokens(vec![row.token]),
        target,
    };
    let mut choice = numbered(ui, &rows).map(|row| choose(row, None));
    let is_new = std::mem::take(&mut dialog.is_new);
    let responses: Vec<Response> = rows.iter().map(|row| alternative_ui(ui, row)).collect();
    let pressed = |modifiers, key| ui.input_mut(|input| input.consume_key(modifiers, key));
    let focused = responses.iter().position(Response::has_focus);
    if let Some((index, focused)) = focused.and_then(|index| Some((index, responses.get(index)?))) {
        let filter = EventFilter {
            vertical_arrows: true,
            ..EventFilter::default()
        };
        ui.memory_mut(|memory| memory.set_focus_lock_filter(focused.id, filter));
        let to = if pressed(Modifiers::NONE, Key::ArrowDown) {
            Some(index + 1)
        } else if pressed(Modifiers::NONE, Key::ArrowUp) {
            index.checked_sub(1)
        } else {
            None
        };
        if let Some(to) = to.and_then(|to| responses.get(to)) {
            to.request_focus();
        }
        if context.can_add_pane && pressed(Modifiers::COMMAND, Key::Enter) {
            let row = rows.get(index);
            choice = row.map(|row| choose(row, Some(BranchTarget::NewPane)));
        }
    }
    if let Some(first) = responses.first().filter(|_| is_new) {
        first.request_focus();
    }
    for (row, response) in rows.iter().zip(&responses) {
        if response.clicked() && choice.is_none() {
            let in_new_pane = context.can_add_pane && ui.input(|input| input.modifiers.command);
            choice = Some(choose(row, in_new_pane.then_some(BranchTarget::NewPane)));
        }
    }
    ui.add_space(4.0);
    let typed = typed_ui(ui, context, dialog);
    ui.separator();
    let resampled = resample_ui(ui, context);
    ui.separator();
    target_ui(ui, context, &mut dialog.target);
    choice.or(typed).or(resampled)
}

/// Returns the alternative whose number was typed.
fn numbered<'a>(ui: &Ui, rows: &'a [Alternative]) -> Option<&'a Alternative> {
    let mut rows = rows.iter().filter(|_| !ui.text_edit_focused());
    rows.find(|row| {
        let key = row.rank.checked_sub(1).and_then(|index| DIGITS.get(index));
        key.is_some_and(|key| ui.input_mut(|input| input.consume_key(Modifiers::NONE, *key)))
    })
}

/// Draws the field for a typed replacement.
fn typed_ui(ui: &mut Ui, context: &Context<'_>, dialog: &mut BranchDialog) -> Option<Choice> {
    let edit = TextEdit::singleline(&mut dialog.typed)
        .font(Face::Code.font())
        .frame(field_frame(ui))
        .hint_text("Type a replacement")
        .desired_width(f32::INFINITY);
    let field = ui.add(edit).accessible_name("Type a replacement");
    if dialog.typed.is_empty() {
        return None;
    }
    let Some(tokens) = context.text.vocabulary.spell(&dialog.typed) else {
        hint_ui(ui, "The vocabulary can’t spell this text");
        return None;
    };
    let is_entered = entered(ui, &field);
    hint_ui(ui, "Begin with a space for a new word");
    let clicked = ui.add(Button::new("Use this text")).clicked();
    (clicked || is_entered).then_some(Choice {
        change: BranchChange::Tokens(tokens),
        target: None,
    })
}

/// Draws the choices that sample the token again: another seed and the pane's new settings.
fn resample_ui(ui: &mut Ui, context: &Context<'_>) -> Option<Choice> {
    let mut change = None;
    let seed = context.next_seed.to_string();
    let reseed = menu_item(ui, "Another seed", &seed, false);
    let tip = "Toss different coins from this token on";
    if reseed.on_hover_text(tip).clicked() {
        change = Some(BranchChange::AnotherSeed);
    }
    let current = &context.pane.settings.chain;
    let differs = *current != context.text.config.chain;
    let aside = if differs {
        current.to_string()
    } else {
        String::new()
    };
    let settings = ui
        .add_enabled_ui(differs, |ui| {
            menu_item(ui, "The pane’s new settings", &shortened(&aside), false)
        })
        .inner
        .on_hover_text("Continue from this token with the pane’s current settings")
        .on_disabled_hover_text("Change the pane’s settings first");
    if settings.clicked() {
        change = Some(BranchChange::Settings);
    }
    change.map(|change| Choice {
        change,
        target: None,
    })
}

fn shortened(words: &str) -> String {
    const N_MAX: usize = 24;
    match words.char_indices().nth(N_MAX) {
        Some((end, _)) => format!("{}…", words.get(..end).unwrap_or_default()),
        None => words.to_owned(),
    }
}

/// Draws the choice of where the branch goes, and how much of the text is cached.
fn target_ui(ui: &mut Ui, context: &Context<'_>, target: &mut BranchTarget) {
    let theme = Theme::of(ui);
    ui.horizontal(|ui| {
        ui.spacing_mut().item_spacing.x = 0.0;
        if switch_part(ui, "In place", *target == BranchTarget::InPlace).clicked() {
            *target = BranchTarget::InPlace;
        }
        let words = format!("As new pane {}", context.next_letter);
        let selected = *target == BranchTarget::NewPane;
        let part = ui
            .add_enabled_ui(context.can_add_pane, |ui| switch_part(ui, &words, selected))
            .inner
            .on_disabled_hover_text(format!("{MAX_PANES} panes are already open"));
        if part.clicked() {
            *target = BranchTarget::NewPane;
        }
    });
    let cache = Face::Micro.text(&context.cache_words).color(theme.text_2);
    ui.allocate_ui(vec2(WIDTH, 16.0), |ui| {
        ui.add(egui::Label::new(cache).wrap())
    });
}

#[cfg(test)]
mod tests {
    use egui::{Key, Modifiers, vec2};
    use egui_kittest::kittest::Queryable as _;

    use crate::state::tests::written;
    use crate::state::{AppState, Command, PaneStatus, Pin};
    use crate::ui::testing::{Window, key, press, window_of};

    fn pinned() -> AppState {
        let mut state = written();
        let pane = state.panes[0].id;
        state.apply(Command::Pin(Pin { pane, step: 1 }));
        state
    }

    /// Opens the popup with its key. At first the prompt has the focus, as in every new window.
    fn open() -> Window {
        let mut window = window_of(vec2(1280.0, 800.0), pinned());
        window.run_steps(2);
        key(&mut window, Modifiers::NONE, Key::C);
        assert!(
            window.state().branches.dialog.is_none(),
            "the prompt takes the key"
        );
        window.get_by_label("Unpin the token").focus();
        window.run_steps(2);
        key(&mut window, Modifiers::NONE, Key::C);
        window.get_by_label("Continue from token 2 of A");
        window
    }

    /// Returns the kept text of the request that a pane is waiting for.
    fn picked(window: &Window, place: usize) -> String {
        let PaneStatus::Waiting { pending } = &window.state().panes[place].status else {
            panic!("pane {place} is not waiting");
        };
        pending.kept_text().unwrap().text()
    }

    #[test]
    fn a_typed_word_branches_in_place() {
        let mut window = open();
        let field = "Type a replacement";
        window.get_by_label(field).focus();
        window.run_steps(2);
        window.event(egui::Event::Text(" fox".to_owned()));
        window.run_steps(3);
        press(&mut window, "Use this text");
        let state = window.state();
        assert!(state.branches.dialog.is_none());
        assert_eq!(state.panes.len(), 4);
        assert!(state.panes[0].status.running().is_some());
    }

    #[test]
    fn another_seed_can_continue_in_a_new_pane() {
        let mut window = open();
        press(&mut window, "As new pane E");
        press(&mut window, "Another seed");
        let state = window.state();
        assert_eq!(state.panes.len(), 5);
        assert!(state.panes[0].status.running().is_none());
        assert!(state.panes[4].status.running().is_some());
        assert_eq!(state.panes[4].settings.seed, Some(43));
    }

    #[test]
    fn a_key_takes_the_alternative_with_its_number() {
        let mut window = open();
        key(&mut window, Modifiers::NONE, Key::Num2);
        assert!(window.state().branches.dialog.is_none());
        assert_eq!(picked(&window, 0), " in");
    }

    #[test]
    fn enter_takes_the_highlighted_row_and_with_ctrl_in_a_new_pane() {
        for (modifiers, place) in [(Modifiers::NONE, 0), (Modifiers::COMMAND, 4)] {
            let mut window = open();
            key(&mut window, Modifiers::NONE, Key::ArrowDown);
            key(&mut window, modifiers, Key::Enter);
            assert!(window.state().branches.dialog.is_none());
            assert!(window.state().panes[place].status.running().is_some());
            let n_panes = window.state().panes.len();
            assert_eq!(n_panes, if place == 0 { 4 } else { 5 });
        }
    }

    #[test]
    fn escape_closes_the_popup_and_keeps_the_pin() {
        let mut window = open();
        key(&mut window, Modifiers::NONE, Key::Escape);
        assert!(window.state().branches.dialog.is_none());
        assert!(window.state().pin.is_some());
    }

    #[test]
    fn an_interrupted_text_continues_from_the_footer() {
        let mut window = window_of(vec2(1280.0, 800.0), written());
        let buttons = window.get_all_by_label("Continue").count();
        assert_eq!(buttons, 4);
        window.get_all_by_label("Continue").next().unwrap().click();
        window.run_steps(4);
        assert!(window.state().panes[0].status.running().is_some());
        assert_eq!(window.get_all_by_label("Continue").count(), 3);
    }

    #[test]
    fn step_mode_steps_with_the_space_bar_and_steps_back_with_backspace() {
        let mut window = window_of(vec2(1280.0, 800.0), written());
        press(&mut window, "Pace: Full speed");
        press(&mut window, "Step by step");
        assert!(window.state().is_step_mode());
        key(&mut window, Modifiers::NONE, Key::Backspace);
        let n_steps =
            |state: &AppState, place: usize| state.panes[place].generation().unwrap().steps.len();
        assert_eq!(n_steps(window.state(), 0), 2);
        key(&mut window, Modifiers::NONE, Key::Space);
        assert!(window.state().is_running());
        press(&mut window, "Leave step mode");
        assert!(!window.state().is_step_mode());
    }
}
