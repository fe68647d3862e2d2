//! The bundled typefaces and the sizes they are used at: three for text, and one for emoji, which
//! most systems have only as color bitmaps that egui can't draw.

use std::sync::Arc;

use egui::epaint::text::{FontData, FontDefinitions, FontTweak, VariationCoords};
use egui::{Color32, FontFamily, FontId, RichText, TextStyle, Ui};

use crate::state::ReadingFont;

const INTER: &[u8] = include_bytes!("../../assets/fonts/Inter.ttf");
const LITERATA: &[u8] = include_bytes!("../../assets/fonts/Literata.ttf");
const MONO: &[u8] = include_bytes!("../../assets/fonts/JetBrainsMono.ttf");
const EMOJI: &[u8] = include_bytes!("../../assets/fonts/NotoEmoji.ttf");

/// The typeface, size and weight of a text. Sizes and line heights are in points.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Face {
    /// Inter 11/16: axis labels, legends, hints.
    Micro,
    /// Inter 12/16: chips, footers, notices.
    Small,
    /// Inter 12/16 at weight 500: plot titles.
    SmallMedium,
    /// Inter 13/20: everything else.
    Body,
    /// Inter 13/20 at weight 500: buttons and tabs.
    Medium,
    /// Inter 13/20 at weight 600: pane names.
    Strong,
    /// Inter 14/20 at weight 600: Generate, Stop, the word Quartet.
    Run,
    /// Inter 18/24 at weight 600: dialogs.
    Title,
    /// Literata 15/24, unless the user chose another typeface: generated text.
    Read,
    /// Literata 16/24: the prompt editor.
    Prompt,
    /// Literata 14/21: the explanation of a token.
    Why,
    /// Literata 13/18: candidates.
    Candidate,
    /// `JetBrains Mono` 12/16: ids.
    Code,
    /// `JetBrains Mono` 11/16: special tokens and bytes.
    Special,
}

impl Face {
    /// All faces, in the order of the enum.
    pub const ALL: [Self; 14] = [
        Self::Micro,
        Self::Small,
        Self::SmallMedium,
        Self::Body,
        Self::Medium,
        Self::Strong,
        Self::Run,
        Self::Title,
        Self::Read,
        Self::Prompt,
        Self::Why,
        Self::Candidate,
        Self::Code,
        Self::Special,
    ];

    /// Returns the width of a text on one line, in points.
    pub fn width(self, ui: &Ui, text: &str) -> f32 {
        let galley =
            ui.painter()
                .layout_no_wrap(text.to_owned(), self.font(), Color32::PLACEHOLDER);
        galley.size().x
    }

    /// Returns the font family and size.
    pub fn font(self) -> FontId {
        let (size, family) = match self {
            Self::Micro => (11.0, FontFamily::Proportional),
            Self::Small => (12.0, FontFamily::Proportional),
            Self::SmallMedium => (12.0, named(MEDIUM)),
            Self::Body => (13.0, FontFamily::Proportional),
            Self::Medium => (13.0, named(MEDIUM)),
            Self::Strong => (13.0, named(STRONG)),
            Self::Run => (14.0, named(STRONG)),
            Self::Title => (18.0, named(STRONG)),
            Self::Read => (15.0, named(SERIF)),
            Self::Prompt => (16.0, named(SERIF)),
            Self::Why => (14.0, named(SERIF)),
            Self::Candidate => (13.0, named(SERIF)),
            Self::Code => (12.0, FontFamily::Monospace),
            Self::Special => (11.0, FontFamily::Monospace),
        };
        FontId::new(size, family)
    }

    /// Returns the line height, in points.
    pub const fn row(self) -> f32 {
        match self {
            Self::Micro | Self::Small | Self::SmallMedium | Self::Code | Self::Special => 16.0,
            Self::Body | Self::Medium | Self::Strong | Self::Run => 20.0,
            Self::Title | Self::Read | Self::Prompt => 24.0,
            Self::Why => 21.0,
            Self::Candidate => 18.0,
        }
    }

    /// Returns the key of this face in egui's style.
    pub fn style(self) -> TextStyle {
        TextStyle::Name(self.name().into())
    }

    /// Returns text in this face, at its line height.
    pub fn text(self, text: impl Into<String>) -> RichText {
        RichText::new(text)
            .font(self.font())
            .line_height(Some(self.row()))
    }

    const fn name(self) -> &'static str {
        match self {
            Self::Micro => "micro",
            Self::Small => "small",
            Self::SmallMedium => "small-medium",
            Self::Body => "body",
            Self::Medium => "medium",
            Self::Strong => "strong",
            Self::Run => "run",
            Self::Title => "title",
            Self::Read => "read",
            Self::Prompt => "prompt",
            Self::Why => "why",
            Self::Candidate => "candidate",
            Self::Code => "code",
            Self::Special => "special",
        }
    }
}

const MEDIUM: &str = "medium";
const STRONG: &str = "strong";
const SERIF: &str = "serif";

fn named(name: &str) -> FontFamily {
    FontFamily::Name(name.into())
}

/// Returns all font data and, for each family, the fallbacks for characters that its face lacks.
/// `reading` is the typeface of the prompt and of generated text.
pub fn definitions(reading: ReadingFont) -> FontDefinitions {
    let mut fonts = FontDefinitions::empty();
    let faces = [
        ("inter", inter(400.0)),
        ("inter-medium", inter(500.0)),
        ("inter-strong", inter(600.0)),
        ("literata", FontData::from_static(LITERATA)),
        ("mono", FontData::from_static(MONO)),
        ("emoji", FontData::from_static(EMOJI)),
    ];
    for (name, data) in faces {
        fonts.font_data.insert(name.to_owned(), Arc::new(data));
    }
    let for_reading = match reading {
        ReadingFont::Serif => ["literata", "inter", "mono"],
        ReadingFont::Sans => ["inter", "literata", "mono"],
        ReadingFont::Mono => ["mono", "literata", "inter"],
    };
    let families = [
        (FontFamily::Proportional, ["inter", "mono", "literata"]),
        (named(MEDIUM), ["inter-medium", "mono", "literata"]),
        (named(STRONG), ["inter-strong", "mono", "literata"]),
        (named(SERIF), for_reading),
        (FontFamily::Monospace, ["mono", "inter", "literata"]),
    ];
    for (family, faces) in families {
        let faces = faces.into_iter().chain(["emoji"]);
        let faces = faces.map(str::to_owned).collect();
        fonts.families.insert(family, faces);
    }
    fonts
}

/// Returns Inter at a weight from 400 to 600.
fn inter(weight: f32) -> FontData {
    FontData::from_static(INTER).tweak(FontTweak {
        coords: VariationCoords::new([(b"wght", weight)]),
        ..FontTweak::default()
    })
}

#[cfg(test)]
mod tests {
    use super::{Face, ReadingFont, definitions};

    #[test]
    fn every_face_has_letters_marks_and_emoji() {
        for reading in ReadingFont::ALL {
            check_faces(reading);
        }
    }

    fn check_faces(reading: ReadingFont) {
        let ctx = egui::Context::default();
        ctx.set_fonts(definitions(reading));
        let mut output = ctx.run_ui(egui::RawInput::default(), |ui| {
            for face in Face::ALL {
                for letter in "aüЯ→↵😀🐻🦊🚀🏠🪴".chars() {
                    let is_known = ui.fonts_mut(|fonts| fonts.has_glyph(&face.font(), letter));
                    assert!(is_known, "{face:?} {letter}");
                }
            }
        });
        output.textures_delta.clear();
    }
}
