//! The tab of the logits set by hand. The tokens and logits are part of the window's state, because
//! pictures and the settings name them.

use crate::lab::{Experiment, Group, NoCommand, NoResult, NoSettings};
use crate::state::{AppState, Command, Effect};

/// How many tokens the button draws.
const N_DRAWS: u32 = 1000;

/// The tab shows what the logits say at once. Running it draws many tokens.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ByHandTab {}

impl Experiment for ByHandTab {
    const NAME: &'static str = "By hand";
    const GROUP: Group = Group::HowItWorks;
    type Command = NoCommand;
    type Settings = NoSettings;
    type Result = NoResult;

    fn start(state: &mut AppState) -> Vec<Effect> {
        state.apply(Command::DrawByHand(N_DRAWS))
    }

    fn apply(_state: &mut AppState, command: NoCommand) -> Vec<Effect> {
        match command {}
    }

    fn settings(&self) -> NoSettings {
        NoSettings::default()
    }

    fn restored(_settings: NoSettings) -> Self {
        Self::default()
    }
}
