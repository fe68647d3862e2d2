//! A number with a field and a slider, and an error message if its value is invalid.

use std::ops::RangeInclusive;

use egui::{DragValue, Response, Stroke, StrokeKind, Ui, vec2};

use super::fill::focus_ring;
use super::slider::{Scale, slider_ui};
use crate::design::fonts::Face;
use crate::design::theme::Theme;

/// The number of decimals that an `f32` near 1 can hold.
const MAX_DECIMALS: usize = 7;

/// A number and how to edit it. A typed value may be outside the range: the caller reports it
/// instead of changing it behind the user's back.
#[derive(Debug, Clone)]
#[must_use = "show it in a Ui"]
pub struct Number<'a> {
    name: &'a str,
    scale: Scale,
    error: Option<&'a str>,
    field_width: f32,
}

impl<'a> Number<'a> {
    /// Creates a number with this name. The slider covers `range`.
    pub const fn new(name: &'a str, range: RangeInclusive<f64>, decimals: u8) -> Self {
        Self {
            name,
            scale: Scale {
                range,
                logarithmic: false,
                from_zero: false,
                decimals,
            },
            error: None,
            field_width: 56.0,
        }
    }

    /// Sets the width of the field, in points.
    pub const fn field_width(mut self, width: f32) -> Self {
        self.field_width = width;
        self
    }

    /// Makes the slider logarithmic, for ranges that span several powers of ten.
    pub const fn logarithmic(mut self) -> Self {
        self.scale.logarithmic = true;
        self
    }

    /// Makes the left end of the slider 0, although the range starts above it.
    pub const fn from_zero(mut self) -> Self {
        self.scale.from_zero = true;
        self
    }

    /// Sets the error message to show if the value is invalid.
    pub const fn error(mut self, error: Option<&'a str>) -> Self {
        self.error = error;
        self
    }

    /// Shows only the field, 56 × 28 points unless another width is set.
    pub fn field_ui(&self, ui: &mut Ui, value: &mut f64) -> Response {
        let theme = Theme::of(ui);
        let invalid = self.error.is_some();
        let response = ui
            .scope(|ui| {
                let text = if invalid { theme.error } else { theme.text_1 };
                ui.spacing_mut().button_padding.x = 6.0;
                let widgets = &mut ui.visuals_mut().widgets;
                for state in [
                    &mut widgets.inactive,
                    &mut widgets.hovered,
                    &mut widgets.active,
                ] {
                    state.fg_stroke.color = text;
                    state.weak_bg_fill = theme.surface_2;
                }
                let Scale {
                    range, decimals, ..
                } = &self.scale;
                let speed = (range.end() - range.start()) / 300.0;
                let drag = DragValue::new(value)
                    .speed(speed.max(0.1_f64.powi((*decimals).into())))
                    // The field parses its own text when it loses focus, so it must show all
                    // digits.
                    .min_decimals((*decimals).into())
                    .max_decimals(MAX_DECIMALS)
                    // Many languages use a decimal comma.
                    .custom_parser(|text| {
                        text.trim().replace(',', ".").replace('−', "-").parse().ok()
                    })
                    .update_while_editing(false);
                ui.add_sized(vec2(self.field_width, 28.0), drag)
            })
            .inner;
        if invalid {
            let edge = Stroke::new(1.0, theme.error);
            ui.painter()
                .rect_stroke(response.rect, 6, edge, StrokeKind::Inside);
        }
        focus_ring(ui, &response, 6);
        response.accessible_name(self.name)
    }

    /// Shows only the slider, 28 points high.
    pub fn slider_ui(&self, ui: &mut Ui, width: f32, value: &mut f64) -> Response {
        slider_ui(ui, self.name, &self.scale, width, value)
    }

    /// Shows the name, the slider and the field, with the error message below them.
    pub fn row_ui(&self, ui: &mut Ui, value: &mut f64) -> Response {
        let theme = Theme::of(ui);
        let row = ui.horizontal(|ui| {
            ui.set_min_height(28.0);
            ui.label(Face::Body.text(self.name).color(theme.text_2));
            ui.with_layout(egui::Layout::right_to_left(egui::Align::Center), |ui| {
                let field = self.field_ui(ui, value);
                let width = (ui.available_width() - 8.0).clamp(64.0, 160.0);
                let slider = slider_ui(ui, self.name, &self.scale, width, value);
                field.union(slider)
            })
            .inner
        });
        if let Some(error) = self.error {
            ui.label(Face::Small.text(error).color(theme.error));
        }
        row.inner
    }
}
