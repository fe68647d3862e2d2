//! The answers in a cell: whether each is right, its text and its seed.

use egui::text::{LayoutJob, TextFormat, TextWrapping};
use egui::{Align2, Color32, Label, Pos2, Rect, Role, Sense, Stroke, Ui, WidgetInfo, pos2, vec2};

use crate::design::fonts::Face;
use crate::design::icons::Icon;
use crate::design::theme::Theme;
use crate::design::widgets::focus_ring;
use crate::generation::Vocabulary;
use crate::generation::formatting::{counted, token_word};
use crate::lab::prompts::figures::checks::Verdict;
use crate::lab::prompts::figures::{Fork, JudgedAnswer, TaskResults};
use crate::plots::{TextRun, paint_text};
use crate::state::capitalize;

/// The height of an answer of one line.
const ROW: f32 = 30.0;

/// The space for the mark before an answer.
const MARK: f32 = 24.0;

/// How many lines of an answer are shown before it is selected, and how much of it at most, in bytes.
const N_LINES: usize = 2;
const N_SHOWN: usize = 20_000;

/// How much of an answer a screen reader reads, in bytes.
const N_SPOKEN: usize = 200;

/// The maximum number of answers that are listed.
const N_ANSWERS: usize = 256;

/// Draws the answers to a task under settings. Returns the one that was clicked.
pub(super) fn answers_ui(
    ui: &mut Ui,
    results: &TaskResults,
    (task, pane): (usize, usize),
    shown: usize,
) -> Option<usize> {
    let theme = Theme::of(ui);
    let error = results.error_of(task, pane);
    if let Some(error) = error {
        let words = Face::Small.text(capitalize(error)).color(theme.error);
        ui.add(Label::new(words).wrap());
        if results.answers(task, pane).is_empty() {
            return None;
        }
    }
    let fork = results.fork(task, pane);
    let is_judged = results.tasks().get(task).is_some_and(|own| own.is_judged);
    let answers = results.answers(task, pane);
    let mut clicked = None;
    ui.scope(|ui| {
        ui.spacing_mut().item_spacing.y = 0.0;
        for (index, answer) in answers.iter().take(N_ANSWERS).enumerate() {
            let row = AnswerRow {
                vocabulary: results.vocabulary_of(pane),
                fork: fork.as_ref(),
                number: index + 1,
                is_judged,
                is_selected: index == shown,
            };
            if row.show(ui, answer) {
                clicked = Some(index);
            }
        }
    });
    if let Some(answer) = answers.get(shown) {
        facts_ui(ui, results, answer, pane);
    }
    if let Some(fork) = &fork {
        fork_ui(ui, results.vocabulary_of(pane), fork);
    } else {
        same_ui(ui, answers);
    }
    clicked
}

/// Says that all answers are the same, if they are.
fn same_ui(ui: &mut Ui, answers: &[JudgedAnswer]) {
    let first = answers.first().map(|first| &first.answer.text);
    let mut texts = answers.iter().map(|answer| &answer.answer.text);
    if answers.len() > 1 && texts.all(|text| Some(text) == first) {
        let words = format!("All {} are the same.", counted(answers.len(), "answer"));
        ui.label(Face::Small.text(words).color(Theme::of(ui).text_3));
    }
}

/// An answer in the list.
struct AnswerRow<'a> {
    vocabulary: &'a Vocabulary,
    fork: Option<&'a Fork>,
    number: usize,
    is_judged: bool,
    is_selected: bool,
}

impl AnswerRow<'_> {
    /// Draws the row. Returns whether it was clicked.
    fn show(&self, ui: &mut Ui, answer: &JudgedAnswer) -> bool {
        let theme = Theme::of(ui);
        let width = ui.available_width();
        let seed = format!("seed {}", answer.seed);
        let seed_width = Face::Micro.width(ui, &seed);
        let mark = if self.is_judged { MARK } else { 0.0 };
        let room = (width - mark - seed_width - 10.0).max(60.0);
        let galley = ui.painter().layout_job(self.text(ui, answer, room));
        let height = (galley.size().y + 8.0).max(ROW);
        let (rect, response) = ui.allocate_exact_size(vec2(width, height), Sense::click());
        let is_selected = self.is_selected;
        response.widget_info(|| {
            WidgetInfo::selected(Role::Button, true, is_selected, self.name(answer))
        });
        if self.is_selected {
            let fill = rect.expand2(vec2(6.0, 0.0));
            ui.painter().rect_filled(fill, 4, theme.surface_2);
        }
        let edge = Stroke::new(1.0, theme.stroke_1);
        ui.painter().hline(rect.x_range(), rect.top(), edge);
        let line = rect.top() + ROW / 2.0;
        if self.is_judged {
            mark_ui(ui, pos2(rect.left() + 7.0, line), answer.is_right());
        }
        let at = pos2(rect.left() + mark, rect.top() + 4.0);
        ui.painter().galley(at, galley, theme.text_1);
        let run = TextRun::new(&seed, Face::Micro, theme.text_3);
        paint_text(ui, pos2(rect.right(), line), Align2::RIGHT_CENTER, run);
        focus_ring(ui, &response, 4);
        response.clicked()
    }

    /// Names the row for screen readers.
    fn name(&self, answer: &JudgedAnswer) -> String {
        let verdict = match (self.is_judged, answer.is_right()) {
            (false, _) => "",
            (true, true) => ", right",
            (true, false) => ", wrong",
        };
        let text = &answer.answer.text;
        let end = text.floor_char_boundary(N_SPOKEN);
        let text = text.get(..end).unwrap_or_default();
        format!("Answer {}{verdict}: {text}", self.number)
    }

    /// Lays out the text of an answer. The token at which right and wrong answers part is underlined.
    fn text(&self, ui: &Ui, answer: &JudgedAnswer, width: f32) -> LayoutJob {
        let theme = Theme::of(ui);
        let plain = text_format(Face::Read, theme.token_text);
        let parting = TextFormat {
            underline: Stroke::new(1.5, theme.text_1),
            ..plain.clone()
        };
        let aside = text_format(Face::Small, theme.text_3);
        let mut job = LayoutJob {
            wrap: TextWrapping {
                max_rows: if self.is_selected {
                    usize::MAX
                } else {
                    N_LINES
                },
                ..TextWrapping::wrap_at_width(width)
            },
            ..LayoutJob::default()
        };
        let text = &answer.answer.text;
        let end = text.floor_char_boundary(N_SHOWN);
        let fork = self.fork;
        let range = fork.and_then(|fork| fork.range_in(answer, self.vocabulary));
        let range = range.filter(|range| range.end <= end).unwrap_or(end..end);
        let lead = text.len() - text.trim_start().len();
        let before = text.get(lead.min(range.start)..range.start);
        job.append(before.unwrap_or_default(), 0.0, plain.clone());
        job.append(text.get(range.clone()).unwrap_or_default(), 0.0, parting);
        let after = text.get(range.end..end).unwrap_or_default();
        job.append(after.trim_end(), 0.0, plain);
        if text.trim().is_empty() {
            job.append(nothing_words(answer), 0.0, aside.clone());
        }
        if answer.answer.n_thought > 0 {
            let tokens = counted(answer.answer.n_thought, "token");
            job.append(&format!(" (after {tokens} of thought)"), 0.0, aside);
        }
        job
    }
}

fn text_format(face: Face, color: Color32) -> TextFormat {
    TextFormat {
        font_id: face.font(),
        line_height: Some(22.0),
        color,
        ..TextFormat::default()
    }
}

/// Says why an answer has no text.
fn nothing_words(answer: &JudgedAnswer) -> &'static str {
    if answer.answer.n_thought > 0 && !answer.answer.is_complete {
        "only a thought"
    } else {
        "nothing"
    }
}

/// Draws ✓ or ×.
fn mark_ui(ui: &Ui, center: Pos2, is_right: bool) {
    let theme = Theme::of(ui);
    let (icon, color) = if is_right {
        (Icon::Check, theme.success)
    } else {
        (Icon::Close, theme.error)
    };
    let square = Rect::from_center_size(center, vec2(14.0, 14.0));
    icon.paint(ui.painter(), square, color);
}

/// Says why the selected answer is wrong, how long it is and what ended it.
fn facts_ui(ui: &mut Ui, results: &TaskResults, answer: &JudgedAnswer, pane: usize) {
    let theme = Theme::of(ui);
    ui.add_space(4.0);
    if let Verdict::Wrong { why } = &answer.verdict {
        let words = Face::Small.text(capitalize(why)).color(theme.text_1);
        ui.add(Label::new(words).wrap());
    }
    let Some(pane) = results.settings_at(pane) else {
        return;
    };
    let n = counted(answer.tokens.len(), "token");
    let mut facts = vec![format!("{n} · {}", answer.finish_words(&pane.chain))];
    facts.extend(pane.host_words());
    for words in facts {
        let words = Face::Small.text(words).color(theme.text_3);
        ui.add(Label::new(words).wrap());
    }
}

/// Says at which token right and wrong answers part.
fn fork_ui(ui: &mut Ui, vocabulary: &Vocabulary, fork: &Fork) {
    let mut words: Vec<String> = Vec::new();
    for next in &fork.next {
        let word = match next {
            Some(token) => format!("‘{}’", token_word(&vocabulary.piece(*token))),
            None => "the end".to_owned(),
        };
        if !words.contains(&word) {
            words.push(word);
        }
    }
    if words.len() > 1 {
        let sentence = format!(
            "The answers part at token {}: {}.",
            fork.shared.len() + 1,
            words.join(", ")
        );
        let words = Face::Small.text(sentence).color(Theme::of(ui).text_2);
        ui.add(Label::new(words).wrap());
    }
}
