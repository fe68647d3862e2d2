//! Applies the appearance that the user chose: text size, typeface and motion.

use egui::style::ScrollAnimation;
use egui::{Context, Id};

use super::fonts;
use super::style::ANIMATION_SECS;
use crate::state::{ReadingFont, ThemeChoice, ViewChoices};

/// What the egui context uses. New fonts take effect one frame after they are set.
#[derive(Debug, Clone, Copy, Default)]
struct Applied {
    /// The font that was set last.
    set: ReadingFont,
    /// The font of this frame.
    current: ReadingFont,
    reduce_motion: bool,
}

/// Returns the preference of the egui context for a theme.
pub const fn theme_preference(choice: ThemeChoice) -> egui::ThemePreference {
    match choice {
        ThemeChoice::System => egui::ThemePreference::System,
        ThemeChoice::Dark => egui::ThemePreference::Dark,
        ThemeChoice::Light => egui::ThemePreference::Light,
    }
}

/// Applies the choices that have changed. Call it at the start of each frame.
pub fn apply(ctx: &Context, view: &ViewChoices) {
    // The size is a setting, so the keys that change it go through the state.
    ctx.options_mut(|options| options.zoom_with_keyboard = false);
    ctx.set_zoom_factor(view.text_size.factor());
    let mut applied = applied(ctx);
    applied.current = applied.set;
    if applied.set != view.reading_font {
        applied.set = view.reading_font;
        ctx.set_fonts(fonts::definitions(view.reading_font));
        ctx.request_repaint();
    }
    if applied.reduce_motion != view.reduce_motion {
        applied.reduce_motion = view.reduce_motion;
        ctx.all_styles_mut(|style| {
            let moves = !view.reduce_motion;
            style.animation_time = if moves { ANIMATION_SECS } else { 0.0 };
            style.scroll_animation = if moves {
                ScrollAnimation::default()
            } else {
                ScrollAnimation::none()
            };
        });
    }
    ctx.data_mut(|data| data.insert_temp(id(), applied));
}

/// Returns the typeface of generated text in this frame.
pub fn reading_font(ctx: &Context) -> ReadingFont {
    applied(ctx).current
}

fn applied(ctx: &Context) -> Applied {
    ctx.data(|data| data.get_temp(id())).unwrap_or_default()
}

fn id() -> Id {
    Id::unique("appearance")
}

#[cfg(test)]
mod tests {
    use egui::{Context, RawInput};

    use super::{apply, reading_font};
    use crate::design::fonts::Face;
    use crate::design::style;
    use crate::state::{ReadingFont, ViewChoices};

    /// Runs a frame. Returns the width of a narrow and a wide letter of generated text.
    fn widths(ctx: &Context, view: &ViewChoices) -> (f32, f32) {
        let mut widths = (0.0, 0.0);
        let mut output = ctx.run_ui(RawInput::default(), |ui| {
            apply(ui, view);
            widths = (Face::Read.width(ui, "i"), Face::Read.width(ui, "m"));
        });
        output.textures_delta.clear();
        widths
    }

    #[test]
    fn the_font_and_the_motion_change_at_once() {
        let ctx = Context::default();
        style::install(&ctx);
        let mut view = ViewChoices::default();
        let (narrow, wide) = widths(&ctx, &view);
        assert!(wide > narrow);
        view.reading_font = ReadingFont::Mono;
        view.reduce_motion = true;
        widths(&ctx, &view);
        let (narrow, wide) = widths(&ctx, &view);
        assert!((wide - narrow).abs() < 0.01, "{narrow} and {wide}");
        assert_eq!(reading_font(&ctx), ReadingFont::Mono);
        assert!(ctx.global_style().animation_time <= 0.0);
        view.reduce_motion = false;
        widths(&ctx, &view);
        assert!(ctx.global_style().animation_time > 0.0);
    }
}
