//! The top bar: the logo, the model button, the export menu and the menu of settings.

use egui::{Align, Layout, Popup, Rect, Role, Sense, Ui, WidgetInfo, pos2, vec2};

use super::dock::tab_ui;
use super::keys::key_words;
use super::layout::Breakpoint;
use super::listening::line_ui;
use super::model_menu::model_menu_ui;
use super::models::count_words;
use super::picture_menu::{PICTURE_MENU_WIDTH, picture_items_ui, pictures};
use super::run_file_style::run_file_style_ui;
use super::shown_pictures::{has_shown_picture, shown_pictures_ui};
use crate::analysis::Thought;
use crate::design::fonts::Face;
use crate::design::icons::{Icon, icon_button};
use crate::design::theme::Theme;
use crate::design::widgets::{Button, ControlColors, focus_ring, menu_item, paint_fill, submenu};
use crate::export::ExportFormat;
use crate::generation::ModelInfo;
use crate::state::{
    Action, AppState, Command, HelpTab, ModelStatus, ModelsCommand, Page, PaletteCommand, Pane,
    RunCommand, RunDocument, SettingsTab, ThemeChoice,
};

/// The widths of the export menu and of the menu with the choices for run files, in points.
const EXPORT_MENU_WIDTH: f32 = 372.0;
const JSON_MENU_WIDTH: f32 = 280.0;

/// Draws the top bar.
pub(super) fn top_bar_ui(
    ui: &mut Ui,
    breakpoint: Breakpoint,
    state: &mut AppState,
    commands: &mut Vec<Command>,
) {
    ui.with_layout(Layout::left_to_right(Align::Center), |ui| {
        logo_ui(ui);
        ui.label(Face::Run.text("Quartet").color(Theme::of(ui).text_1));
        ui.add_space(8.0);
        let (line, _) = ui.allocate_exact_size(vec2(1.0, 16.0), Sense::hover());
        let stroke = (1.0, Theme::of(ui).stroke_2);
        ui.painter().vline(line.center().x, line.y_range(), stroke);
        pages_ui(ui, state.page, commands);
        ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
            gear_ui(ui, state, commands);
            export_ui(ui, state, commands);
            palette_button_ui(ui, commands);
            model_ui(ui, breakpoint, state, commands);
            let width = ui.ctx().content_rect().width();
            line_ui(ui, width, &state.runs.listening, commands);
        });
    });
}

/// Draws the pages' names. The current one has a mark on the bar's bottom edge.
fn pages_ui(ui: &mut Ui, current: Page, commands: &mut Vec<Command>) {
    ui.spacing_mut().item_spacing.x = 2.0;
    for page in Page::ALL {
        if tab_ui(ui, page.name(), page == current) {
            commands.push(Command::Run(RunCommand::ShowPage(page)));
        }
    }
    ui.spacing_mut().item_spacing.x = 8.0;
}

/// Draws the logo: four bars in the colors of the first four panes.
fn logo_ui(ui: &mut Ui) {
    let (rect, _) = ui.allocate_exact_size(vec2(20.0, 20.0), Sense::hover());
    let theme = Theme::of(ui);
    for (index, (top, bottom)) in [(8.0, 17.0), (3.0, 17.0), (6.0, 17.0), (10.0, 17.0)]
        .into_iter()
        .enumerate()
    {
        let left = 1.0 + 5.0 * index as f32;
        let bar = Rect::from_min_max(pos2(left, top), pos2(left + 3.5, bottom));
        ui.painter()
            .rect_filled(bar.translate(rect.min.to_vec2()), 1.5, theme.pane(index));
    }
}

/// Draws the button that shows the model's name or its status, and opens the menu of models.
fn model_ui(
    ui: &mut Ui,
    breakpoint: Breakpoint,
    state: &mut AppState,
    commands: &mut Vec<Command>,
) {
    let models = &state.models;
    let mut tip = String::new();
    let reopening = models.reopening.as_ref();
    let (name, facts) = match (&models.main, reopening) {
        (ModelStatus::Ready(_), Some(reopening)) => {
            let percent = 100.0 * reopening.fraction.unwrap_or_default();
            let loading = format!("Loading {}, {percent:.0} %", reopening.name);
            (loading, String::new())
        }
        (ModelStatus::Loading { fraction, .. }, _) => {
            (format!("Loading {:.0} %", fraction * 100.0), String::new())
        }
        (ModelStatus::Ready(model), None) => {
            let info = &model.info;
            let size = count_words(info.n_params);
            let implementation = info.implementation.name().unwrap_or_default();
            let facts = [
                size.as_str(),
                &info.quantization,
                &info.device,
                implementation,
            ];
            tip = model_tip(info);
            let known: Vec<&str> = facts.into_iter().filter(|fact| !fact.is_empty()).collect();
            (info.name.clone(), known.join(" · "))
        }
        (ModelStatus::Failed { .. } | ModelStatus::Absent, _) => {
            ("No model".to_owned(), String::new())
        }
        (ModelStatus::Lost, _) => ("Engine stopped".to_owned(), String::new()),
    };
    let facts = if breakpoint == Breakpoint::Tight {
        ""
    } else {
        &facts
    };
    let mut response = model_button_ui(ui, &name, facts);
    if !tip.is_empty() {
        response = response.on_hover_text(tip);
    }
    let loading = match &models.main {
        ModelStatus::Loading { fraction, .. } => Some(*fraction),
        _ => reopening.map(|reopening| reopening.fraction.unwrap_or_default()),
    };
    if let Some(fraction) = loading {
        let mut bar = response.rect;
        bar.min.y = bar.max.y - 2.0;
        let theme = Theme::of(ui);
        ui.painter().rect_filled(bar, 1.0, theme.surface_4);
        bar.set_width(bar.width() * fraction);
        ui.painter().rect_filled(bar, 1.0, theme.text_1);
    }
    if loading.is_some() && icon_button(ui, Icon::Close, "Cancel loading").clicked() {
        commands.push(Command::Models(ModelsCommand::CancelLoading));
    }
    model_menu_ui(ui, &response, state, commands);
}

/// Returns the formats of the model's weights, if there are several, and what limits the code that
/// runs it.
fn model_tip(info: &ModelInfo) -> String {
    let words = info.quantization_words();
    let formats = (words != info.quantization).then(|| format!("Weights: {words}"));
    let limits = info.implementation.limits().map(str::to_owned);
    let lines = [formats, limits].into_iter().flatten();
    lines.collect::<Vec<_>>().join("\n")
}

fn model_button_ui(ui: &mut Ui, name: &str, facts: &str) -> egui::Response {
    let theme = Theme::of(ui);
    let lay_out = |text: &str, face: Face, color| {
        ui.painter()
            .layout_no_wrap(text.to_owned(), face.font(), color)
    };
    let name_galley = lay_out(name, Face::Medium, theme.text_1);
    let facts_galley = lay_out(facts, Face::Body, theme.text_3);
    let facts_width = if facts.is_empty() {
        0.0
    } else {
        facts_galley.size().x + 8.0
    };
    let width = name_galley.size().x + facts_width + 14.0 + 8.0 + 20.0;
    let (rect, response) = ui.allocate_exact_size(vec2(width.ceil(), 28.0), Sense::click());
    let label = format!("Model: {name} {facts}");
    response.widget_info(|| WidgetInfo::labeled(Role::Button, true, label.trim_end()));
    let color = paint_fill(ui, &response, ControlColors::quiet(theme), 6);
    let centered_top = |height: f32| rect.center().y - height / 2.0;
    let name_pos = pos2(rect.left() + 10.0, centered_top(name_galley.size().y));
    let facts_x = name_pos.x + name_galley.size().x + 8.0;
    ui.painter().galley(name_pos, name_galley, theme.text_1);
    let facts_pos = pos2(facts_x, centered_top(facts_galley.size().y));
    ui.painter().galley(facts_pos, facts_galley, theme.text_3);
    let center = pos2(rect.right() - 17.0, rect.center().y);
    let square = Rect::from_center_size(center, vec2(14.0, 14.0));
    Icon::Down.paint(ui.painter(), square, color);
    focus_ring(ui, &response, 6);
    response
}

/// Draws the export menu: the run as a file, a picture, or everything.
fn export_ui(ui: &mut Ui, state: &mut AppState, commands: &mut Vec<Command>) {
    let has_text = state.generations().iter().any(Option::is_some);
    let button = Button::new("Export").icon(Icon::Export).quiet();
    let response = ui
        .add_enabled(has_text || has_shown_picture(state), button)
        .on_disabled_hover_text("Generate a text first");
    Popup::menu(&response)
        .width(EXPORT_MENU_WIDTH)
        .gap(4.0)
        .accessible_name("Export")
        .show(|ui| {
            ui.spacing_mut().item_spacing.y = 0.0;
            if shown_pictures_ui(ui, state, commands) {
                ui.add_space(4.0);
                ui.separator();
                ui.add_space(4.0);
            }
            if !has_text {
                return;
            }
            let has_chats = state.panes.iter().any(Pane::has_turns);
            let is_shown = |format: &ExportFormat| has_chats || *format != ExportFormat::Messages;
            for format in ExportFormat::ALL.into_iter().filter(is_shown) {
                let label = format!("Run as {}…", format.name());
                if menu_item(ui, &label, format.description(), false).clicked() {
                    commands.push(Command::save(RunDocument(format)));
                    ui.close();
                }
            }
            thoughts_item_ui(ui, state);
            ui.add_space(4.0);
            ui.separator();
            ui.add_space(4.0);
            submenu(
                ui,
                "Pictures",
                "all plots and texts",
                PICTURE_MENU_WIDTH,
                |ui| {
                    let pictures = pictures(state);
                    picture_items_ui(ui, &pictures, &mut state.view, commands);
                },
            );
            let hint = if state.view.run_file.indented {
                "indented"
            } else {
                "compact"
            };
            submenu(ui, "JSON and CSV options", hint, JSON_MENU_WIDTH, |ui| {
                let frame = egui::Frame::new().inner_margin(egui::Margin::symmetric(10, 4));
                frame.show(ui, |ui| run_file_style_ui(ui, state));
            });
            if menu_item(ui, "Everything…", "a folder or an archive", false).clicked() {
                commands.push(Command::ShowExport(true));
                ui.close();
            }
        });
}

/// Draws the choice to leave thoughts out, if any text has one.
fn thoughts_item_ui(ui: &mut Ui, state: &mut AppState) {
    let texts = state.generations();
    let mut thoughts = texts.into_iter().flatten().filter_map(Thought::of);
    if thoughts.next().is_none() {
        return;
    }
    let is_out = &mut state.view.run_file.leaves_thoughts_out;
    if menu_item(ui, "Leave thoughts out", "of texts and tables", *is_out).clicked() {
        *is_out = !*is_out;
    }
}

fn palette_button_ui(ui: &mut Ui, commands: &mut Vec<Command>) {
    let keys = key_words(ui, Action::ShowPalette);
    let name = format!("Find an action ({keys})");
    if icon_button(ui, Icon::Search, &name).clicked() {
        commands.push(Command::Palette(PaletteCommand::Open));
    }
}

/// Draws the menu that leads to the settings, the theme and the help.
fn gear_ui(ui: &mut Ui, state: &mut AppState, commands: &mut Vec<Command>) {
    const NAME: &str = "Settings, theme and help";
    let response = icon_button(ui, Icon::Gear, NAME);
    Popup::menu(&response)
        .width(180.0)
        .gap(4.0)
        .accessible_name(NAME)
        .show(|ui| {
            let settings = Action::ShowSettings(SettingsTab::Appearance);
            action_item_ui(ui, "Settings…", settings, state, commands);
            submenu(ui, "Theme", state.view.theme.name(), 140.0, |ui| {
                for theme in ThemeChoice::ALL {
                    if menu_item(ui, theme.name(), "", theme == state.view.theme).clicked() {
                        state.view.theme = theme;
                        ui.close();
                    }
                }
            });
            action_item_ui(
                ui,
                "Help…",
                Action::ShowHelp(HelpTab::Keys),
                state,
                commands,
            );
        });
}

fn action_item_ui(
    ui: &mut Ui,
    label: &str,
    action: Action,
    state: &AppState,
    commands: &mut Vec<Command>,
) {
    if menu_item(ui, label, &key_words(ui, action), false).clicked() {
        commands.extend(action.command(state).ok());
        ui.close();
    }
}

#[cfg(test)]
mod tests {
    use egui::{Key, Modifiers, Rect, pos2, vec2};
    use egui_kittest::kittest::{NodeT as _, Queryable as _};

    use crate::state::tests::written;
    use crate::state::{HelpTab, Plot, ThemeChoice};
    use crate::ui::testing::{Window, key, press, window_of};

    fn is_focused(window: &Window, name: &str) -> bool {
        let node = window.query_by_label(name);
        node.is_some_and(|node| node.accesskit_node().is_focused())
    }

    fn arrow_down_to(window: &mut Window, name: &str) {
        let mut presses = 0;
        while !is_focused(window, name) {
            assert!(presses < 30, "{name} is out of reach");
            key(window, Modifiers::NONE, Key::ArrowDown);
            presses += 1;
        }
    }

    #[test]
    fn the_export_menu_and_its_pictures_fit_the_smallest_window() {
        let size = vec2(900.0, 600.0);
        let mut window = window_of(size, written());
        press(&mut window, "Export");
        press(&mut window, "Pictures");
        press(&mut window, "Picture format: PNG");
        window.run_steps(4);
        let screen = Rect::from_min_size(pos2(0.0, 0.0), size);
        let pictures = Plot::all().map(|plot| format!("{} as PNG…", plot.name()));
        let others = ["Run as JSON…", "Run as plain text…", "Everything…"].map(str::to_owned);
        for item in pictures.chain(others) {
            let rect = window.get_by_label(&item).rect();
            assert!(screen.contains_rect(rect), "{item} is at {rect:?}");
        }
        // An item that is scrolled out of view can't be clicked.
        press(&mut window, "The texts as PNG…");
        assert!(window.query_by_label("Pictures").is_none());
    }

    #[test]
    fn a_picture_is_exported_with_the_keyboard_alone() {
        let mut window = window_of(vec2(900.0, 600.0), written());
        window.get_by_label("Export").focus();
        window.run_steps(2);
        key(&mut window, Modifiers::NONE, Key::Enter);
        window.run_steps(3);
        arrow_down_to(&mut window, "Pictures");
        key(&mut window, Modifiers::NONE, Key::ArrowRight);
        window.run_steps(3);
        arrow_down_to(&mut window, "X-ray as SVG…");
        key(&mut window, Modifiers::NONE, Key::Enter);
        window.run_steps(3);
        assert!(
            window.query_by_label("Pictures").is_none(),
            "the menu closes"
        );
    }

    #[test]
    fn the_gear_leads_to_the_settings_the_theme_and_the_help() {
        let mut window = window_of(vec2(1280.0, 800.0), written());
        press(&mut window, "Settings, theme and help");
        press(&mut window, "Theme");
        press(&mut window, "Light");
        assert_eq!(window.state().view.theme, ThemeChoice::Light);
        assert!(window.query_by_label("Help…").is_none(), "the menu closes");
        press(&mut window, "Settings, theme and help");
        press(&mut window, "Help…");
        assert_eq!(window.state().dialogs.help, Some(HelpTab::Keys));
    }

    #[test]
    fn everything_is_chosen_with_the_keyboard_alone() {
        let mut window = window_of(vec2(900.0, 600.0), written());
        window.get_by_label("Export").focus();
        window.run_steps(2);
        key(&mut window, Modifiers::NONE, Key::Enter);
        window.run_steps(3);
        arrow_down_to(&mut window, "Everything…");
        key(&mut window, Modifiers::NONE, Key::Enter);
        window.run_steps(3);
        assert!(window.state().export.dialog_open);
    }
}
