//! The Stability tab: a text's stable intervals on the left, the map in the middle, and what the
//! selected cell means on the right.

mod choice;

use egui::{Label, Popup, Rect, Role, ScrollArea, Sense, Ui, WidgetInfo, pos2, vec2};

use self::choice::{CHOICES, choices_ui};
use crate::design::child_ui::child_ui;
use crate::design::fonts::Face;
use crate::design::icons::Icon;
use crate::design::theme::Theme;
use crate::design::widgets::{Button, Chip, SMALL_BADGE, badge, menu_item};
use crate::generation::formatting::counted;
use crate::lab::LabCommand;
use crate::lab::frame::bar::{export_files_ui, note_ui};
use crate::lab::frame::{Columns, Selection, Tab, TabPage};
use crate::lab::stability::StabilityDocument;
use crate::lab::stability::figures::{Flip, StableInterval};
use crate::lab::stability::plot::{StabilityPlot, stability_ui};
use crate::lab::stability::state::stability_source;
use crate::lab::stability::{StabilityAxes, StabilityCommand, StabilityRun};
use crate::plots::Target;
use crate::state::{AppState, Command, ResultFormat};

/// Explains the map of one token.
const HOW_TO_READ_TOKEN: &str = "The token’s recorded coin is applied to its distribution under other \
    settings, after the same tokens as in the text. Other settings could have changed those too. A \
    gray cell with a dot is unknown: it depends on a part of the distribution that was not recorded. \
    A thin gray line marks values at which the choice may change.";

/// Explains the map of a text.
const HOW_TO_READ: &str = "The recorded coins are applied to each step’s distribution under other \
    settings until a token differs. From there on the texts have different contexts, so the map \
    stops. A dot marks a lower bound: the record lacks part of the distribution, so the fork may \
    come later. Intervals are proven; a thin gray line marks values at which a token may change.";

pub(in crate::lab) const TAB: Tab = Tab {
    bar: stability_bar_ui,
    page: TabPage::ThreeColumns(stability_tab_ui),
    selection: Some(Selection {
        step: |lab, rows, columns| {
            if let Some(run) = &mut lab.stability.run {
                run.move_selection(rows, columns);
            }
        },
        open: |lab| {
            let run = lab.stability.run.as_ref();
            run.map(|run| {
                LabCommand::Stability(StabilityCommand::Open {
                    cell: run.shown_cell(),
                })
            })
        },
    }),
    keys: None,
};

/// Draws the menu of what the stability map varies, and its export menu.
fn stability_bar_ui(ui: &mut Ui, state: &mut AppState, commands: &mut Vec<Command>) {
    let is_there = state.lab.stability.run.is_some();
    export_files_ui(
        ui,
        "Export the map",
        is_there,
        ResultFormat::ALL.map(|format| {
            (
                format!("Map as {}…", format.extension().to_uppercase()),
                StabilityDocument(format),
            )
        }),
        commands,
    );
    let axes = &mut state.lab.stability.axes;
    let name = format!("Map over {}", axes.name());
    let response = ui.add(Chip::new(axes.name()).name(&name).quiet().chevron());
    Popup::menu(&response)
        .width(160.0)
        .gap(4.0)
        .accessible_name("Map over")
        .show(|ui| {
            for choice in StabilityAxes::ALL {
                if menu_item(ui, choice.name(), "", choice == *axes).clicked() {
                    *axes = choice;
                }
            }
        });
    if is_there {
        note_ui(ui, "without running the model");
    }
}

/// Draws the three columns.
fn stability_tab_ui(
    ui: &mut Ui,
    columns: Columns,
    state: &mut AppState,
    commands: &mut Vec<Command>,
) {
    let Columns {
        left,
        middle,
        right,
        ..
    } = columns;
    let (choices, left) = left.split_top_bottom_at_y(left.top() + CHOICES);
    choices_ui(&mut child_ui(ui, choices, "choices"), state);
    let place = state.lab.stability.run.as_ref().map(|run| run.text.place);
    let reason = stability_source(state).err();
    let Some(run) = &mut state.lab.stability.run else {
        let words = Face::Body.text(reason.unwrap_or_default());
        ui.put(middle, Label::new(words.color(Theme::of(ui).text_3)).wrap());
        return;
    };
    intervals_ui(&mut child_ui(ui, left, "intervals"), run, place);
    let shown = run.shown_cell();
    let sentence = format!("{}: {}", run.cell_words(shown), run.sentence(shown));
    let token = run.held_step().map(|step| run.token_words(step));
    let plot = StabilityPlot {
        map: &run.map,
        n_tokens: run.n_mapped(),
        token: token.as_deref(),
        pane: place,
        selected: Some((shown, &sentence)),
    };
    let side = middle.height().min(middle.width());
    let area = Rect::from_min_size(middle.min, vec2(middle.width().min(side * 1.1), side));
    let area_ui = &child_ui(ui, area, "map");
    let response = stability_ui(area_ui, area, plot, Target::Screen);
    if let Some(cell) = response.clicked {
        run.selected = Some(cell);
    }
    let read = response.hovered.unwrap_or(shown);
    reading_ui(&mut child_ui(ui, right, "reading"), run, read, commands);
}

fn intervals_ui(ui: &mut Ui, run: &StabilityRun, place: Option<usize>) {
    let theme = Theme::of(ui);
    ui.spacing_mut().item_spacing.y = 6.0;
    ui.horizontal(|ui| {
        ui.spacing_mut().item_spacing.x = 6.0;
        ui.label(
            Face::SmallMedium
                .text(match run.held_step() {
                    Some(_) => "How stable is this choice?",
                    None => "How stable is this text?",
                })
                .color(theme.text_1),
        );
        if let Some(place) = place {
            badge(ui, place, SMALL_BADGE);
        }
        let words = match run.held_step() {
            Some(step) => format!("token {}, {}", step + 1, run.token_words(step)),
            None => counted(run.text.steps.len(), "token"),
        };
        ui.label(Face::Small.text(words).color(theme.text_3));
    });
    ScrollArea::vertical().auto_shrink(false).show(ui, |ui| {
        let sentence = Face::Why.text(run.interval_sentence());
        ui.add(Label::new(sentence.color(theme.text_1)).wrap());
        if !run.intervals.is_complete() {
            return;
        }
        for interval in run.intervals.intervals() {
            ui.separator();
            interval_ui(ui, interval, run, place);
        }
        let changes = run.first_changes();
        if changes.is_empty() {
            return;
        }
        ui.separator();
        ui.label(
            Face::SmallMedium
                .text("What changes first")
                .color(theme.text_1),
        );
        for (value, change) in changes {
            ui.horizontal(|ui| {
                let (at, _) = ui.allocate_exact_size(vec2(96.0, 18.0), Sense::hover());
                let font = Face::Small.font();
                let left = pos2(at.left(), at.center().y);
                let align = egui::Align2::LEFT_CENTER;
                ui.painter().text(left, align, &value, font, theme.text_1);
                ui.add(Label::new(Face::Small.text(change).color(theme.text_2)).truncate());
            });
        }
    });
}

/// Draws the range of a setting, with the proven interval, the values around it that are unknown, and
/// the current value.
fn interval_ui(ui: &mut Ui, interval: &StableInterval, run: &StabilityRun, place: Option<usize>) {
    let theme = Theme::of(ui);
    let name = interval.parameter.name();
    let value_words = |value| interval.value_words(&run.text.config.chain, value);
    let (low, high) = (value_words(interval.low), value_words(interval.high));
    let unknown = interval.unknown_words();
    let unknown = unknown.map_or_else(String::new, |words| format!(", {words}"));
    let words = format!("{low} to {high}{unknown}");
    ui.horizontal(|ui| {
        ui.label(Face::Body.text(&name).color(theme.text_1));
        ui.with_layout(egui::Layout::right_to_left(egui::Align::Center), |ui| {
            ui.label(Face::Small.text(&words).color(theme.text_2));
        });
    });
    let Some([from, to]) = interval.parameter.slider_ends() else {
        return;
    };
    let (rect, response) = ui.allocate_exact_size(vec2(ui.available_width(), 18.0), Sense::hover());
    response.widget_info(|| {
        WidgetInfo::labeled(
            Role::Image,
            true,
            format!("{name} stays the same from {words}"),
        )
    });
    let x = |value: f64| {
        let share = if to > from {
            (value - from) / (to - from)
        } else {
            0.0
        };
        rect.left() + share.clamp(0.0, 1.0) as f32 * rect.width()
    };
    let y = rect.center().y;
    let rail = Rect::from_min_max(pos2(rect.left(), y - 2.0), pos2(rect.right(), y + 2.0));
    ui.painter().rect_filled(rail, 2, theme.surface_4);
    let color = place.map_or(theme.text_1, |place| theme.pane(place));
    let next = |flip: &Option<Flip>, end| flip.as_ref().map_or(end, |flip| flip.value);
    let unknown = [
        interval
            .open_below
            .then(|| [next(&interval.below, from), interval.low]),
        interval
            .open_above
            .then(|| [interval.high, next(&interval.above, to)]),
    ];
    for [start, end] in unknown.into_iter().flatten() {
        let unknown = Rect::from_min_max(pos2(x(start), y - 1.0), pos2(x(end), y + 1.0));
        ui.painter().rect_filled(unknown, 1, theme.text_3);
    }
    let (low, high) = (x(interval.low), x(interval.high).max(x(interval.low) + 3.0));
    let inside = Rect::from_min_max(pos2(low, y - 3.0), pos2(high, y + 3.0));
    ui.painter().rect_filled(inside, 2, color);
    let value = x(interval.value);
    let tick = Rect::from_min_max(pos2(value - 1.0, y - 7.0), pos2(value + 1.0, y + 7.0));
    ui.painter().rect_filled(tick, 1, theme.text_1);
}

fn reading_ui(ui: &mut Ui, run: &StabilityRun, cell: usize, commands: &mut Vec<Command>) {
    let theme = Theme::of(ui);
    ui.spacing_mut().item_spacing.y = 8.0;
    ui.label(Face::Strong.text(run.cell_words(cell)).color(theme.text_1));
    let sentence = Face::Why.text(run.sentence(cell)).color(theme.text_1);
    ui.add(Label::new(sentence).wrap());
    let open = Button::new("Open as pane").icon(Icon::Plus).hint("↵");
    if ui.add(open).clicked() {
        let cell = run.shown_cell();
        commands.push(Command::Lab(LabCommand::Stability(
            StabilityCommand::Open { cell },
        )));
    }
    ui.separator();
    ui.label(Face::SmallMedium.text("How to read it").color(theme.text_1));
    let how = match run.held_step() {
        Some(_) => HOW_TO_READ_TOKEN,
        None => HOW_TO_READ,
    };
    ui.add(Label::new(Face::Small.text(how).color(theme.text_2)).wrap());
}
