//! The right column: the selected run, and what can be done with it.

use egui::text::{LayoutJob, TextFormat};
use egui::{Label, Popup, ScrollArea, Sense, TextEdit, Ui, vec2};

use super::dates::phrase;
use super::requests::program_name;
use crate::design::fonts::Face;
use crate::design::icons::{Icon, icon_button};
use crate::design::theme::Theme;
use crate::design::widgets::{BADGE, Button, Notice, NoticeKind, badge, field_frame, menu_item};
use crate::export::{AskedSummary, PaneSummary, RunSummary};
use crate::generation::ByteSize;
use crate::generation::formatting::{counted, grouped};
use crate::interop::api::{EarlierRequest, Parting};
use crate::state::{
    AppState, Command, KeptRun, PathPurpose, RunCommand, capitalize, unix_time_secs,
};
use crate::ui::keys::entered;
use crate::ui::listening::reuse_bar;

/// The maximum length of the part of a text that is shown, in bytes.
const N_SHOWN: usize = 320;

/// Draws the column.
pub(super) fn details_ui(ui: &mut Ui, state: &mut AppState, commands: &mut Vec<Command>) {
    let Some(run) = state.runs.history.shown().cloned() else {
        return;
    };
    ui.spacing_mut().item_spacing.y = 4.0;
    let theme = Theme::of(ui);
    if let Some((_, typed)) = &mut state.runs.history.renaming {
        rename_ui(ui, typed, commands);
    } else {
        let name = Face::Read.text(run.name()).color(theme.text_1);
        ui.add(Label::new(name).wrap());
    }
    match &run.summary {
        Ok(summary) => {
            let facts = facts(&run, summary);
            let facts = Face::Small.text(facts).color(theme.text_2);
            ui.add(Label::new(facts).wrap());
            ui.add_space(6.0);
            actions_ui(ui, &run, commands);
            ui.add_space(8.0);
            ScrollArea::vertical().auto_shrink(false).show(ui, |ui| {
                // Keep the text clear of the scroll bar.
                ui.set_max_width(ui.available_width() - 14.0);
                if summary.result.is_some() {
                    let prompt = Face::Why.text(&summary.prompt).color(theme.text_2);
                    ui.add(Label::new(prompt).wrap());
                }
                if let Some(asked) = &summary.request {
                    asked_ui(ui, asked);
                }
                for pane in &summary.panes {
                    pane_ui(ui, pane);
                }
            });
        }
        Err(reason) => {
            Notice::new(NoticeKind::Error, &capitalize(reason)).show(ui);
            ui.add_space(6.0);
            if ui.add(Button::new("Delete")).clicked() {
                commands.push(Command::Run(RunCommand::Delete(run.file)));
            }
        }
    }
}

fn rename_ui(ui: &mut Ui, typed: &mut String, commands: &mut Vec<Command>) {
    let edit = TextEdit::singleline(typed)
        .font(Face::Read.font())
        .frame(field_frame(ui))
        .desired_width(f32::INFINITY);
    let field = ui.add(edit).accessible_name("Name of the run");
    if entered(ui, &field) {
        commands.push(Command::Run(RunCommand::Rename));
    } else if field.lost_focus() {
        commands.push(Command::Run(RunCommand::CancelRename));
    } else if !field.has_focus() {
        field.request_focus();
    }
}

/// "Today 15:38 · Quartet Stories · seed 42 · 4 panes, 6 turns · 0.4 MB"
fn facts(run: &KeptRun, summary: &RunSummary) -> String {
    let seeds = summary.panes.first().map(|pane| pane.seed);
    let panes = summary.result.is_none().then(|| summary.panes_words());
    let mut facts = vec![
        phrase(run.finished_at(), unix_time_secs()),
        summary.model.clone(),
    ];
    facts.extend(seeds.map(|seed| format!("seed {seed}")));
    facts.extend(panes);
    facts.push(ByteSize(run.n_bytes).to_string());
    facts.retain(|fact| !fact.is_empty());
    facts.join(" · ")
}

fn actions_ui(ui: &mut Ui, run: &KeptRun, commands: &mut Vec<Command>) {
    let file = &run.file;
    ui.horizontal(|ui| {
        ui.spacing_mut().item_spacing.x = 6.0;
        let open = Button::new("Open").primary().icon(Icon::File).hint("↵");
        if ui.add(open).clicked() {
            commands.push(Command::Run(RunCommand::OpenKept(file.clone())));
        }
        if run.is_run() {
            let verify = Button::new("Verify").icon(Icon::Check).hint("V");
            let hint = "Open this run, generate it again and compare every number";
            if ui.add(verify).on_hover_text(hint).clicked() {
                commands.push(Command::Run(RunCommand::VerifyKept(file.clone())));
            }
        }
        let export = Button::new("Export…").icon(Icon::Export);
        if ui.add(export.name("Export the run")).clicked() {
            commands.push(Command::AskPath(PathPurpose::ExportRun));
        }
        let more = icon_button(ui, Icon::More, "More");
        Popup::menu(&more)
            .width(180.0)
            .gap(4.0)
            .accessible_name("More")
            .show(|ui| {
                let label = if run.pinned { "Unpin" } else { "Pin" };
                if menu_item(ui, label, "", false).clicked() {
                    let (file, pinned) = (file.clone(), !run.pinned);
                    commands.push(Command::Run(RunCommand::Pin { file, pinned }));
                }
                if menu_item(ui, "Rename…", "F2", false).clicked() {
                    commands.push(Command::Run(RunCommand::BeginRename(file.clone())));
                }
                if menu_item(ui, "Delete", "Del", false).clicked() {
                    commands.push(Command::Run(RunCommand::Delete(file.clone())));
                }
            });
    });
}

/// Says which program asked, what it got, and how much of its prompt had to be read again.
fn asked_ui(ui: &mut Ui, AskedSummary { request, usage, .. }: &AskedSummary) {
    let theme = Theme::of(ui);
    let small = |words: String| Face::Small.text(words).color(theme.text_2);
    let program = program_name(request.program.as_deref());
    let undelivered = request.undelivered.as_ref().map(|why| {
        let n_tokens = counted(usage.n_written, "token");
        format!(" {} after {n_tokens}.", capitalize(why))
    });
    let words = format!(
        "{}, asked by {program}.{}",
        request.target,
        undelivered.unwrap_or_default()
    );
    ui.separator();
    ui.add_space(2.0);
    ui.add(Label::new(small(words)).wrap());
    ui.add_space(8.0);
    let n_read = usage.n_prompt.saturating_sub(usage.n_cached);
    let [read, all] = [n_read, usage.n_prompt].map(|n| grouped(n as f64));
    ui.horizontal(|ui| {
        ui.label(Face::Medium.text("What was read again").color(theme.text_1));
        ui.label(small(format!("{read} of {all} tokens")));
    });
    let (bar, _) = ui.allocate_exact_size(vec2(ui.available_width(), 14.0), Sense::hover());
    reuse_bar(ui, bar, *usage);
    if let Some(earlier) = &request.earlier {
        earlier_ui(ui, earlier);
    }
    ui.add_space(8.0);
}

/// Shows where the prompt parts from that of an earlier request.
fn earlier_ui(ui: &mut Ui, earlier: &EarlierRequest) {
    let theme = Theme::of(ui);
    let at = phrase(earlier.asked_at, unix_time_secs());
    let Some(Parting { before, now, then }) = &earlier.parting else {
        let words = format!(
            "It repeats an earlier request and its answer ({at}), {}, and goes on from there.",
            counted(earlier.n_common, "token")
        );
        ui.add(Label::new(Face::Small.text(words).color(theme.text_2)).wrap());
        return;
    };
    let mut job = LayoutJob::default();
    let mut append = |words: &str, color| {
        let font_id = Face::Why.font();
        job.append(words, 0.0, TextFormat::simple(font_id, color));
    };
    append(&format!("… {}", one_line_start(before)), theme.prompt_text);
    append(now, theme.text_1);
    ui.add(Label::new(job).wrap());
    let words = format!(
        "Until then it repeats an earlier request ({at}), which goes on with ‘{}’. What changes \
         costs least at the end.",
        then.trim()
    );
    ui.add(Label::new(Face::Small.text(words).color(theme.text_2)).wrap());
}

/// Returns a text with its line breaks as spaces.
fn one_line_start(text: &str) -> String {
    text.trim_start().replace(['\n', '\r'], " ")
}

fn pane_ui(ui: &mut Ui, pane: &PaneSummary) {
    let theme = Theme::of(ui);
    ui.separator();
    ui.add_space(2.0);
    ui.horizontal(|ui| {
        ui.spacing_mut().item_spacing.x = 8.0;
        badge(ui, pane.place, BADGE);
        ui.label(Face::Medium.text(&pane.name).color(theme.text_1));
        let facts = format!("{} · {} tokens", pane.settings, pane.n_tokens);
        ui.add(Label::new(Face::Small.text(facts).color(theme.text_2)).truncate());
    });
    let text = pane.text.trim();
    let end = text.floor_char_boundary(N_SHOWN);
    let shown = text.get(..end).unwrap_or_default();
    let shown = shown.split_whitespace().collect::<Vec<_>>().join(" ");
    let ellipsis = if end < text.len() { "…" } else { "" };
    let words = Face::Why
        .text(format!("{shown}{ellipsis}"))
        .color(theme.text_1);
    ui.add(Label::new(words).wrap());
    ui.add_space(6.0);
}
