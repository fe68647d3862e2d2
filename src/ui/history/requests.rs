//! The requests of other programs: those that are open, those that were refused, and the runs that
//! answer the others.

use egui::text::LayoutJob;
use egui::{
    Align, Color32, Label, Layout, Pos2, Rect, Role, ScrollArea, Sense, Ui, WidgetInfo, pos2, vec2,
};

use super::dates::heading_and_time;
use super::row::paint_line;
use crate::design::fonts::Face;
use crate::design::icons::Icon;
use crate::design::theme::Theme;
use crate::design::widgets::{Button, ControlColors, focus_ring, paint_fill};
use crate::export::AskedSummary;
use crate::generation::formatting::{counted, grouped};
use crate::interop::api::{EarlierRequest, Usage};
use crate::lab::LabTab;
use crate::state::{
    AnswerAgain, AppState, AskedAgain, Command, KeptRun, ListenCommand, RefusedRequest, RunCommand,
    capitalize, unix_time_secs,
};
use crate::ui::listening::reuse_bar;

const ROW: f32 = 60.0;

/// The width of the column with the state of a request, in points.
const STATE: f32 = 150.0;

/// What is painted about a request.
struct Row<'a> {
    time: String,
    asked: &'a str,
    program: String,
    /// How much of its prompt was reused, and what is said about that.
    usage: Option<Usage>,
    words: String,
    state: (State, String),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    Open,
    Done,
    Cut,
    /// It was answered differently when it was asked again.
    Differs,
    Refused,
}

/// A request that is no longer open.
enum Closed<'a> {
    Answered(&'a KeptRun),
    Refused(&'a RefusedRequest),
}

impl Closed<'_> {
    fn at(&self) -> u64 {
        match self {
            Self::Answered(run) => asked_at(run),
            Self::Refused(refused) => refused.asked_at,
        }
    }
}

fn asked_at(run: &KeptRun) -> u64 {
    let asked = run.asked().map(|asked| asked.request.asked_at);
    asked.unwrap_or_else(|| run.finished_at())
}

/// Draws the requests, or how to make one.
pub(super) fn requests_ui(ui: &mut Ui, state: &AppState, commands: &mut Vec<Command>) {
    let listening = &state.runs.listening;
    let history = &state.runs.history;
    let answered = history.found().into_iter().map(Closed::Answered);
    let refused = listening.refused.iter().map(Closed::Refused);
    let mut closed: Vec<Closed<'_>> = answered.chain(refused).collect();
    closed.sort_by_key(|one| std::cmp::Reverse(one.at()));
    if closed.is_empty() && listening.open.is_empty() {
        return empty_ui(ui, state, commands);
    }
    actions_ui(ui, &closed, &listening.again, commands);
    let now = unix_time_secs();
    let shown = history.shown().map(|run| run.file.clone());
    ScrollArea::vertical().auto_shrink(false).show(ui, |ui| {
        ui.spacing_mut().item_spacing.y = 0.0;
        for open in listening.open.iter().rev() {
            let row = Row {
                time: heading_and_time(open.client.asked_at, now).1,
                asked: &open.asked,
                program: program_name(open.client.user_agent.as_deref()),
                usage: open.usage,
                words: open.usage.map_or_else(String::new, |usage| {
                    reuse_words(usage, open.earlier.as_ref())
                }),
                state: (State::Open, open_words(open.usage)),
            };
            row_ui(ui, &row, None);
        }
        let mut last_heading = "";
        for one in &closed {
            let (heading, time) = heading_and_time(one.at(), now);
            if heading != last_heading {
                super::list::heading_ui(ui, heading);
                last_heading = heading;
            }
            match one {
                Closed::Answered(run) => {
                    let again = listening.again.result(&run.file);
                    answered_ui(ui, (run, again), time, shown.as_ref(), commands);
                }
                Closed::Refused(refused) => {
                    row_ui(ui, &refused_row(refused, time), None);
                }
            }
        }
    });
}

/// Draws what can be done with all the requests that are listed.
fn actions_ui(ui: &mut Ui, closed: &[Closed<'_>], again: &AskedAgain, commands: &mut Vec<Command>) {
    let answered = closed.iter().filter_map(|one| match one {
        Closed::Answered(run) => Some(run.file.clone()),
        Closed::Refused(_) => None,
    });
    let files: Vec<String> = answered.collect();
    ui.horizontal(|ui| {
        ui.set_height(32.0);
        ui.add_space(12.0);
        let n_requests = counted(closed.len(), "request");
        ui.label(Face::Small.text(n_requests).color(Theme::of(ui).text_3));
        ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
            ui.add_space(8.0);
            let tasks = Button::new("Use as tasks…").quiet().icon(Icon::List);
            let hint = "Ask all listed requests in several settings, and judge the answers";
            let response = ui.add_enabled(!files.is_empty(), tasks).on_hover_text(hint);
            if response.clicked() {
                let (files, tab) = (files.clone(), LabTab::Prompts);
                commands.push(Command::Run(RunCommand::UseAsTasks { files, tab }));
            }
            if again.is_running() {
                if ui.add(Button::new("Stop asking").quiet().icon(Icon::Stop)).clicked() {
                    commands.push(Command::Run(RunCommand::StopAsking));
                }
            } else {
                let ask = Button::new("Ask them again").quiet().icon(Icon::Again);
                let hint = "Answer all listed requests again with the model that is loaded now, and \
                            compare the answers token by token";
                let response = ui.add_enabled(!files.is_empty(), ask).on_hover_text(hint);
                if response.clicked() {
                    commands.push(Command::Run(RunCommand::AskAgain(files)));
                }
            }
            if let Some(words) = again.words() {
                ui.label(Face::Small.text(words).color(Theme::of(ui).text_2));
            }
        });
    });
}

fn answered_ui(
    ui: &mut Ui,
    (run, again): (&KeptRun, Option<&AnswerAgain>),
    time: String,
    shown: Option<&String>,
    commands: &mut Vec<Command>,
) {
    let Some(asked) = run.asked() else {
        return;
    };
    let name = run.name();
    let row = Row {
        time,
        asked: &name,
        program: program_name(asked.request.program.as_deref()),
        usage: Some(asked.usage),
        words: match again {
            Some(again) => format!("Asked again: {}", again.words),
            None => reuse_words(asked.usage, asked.request.earlier.as_ref()),
        },
        state: match again {
            Some(AnswerAgain { is_same: false, .. }) => (State::Differs, "Different".to_owned()),
            _ => answered_state(asked),
        },
    };
    let response = row_ui(ui, &row, Some(shown == Some(&run.file)));
    if response.clicked() {
        commands.push(Command::Run(RunCommand::Select(run.file.clone())));
    }
    if response.double_clicked() {
        commands.push(Command::Run(RunCommand::OpenKept(run.file.clone())));
    }
}

/// Returns what a program is called: its user agent as a name and a version.
pub(in crate::ui) fn program_name(user_agent: Option<&str>) -> String {
    let Some(agent) = user_agent else {
        return "an unnamed program".to_owned();
    };
    let first = agent.split_whitespace().next().unwrap_or_default();
    first.replacen('/', " ", 1)
}

fn open_words(usage: Option<Usage>) -> String {
    match usage {
        None => "Waiting".to_owned(),
        Some(Usage { n_written: 0, .. }) => "Reading the prompt".to_owned(),
        Some(usage) => format!("Writing, {}", counted(usage.n_written, "token")),
    }
}

fn answered_state(asked: &AskedSummary) -> (State, String) {
    let n_tokens = counted(asked.usage.n_written, "token");
    if asked.request.undelivered.is_some() || asked.is_stopped {
        return (State::Cut, format!("Cut after {n_tokens}"));
    }
    let secs = asked.secs.map(|secs| format!("{secs:.1} s"));
    let facts: Vec<String> = [n_tokens].into_iter().chain(secs).collect();
    (State::Done, facts.join(" · "))
}

/// "1,812 of 1,904 tokens reused; broke at ‘Saturday’"
pub(in crate::ui) fn reuse_words(usage: Usage, earlier: Option<&EarlierRequest>) -> String {
    let broke = earlier.and_then(EarlierRequest::broke_words);
    match (usage.reuse_words(), broke) {
        (Some(reused), Some(broke)) => format!("{reused}; {broke}"),
        (Some(reused), None) => reused,
        (None, _) if usage.n_prompt == 0 => String::new(),
        (None, _) => format!("{} tokens, none reused", grouped(usage.n_prompt as f64)),
    }
}

fn refused_row(refused: &RefusedRequest, time: String) -> Row<'_> {
    let state = match (refused.was_early, refused.n_times) {
        (false, 1) => "Refused".to_owned(),
        (true, 1) => "Turned away".to_owned(),
        (false, n) => format!("Refused {n} times"),
        (true, n) => format!("Turned away {n} times"),
    };
    Row {
        time,
        asked: match refused.asked.as_str() {
            "" => &refused.target,
            asked => asked,
        },
        program: program_name(refused.program.as_deref()),
        usage: None,
        words: capitalize(&refused.reason),
        state: (State::Refused, state),
    }
}

/// Draws a row. `selected` is `None` if it can't be selected.
fn row_ui(ui: &mut Ui, row: &Row<'_>, selected: Option<bool>) -> egui::Response {
    let size = vec2(ui.available_width() - 8.0, ROW);
    let sense = match selected {
        Some(_) => Sense::click(),
        None => Sense::hover(),
    };
    let (rect, response) = ui.allocate_exact_size(size, sense);
    let asked = row.asked.split_whitespace().collect::<Vec<_>>().join(" ");
    let facts = [&row.program, &row.state.1, &row.words];
    let facts: Vec<&str> = (facts.into_iter().map(String::as_str))
        .filter(|fact| !fact.is_empty())
        .collect();
    let label = format!("Request {}, {asked}, {}", row.time, facts.join(", "));
    response.widget_info(|| {
        WidgetInfo::selected(Role::ListItem, true, selected.unwrap_or_default(), &label)
    });
    if !ui.is_rect_visible(rect) {
        return response;
    }
    let theme = Theme::of(ui);
    if let Some(is_selected) = selected {
        let fill = if is_selected {
            theme.surface_3
        } else {
            Color32::TRANSPARENT
        };
        let text = theme.text_1;
        paint_fill(ui, &response, ControlColors { fill, text }, 8);
    }
    let small = |x: f32, y: f32| pos2(rect.left() + x, rect.top() + y);
    paint_line(
        ui,
        (&row.time, Face::Small),
        theme.text_3,
        small(12.0, 12.0),
        60.0,
    );
    let left = rect.left() + 76.0;
    let width = rect.right() - STATE - 12.0 - left;
    paint_line(
        ui,
        (&asked, Face::Read),
        theme.text_1,
        pos2(left, rect.top() + 7.0),
        width,
    );
    paint_facts(ui, row, pos2(left, rect.top() + 32.0), width);
    paint_state(
        ui,
        &row.state,
        pos2(rect.right() - STATE, rect.top() + 12.0),
    );
    focus_ring(ui, &response, 8);
    response
}

/// Paints the program, and how much of its prompt was reused.
fn paint_facts(ui: &Ui, row: &Row<'_>, at: Pos2, width: f32) {
    let theme = Theme::of(ui);
    let right = at.x + width;
    let mut job =
        LayoutJob::simple_singleline(row.program.clone(), Face::Small.font(), theme.text_3);
    job.wrap = egui::text::TextWrapping::truncate_at_width(width / 2.0);
    let galley = ui.painter().layout_job(job);
    let mut x = at.x + galley.size().x + 12.0;
    ui.painter().galley(at, galley, theme.text_3);
    if let Some(usage) = row.usage.filter(|usage| usage.n_prompt > 0) {
        let bar = Rect::from_min_size(pos2(x, at.y + 4.0), vec2(72.0, 8.0));
        if bar.right() < right {
            reuse_bar(ui, bar, usage);
            x = bar.right() + 10.0;
        }
    }
    paint_line(
        ui,
        (&row.words, Face::Small),
        theme.text_2,
        pos2(x, at.y),
        right - x,
    );
}

fn paint_state(ui: &Ui, (state, words): &(State, String), at: Pos2) {
    let theme = Theme::of(ui);
    let (icon, color) = match state {
        State::Open => (None, theme.text_1),
        State::Done => (Some(Icon::Check), theme.text_2),
        State::Cut => (Some(Icon::Cut), theme.text_2),
        State::Differs => (Some(Icon::Fork), theme.changed),
        State::Refused => (Some(Icon::Close), theme.error),
    };
    let square = Rect::from_min_size(pos2(at.x, at.y + 1.0), vec2(14.0, 14.0));
    if let Some(icon) = icon {
        icon.paint(ui.painter(), square, color);
    } else {
        let cursor = Rect::from_center_size(square.center(), vec2(7.0, 14.0));
        ui.painter().rect_filled(cursor, 1.5, theme.accent);
    }
    paint_line(
        ui,
        (words, Face::Small),
        color,
        pos2(at.x + 19.0, at.y),
        STATE - 24.0,
    );
}

fn empty_ui(ui: &mut Ui, state: &AppState, commands: &mut Vec<Command>) {
    let listening = &state.runs.listening;
    ui.add_space(24.0);
    ui.with_layout(Layout::top_down(Align::Center), |ui| {
        ui.spacing_mut().item_spacing.y = 10.0;
        let theme = Theme::of(ui);
        let label = |ui: &mut Ui, words: &str, face: Face| {
            ui.add(Label::new(face.text(words).color(theme.text_2)).wrap());
        };
        if let Some(url) = listening.url() {
            let words = "Nothing has asked yet. Give a program this address:";
            label(ui, words, Face::Body);
            label(ui, &url, Face::Code);
            let test = Button::new("Copy a test").icon(Icon::Copy);
            if ui
                .add(test)
                .on_hover_text("A command for a terminal")
                .clicked()
            {
                commands.push(Command::Listen(ListenCommand::CopyTest));
            }
            return;
        }
        let words = "Editors, agents and scripts can ask the loaded model. Every request becomes a run \
                     with all its evidence.";
        label(ui, words, Face::Body);
        let listen = Button::new("Listen for requests").icon(Icon::Listen);
        if ui.add(listen).clicked() {
            commands.push(Command::Listen(ListenCommand::Switch(true)));
        }
    });
}
