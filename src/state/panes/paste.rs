//! A pane's settings in the words of other tools: copied for them, pasted from them.

use crate::interop::tools::{ReadSettings, Tool, read_settings, write_settings};
use crate::state::{AppState, Command, Effect, Notice, PaneId};

/// How the notice of a copy begins.
const COPIED: &str = "Copied as";

/// The dialog in which settings are pasted.
#[derive(Debug, Clone, PartialEq)]
pub struct Paste {
    /// The pane that is to be set.
    pub pane: PaneId,
    /// What was pasted or typed so far.
    pub text: String,
    /// What it means, or why it means nothing; nothing while there is no text.
    pub read: Option<Result<ReadSettings, String>>,
    /// Whether length and stops are taken over too, where the text names them: all panes share
    /// them, so that is the user's choice.
    pub limits_too: bool,
}

/// What may be asked of the dialog. Its text is edited in place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PasteCommand {
    /// Open it for a pane.
    Open(PaneId),
    /// The text was edited.
    Edited,
    /// Set the pane as the text says, and close.
    Apply,
    /// Close, and change nothing.
    Close,
}

impl AppState {
    /// Puts a pane's settings on the clipboard, and says what they don't say there.
    pub(in crate::state) fn copy_settings(&mut self, id: PaneId, tool: Tool) -> Vec<Effect> {
        let Some(pane) = self.pane(id) else {
            return Vec::new();
        };
        let model = self.model.ready();
        let vocabulary = model.map(|model| &*model.vocabulary);
        let written = write_settings(tool, &self.config_of(pane), vocabulary);
        let mut notice = Notice::done(format!("{COPIED} {}", tool.name()));
        if !written.unsaid.is_empty() {
            notice.body = format!("Not the same there:\n{}", written.unsaid.join("\n"));
            // What must be read stays until it was.
            notice = notice.with_action("Close", Command::CloseNotice);
        }
        // Only the newest copy is on the clipboard.
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
                self.read_pasted();
                Vec::new()
            }
            PasteCommand::Apply => self.apply_pasted(),
            PasteCommand::Close => {
                self.paste = None;
                Vec::new()
            }
        }
    }

    /// Reads what was pasted, in the vocabulary of the model that is there now.
    pub(in crate::state) fn read_pasted(&mut self) {
        let model = self.model.ready();
        let vocabulary = model.map(|model| model.vocabulary.clone());
        if let Some(paste) = &mut self.paste {
            let written = !paste.text.trim().is_empty();
            paste.read = written.then(|| read_settings(&paste.text, vocabulary.as_deref()));
        }
    }

    /// Nothing is applied that could not be read.
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
