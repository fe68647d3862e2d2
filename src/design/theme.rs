//! The colors of the dark and the light theme. No other file creates a color.

#![expect(
    clippy::unreadable_literal,
    reason = "colors are written as RRGGBB, as in theme.json"
)]

use egui::Color32;

use crate::state::Tint;

/// The colors of one theme. Contrast was checked for pairs of colors, so don't change one in
/// isolation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Theme {
    /// The window's background.
    pub bg: Color32,
    /// Panes, dock, prompt box.
    pub surface_1: Color32,
    /// Chips, fields, plain buttons.
    pub surface_2: Color32,
    /// Hovered controls; the row of the chosen token.
    pub surface_3: Color32,
    /// Pressed controls, slider rails, parts of the coin bar.
    pub surface_4: Color32,
    /// Menus, tooltips, dialogs.
    pub popup: Color32,
    /// Hairlines, card edges, plot grid.
    pub stroke_1: Color32,
    /// Popup edges, zero lines of plots.
    pub stroke_2: Color32,
    /// Edges that must stand out: selected pane, hollow bars.
    pub stroke_3: Color32,
    /// Main text, plot titles.
    pub text_1: Color32,
    /// Labels, chips, secondary text.
    pub text_2: Color32,
    /// Hints, units, axis numbers.
    pub text_3: Color32,
    pub disabled: Color32,
    /// The primary button.
    pub primary: Color32,
    pub primary_hover: Color32,
    pub primary_text: Color32,
    /// Pins, carets, links.
    pub accent: Color32,
    /// Behind the pinned token and the pinned step in plots.
    pub accent_bg: Color32,
    pub focus: Color32,
    /// Text, icon and field edge of an error.
    pub error: Color32,
    pub error_bg: Color32,
    pub warning: Color32,
    pub warning_bg: Color32,
    pub success: Color32,
    pub success_bg: Color32,
    /// Generated text, on any tint.
    pub token_text: Color32,
    /// The prompt, repeated in a pane.
    pub prompt_text: Color32,
    pub special_text: Color32,
    pub special_bg: Color32,
    /// Bytes that are not a complete character.
    pub byte_text: Color32,
    pub byte_bg: Color32,
    /// Bars of probabilities before the chain.
    pub bar_before: Color32,
    /// Bars of probabilities after the chain.
    pub bar_after: Color32,
    /// Hollow bars of candidates that were filtered out.
    pub bar_cut: Color32,
    /// Struck-out text of those candidates.
    pub struck_text: Color32,
    /// What-if results, and the underlines of tokens that would change.
    pub changed: Color32,
    /// The letter on a pane's badge.
    pub pane_letter: Color32,
    /// The shadow of popups and dialogs.
    pub shadow: Color32,
    /// Dims the window while a dialog is open.
    pub backdrop: Color32,
    panes: [Color32; 8],
    probability: [Color32; 5],
    rank: [Color32; 5],
    entropy: [Color32; 5],
    surprisal: [Color32; 5],
    watermark: [Color32; 5],
    heat: [Color32; Theme::N_HEAT],
}

impl Theme {
    /// The number of steps of [`Self::heat`].
    pub const N_HEAT: usize = 9;

    /// Returns the theme that `ui` is drawn in.
    pub fn of(ui: &egui::Ui) -> &'static Self {
        Self::dark_or_light(ui.visuals().dark_mode)
    }

    /// Returns the dark or the light theme.
    pub const fn dark_or_light(dark: bool) -> &'static Self {
        if dark { &DARK } else { &LIGHT }
    }

    /// Returns the color of the pane at this index. The eight colors repeat.
    pub fn pane(&self, index: usize) -> Color32 {
        self.panes
            .get(index % self.panes.len())
            .copied()
            .unwrap_or(self.text_1)
    }

    /// Returns the fill of a heat-map cell. Higher steps stand out more from the background.
    pub fn heat(&self, step: usize) -> Color32 {
        let last = self.heat.len() - 1;
        let fill = self.heat.get(step.min(last)).copied();
        fill.unwrap_or(self.surface_2)
    }

    /// Returns black or white, whichever has more contrast with the fill of a cell.
    pub fn heat_ink(&self, step: usize) -> Color32 {
        if relative_luminance(self.heat(step)) > 0.179 {
            Color32::BLACK
        } else {
            Color32::WHITE
        }
    }

    /// Returns the fill of a tint's step, from 0 (expected by the model, transparent) to 4.
    pub fn tint(&self, tint: Tint, step: usize) -> Color32 {
        let ramp = match tint {
            Tint::None => return Color32::TRANSPARENT,
            Tint::Probability => &self.probability,
            Tint::Rank => &self.rank,
            Tint::Entropy => &self.entropy,
            Tint::Surprisal => &self.surprisal,
            Tint::Watermark => &self.watermark,
        };
        ramp.get(step).copied().unwrap_or(Color32::TRANSPARENT)
    }
}

/// The relative luminance of a color: W3C 2018, "Web Content Accessibility Guidelines 2.1". At
/// 0.179, black and white have the same contrast with it.
fn relative_luminance(color: Color32) -> f32 {
    let [red, green, blue, _] = egui::Rgba::from(color).to_array();
    0.2126 * red + 0.7152 * green + 0.0722 * blue
}

/// Returns the gray of the same luminance and opacity.
pub fn gray(color: Color32) -> Color32 {
    let luminance = relative_luminance(color);
    let alpha = egui::Rgba::from(color).a();
    egui::Rgba::from_rgba_premultiplied(luminance, luminance, luminance, alpha).into()
}

/// Creates a color from 0xRRGGBB.
#[expect(clippy::disallowed_methods, reason = "this file creates all colors")]
const fn rgb(hex: u32) -> Color32 {
    Color32::from_rgb((hex >> 16) as u8, (hex >> 8) as u8, hex as u8)
}

const DARK: Theme = Theme {
    bg: rgb(0x0E0F11),
    surface_1: rgb(0x151719),
    surface_2: rgb(0x1D1F23),
    surface_3: rgb(0x272A2F),
    surface_4: rgb(0x33373D),
    popup: rgb(0x1A1C20),
    stroke_1: rgb(0x23262A),
    stroke_2: rgb(0x363A41),
    stroke_3: rgb(0x767A82),
    text_1: rgb(0xECEAE4),
    text_2: rgb(0xB6B5B0),
    text_3: rgb(0x949490),
    disabled: rgb(0x6B6C6C),
    primary: rgb(0xECEAE4),
    primary_hover: rgb(0xFFFFFF),
    primary_text: rgb(0x151719),
    accent: rgb(0x9FB1FF),
    accent_bg: rgb(0x232A47),
    focus: rgb(0x9FB1FF),
    error: rgb(0xFF9A8F),
    error_bg: rgb(0x3A1F1E),
    warning: rgb(0xF0C36A),
    warning_bg: rgb(0x362B16),
    success: rgb(0x86D3A6),
    success_bg: rgb(0x183025),
    token_text: rgb(0xE6E3DB),
    prompt_text: rgb(0x949490),
    special_text: rgb(0xB6B5B0),
    special_bg: rgb(0x272A2F),
    byte_text: rgb(0x9FD3DC),
    byte_bg: rgb(0x18292D),
    bar_before: rgb(0x686C74),
    bar_after: rgb(0xD9D6CE),
    bar_cut: rgb(0x767A82),
    struck_text: rgb(0x949490),
    changed: rgb(0x86D3A6),
    pane_letter: rgb(0x0E0F11),
    shadow: Color32::from_black_alpha(115),
    backdrop: Color32::from_black_alpha(128),
    panes: [
        rgb(0x639AF8),
        rgb(0x89EED4),
        rgb(0xD4587F),
        rgb(0xE8C873),
        rgb(0xD6B2FD),
        rgb(0x57C3C1),
        rgb(0xEB8C6B),
        rgb(0xAAB1A4),
    ],
    probability: [
        Color32::TRANSPARENT,
        rgb(0x282113),
        rgb(0x423315),
        rgb(0x624715),
        rgb(0x845A14),
    ],
    rank: [
        Color32::TRANSPARENT,
        rgb(0x17232B),
        rgb(0x1B3443),
        rgb(0x1F4A61),
        rgb(0x256585),
    ],
    entropy: [
        Color32::TRANSPARENT,
        rgb(0x211E2D),
        rgb(0x322A48),
        rgb(0x483868),
        rgb(0x654A8E),
    ],
    surprisal: [
        Color32::TRANSPARENT,
        rgb(0x30201F),
        rgb(0x4B292A),
        rgb(0x6B3037),
        rgb(0x933E45),
    ],
    watermark: [
        Color32::TRANSPARENT,
        rgb(0x19271E),
        rgb(0x203D2A),
        rgb(0x285435),
        rgb(0x2F6A3F),
    ],
    heat: [
        rgb(0x1C2636),
        rgb(0x284663),
        rgb(0x296281),
        rgb(0x347F92),
        rgb(0x479799),
        rgb(0x65AB96),
        rgb(0x92BD8F),
        rgb(0xC5D38E),
        rgb(0xF7E292),
    ],
};

const LIGHT: Theme = Theme {
    bg: rgb(0xF1EEE8),
    surface_1: rgb(0xFFFEFB),
    surface_2: rgb(0xF6F3ED),
    surface_3: rgb(0xECE8E0),
    surface_4: rgb(0xE0DBD0),
    popup: rgb(0xFFFFFF),
    stroke_1: rgb(0xE6E1D7),
    stroke_2: rgb(0xCFC9BC),
    stroke_3: rgb(0x86827A),
    text_1: rgb(0x1A1916),
    text_2: rgb(0x4F4D46),
    text_3: rgb(0x66635B),
    disabled: rgb(0x908C83),
    primary: rgb(0x1A1916),
    primary_hover: rgb(0x35332E),
    primary_text: rgb(0xFFFEFB),
    accent: rgb(0x3A4DC4),
    accent_bg: rgb(0xE6E9FB),
    focus: rgb(0x3A4DC4),
    error: rgb(0xB3261E),
    error_bg: rgb(0xFBE7E4),
    warning: rgb(0x7A5200),
    warning_bg: rgb(0xFBEFD3),
    success: rgb(0x1F6B41),
    success_bg: rgb(0xE1F3E8),
    token_text: rgb(0x1F1D19),
    prompt_text: rgb(0x66635B),
    special_text: rgb(0x4F4D46),
    special_bg: rgb(0xECE8E0),
    byte_text: rgb(0x0B5563),
    byte_bg: rgb(0xDDF1F4),
    bar_before: rgb(0x928D84),
    bar_after: rgb(0x2B2925),
    bar_cut: rgb(0x86827A),
    struck_text: rgb(0x66635B),
    changed: rgb(0x1F6B41),
    pane_letter: rgb(0xFFFFFF),
    shadow: Color32::from_rgba_unmultiplied_const(0x3C, 0x32, 0x1E, 46),
    backdrop: Color32::from_rgba_unmultiplied_const(0x28, 0x24, 0x1C, 82),
    panes: [
        rgb(0x3262E0),
        rgb(0x06522F),
        rgb(0xD22671),
        rgb(0x8C7026),
        rgb(0x6B3996),
        rgb(0x186F6F),
        rgb(0x933B0B),
        rgb(0x605F52),
    ],
    probability: [
        Color32::TRANSPARENT,
        rgb(0xFDF3DC),
        rgb(0xFBE3B0),
        rgb(0xF8CE7C),
        rgb(0xF2B24B),
    ],
    rank: [
        Color32::TRANSPARENT,
        rgb(0xE9F3F8),
        rgb(0xCFE6F2),
        rgb(0xA9D3E8),
        rgb(0x7BBBDB),
    ],
    entropy: [
        Color32::TRANSPARENT,
        rgb(0xF0EAFA),
        rgb(0xDDD0F3),
        rgb(0xC6B0EB),
        rgb(0xAB8AE0),
    ],
    surprisal: [
        Color32::TRANSPARENT,
        rgb(0xFCE9E7),
        rgb(0xF8CDC9),
        rgb(0xF1A9A3),
        rgb(0xE6827B),
    ],
    watermark: [
        Color32::TRANSPARENT,
        rgb(0xE0F3E5),
        rgb(0xC2E6CB),
        rgb(0xA2D9AF),
        rgb(0x73C189),
    ],
    heat: [
        rgb(0xF5EDDB),
        rgb(0xD3D4A9),
        rgb(0xA1C290),
        rgb(0x6FB397),
        rgb(0x45A1A0),
        rgb(0x21899E),
        rgb(0x1B7096),
        rgb(0x235380),
        rgb(0x1E3360),
    ],
};
