//! egui's style in the dark and the light theme: colors, corners, spacing and animation.

use egui::style::{HandleShape, ScrollStyle, Selection, Spacing, TextCursorStyle, WidgetVisuals};
use egui::{CornerRadius, Margin, Shadow, Stroke, Style, TextStyle, Visuals, vec2};

use super::fonts::{self, Face};
use super::theme::Theme;
use crate::state::ReadingFont;

/// How long hover fills, popups and the dock take to change, in seconds.
pub(super) const ANIMATION_SECS: f32 = 0.12;

/// Installs the bundled fonts and both themes in an egui context.
pub fn install(ctx: &egui::Context) {
    ctx.set_fonts(fonts::definitions(ReadingFont::default()));
    ctx.set_style_of(egui::Theme::Dark, style(true));
    ctx.set_style_of(egui::Theme::Light, style(false));
}

/// Makes the scroll areas in `ui` keep their content clear of their scroll bars.
pub fn reserve_scroll_bars(ui: &mut egui::Ui) {
    ui.spacing_mut().scroll.floating_allocated_width = 12.0;
}

/// Returns egui's style for the dark or the light theme.
pub fn style(dark: bool) -> Style {
    let theme = Theme::dark_or_light(dark);
    let mut style = Style {
        spacing: spacing(),
        visuals: visuals(dark, theme),
        animation_time: ANIMATION_SECS,
        drag_value_text_style: TextStyle::Body,
        ..Style::default()
    };
    style.interaction.tooltip_delay = 0.2;
    style.interaction.selectable_labels = false;
    style.text_styles = Face::ALL
        .iter()
        .map(|face| (face.style(), face.font()))
        .chain([
            (TextStyle::Small, Face::Small.font()),
            (TextStyle::Body, Face::Body.font()),
            (TextStyle::Button, Face::Medium.font()),
            (TextStyle::Heading, Face::Title.font()),
            (TextStyle::Monospace, Face::Code.font()),
        ])
        .collect();
    style
}

fn spacing() -> Spacing {
    let mut scroll = ScrollStyle::floating();
    scroll.floating_width = 4.0;
    scroll.bar_width = 8.0;
    scroll.bar_outer_margin = 2.0;
    // The scroll bar is drawn in the secondary text color; at this opacity it looks like
    // `surface_4`.
    scroll.dormant_handle_opacity = 0.19;
    scroll.active_handle_opacity = 0.4;
    scroll.interact_handle_opacity = 0.6;
    scroll.fade.strength = 1.0;
    scroll.fade.size = 20.0;
    Spacing {
        item_spacing: vec2(8.0, 4.0),
        button_padding: vec2(10.0, 4.0),
        interact_size: vec2(40.0, 28.0),
        slider_rail_height: 4.0,
        window_margin: Margin::same(22),
        menu_margin: Margin::same(6),
        tooltip_width: 320.0,
        scroll,
        ..Spacing::default()
    }
}

fn visuals(dark: bool, theme: &Theme) -> Visuals {
    let base = if dark {
        Visuals::dark()
    } else {
        Visuals::light()
    };
    let shadow = Shadow {
        offset: [0, 8],
        blur: 24,
        spread: 0,
        color: theme.shadow,
    };
    Visuals {
        widgets: widgets(theme),
        selection: Selection {
            bg_fill: theme.accent_bg,
            stroke: Stroke::new(1.5, theme.accent),
        },
        hyperlink_color: theme.accent,
        faint_bg_color: theme.surface_2,
        extreme_bg_color: theme.surface_2,
        text_edit_bg_color: Some(theme.surface_2),
        code_bg_color: theme.surface_2,
        warn_fg_color: theme.warning,
        error_fg_color: theme.error,
        weak_text_color: Some(theme.text_2),
        window_corner_radius: CornerRadius::same(12),
        window_shadow: shadow,
        window_fill: theme.popup,
        window_stroke: Stroke::new(1.0, theme.stroke_2),
        menu_corner_radius: CornerRadius::same(10),
        panel_fill: theme.bg,
        popup_shadow: shadow,
        text_cursor: TextCursorStyle {
            stroke: Stroke::new(1.5, theme.accent),
            ..base.text_cursor
        },
        slider_trailing_fill: true,
        handle_shape: HandleShape::Circle,
        disabled_alpha: 0.6,
        ..base
    }
}

fn widgets(theme: &Theme) -> egui::style::Widgets {
    let filled = |fill, text| WidgetVisuals {
        bg_fill: fill,
        weak_bg_fill: fill,
        bg_stroke: Stroke::NONE,
        corner_radius: CornerRadius::same(6),
        fg_stroke: Stroke::new(1.5, text),
        expansion: 0.0,
    };
    egui::style::Widgets {
        noninteractive: WidgetVisuals {
            bg_stroke: Stroke::new(1.0, theme.stroke_1),
            fg_stroke: Stroke::new(1.0, theme.text_1),
            ..filled(theme.surface_1, theme.text_1)
        },
        inactive: filled(theme.surface_2, theme.text_2),
        hovered: filled(theme.surface_3, theme.text_1),
        active: filled(theme.surface_4, theme.text_1),
        open: filled(theme.surface_3, theme.text_1),
    }
}
