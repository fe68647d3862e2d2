//! Scoring a text that the user pastes: the dialog, its token count, and the request.

use std::path::PathBuf;

use super::panes::pane::PendingGeneration;
use super::{AppState, BranchTarget, Effect, Notice, Pane, PaneId, PaneStatus, capitalize};
use crate::generation::{
    Continuation, FinishReason, Generation, GenerationConfig, Limits, ModelSource, PromptForm,
    PromptText, PromptToken,
};
use crate::state::pane_models::OwnModel;
use crate::worker::{GenerationId, PaneRequest, Request};

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
    /// Only its beginning fits.
    TooLong { n_tokens: usize, n_max: usize },
    /// It can't be scored, for this reason.
    Impossible(String),
}

impl AppState {
    pub(super) fn apply_to_score(&mut self, command: ScoreCommand) -> Vec<Effect> {
        match command {
            ScoreCommand::Open(id) => self.open_score_dialog(id, None),
            ScoreCommand::OpenWith(text) => {
                let last = self.panes.last().map(|pane| pane.id);
                last.map_or_else(Vec::new, |id| self.open_score_dialog(id, Some(text)))
            }
            ScoreCommand::Read { text: Ok(text), .. } => match &mut self.score_dialog {
                Some(dialog) => {
                    dialog.text = text;
                    self.apply_to_score(ScoreCommand::Edited)
                }
                None => self.apply_to_score(ScoreCommand::OpenWith(text)),
            },
            ScoreCommand::Read {
                path,
                text: Err(error),
            } => {
                let title = format!("Could not read {}", path.display());
                match &mut self.score_dialog {
                    Some(dialog) => {
                        dialog.unread = Some(format!("{title}: {error}"));
                        Vec::new()
                    }
                    None => self.notify(Notice::error(title, error)),
                }
            }
            ScoreCommand::HumanText => {
                if let Some(dialog) = &mut self.score_dialog {
                    HUMAN_TEXT.clone_into(&mut dialog.text);
                }
                self.apply_to_score(ScoreCommand::Edited)
            }
            ScoreCommand::Edited => {
                if let Some(dialog) = &mut self.score_dialog {
                    dialog.unread = None;
                }
                self.count_text_to_score()
            }
            ScoreCommand::Run => self.score_text(),
            ScoreCommand::Close => {
                self.score_dialog = None;
                Vec::new()
            }
        }
    }

    /// Returns whether the text in the dialog can be scored.
    pub fn score_readiness(&self, dialog: &ScoreDialog) -> ScoreReadiness {
        if dialog.text.trim().is_empty() {
            return ScoreReadiness::Empty;
        }
        let pane = self.pane(dialog.pane);
        let chosen = pane.and_then(|pane| self.chosen_model(&pane.settings));
        if chosen.is_some_and(|model| model.served().is_some()) {
            let reason =
                "A given text is scored by a model on this computer, but this pane uses a server";
            return ScoreReadiness::Impossible(reason.to_owned());
        }
        let Some(model) = pane.and_then(|pane| self.model_of(pane)) else {
            return ScoreReadiness::Impossible("Load a model first".to_owned());
        };
        let chain = pane.map(|pane| &pane.settings.chain);
        if let Some(Err(error)) = chain.map(crate::decoding::ChainConfig::validate) {
            return ScoreReadiness::Impossible(error.to_string());
        }
        let n_max = model.info.n_context;
        match &dialog.counted {
            Some((text, _)) if *text != dialog.text => ScoreReadiness::Counting,
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

    /// Opens the dialog. If no text is passed, it shows the one that the pane has scored, to be
    /// scored again in place.
    fn open_score_dialog(&mut self, id: PaneId, text: Option<String>) -> Vec<Effect> {
        let Some(pane) = self.pane(id) else {
            return Vec::new();
        };
        let scored = pane.generation().filter(|text| text.is_scored());
        let scored = scored.filter(|_| text.is_none());
        self.score_dialog = Some(ScoreDialog {
            pane: id,
            target: if scored.is_some() || !self.can_add_pane() {
                BranchTarget::InPlace
            } else {
                BranchTarget::NewPane
            },
            text: text
                .or_else(|| scored.map(|text| text.prompt.text.clone() + &text.text()))
                .unwrap_or_default(),
            unread: None,
            counted: None,
        });
        self.count_text_to_score()
    }

    fn count_text_to_score(&self) -> Vec<Effect> {
        let Some(dialog) = &self.score_dialog else {
            return Vec::new();
        };
        let pane = self.pane(dialog.pane);
        if dialog.text.trim().is_empty() || pane.and_then(|pane| self.model_of(pane)).is_none() {
            return Vec::new();
        }
        vec![Effect::Send(Request::Tokenize {
            prompt: PromptText::raw(&*dialog.text),
            model: self.local_model_of(dialog.pane),
        })]
    }

    /// Returns the model of a pane as a request names it.
    fn local_model_of(&self, id: PaneId) -> Option<ModelSource> {
        let own = self.own_model(self.pane(id)?);
        OwnModel::local(own.as_ref())
    }

    /// Stores the number of tokens of the text in the dialog.
    pub(super) fn on_text_counted(
        &mut self,
        prompt: &PromptText,
        model: Option<&ModelSource>,
        tokens: &Result<Vec<PromptToken>, String>,
    ) {
        let dialog = self.score_dialog.as_ref();
        let expected = dialog.and_then(|dialog| self.local_model_of(dialog.pane));
        if let Some(dialog) = &mut self.score_dialog
            && expected.as_ref() == model
            && prompt.form == PromptForm::Raw
            && prompt.text == dialog.text
        {
            let n_tokens = tokens.as_ref().map(Vec::len).map_err(Clone::clone);
            dialog.counted = Some((prompt.text.clone(), n_tokens));
        }
    }

    fn score_text(&mut self) -> Vec<Effect> {
        let Some(dialog) = self.score_dialog.clone() else {
            return Vec::new();
        };
        let n_tokens = match self.score_readiness(&dialog) {
            ScoreReadiness::Fits { n_tokens } => n_tokens,
            ScoreReadiness::TooLong { n_max, .. } => n_max,
            _ => return Vec::new(),
        };
        let Some(place) = self.score_place(&dialog) else {
            return Vec::new();
        };
        self.score_dialog = None;
        self.score_in(place, dialog.text, n_tokens)
    }

    /// Scores at most `n_tokens` tokens of a text in the pane at `place`.
    pub(super) fn score_in(&mut self, place: usize, text: String, n_tokens: usize) -> Vec<Effect> {
        let mut effects = Vec::new();
        if let Some(pane) = self.panes.get(place).map(|pane| pane.id) {
            effects.extend(self.stop(pane));
        }
        let n_detail_bytes = self.detail_bytes_per_step(&[place]);
        let limits = Limits {
            max_new_tokens: n_tokens.saturating_sub(1),
            ..self.limits.clone()
        };
        self.last_id += 1;
        let id = GenerationId(self.last_id);
        let Some(pane) = self.panes.get(place) else {
            return effects;
        };
        let (config, own) = (self.config_of(pane), self.own_model(pane));
        let model = OwnModel::local(own.as_ref());
        let config = GenerationConfig { limits, ..config };
        if let Some(pane) = self.panes.get_mut(place) {
            pane.wait_for(id, config.clone(), own);
        }
        effects.push(Effect::Send(Request::Score {
            text,
            n_first: Some(n_tokens),
            panes: vec![PaneRequest {
                id,
                config,
                model,
                continuation: Continuation::default(),
            }],
            n_detail_bytes,
        }));
        effects
    }

    /// Returns the position of the pane that shows the scored text, which may be a new one.
    fn score_place(&mut self, dialog: &ScoreDialog) -> Option<usize> {
        let place = self.place_of(dialog.pane)?;
        if dialog.target == BranchTarget::InPlace || !self.can_add_pane() {
            return Some(place);
        }
        let mut settings = self.panes.get(place)?.settings.clone();
        "Text".clone_into(&mut settings.name);
        let id = self.next_pane_id();
        self.panes.insert(place + 1, Pane::new(id, settings));
        Some(place + 1)
    }

    /// Returns whether a run of all panes leaves this pane alone, because it reads along with
    /// another pane or shows a given text. If all panes show given texts, none is left alone.
    pub(super) fn keeps_given_text(&self, pane: &Pane) -> bool {
        if pane.reads.is_some() {
            return true;
        }
        let is_given = |pane: &Pane| pane.generation().is_some_and(Generation::is_scored);
        is_given(pane) && !self.panes.iter().all(is_given)
    }
}

impl Pane {
    /// Waits for a text that replaces the current one.
    fn wait_for(&mut self, id: GenerationId, config: GenerationConfig, own: Option<OwnModel>) {
        self.running_model = OwnModel::named(own.as_ref());
        self.upcoming = None;
        self.server_notes.clear();
        let mut status = std::mem::replace(&mut self.status, PaneStatus::Ready);
        status.finish(FinishReason::Cancelled);
        let pending = PendingGeneration {
            id,
            name: self.settings.name.clone(),
            config,
            previous: status.into_generation(),
            kept: None,
            own_model: own,
        };
        self.status = PaneStatus::Waiting { pending };
    }
}
