//! What the votes say: strengths with intervals, once there are enough votes.

use egui::{Label, Popup, Role, Sense, Ui, WidgetInfo, vec2};

use crate::design::fonts::Face;
use crate::design::theme::Theme;
use crate::design::widgets::{Button, menu_item};
use crate::lab::LabCommand;
use crate::lab::blind::plot::{RAIL, WORDS, ends_of, figures_of, rail_ui};
use crate::lab::blind::{BLIND_VOTES, BlindCommand, BlindResults, BlindTest, Strength};
use crate::state::Command;

/// Draws the strengths, or how many votes have been cast of those needed.
pub(super) fn results_ui(ui: &mut Ui, blind: &BlindTest, commands: &mut Vec<Command>) {
    let theme = Theme::of(ui);
    ui.label(
        Face::SmallMedium
            .text("What the votes say")
            .color(theme.text_1),
    );
    let results = blind.results();
    let note = |ui: &mut Ui, words: &str| {
        ui.add(Label::new(Face::Small.text(words).color(theme.text_2)).wrap());
    };
    if results.are_named() {
        for place in results.order() {
            ui.scope(|ui| row_ui(ui, results, place));
        }
        note(
            ui,
            "Bradley-Terry strengths: how often a text is picked over one of average strength when \
             one is picked, with 95 % intervals. Votes for ‘can’t tell’ count for neither. The next \
             texts are those whose strengths are least certain.",
        );
    } else {
        let n = results.n_votes;
        let words =
            format!("Names are hidden until you have voted ten times: {n} of {BLIND_VOTES}.");
        note(ui, &words);
    }
    ui.add_space(2.0);
    note(ui, "The votes stay on this computer.");
    if blind.votes().is_empty() {
        return;
    }
    ui.horizontal(|ui| {
        let back = Button::new("Take back the last vote").quiet();
        if ui.add(back).clicked() {
            commands.push(Command::Lab(LabCommand::Blind(BlindCommand::TakeBackVote)));
        }
        let forget = ui.add(Button::new("Forget…").quiet());
        Popup::menu(&forget)
            .width(200.0)
            .gap(4.0)
            .accessible_name("Forget the votes")
            .show(|ui| {
                let n = blind.votes().len();
                let words = match n {
                    1 => "Forget the vote".to_owned(),
                    n => format!("Forget all {n} votes"),
                };
                if menu_item(ui, &words, "", false).clicked() {
                    commands.push(Command::Lab(LabCommand::Blind(BlindCommand::ClearVotes)));
                }
            });
    });
}

/// Draws one row: the settings, the chance with its interval, and a rail from 0 to 1.
fn row_ui(ui: &mut Ui, results: &BlindResults, place: usize) {
    let (Some(settings), Some(strength)) =
        (results.settings.get(place), results.strengths.get(place))
    else {
        return;
    };
    let theme = Theme::of(ui);
    ui.spacing_mut().item_spacing.y = 0.0;
    ui.spacing_mut().interact_size.y = WORDS;
    let Strength {
        chance,
        n_shown,
        n_picked,
        n_undecided,
        ..
    } = *strength;
    let votes = match n_undecided {
        0 => format!("{n_picked} of {n_shown} votes"),
        n => format!("{n_picked} of {n_shown} votes, {n} undecided"),
    };
    let figures = figures_of(strength);
    ui.horizontal(|ui| {
        let room = ui.available_width() - Face::Small.width(ui, &figures) - 12.0;
        ui.scope(|ui| {
            ui.set_max_width(room);
            let words = Face::Small.text(settings).color(theme.text_1);
            ui.add(Label::new(words).truncate()).on_hover_text(settings);
        });
        ui.with_layout(egui::Layout::right_to_left(egui::Align::Center), |ui| {
            ui.label(Face::Small.text(&figures).color(theme.text_2));
        });
    });
    let size = vec2(ui.available_width(), RAIL);
    let (rect, response) = ui.allocate_exact_size(size, Sense::hover());
    let [low, high] = ends_of(strength);
    let name = format!(
        "{settings}: picked {:.0} % of the time, between {low} and {high} %, {votes}",
        chance * 100.0
    );
    response.widget_info(|| WidgetInfo::labeled(Role::Label, true, &name));
    rail_ui(ui, rect, strength);
    response.on_hover_text(votes);
}
