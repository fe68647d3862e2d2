//! What a right answer is: one card per check, and a text to try them on.

use std::sync::Arc;

use egui::text::{LayoutJob, TextFormat};
use egui::{
    Align, Frame, Galley, Label, Margin, Popup, Rect, Sense, TextBuffer, TextEdit, Ui, Vec2, vec2,
};

use super::heading;
use crate::design::fonts::Face;
use crate::design::icons::{Icon, icon_button};
use crate::design::memo::remembered;
use crate::design::theme::Theme;
use crate::design::widgets::{Button, field_frame, long_text, menu_item, scrolled};
use crate::lab::prompts::TasksForm;
use crate::lab::prompts::figures::checks::{Check, CheckError, Verdict};
use crate::state::capitalize;

/// The kinds that the menu offers, each with an example. `{answer}` stands for the column of the
/// answers.
const KINDS: [&str; 12] = [
    "equals: {answer}",
    "iequals: {answer}",
    "choice: yes | no",
    "contains: {answer}",
    "icontains: {answer}",
    "starts-with: {answer}",
    "regex: ^\\d+$",
    "number: {answer}",
    "json",
    r#"schema: {"type": "object"}"#,
    "max words: 20",
    "not icontains: sorry",
];

/// Names of columns that hold what is expected.
const ANSWERS: [&str; 6] = ["answer", "expected", "ideal", "target", "output", "label"];

/// Draws the cards, and the menu that adds one.
pub(super) fn checks_ui(ui: &mut Ui, form: &mut TasksForm) {
    ui.label(heading(ui, "A right answer"));
    let mut removed = None;
    for (index, spec) in form.checks.iter_mut().enumerate() {
        if card_ui(ui, index, spec) {
            removed = Some(index);
        }
    }
    if let Some(index) = removed {
        form.checks.remove(index);
    }
    let is_judged = form.tasks().is_ok_and(|prepared| prepared.is_judged);
    if form.checks.is_empty() && !form.is_preparing() {
        let words = if is_judged {
            "As the file says."
        } else {
            "Answers aren’t judged: add a check."
        };
        let words = Face::Small.text(words).color(Theme::of(ui).text_3);
        ui.add(Label::new(words).wrap());
    }
    ui.horizontal(|ui| {
        add_ui(ui, form);
        let is_open = form.trial.is_some();
        let words = if is_open {
            "Close the trial"
        } else {
            "Try on a text…"
        };
        let button = Button::new(words).quiet();
        if ui.add_enabled(is_judged || is_open, button).clicked() {
            form.trial = (!is_open).then(String::new);
        }
    });
    trial_ui(ui, form);
}

/// Draws a check that can be edited as one line. Returns whether the user removed it.
fn card_ui(ui: &mut Ui, index: usize, spec: &mut String) -> bool {
    let theme = Theme::of(ui);
    let mut is_removed = false;
    Frame::new()
        .fill(theme.surface_2)
        .corner_radius(8)
        .inner_margin(Margin {
            left: 10,
            right: 4,
            top: 4,
            bottom: 6,
        })
        .show(ui, |ui| {
            ui.set_width(ui.available_width());
            ui.spacing_mut().item_spacing.y = 1.0;
            ui.horizontal(|ui| {
                let width = ui.available_width() - 40.0;
                let name = format!("Check {}", index + 1);
                let mut layouter =
                    |ui: &Ui, text: &dyn TextBuffer, _: f32| spec_galley(ui, text.as_str());
                let edit = TextEdit::singleline(spec)
                    .frame(Frame::NONE)
                    .layouter(&mut layouter)
                    .align(egui::Align2::LEFT_CENTER)
                    .min_size(vec2(0.0, 24.0))
                    .desired_width(width);
                ui.add(edit).accessible_name(&name);
                let name = format!("Remove check {}", index + 1);
                is_removed = icon_button(ui, Icon::Close, &name).clicked();
            });
            let read = read_spec(ui, spec);
            let color = if read.is_mistaken {
                theme.error
            } else {
                theme.text_3
            };
            ui.add(Label::new(Face::Small.text(&read.words).color(color)).wrap());
        });
    is_removed
}

/// What a card says of a check.
struct ReadSpec {
    /// The length of the kind with its colon, in bytes. 0 if the whole check is a value.
    n_kind: usize,
    /// How the value is compared, or what is wrong.
    words: String,
    is_mistaken: bool,
}

impl ReadSpec {
    fn of(spec: &str) -> Self {
        match sample(spec) {
            Ok(check) => {
                let kind = spec.split_inclusive(':').next().unwrap_or_default();
                let is_kind = kind.contains(check.kind_name());
                Self {
                    n_kind: if is_kind { kind.len() } else { 0 },
                    words: capitalize(check.sentence()),
                    is_mistaken: false,
                }
            }
            Err(error) => Self {
                n_kind: 0,
                words: capitalize(&error.to_string()),
                is_mistaken: true,
            },
        }
    }
}

/// Reads a check. What was read is kept, because patterns and schemas are compiled.
fn read_spec(ui: &Ui, spec: &str) -> Arc<ReadSpec> {
    let key = spec.to_owned();
    let n_kept = 32;
    remembered(ui.ctx(), "checks of tasks", n_kept, key, || {
        ReadSpec::of(spec)
    })
}

/// Lays out a check on one line: its kind stands out, and its value is set as code.
fn spec_galley(ui: &Ui, spec: &str) -> Arc<Galley> {
    let theme = Theme::of(ui);
    let n_kind = read_spec(ui, spec).n_kind;
    let (kind, value) = spec.split_at_checked(n_kind).unwrap_or(("", spec));
    let mut job = LayoutJob {
        break_on_newline: false,
        ..LayoutJob::default()
    };
    for (words, face, color) in [
        (kind, Face::Medium, theme.text_1),
        (value, Face::Code, theme.text_2),
    ] {
        let format = TextFormat {
            font_id: face.font(),
            color,
            valign: Align::Center,
            ..TextFormat::default()
        };
        job.append(words, 0.0, format);
    }
    ui.fonts_mut(|fonts| fonts.layout_job(job))
}

/// Reads a check. If a number or the like stands for a column, it is read with 1 in its place.
fn sample(spec: &str) -> Result<Check, CheckError> {
    let is_column = |spec: &str| spec.contains('{') && spec.contains('}');
    Check::parse(spec).or_else(|error| {
        if !is_column(spec) {
            return Err(error);
        }
        Check::parse_filled(spec, &|text| {
            if is_column(text) {
                "1".to_owned()
            } else {
                text.to_owned()
            }
        })
        .map_err(|_filled| error)
    })
}

/// Draws the menu of kinds.
fn add_ui(ui: &mut Ui, form: &mut TasksForm) {
    let columns = form.file().and_then(Result::ok);
    let columns = columns.map(|file| file.columns.as_slice());
    let answer = answer_column(columns.unwrap_or_default());
    let response = ui.add(Button::new("Another check").icon(Icon::Plus).quiet());
    let mut added = None;
    Popup::menu(&response)
        .width(250.0)
        .gap(4.0)
        .accessible_name("Another check")
        .show(|ui| {
            scrolled(ui, |ui| {
                for kind in KINDS {
                    let spec = match &answer {
                        Some(column) => kind.replace("{answer}", &format!("{{{column}}}")),
                        None => kind.replace("{answer}", "42"),
                    };
                    if menu_item(ui, &spec, "", false).clicked() {
                        added = Some(spec);
                    }
                }
            });
        });
    form.checks.extend(added);
}

/// Returns the column that holds what is expected: one with a usual name, or else the last of several.
fn answer_column(columns: &[String]) -> Option<&String> {
    let is_usual = |column: &&String| ANSWERS.contains(&column.to_lowercase().as_str());
    let usual = columns.iter().find(is_usual);
    usual.or_else(|| columns.last().filter(|_| columns.len() > 1))
}

/// Draws the text that the checks are tried on, and their verdicts.
fn trial_ui(ui: &mut Ui, form: &mut TasksForm) {
    let theme = Theme::of(ui);
    let Some(text) = &mut form.trial else {
        return;
    };
    let edit = long_text(text)
        .hint_text("An answer to the first task")
        .frame(field_frame(ui))
        .desired_rows(1)
        .desired_width(f32::INFINITY);
    ui.add(edit).accessible_name("Text to try");
    for (check, verdict) in form.trial_verdicts() {
        ui.horizontal_top(|ui| {
            verdict_icon_ui(ui, verdict.is_right());
            let words = match &verdict {
                Verdict::Right => check.spec(),
                Verdict::Wrong { why } => capitalize(why),
            };
            let words = Face::Small.text(words).color(theme.text_2);
            ui.add(Label::new(words).wrap());
        });
    }
}

/// Draws ✓ or ×, which screen readers call "right" and "wrong".
pub(in super::super) fn verdict_icon_ui(ui: &mut Ui, is_right: bool) {
    let theme = Theme::of(ui);
    let (rect, response) = ui.allocate_exact_size(Vec2::splat(16.0), Sense::hover());
    let square = Rect::from_center_size(rect.center(), Vec2::splat(14.0));
    let (icon, color, name) = if is_right {
        (Icon::Check, theme.success, "right")
    } else {
        (Icon::Close, theme.error, "wrong")
    };
    icon.paint(ui.painter(), square, color);
    response.widget_info(|| egui::WidgetInfo::labeled(egui::Role::Label, true, name));
}

#[cfg(test)]
mod tests {
    use super::{KINDS, answer_column, sample};

    #[test]
    fn every_kind_in_the_menu_is_a_check() {
        for kind in KINDS {
            assert!(sample(kind).is_ok(), "{kind}");
        }
        assert!(sample("number: {answer").is_err());
    }

    #[test]
    fn answers_are_in_a_column_with_a_usual_name_or_the_last() {
        let columns = ["question", "Answer", "topic"].map(str::to_owned);
        assert_eq!(answer_column(&columns), Some(&columns[1]));
        let others = ["q", "a"].map(str::to_owned);
        assert_eq!(answer_column(&others), Some(&others[1]));
        assert_eq!(answer_column(&others[..1]), None);
    }
}
