//! The grammar of a pane: its kind, when it is applied, and its text.

use std::sync::Arc;

use egui::{Color32, RectAlign, ScrollArea, Stroke, Ui};

use super::Shown;
use super::arrival::arrive_ui;
use super::draw::title_line_ui;
use super::number_line::{INDENT, error_ui};
use super::ways::{Way, way_row_ui};
use crate::decoding::{ChainConfig, GrammarKind, GrammarMode, GrammarRule};
use crate::design::fonts::Face;
use crate::design::theme::Theme;
use crate::design::widgets::{Button, Chip, field_frame, inner_menu, long_text, menu_item};
use crate::state::{Command, PaneId, PathPurpose};

/// The initial height of the text field in rows, and its maximum height in points.
const ROWS: usize = 3;
const MAX_HEIGHT: f32 = 150.0;

/// Draws the editor of the grammar. Returns whether it was changed.
pub(super) fn grammar_ui(
    ui: &mut Ui,
    shown: &Shown<'_>,
    chain: &mut ChainConfig,
    commands: &mut Vec<Command>,
) -> bool {
    let before = chain.grammar.clone();
    let (pane, way) = (shown.pane, Way::Grammar);
    let rule = chain.grammar.as_deref();
    let legal = rule.and_then(|rule| shown.live?.legal_words(rule));
    let words = legal.as_deref().unwrap_or(way.summary());
    way_row_ui(ui, way, words, |ui| kind_ui(ui, chain));
    if let Some(rule) = chain.grammar.clone() {
        title_line_ui(ui, "Applied", |ui| mode_ui(ui, &rule, chain));
        if rule.kind() != GrammarKind::Json {
            text_ui(ui, &rule, chain);
            buttons_ui(ui, pane, &rule, chain, commands);
        }
        if let Err(error) = rule.validate() {
            error_ui(ui, &error.to_string());
        }
        ui.add_space(4.0);
    }
    chain.grammar != before
}

fn kind_ui(ui: &mut Ui, chain: &mut ChainConfig) {
    let kind = chain.grammar.as_ref().map(|rule| rule.kind());
    let label = kind.map_or("Off", GrammarKind::name);
    let name = format!("Grammar: {label}");
    let chip = ui.add(Chip::new(label).name(&name).chevron());
    arrive_ui(ui, "Grammar", &chip);
    inner_menu(&chip, "Grammar", (RectAlign::BOTTOM_END, 190.0), |ui| {
        if menu_item(ui, "Off", "", kind.is_none()).clicked() {
            chain.grammar = None;
        }
        for other in GrammarKind::ALL {
            let chosen = kind == Some(other);
            let item = menu_item(ui, other.name(), "", chosen);
            if item.on_hover_text(other.help()).clicked() && !chosen {
                let mode = chain.grammar.as_ref().map(|rule| rule.mode());
                let rule = GrammarRule::new(other, other.example());
                chain.grammar = Some(Arc::new(rule.with_mode(mode.unwrap_or_default())));
            }
        }
    });
    chip.on_hover_text(kind.map_or(GrammarRule::HELP, GrammarKind::help));
}

fn mode_ui(ui: &mut Ui, rule: &GrammarRule, chain: &mut ChainConfig) {
    for mode in GrammarMode::ALL {
        let chip = Chip::new(mode.name()).open(rule.mode() == mode);
        if ui.add(chip).on_hover_text(mode.help()).clicked() {
            chain.grammar = Some(Arc::new(rule.clone().with_mode(mode)));
        }
    }
}

fn text_ui(ui: &mut Ui, rule: &GrammarRule, chain: &mut ChainConfig) {
    let mut text = rule.text().to_string();
    let is_invalid = rule.validate().is_err();
    ui.horizontal(|ui| {
        ui.add_space(INDENT);
        let width = ui.available_width() - 10.0;
        let field = ScrollArea::vertical()
            .id_salt("grammar")
            .max_height(MAX_HEIGHT)
            .show(ui, |ui| {
                let mut frame = field_frame(ui);
                if is_invalid {
                    frame = frame.stroke(Stroke::new(1.0, error_color(ui)));
                }
                let edit = long_text(&mut text)
                    .code_editor()
                    // Tab leaves the field, as it leaves all others.
                    .lock_focus(false)
                    .font(Face::Code.font())
                    .frame(frame)
                    .hint_text("Type a grammar, or use JSON")
                    .desired_rows(ROWS)
                    .desired_width(width);
                ui.add(edit)
            });
        let response = field.inner;
        response.clone().accessible_name("Grammar text");
        if response.changed() {
            set_text(rule, &text, chain);
        }
    });
}

fn buttons_ui(
    ui: &mut Ui,
    pane: PaneId,
    rule: &GrammarRule,
    chain: &mut ChainConfig,
    commands: &mut Vec<Command>,
) {
    ui.horizontal(|ui| {
        ui.spacing_mut().item_spacing.x = 4.0;
        ui.add_space(INDENT);
        if ui.add(Button::new("Open a file…").quiet()).clicked() {
            commands.push(Command::AskPath(PathPurpose::Grammar(pane)));
        }
        let example = rule.kind().example();
        if **rule.text() != *example && ui.add(Button::new("Insert the example").quiet()).clicked()
        {
            set_text(rule, example, chain);
        }
        let help = Face::Small.text(rule.kind().help());
        ui.add(egui::Label::new(help.color(Theme::of(ui).text_3)).truncate());
    });
}

fn set_text(rule: &GrammarRule, text: &str, chain: &mut ChainConfig) {
    let edited = GrammarRule::new(rule.kind(), text).with_mode(rule.mode());
    chain.grammar = Some(Arc::new(edited));
}

fn error_color(ui: &Ui) -> Color32 {
    Theme::of(ui).error
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use egui::vec2;
    use egui_kittest::kittest::Queryable as _;

    use crate::decoding::{GrammarKind, GrammarMode, GrammarRule};
    use crate::state::tests::written;
    use crate::ui::testing::{press, window_of};

    #[test]
    fn a_grammar_is_chosen_and_its_error_is_shown_below_the_field() {
        let mut state = written();
        let chain = &mut state.panes[0].settings.chain;
        chain.grammar = Some(Arc::new(GrammarRule::new(GrammarKind::Regex, "[a")));
        let mut window = window_of(vec2(1280.0, 800.0), state);
        window.run_steps(3);
        press(&mut window, "How A chooses");
        window.get_by_label("Line 1, column 1: unclosed character class");
        press(&mut window, "Check after the draw");
        let rule = window.state().panes[0].settings.chain.grammar.clone();
        assert_eq!(rule.unwrap().mode(), GrammarMode::Check);
        press(&mut window, "Grammar: Regular expression");
        press(&mut window, "Any JSON");
        let rule = window.state().panes[0].settings.chain.grammar.clone();
        assert_eq!(rule.unwrap().kind(), GrammarKind::Json);
    }
}
