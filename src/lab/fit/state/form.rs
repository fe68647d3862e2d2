//! What the next fit varies, and which texts it reads.

use crate::analysis::sweep::Parameter;
use crate::decoding::FilterKind;
use crate::generation::{FitText, PromptForm, PromptText};
use crate::lab::AxisForm;
use crate::lab::fit::FitSetup;
use crate::state::{AppState, Pane, PaneId, ReadyModel};

/// A text to fit, as the user chose it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FitInput {
    /// The text of a pane.
    Pane(PaneId),
    /// A text that was pasted. It is edited in place.
    Pasted {
        text: String,
        /// Whether it continues the window's prompt. Otherwise it stands alone.
        continues_prompt: bool,
    },
}

/// What the next fit varies, and which texts it reads. The fields are edited in place.
#[derive(Debug, Clone, PartialEq)]
pub struct FitForm {
    pub inputs: Vec<FitInput>,
    /// Whether the user has chosen the texts. Until then, the fit uses the text of the last pane.
    pub is_chosen: bool,
    pub rows: AxisForm,
    /// `None` for a curve over one number.
    pub columns: Option<AxisForm>,
    /// The pane that all other settings come from, or `None` for the first text's.
    pub base: Option<PaneId>,
}

impl Default for FitForm {
    fn default() -> Self {
        let axis = |kind, [from, to]: [f64; 2], n_steps| AxisForm {
            parameter: Parameter::Filter(kind, 0),
            from,
            to,
            n_steps,
        };
        Self {
            inputs: Vec::new(),
            is_chosen: false,
            rows: axis(FilterKind::Temperature, [0.1, 1.6], 31),
            columns: Some(axis(FilterKind::TopP, [0.5, 1.0], 51)),
            base: None,
        }
    }
}

/// Chooses the text of the last pane that has one, unless the user has chosen texts.
pub(in crate::lab::fit) fn suggest_fit_text(state: &mut AppState) {
    let last = state.panes.iter().rev().find(|pane| pane.has_text());
    let last = last.map(|pane| pane.id);
    let form = &mut state.lab.fit.form;
    if !form.is_chosen {
        form.inputs = last.map(FitInput::Pane).into_iter().collect();
    }
}

/// Returns the pane whose settings the fit uses for everything that it does not vary.
pub fn fit_base(state: &AppState) -> Option<&Pane> {
    let form = &state.lab.fit.form;
    let chosen = form.base.and_then(|id| state.pane(id));
    let of_text = || {
        form.inputs.iter().find_map(|input| match input {
            FitInput::Pane(id) => state.pane(*id),
            FitInput::Pasted { .. } => None,
        })
    };
    chosen.or_else(of_text).or_else(|| state.panes.last())
}

/// Returns what the next fit varies, or why it can't run.
pub(in crate::lab::fit) fn fit_setup(state: &AppState) -> Result<FitSetup, String> {
    let form = &state.lab.fit.form;
    let Some(base) = fit_base(state) else {
        return Err("Add a pane first".to_owned());
    };
    let setup = FitSetup {
        base: base.settings.chain.clone(),
        rows: form.rows.axis()?,
        columns: form.columns.as_ref().map(AxisForm::axis).transpose()?,
    };
    setup.validate().map_err(|error| error.to_string())?;
    Ok(setup)
}

/// Returns the texts of the next fit, or why it can't run.
pub(in crate::lab::fit) fn fit_texts(
    state: &AppState,
    model: &ReadyModel,
) -> Result<Vec<FitText>, String> {
    let inputs = state.lab.fit.form.inputs.iter();
    let texts: Result<Vec<FitText>, String> =
        inputs.map(|input| fit_text(state, input, model)).collect();
    let texts = texts?;
    if texts.is_empty() {
        return Err("Choose a text first".to_owned());
    }
    Ok(texts)
}

fn fit_text(state: &AppState, input: &FitInput, model: &ReadyModel) -> Result<FitText, String> {
    match input {
        FitInput::Pane(id) => {
            let text = state.pane(*id).and_then(Pane::generation);
            let Some(text) = text.filter(|text| !text.steps.is_empty()) else {
                return Err("A pane has no text to fit".to_owned());
            };
            if text.finish.is_none() {
                return Err("A text is still being written".to_owned());
            }
            if *text.model == *model.info {
                let written = text.steps.iter().map(|step| step.token);
                let prompt = text.prompt.tokens.iter().copied();
                return Ok(FitText::Recorded {
                    n_prompt: text.prompt.tokens.len(),
                    tokens: prompt.chain(written).collect(),
                    form: PromptForm::of(text.prompt.chat.as_ref()),
                });
            }
            // Another model has written it, so its tokens mean nothing here.
            Ok(FitText::Typed {
                prompt: Some(PromptText::raw(&text.prompt.text)),
                text: text.text(),
            })
        }
        FitInput::Pasted {
            text,
            continues_prompt,
        } => {
            if text.trim().is_empty() {
                return Err("Paste a text first".to_owned());
            }
            let prompt = state.prompt.to_text();
            let continues = *continues_prompt && !prompt.text.is_empty();
            Ok(FitText::Typed {
                prompt: continues.then_some(prompt),
                text: text.clone(),
            })
        }
    }
}

/// Returns why the fit can't run now, or `None` if it can.
pub(in crate::lab::fit) fn fit_blocking_reason(state: &AppState) -> Option<String> {
    if let Some(reason) = state.models.main.blocking_reason() {
        return Some(reason.to_owned());
    }
    let texts = state
        .models
        .main
        .ready()
        .map(|model| fit_texts(state, model));
    let texts = texts.and_then(Result::err);
    texts.or_else(|| fit_setup(state).err())
}
