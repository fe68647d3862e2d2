//! Copies a pane's settings in the formats of other tools, and pastes them back.

use crate::interop::tools::{ImportedSettings, Tool, export_settings, import_settings};
use crate::state::{AppState, Command, Effect, Notice, PaneId};

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

impl AppState {
    /// Copies a pane's settings, and shows what the tool's format can't express.
    pub(in crate::state) fn copy_settings(&mut self, id: PaneId, tool: Tool) -> Vec<Effect> {
        let Some(pane) = self.pane(id) else {
            return Vec::new();
        };
        if let Err(error) = pane.settings.chain.validate() {
            return self.notify(Notice::error("Nothing was copied", error.to_string()));
        }
        let model = self.model_of(pane);
        let vocabulary = model.map(|model| &*model.vocabulary);
        let written = export_settings(tool, &self.config_of(pane), vocabulary);
        let mut notice = Notice::done(format!("{COPIED} {}", tool.name()));
        if !written.notes.is_empty() {
            notice.body = format!("Different there:\n{}", written.notes.join("\n"));
            // An action keeps the notice open until the user has read it.
            notice = notice.with_action("Close", Command::CloseNotice);
        }
        // Notices about earlier copies are out of date: the clipboard holds only this one.
        self.notices
            .retain(|notice| !notice.title.starts_with(COPIED));
        self.notify(notice);
        vec![Effect::CopyText(written.text)]
    }

    pub(in crate::state) fn apply_to_paste(&mut self, command: PasteCommand) -> Vec<Effect> {
        match command {
            PasteCommand::Open(pane) => {
                self.paste = Some(Paste {
                    pane,
                    text: String::new(),
                    read: None,
                    limits_too: false,
                });
                Vec::new()
            }
            PasteCommand::Edited => {
                self.parse_pasted();
                Vec::new()
            }
            PasteCommand::Apply => self.apply_pasted(),
            PasteCommand::Close => {
                self.paste = None;
                Vec::new()
            }
        }
    }

    /// Parses the pasted text with the vocabulary of the pane's model.
    pub(in crate::state) fn parse_pasted(&mut self) {
        let pane = self.paste.as_ref().and_then(|paste| self.pane(paste.pane));
        let model = pane.and_then(|pane| self.model_of(pane));
        let vocabulary = model.map(|model| model.vocabulary.clone());
        if let Some(paste) = &mut self.paste {
            let has_text = !paste.text.trim().is_empty();
            paste.read = has_text.then(|| import_settings(&paste.text, vocabulary.as_deref()));
        }
    }

    /// Applies the settings, if the text could be parsed.
    fn apply_pasted(&mut self) -> Vec<Effect> {
        let Some(Paste {
            pane: id,
            read: Some(Ok(read)),
            limits_too,
            ..
        }) = self.paste.clone()
        else {
            return Vec::new();
        };
        self.paste = None;
        if let Some(pane) = self.panes.iter_mut().find(|pane| pane.id == id) {
            pane.settings.seed = read.seed.or(pane.settings.seed);
        }
        if limits_too {
            let limits = &mut self.limits;
            limits.max_new_tokens = read.max_new_tokens.unwrap_or(limits.max_new_tokens);
            if let Some(stops) = read.stop_strings {
                limits.stop_strings = stops;
            }
        }
        self.set_chain(id, read.chain)
    }
}
