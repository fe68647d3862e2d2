//! The dialog that tests a text for a watermark: what to look for, the text, its tokens tinted by
//! their scores, and the p-value as the text grows.

use egui::text::{LayoutJob, TextFormat};
use egui::{Id, Modal, ScrollArea, Ui};

use super::chain_editor::{layer_keys_ui, number_lines_ui};
use crate::analysis::watermark::{Verdict, WatermarkScan, cost_words};
use crate::decoding::filters::{GreenList, SynthId};
use crate::decoding::watermark::Watermark;
use crate::decoding::{Filter, Selector};
use crate::design::fonts::Face;
use crate::design::theme::Theme;
use crate::design::widgets::{Button, Chip, cut_note, field_frame, long_text};
use crate::generation::formatting::grouped;
use crate::plots::p_value_plot_ui;
use crate::state::{AppState, Command, Tint, WATERMARKS, WatermarkCommand, WatermarkDialog};

const WIDTH: f32 = 720.0;

/// The heights of the text box, of the tinted tokens and of the plot, in points.
const TEXT: f32 = 96.0;
const TOKENS: f32 = 110.0;
const PLOT: f32 = 130.0;

/// Draws the dialog, if it is open.
pub(super) fn watermark_dialog_ui(ui: &Ui, state: &mut AppState, commands: &mut Vec<Command>) {
    let Some(mut dialog) = state.dialogs.watermark.take() else {
        return;
    };
    let frame = egui::Frame::window(ui.style()).inner_margin(22);
    let modal = Modal::new(Id::unique("test for a watermark")).frame(frame);
    let response = modal.show(ui, |ui| {
        ui.set_width(WIDTH);
        ui.spacing_mut().item_spacing.y = 6.0;
        let theme = Theme::of(ui);
        ui.label(Face::Title.text("Test for a watermark").color(theme.text_1));
        let mut changed = mark_ui(ui, &mut dialog);
        changed |= text_ui(ui, &mut dialog.text);
        if changed {
            commands.push(Command::Watermark(WatermarkCommand::Edited));
        }
        verdict_ui(ui, &dialog);
        if let Some(scan) = dialog.scan() {
            tokens_ui(ui, &dialog, scan);
            plot_ui(ui, scan);
        }
        ui.add_space(2.0);
        ui.horizontal(|ui| {
            if ui.add(Button::new("Close").primary()).clicked() {
                commands.push(Command::Watermark(WatermarkCommand::Close));
            }
            let hint = "Nothing leaves this computer, and no model runs";
            ui.label(Face::Small.text(hint).color(theme.text_3));
        });
    });
    if response.should_close() {
        commands.push(Command::Watermark(WatermarkCommand::Close));
    }
    state.dialogs.watermark = Some(dialog);
}

/// Draws the choice of the watermark and its parameters. Returns whether it was changed.
fn mark_ui(ui: &mut Ui, dialog: &mut WatermarkDialog) -> bool {
    let before = dialog.watermark;
    ui.horizontal(|ui| {
        for kind in WATERMARKS {
            let is_chosen = kind.name() == before.name();
            let name = format!("Kind: {}", kind.name());
            let chip = Chip::new(kind.name()).name(&name).open(is_chosen);
            if ui.add(chip).clicked() && !is_chosen {
                dialog.choose(kind);
            }
        }
        let words = cost_words(&dialog.watermark);
        let words = format!("Cost in quality: {}", words.to_lowercase());
        ui.label(Face::Small.text(words).color(Theme::of(ui).text_3));
    });
    match &mut dialog.watermark {
        Watermark::GreenList(list) => {
            let mut filter = Filter::GreenList(*list);
            let params = filter.spec().params.get(1..).unwrap_or_default();
            number_lines_ui(ui, GreenList::NAME, params, &mut filter);
            if let (Filter::GreenList(edited), Ok(())) = (&filter, filter.validate()) {
                *list = *edited;
            }
        }
        Watermark::GumbelMark(mark) => {
            let mut selector = Selector::GumbelMark(*mark);
            let spec = selector.spec();
            number_lines_ui(ui, spec.name, spec.params, &mut selector);
            if let (Selector::GumbelMark(edited), Ok(())) = (selector, selector.validate()) {
                *mark = edited;
            }
        }
        Watermark::SynthId(synth) => {
            let mut filter = Filter::SynthId(*synth);
            let params = filter.spec().params;
            number_lines_ui(ui, SynthId::NAME, params, &mut filter);
            if let (Filter::SynthId(edited), Ok(())) = (&filter, filter.validate()) {
                *synth = *edited;
            }
            layer_keys_ui(ui, Id::unique("keys to look for"), &mut synth.keys);
        }
    }
    dialog.watermark != before
}

/// Draws the box for the text. Returns whether it was edited.
fn text_ui(ui: &mut Ui, text: &mut String) -> bool {
    let theme = Theme::of(ui);
    let label = ui.label(Face::Small.text("Text to test").color(theme.text_2));
    let area = ScrollArea::vertical().id_salt("text").max_height(TEXT);
    let field = area.show(ui, |ui| {
        let edit = long_text(text)
            .font(Face::Read.font())
            .frame(field_frame(ui))
            .hint_text("Paste a text, or edit one and see how much of the watermark is left")
            .desired_rows(3)
            .desired_width(f32::INFINITY);
        ui.add(edit).labelled_by(label.id)
    });
    let is_changed = field.inner.changed();
    cut_note(ui, text);
    is_changed
}

fn verdict_ui(ui: &mut Ui, dialog: &WatermarkDialog) {
    let theme = Theme::of(ui);
    if let Some(error) = dialog.error() {
        ui.label(Face::Small.text(error).color(theme.error));
        return;
    }
    let Some(scan) = dialog.scan() else {
        let hint = "Enter a text to test";
        ui.label(Face::Small.text(hint).color(theme.text_3));
        return;
    };
    let color = match scan.verdict() {
        Verdict::Found => theme.success,
        Verdict::NotFound | Verdict::TooShort => theme.text_1,
    };
    ui.horizontal(|ui| {
        ui.label(Face::Medium.text(scan.verdict_words()).color(color));
        let counts = counts_words(scan);
        ui.label(Face::Small.text(counts).color(theme.text_3));
    });
}

/// "106 tokens scored, 44 green (26.5 expected); repeated contexts not counted: 2".
fn counts_words(scan: &WatermarkScan) -> String {
    let n_scored = grouped(scan.n_scored() as f64);
    let expected = scan.expected_score() * scan.n_scored() as f64;
    let found = match scan.watermark() {
        Watermark::GreenList(_) => {
            format!("{} green ({expected:.1} expected)", scan.score())
        }
        Watermark::GumbelMark(_) | Watermark::SynthId(_) => {
            format!("score {:.1} ({expected} expected)", scan.score())
        }
    };
    let repeated = match scan.n_repeated() {
        0 => String::new(),
        n => format!("; repeated contexts not counted: {n}"),
    };
    format!("{n_scored} tokens scored, {found}{repeated}")
}

/// Draws the tokens, tinted by their scores.
fn tokens_ui(ui: &mut Ui, dialog: &WatermarkDialog, scan: &WatermarkScan) {
    let theme = Theme::of(ui);
    let mut job = LayoutJob::default();
    for (index, token) in dialog.tokens().iter().enumerate() {
        let format = TextFormat {
            font_id: Face::Read.font(),
            color: theme.token_text,
            background: theme.tint(Tint::Watermark, scan.tint_step(index)),
            ..TextFormat::default()
        };
        job.append(&token.piece.to_string(), 0.0, format);
    }
    let area = ScrollArea::vertical().id_salt("tokens").max_height(TOKENS);
    area.show(ui, |ui| ui.label(job));
}

fn plot_ui(ui: &mut Ui, scan: &WatermarkScan) {
    let size = egui::vec2(ui.available_width(), PLOT);
    ui.allocate_ui(size, |ui| {
        ui.set_min_size(size);
        p_value_plot_ui(ui, scan);
    });
}

#[cfg(test)]
mod tests {
    use egui::vec2;
    use egui_kittest::kittest::Queryable as _;

    use crate::analysis::trend::Trend;
    use crate::decoding::watermark::Watermark;
    use crate::generation::PromptToken;
    use crate::state::tests::{deliver_tokens, written};
    use crate::state::{Command, PaneAction, Plot, RightPlot, Tint};
    use crate::ui::testing::{Window, press, window_of};

    /// Opens the dialog with a pane's text, as the pane's menu does.
    fn opened() -> Window {
        let mut state = written();
        let pane = state.panes[0].id;
        let command = PaneAction::TestWatermark.command(pane, &state);
        assert!(matches!(command, Ok(Command::Watermark(_))));
        state.apply(command.unwrap());
        let text = state.panes[0].generation().unwrap();
        let tokens = text.steps.iter().map(|step| PromptToken {
            id: step.token,
            piece: step.piece.clone(),
        });
        let (text, tokens) = (text.text(), tokens.collect());
        deliver_tokens(&mut state, &text, tokens);
        window_of(vec2(1280.0, 800.0), state)
    }

    #[test]
    fn a_pane_s_text_is_tested_for_the_chosen_kind_and_key() {
        let mut window = opened();
        window.run_steps(4);
        window.get_by_label_contains("Too short to tell");
        window.get_by_label_contains("p-value against length");
        window.get_by_label_contains("None on average".to_lowercase().as_str());
        press(&mut window, "Kind: Green list");
        let chosen = window.state().view.watermark;
        assert!(matches!(chosen, Some(Watermark::GreenList(list)) if list.key == 42));
        window.get_by_label_contains("it makes green tokens more likely");
        press(&mut window, "Kind: SynthID-Text");
        let chosen = window.state().view.watermark;
        assert!(matches!(chosen, Some(Watermark::SynthId(_))));
        window.get_by_label("Keys");
        press(&mut window, "Close");
        assert_eq!(window.state().dialogs.watermark, None);
    }

    #[test]
    fn the_tint_and_the_plot_offer_what_to_look_for() {
        let mut state = written();
        state.view.tint = Tint::Watermark;
        state.view.right_plot = RightPlot(Plot::Trend(Trend::Watermark));
        let mut window = window_of(vec2(1280.0, 800.0), state);
        window.run_steps(4);
        window.get_by_label_contains("No pane leaves a watermark");
        press(&mut window, "Plot on the right");
        press(&mut window, "Watermark to look for…");
        assert!(window.state().dialogs.watermark.is_some());
        press(&mut window, "Kind: Green list");
        press(&mut window, "Close");
        window.state_mut().review(|| true);
        window.run_steps(4);
        window.get_by_label_contains("p-value of the text so far: A p ");
        assert!(
            window
                .query_all_by_label_contains("Too short to tell")
                .count()
                > 0
        );
        window.get_by_label("green");
    }
}
