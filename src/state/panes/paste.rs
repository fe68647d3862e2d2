//! Copies a pane's settings in the formats of other tools, and pastes them back.

use crate::generation::{GenerationConfig, Limits, Vocabulary};
use crate::interop::tools::{ImportedSettings, Tool, export_settings, import_settings};
use crate::state::{Command, Effect, Models, Notice, Notices, PaneId, Panes};

/// The beginning of every notice about copied settings.
const COPIED: &str = "Copied as";

/// The dialog for pasting settings.
#[derive(Debug, Clone, PartialEq)]
pub struct Paste {
    /// The pane that receives the settings.
    pub pane: PaneId,
    /// The text pasted or typed so far.
    pub text: String,
    /// The parsed settings or the error; `None` while the text is blank.
    pub read: Option<Result<ImportedSettings, String>>,
    /// Whether to apply the token limit and the stop sequences too. All panes share these, so the
    /// user decides.
    pub limits_too: bool,
}

/// A user action in the paste dialog. Its text is edited in place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PasteCommand {
    /// Open the dialog for a pane.
    Open(PaneId),
    /// The text was edited.
    Edited,
    /// Apply the settings to the pane and close.
    Apply,
    Close,
}

impl Paste {
    /// Opens, closes or updates the dialog, or applies the settings in it.
    pub(in crate::state) fn apply(
        open: &mut Option<Self>,
        command: PasteCommand,
        panes: &mut Panes,
        limits: &mut Limits,
        models: &Models,
    ) {
        match command {
            PasteCommand::Open(pane) => {
                *open = Some(Self {
                    pane,
                    text: String::new(),
                    read: None,
                    limits_too: false,
                });
            }
            PasteCommand::Edited => {
                if let Some(paste) = open {
                    paste.parse(panes, models);
                }
            }
            PasteCommand::Apply => {
                if let Some(paste) = open.take_if(|paste| matches!(paste.read, Some(Ok(_)))) {
                    paste.apply_to(panes, limits);
                }
            }
            PasteCommand::Close => *open = None,
        }
    }

    /// Parses the text with the vocabulary of the pane's model.
    pub(in crate::state) fn parse(&mut self, panes: &Panes, models: &Models) {
        let model = panes.pane(self.pane).and_then(|pane| models.of(pane));
        let vocabulary = model.map(|model| &*model.vocabulary);
        let has_text = !self.text.trim().is_empty();
        self.read = has_text.then(|| import_settings(&self.text, vocabulary));
    }

    /// Applies the settings, if the text could be parsed.
    fn apply_to(self, panes: &mut Panes, limits: &mut Limits) {
        let Some(Ok(read)) = self.read else {
            return;
        };
        if let Some(pane) = panes.pane_mut(self.pane) {
            pane.settings.seed = read.seed.or(pane.settings.seed);
        }
        if self.limits_too {
            limits.max_new_tokens = read.max_new_tokens.unwrap_or(limits.max_new_tokens);
            if let Some(stops) = read.stop_strings {
                limits.stop_strings = stops;
            }
        }
        panes.set_chain(self.pane, read.chain);
    }
}

/// Returns settings in a tool's format, to be copied. Shows what the format can't express, or why
/// nothing was copied.
pub(in crate::state) fn copy_settings(
    tool: Tool,
    config: &GenerationConfig,
    vocabulary: Option<&Vocabulary>,
    notices: &mut Notices,
) -> Vec<Effect> {
    if let Err(error) = config.chain.validate() {
        return notices.notify(Notice::error("Nothing was copied", error.to_string()));
    }
    let written = export_settings(tool, config, vocabulary);
    let mut notice = Notice::done(format!("{COPIED} {}", tool.name()));
    if !written.notes.is_empty() {
        notice.body = format!("Different there:\n{}", written.notes.join("\n"));
        // An action keeps the notice open until the user has read it.
        notice = notice.with_action("Close", Command::CloseNotice(0));
    }
    // Notices about earlier copies are out of date: the clipboard holds only this one.
    notices.retain(|notice| !notice.title.starts_with(COPIED));
    notices.notify(notice);
    vec![Effect::CopyText(written.text)]
}
