//! Scoring a text that the user pastes: the dialog, its token count, and the request.

use std::path::PathBuf;

use super::{
    BranchTarget, Effect, Models, Notice, Notices, Pane, PaneId, Panes, PromptMode, capitalize,
};
use crate::analysis::GivenConversation;
use crate::generation::{ModelSource, PromptForm, PromptText};
use crate::state::conversation::read_conversation;
use crate::state::pane_models::{OwnModel, chat_blocking_reason};
use crate::worker::Request;

/// A passage that a person wrote, which surprises the built-in model more than its own texts do:
/// Katherine Mansfield (1888–1923), "The Garden Party" (1922, public domain). The model has not read
/// it: `assets/model/recipe/SOURCES.tsv` lists what it has.
const HUMAN_TEXT: &str = "And after all the weather was ideal. They could not have had a more \
     perfect day for a garden-party if they had ordered it. Windless, warm, the sky without a cloud. \
     Only the blue was veiled with a haze of light gold, as it is sometimes in early summer. The \
     gardener had been up since dawn, mowing the lawns and sweeping them, until the grass and the \
     dark flat rosettes where the daisy plants had been seemed to shine.";

/// What the user can do with a text to be scored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ScoreCommand {
    /// Open the dialog for a pane.
    Open(PaneId),
    /// Open the dialog with this text, for the last pane.
    OpenWith(String),
    /// A file was read: show its text in the dialog, or say why it could not be read.
    Read {
        path: PathBuf,
        text: Result<String, String>,
    },
    /// Fill the dialog with a passage that a person wrote.
    HumanText,
    /// The text in the dialog was edited; count its tokens again.
    Edited,
    /// Score the text in the dialog, or as much of it as fits into the context.
    Run,
    /// Test the text in the dialog for a watermark or, if it is empty, that of the pane.
    TestForWatermark,
    /// Close the dialog.
    Close,
}

/// The dialog for a text to be scored.
#[derive(Debug, Clone, PartialEq)]
pub struct ScoreDialog {
    /// The pane with whose settings the text is scored.
    pub pane: PaneId,
    pub text: String,
    pub target: BranchTarget,
    /// The conversation that the text is, if it is a list of messages, or why its answers can't be
    /// scored.
    conversation: Option<Result<GivenConversation, String>>,
    /// Why the last file could not be read. `None` again once the text changes.
    pub unread: Option<String>,
    /// The engine's latest token count, with the text that it belongs to.
    counted: Option<(String, Result<usize, String>)>,
}

/// What the dialog says about its text, and whether the text can be scored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ScoreReadiness {
    /// There is nothing to score yet.
    Empty,
    /// The tokens are being counted.
    Counting,
    /// The text fits.
    Fits { n_tokens: usize },
    /// It is a conversation with this many answers, which are scored.
    Answers { n: usize },
    /// Only its beginning fits.
    TooLong { n_tokens: usize, n_max: usize },
    /// It can't be scored, for this reason.
    Impossible(String),
}

impl ScoreDialog {
    /// Opens, closes or fills the dialog. Returns the request that counts the tokens of its text.
    pub(super) fn apply(
        open: &mut Option<Self>,
        command: ScoreCommand,
        panes: &Panes,
        models: &Models,
        notices: &mut Notices,
    ) -> Option<Effect> {
        match command {
            ScoreCommand::Open(id) => *open = Some(Self::of(panes.pane(id)?, None, panes)),
            ScoreCommand::OpenWith(text) => {
                *open = Some(Self::of(panes.last()?, Some(text), panes));
            }
            ScoreCommand::Read { text: Ok(text), .. } => match open {
                Some(dialog) => {
                    dialog.text = text;
                    dialog.unread = None;
                }
                None => *open = Some(Self::of(panes.last()?, Some(text), panes)),
            },
            ScoreCommand::Read {
                path,
                text: Err(error),
            } => {
                let title = format!("Could not read {}", path.display());
                match open {
                    Some(dialog) => dialog.unread = Some(format!("{title}: {error}")),
                    None => {
                        notices.notify(Notice::error(title, error));
                    }
                }
                return None;
            }
            ScoreCommand::HumanText => {
                let dialog = open.as_mut()?;
                HUMAN_TEXT.clone_into(&mut dialog.text);
                dialog.unread = None;
            }
            ScoreCommand::Edited => open.as_mut()?.unread = None,
            ScoreCommand::Close => *open = None,
            ScoreCommand::Run | ScoreCommand::TestForWatermark => return None,
        }
        let dialog = open.as_mut()?;
        dialog.conversation = read_conversation(&dialog.text);
        dialog.count(panes, models)
    }

    /// Creates the dialog of a pane. If no text is passed, it shows the one that the pane has
    /// scored, to be scored again in place.
    fn of(pane: &Pane, text: Option<String>, panes: &Panes) -> Self {
        let scored = pane.generation().filter(|text| text.is_scored());
        let scored = scored.filter(|_| text.is_none());
        // An empty pane whose menu was used takes the text itself.
        let takes_text = text.is_none() && !pane.has_text();
        Self {
            pane: pane.id,
            target: if scored.is_some() || takes_text || !panes.has_room() {
                BranchTarget::InPlace
            } else {
                BranchTarget::NewPane
            },
            text: text
                .or_else(|| scored.map(|text| text.prompt.text.clone() + &text.text()))
                .unwrap_or_default(),
            conversation: None,
            unread: None,
            counted: None,
        }
    }

    /// Returns the conversation that the text is, if it is one.
    pub(super) fn conversation(&self) -> Option<&GivenConversation> {
        self.conversation.as_ref()?.as_ref().ok()
    }

    /// Returns whether the text can be scored.
    pub fn readiness(&self, panes: &Panes, models: &Models) -> ScoreReadiness {
        if self.text.trim().is_empty() {
            return ScoreReadiness::Empty;
        }
        let pane = panes.pane(self.pane);
        let chosen = pane.and_then(|pane| models.chosen(&pane.settings));
        if chosen.is_some_and(|model| model.served().is_some()) {
            let reason =
                "A given text is scored by a model on this computer, but this pane uses a server";
            return ScoreReadiness::Impossible(reason.to_owned());
        }
        let Some(model) = pane.and_then(|pane| models.of(pane)) else {
            return ScoreReadiness::Impossible("Load a model first".to_owned());
        };
        let chain = pane.map(|pane| &pane.settings.chain);
        if let Some(Err(error)) = chain.map(crate::decoding::ChainConfig::validate) {
            return ScoreReadiness::Impossible(error.to_string());
        }
        if let Some(conversation) = &self.conversation {
            let reason = chat_blocking_reason(&model.chat, PromptMode::Chat);
            return match (conversation, reason) {
                (Err(error), _) => ScoreReadiness::Impossible(error.clone()),
                (Ok(_), Some(reason)) => ScoreReadiness::Impossible(reason),
                (Ok(given), None) => ScoreReadiness::Answers {
                    n: given.n_answers(),
                },
            };
        }
        let n_max = model.info.n_context;
        match &self.counted {
            Some((text, _)) if *text != self.text => ScoreReadiness::Counting,
            None => ScoreReadiness::Counting,
            Some((_, Err(error))) => ScoreReadiness::Impossible(capitalize(error)),
            Some((_, Ok(0 | 1))) => {
                ScoreReadiness::Impossible("A single token has nothing before it".to_owned())
            }
            Some((_, Ok(n_tokens))) if *n_tokens > n_max => ScoreReadiness::TooLong {
                n_tokens: *n_tokens,
                n_max,
            },
            Some((_, Ok(n_tokens))) => ScoreReadiness::Fits {
                n_tokens: *n_tokens,
            },
        }
    }

    fn count(&self, panes: &Panes, models: &Models) -> Option<Effect> {
        models.of(panes.pane(self.pane)?)?;
        let has_text = !self.text.trim().is_empty() && self.conversation.is_none();
        has_text.then(|| {
            Effect::Send(Request::Tokenize {
                prompt: PromptText::raw(&*self.text),
                model: self.local_model(panes, models),
            })
        })
    }

    /// Returns the model of the pane as a request names it.
    pub(super) fn local_model(&self, panes: &Panes, models: &Models) -> Option<ModelSource> {
        let own = models.own(panes.pane(self.pane)?);
        OwnModel::local(own.as_ref())
    }

    /// Stores how many tokens the text has for the model of the pane.
    pub(super) fn on_counted(&mut self, prompt: &PromptText, n_tokens: Result<usize, String>) {
        if prompt.form == PromptForm::Raw && prompt.text == self.text {
            self.counted = Some((prompt.text.clone(), n_tokens));
        }
    }
}
