//! A row of the chain editor: one stage, its number, and what it did at the step that is shown.

use egui::{Align, DragValue, Layout, Rect, Ui, pos2, vec2};

use super::fonts::Face;
use super::icons::{Icon, icon_button};
use super::part::part;
use super::stage_settings::{Setting, settings_of, window_of};
use super::stage_words::{long_words, short_words};
use super::theme::Theme;
use super::widgets::{Number, checkbox};
use super::words::grouped;
use crate::decoding::filters::Window;
use crate::decoding::{Filter, Stage, StageReport, Trace};

/// What the user did to a stage.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct StageChange {
    /// It is set in another way.
    pub edited: bool,
    /// It is to go.
    pub removed: bool,
}

const ROW: f32 = 52.0;

/// The width of a stage's name, and of the slider.
const NAME: f32 = 172.0;
const SLIDER: f32 = 108.0;

/// Draws a stage, and sets it as the user asks. `effect` is what it did at the step that is shown.
pub(super) fn stage_row_ui(ui: &mut Ui, stage: &mut Stage, effect: Option<&str>) -> StageChange {
    let theme = Theme::of(ui);
    let (_, rect) = ui.allocate_space(vec2(ui.available_width(), ROW));
    let name_rect = Rect::from_min_size(rect.min + vec2(10.0, 8.0), vec2(NAME, 36.0));
    let edit_rect = Rect::from_min_max(pos2(name_rect.right(), rect.top()), rect.max);

    let color = if stage.enabled {
        theme.text_1
    } else {
        theme.text_3
    };
    let mut names = part(ui, name_rect, "names");
    names.spacing_mut().item_spacing.y = 0.0;
    names
        .label(Face::Medium.text(stage.filter.name()).color(color))
        .on_hover_text(long_words(&stage.filter));
    let below = match (stage.enabled, effect) {
        (false, _) => "Muted",
        (true, Some(effect)) => effect,
        (true, None) => short_words(&stage.filter),
    };
    let label = Face::Micro.text(below).color(theme.text_3);
    names.add(egui::Label::new(label).truncate());

    let mut change = StageChange::default();
    let mut edit = part(ui, edit_rect, "edit");
    edit.with_layout(Layout::right_to_left(Align::Center), |ui| {
        ui.spacing_mut().item_spacing.x = 4.0;
        let name = stage.filter.name();
        change.removed = icon_button(ui, Icon::Close, &format!("Remove {name}")).clicked();
        let (icon, verb) = if stage.enabled {
            (Icon::Eye, "Mute")
        } else {
            (Icon::EyeOff, "Unmute")
        };
        if icon_button(ui, icon, &format!("{verb} {name}")).clicked() {
            stage.enabled = !stage.enabled;
            change.edited = true;
        }
        ui.add_space(4.0);
        change.edited |= number_ui(ui, &mut stage.filter, stage.enabled);
    });
    if settings_of(&mut stage.filter).len() > 1 {
        change.edited |= more_numbers_ui(ui, &mut stage.filter);
    }
    if let Some(window) = window_of(&mut stage.filter) {
        change.edited |= window_ui(ui, window);
    }
    if let Some(complaint) = stage.filter.complaint() {
        ui.horizontal(|ui| {
            ui.add_space(10.0);
            ui.label(Face::Small.text(complaint).color(theme.error));
        });
    }
    change
}

/// The box and the slider of the number that the filter is about; says whether it was changed.
fn number_ui(ui: &mut Ui, filter: &mut Filter, enabled: bool) -> bool {
    let complaint = filter.complaint().filter(|_| enabled);
    let (name, tip) = (filter.name(), long_words(filter));
    let Some(mut setting) = settings_of(filter).into_iter().next() else {
        return false;
    };
    let number = number_of(&setting, name).complaint(complaint.as_deref());
    let mut value = setting.value();
    let typed = number.field_ui(ui, &mut value).on_hover_text(tip).changed();
    ui.add_space(6.0);
    let slid = number.slider_ui(ui, SLIDER, &mut value).changed();
    if typed || slid {
        setting.set(value);
    }
    typed || slid
}

/// The filter's other numbers; says whether one was changed.
fn more_numbers_ui(ui: &mut Ui, filter: &mut Filter) -> bool {
    let name = filter.name();
    let theme = Theme::of(ui);
    let mut changed = false;
    ui.horizontal(|ui| {
        ui.add_space(10.0);
        for mut setting in settings_of(filter).into_iter().skip(1) {
            ui.label(small(setting.name, theme));
            let label = format!("{name}, {}", setting.name);
            let mut value = setting.value();
            if number_of(&setting, &label)
                .field_ui(ui, &mut value)
                .changed()
            {
                setting.set(value);
                changed = true;
            }
            ui.add_space(8.0);
        }
    });
    changed
}

fn number_of<'a>(setting: &Setting<'_>, name: &'a str) -> Number<'a> {
    let number = Number::new(name, setting.range.clone(), setting.decimals);
    if setting.logarithmic {
        number.logarithmic()
    } else {
        number
    }
}

/// Where a penalty looks; says whether that was changed.
fn window_ui(ui: &mut Ui, window: &mut Window) -> bool {
    let before = *window;
    let theme = Theme::of(ui);
    ui.horizontal(|ui| {
        ui.add_space(10.0);
        let mut limited = window.last_n.is_some();
        if checkbox(ui, &mut limited, small("In the last", theme)).changed() {
            window.last_n = limited.then_some(64);
        }
        match &mut window.last_n {
            Some(last_n) => {
                ui.add(DragValue::new(last_n).speed(1.0))
                    .accessible_name("Tokens looked back on");
                ui.label(small("tokens", theme));
            }
            None => {
                ui.label(small("tokens: all count", theme));
            }
        }
        ui.add_space(8.0);
        let text = small("prompt too", theme);
        checkbox(ui, &mut window.prompt_counted, text);
    });
    *window != before
}

fn small(words: &str, theme: &Theme) -> egui::RichText {
    Face::Small.text(words).color(theme.text_2)
}

/// What a stage did at one step: how far it narrowed the choice, or how many it left.
pub(super) fn effect_words(trace: &Trace, index: usize) -> Option<String> {
    let report: &StageReport = trace.stages.get(index)?;
    let before = match index.checked_sub(1) {
        Some(before) => trace.stages.get(before)?.entropy_nats,
        None => trace.raw.entropy_nats,
    };
    let bits = |nats: f64| nats / std::f64::consts::LN_2;
    Some(if report.filter.cuts() {
        match report.n_kept {
            1 => "Kept 1 token here".to_owned(),
            n => format!("Kept {} tokens here", grouped(f64::from(n))),
        }
    } else {
        let (before, after) = (bits(before), bits(report.entropy_nats));
        format!("{before:.2} → {after:.2} bits here")
    })
}
