//! The futures of one pane: the plan, the futures drawn so far, and their figures.

use std::sync::Arc;

use crate::analysis::futures::{
    FutureBranch, Share, WordPattern, entropy_by_position, future_tree, n_distinct,
};
use crate::decoding::TokenId;
use crate::generation::{
    DrawnFutures, Future, FuturesPlan, Generation, ModelInfo, PieceKind, Vocabulary,
};
use crate::state::jobs::JobRun;
use crate::state::{Pane, PaneId, ReadyModel, RunStatus};
use crate::worker::{GenerationId, JobReport};

/// How many of the tokens before the futures their title quotes.
const N_QUOTED: usize = 3;

/// Futures of one pane.
#[derive(Debug, Clone, PartialEq)]
pub struct FuturesRun {
    id: GenerationId,
    /// The pane whose settings they follow.
    pub pane: PaneId,
    plan: FuturesPlan,
    pub model: Arc<ModelInfo>,
    pub vocabulary: Arc<Vocabulary>,
    pub status: RunStatus,
    futures: Vec<Future>,
    /// The visible text of each future.
    texts: Vec<String>,
    /// How the pane's own text continues.
    own: Vec<TokenId>,
    /// The first branches of their tree.
    pub tree: Vec<FutureBranch>,
    /// The entropy of the first, second, … token, in bits.
    pub entropy_bits: Vec<f64>,
    pub n_distinct: usize,
    /// How often each word appears.
    pub words: Vec<WordRow>,
}

/// A word, and how often it appears, or why its pattern is invalid.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WordRow {
    pub word: String,
    pub share: Result<Share, String>,
}

impl FuturesRun {
    pub(super) fn new(
        id: GenerationId,
        pane: &Pane,
        plan: FuturesPlan,
        model: &ReadyModel,
    ) -> Self {
        Self {
            id,
            pane: pane.id,
            own: pane
                .generation()
                .map_or_else(Vec::new, |text| own_continuation(text, &plan)),
            plan,
            model: Arc::clone(&model.info),
            vocabulary: Arc::clone(&model.vocabulary),
            status: RunStatus::Waiting,
            futures: Vec::new(),
            texts: Vec::new(),
            tree: Vec::new(),
            entropy_bits: Vec::new(),
            n_distinct: 0,
            words: Vec::new(),
        }
    }

    #[cfg(test)]
    pub(crate) const fn id(&self) -> GenerationId {
        self.id
    }

    /// Returns the plan that they are drawn from.
    pub const fn plan(&self) -> &FuturesPlan {
        &self.plan
    }

    /// Returns the complete futures, in the order of their indices.
    pub fn futures(&self) -> &[Future] {
        &self.futures
    }

    pub(super) const fn is_drawing(&self) -> bool {
        self.status.is_running()
    }

    /// Returns the end of the text that they follow: "lived in a".
    pub fn quoted(&self) -> String {
        let start = self.plan.text.len().saturating_sub(N_QUOTED);
        let tokens = self.plan.text.get(start..).unwrap_or_default();
        text_of(tokens, &self.vocabulary).trim().to_owned()
    }

    /// Returns the visible text of tokens.
    pub fn text_of(&self, tokens: &[TokenId]) -> String {
        text_of(tokens, &self.vocabulary)
    }

    fn add(&mut self, futures: Vec<Future>) {
        let texts = futures.iter().map(|future| self.text_of(&future.tokens));
        let texts: Vec<String> = texts.collect();
        self.texts.extend(texts);
        self.futures.extend(futures);
        self.compute();
        let words: Vec<String> = self.words.iter().map(|row| row.word.clone()).collect();
        self.count_words(&words);
    }

    fn compute(&mut self) {
        let futures = self.futures.iter();
        let texts: Vec<&[TokenId]> = futures.map(|future| future.tokens.as_slice()).collect();
        self.tree = future_tree(&texts, &self.own);
        self.entropy_bits = entropy_by_position(&texts);
        self.n_distinct = n_distinct(&texts);
    }

    pub(super) fn count_words(&mut self, words: &[String]) {
        let row = |word: &String| WordRow {
            word: word.clone(),
            share: WordPattern::parse(word)
                .map(|pattern| pattern.share_of(self.texts.iter().map(String::as_str))),
        };
        self.words = words.iter().map(row).collect();
    }
}

impl JobRun for FuturesRun {
    fn status(&self) -> &RunStatus {
        &self.status
    }

    fn running_jobs(&self) -> Vec<GenerationId> {
        self.is_drawing().then_some(self.id).into_iter().collect()
    }

    fn on_report(&mut self, _id: GenerationId, report: JobReport) {
        self.status.begin();
        if let Some(DrawnFutures(futures)) = report.take() {
            self.add(futures);
        }
    }

    fn end(&mut self, _id: GenerationId, status: RunStatus) {
        self.status = status;
    }
}

/// Returns how a pane's text continues after the text of the plan, as far as the futures reach.
fn own_continuation(text: &Generation, plan: &FuturesPlan) -> Vec<TokenId> {
    let steps = text.steps.iter().map(|step| step.token);
    let tokens: Vec<TokenId> = text.prompt.tokens.iter().copied().chain(steps).collect();
    let rest = tokens
        .strip_prefix(plan.text.as_slice())
        .unwrap_or_default();
    rest.iter().take(plan.n_tokens).copied().collect()
}

fn text_of(tokens: &[TokenId], vocabulary: &Vocabulary) -> String {
    let pieces = tokens.iter().map(|token| vocabulary.piece(*token));
    let visible = pieces.filter(|piece| piece.kind == PieceKind::Text);
    let bytes: Vec<u8> = visible.flat_map(|piece| piece.bytes).collect();
    String::from_utf8_lossy(&bytes).into_owned()
}
