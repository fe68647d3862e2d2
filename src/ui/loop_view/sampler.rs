//! "You are the sampler": in step mode, the candidates of the next token, to pick from by hand.

use egui::{
    Align2, Color32, Id, Label, Rect, Role, Sense, Stroke, StrokeKind, TextEdit, Ui, WidgetInfo,
    pos2, vec2,
};

use crate::decoding::{FinalProb, TokenId};
use crate::design::child_ui::child_ui;
use crate::design::fonts::Face;
use crate::design::theme::Theme;
use crate::design::widgets::{field_frame, focus_ring};
use crate::generation::formatting::{percent, token_word};
use crate::generation::{Generation, Step};
use crate::state::{AppState, BranchCommand, Command, PaneId};
use crate::ui::keys::entered;

/// How many candidates can be picked with a number key.
pub(in crate::ui) const N_PICKS: usize = 9;

const ROW: f32 = 20.0;

/// A candidate for the next token.
struct Pick {
    token: TokenId,
    word: String,
    /// Its probability after the chain, or before it if the chain cut it. `None` if it depends on
    /// tokens that the server did not name.
    prob: Option<f64>,
    cut: bool,
    /// Whether the chain would take it.
    drawn: bool,
    /// What draws it, or that it was cut. May be empty.
    remark: &'static str,
}

/// Returns the token of the candidate with this number, from 1, in the pane that the user samples
/// for.
pub(in crate::ui) fn numbered_pick(state: &AppState, number: usize) -> Option<(PaneId, TokenId)> {
    let place = state.sampler_place()?;
    let step = state.upcoming(place)?;
    let candidate = step.trace.raw.head.get(number.checked_sub(1)?)?;
    Some((state.panes.get(place)?.id, candidate.token))
}

/// The id of the field for any other token. The key 0 focuses the field.
pub(in crate::ui) fn field_id() -> Id {
    Id::unique("any token")
}

/// Draws the candidates and the field.
pub(super) fn sampler_ui(ui: &mut Ui, rect: Rect, state: &AppState, commands: &mut Vec<Command>) {
    let theme = Theme::of(ui);
    let edge = Stroke::new(1.0, theme.stroke_1);
    ui.painter()
        .vline(rect.left(), rect.shrink(1.0).y_range(), edge);
    let inside = Rect::from_min_max(
        pos2(rect.left() + 14.0, rect.top() + 8.0),
        pos2(rect.right() - 14.0, rect.bottom() - 6.0),
    );
    let mut ui = child_ui(ui, inside, "sampler");
    ui.spacing_mut().item_spacing.y = 0.0;
    let title = Face::SmallMedium.text("You are the sampler");
    ui.label(title.color(theme.text_1));
    let shown = state.sampler_place().and_then(|place| {
        let pane = state.panes.get(place)?;
        Some((pane.id, pane.generation()?, state.upcoming(place)?))
    });
    let Some((pane, text, step)) = shown else {
        let hint = "Press Step to see the candidates for the next token";
        ui.label(Face::Small.text(hint).color(theme.text_3));
        return;
    };
    let picks = picks(text, step);
    let largest = picks
        .iter()
        .filter_map(|pick| pick.prob)
        .fold(0.0, f64::max);
    for (number, pick) in (1..).zip(&picks) {
        if row_ui(&mut ui, number, pick, largest) {
            let pick = BranchCommand::Pick(pane, vec![pick.token]);
            commands.push(Command::Branch(pick));
        }
    }
    commands.extend(field_ui(&mut ui, pane, text));
    let hint = "Space follows the coin. Picks are marked in the text.";
    ui.add(Label::new(Face::Micro.text(hint).color(theme.text_3)).wrap());
}

fn picks(text: &Generation, step: &Step) -> Vec<Pick> {
    let trace = &step.trace;
    // Greedy decoding keeps only the token that it takes, but it does not cut the others.
    let cuts = trace
        .stages
        .last()
        .is_some_and(|last| last.n_kept < trace.raw.n_candidates);
    let head = (0..).zip(&trace.raw.head).take(N_PICKS);
    head.map(|(index, candidate)| {
        let drawn = candidate.token == step.token;
        let (prob, cut) = match trace.known_head_final(index) {
            FinalProb::Kept(prob) => (Some(prob), false),
            FinalProb::Cut => (Some(candidate.prob), cuts),
            FinalProb::Unknown => (None, false),
        };
        let word = if drawn {
            token_word(&step.piece)
        } else {
            token_word(&text.vocabulary.piece(candidate.token))
        };
        Pick {
            token: candidate.token,
            word,
            prob,
            cut,
            drawn,
            remark: match (drawn, trace.draw.coin) {
                (true, Some(_)) => "the coin",
                (true, None) => "the chain",
                (false, _) if cut => "cut",
                (false, _) => "",
            },
        }
    })
    .collect()
}

/// Draws a candidate. Returns whether it was picked.
fn row_ui(ui: &mut Ui, number: usize, pick: &Pick, largest: f64) -> bool {
    let theme = Theme::of(ui);
    let width = ui.available_width();
    let (rect, response) = ui.allocate_exact_size(vec2(width, ROW), Sense::click());
    let remark = match pick.remark {
        "" => String::new(),
        remark => format!(", {remark}"),
    };
    let prob = prob_words(pick);
    let name = format!("Pick {number}: ‘{}’, {prob}{remark}", pick.word);
    response.widget_info(|| WidgetInfo::labeled(Role::Button, ui.is_enabled(), &name));
    if pick.drawn || response.hovered() {
        let fill = if pick.drawn {
            theme.surface_3
        } else {
            theme.surface_2
        };
        ui.painter().rect_filled(rect, 4, fill);
    }
    paint_words(ui, rect, number, pick);
    let left = rect.left() + 98.0;
    let room = (rect.right() - 112.0 - left).max(8.0);
    if let Some(prob) = pick.prob {
        let share = prob / largest.max(f64::MIN_POSITIVE);
        let size = vec2((room * share as f32).max(2.0), 10.0);
        let bar = Rect::from_min_size(pos2(left, rect.center().y - 5.0), size);
        if pick.cut {
            let edge = Stroke::new(1.0, theme.bar_cut);
            ui.painter().rect_stroke(bar, 2, edge, StrokeKind::Inside);
        } else {
            ui.painter().rect_filled(bar, 2, theme.bar_after);
        }
    }
    focus_ring(ui, &response, 4);
    response.clicked()
}

fn prob_words(pick: &Pick) -> String {
    pick.prob.map_or_else(|| "unknown".to_owned(), percent)
}

/// Paints a candidate's number, word, probability and remark. Strikes through what the chain cut.
fn paint_words(ui: &Ui, rect: Rect, number: usize, pick: &Pick) {
    let theme = Theme::of(ui);
    let y = rect.center().y;
    let put = |x: f32, align: Align2, text: &str, (face, color): (Face, Color32)| {
        ui.painter()
            .text(pos2(x, y), align, text, face.font(), color)
    };
    let (word, prob) = if pick.cut {
        (theme.text_3, theme.struck_text)
    } else {
        (theme.text_1, theme.text_1)
    };
    let left = rect.left() + 6.0;
    let number = number.to_string();
    put(
        left,
        Align2::LEFT_CENTER,
        &number,
        (Face::Micro, theme.text_3),
    );
    put(
        left + 18.0,
        Align2::LEFT_CENTER,
        &pick.word,
        (Face::Candidate, word),
    );
    let right = rect.right();
    let prob = put(
        right - 58.0,
        Align2::RIGHT_CENTER,
        &prob_words(pick),
        (Face::Small, prob),
    );
    if pick.cut {
        let strike = Stroke::new(1.0, theme.struck_text);
        ui.painter().hline(prob.x_range(), y, strike);
    }
    put(
        right - 6.0,
        Align2::RIGHT_CENTER,
        pick.remark,
        (Face::Micro, theme.text_2),
    );
}

/// Draws the field for any token.
fn field_ui(ui: &mut Ui, pane: PaneId, text: &Generation) -> Option<Command> {
    let id = field_id();
    let mut typed: String = ui.data(|data| data.get_temp(id)).unwrap_or_default();
    let edit = TextEdit::singleline(&mut typed)
        .id(id)
        .font(Face::Code.font())
        .frame(field_frame(ui))
        .hint_text("0  Any token, with leading space")
        .desired_width(f32::INFINITY);
    let field = ui.add(edit).accessible_name("Type any token");
    let tokens = text
        .vocabulary
        .spell(&typed)
        .filter(|_| entered(ui, &field));
    if tokens.is_some() {
        typed.clear();
    }
    ui.data_mut(|data| data.insert_temp(id, typed));
    tokens.map(|tokens| Command::Branch(BranchCommand::Pick(pane, tokens)))
}

#[cfg(test)]
mod tests {
    use egui::{Key, Modifiers, vec2};
    use egui_kittest::kittest::Queryable as _;

    use crate::state::tests::written;
    use crate::state::{AppState, BranchCommand, Command, DockTab, Pace, PaneStatus};
    use crate::ui::testing::{Window, key, window_of};

    /// A window in step mode whose last token was taken back, so that it is the next one.
    fn stepping() -> Window {
        let mut state = written();
        state.view.dock_tab = DockTab::Loop;
        state.apply(Command::SetPace(Pace::Step));
        state.panes[3].settings.chain = state.panes[3].generation().unwrap().config.chain.clone();
        state.apply(Command::Branch(BranchCommand::StepBack));
        assert!(state.upcoming(3).is_some());
        let mut window = window_of(vec2(1280.0, 800.0), state);
        window.run_steps(2);
        window.get_by_label_contains("Keep running").focus();
        window.run_steps(2);
        window
    }

    /// Checks that the last pane continues after its first two tokens.
    fn assert_picked(state: &AppState) {
        let PaneStatus::Waiting { pending } = &state.panes[3].status else {
            panic!("the pane is not waiting");
        };
        let kept = pending.kept_text().unwrap();
        assert_eq!(kept.text(), " in a");
    }

    #[test]
    fn the_candidates_of_the_next_token_are_shown_and_a_number_picks_one() {
        let mut window = stepping();
        window.get_by_label("You are the sampler");
        window.get_by_label_contains("Pick 1: ‘cottage’");
        window.get_by_label_contains(", the coin");
        window.get_by_label_contains("Box 1 of 7, Tokens: 5 so far");
        key(&mut window, Modifiers::NONE, Key::Num2);
        assert_picked(window.state());
    }

    #[test]
    fn zero_lets_the_user_type_any_token() {
        let mut window = stepping();
        key(&mut window, Modifiers::NONE, Key::Num0);
        window.event(egui::Event::Text(" fox".to_owned()));
        window.run_steps(2);
        key(&mut window, Modifiers::NONE, Key::Enter);
        assert_picked(window.state());
    }

    #[test]
    fn a_click_picks_a_candidate() {
        let mut window = stepping();
        window.get_by_label_contains("Pick 3: ").click();
        window.run_steps(3);
        assert_picked(window.state());
    }
}
