//! Scores a given text: reads it in chunks and records each token as if the model had generated it.

use std::sync::Arc;
use std::time::Instant;

use rayon::prelude::*;

use super::early_layers::{GuidingRow, OwnPass, exits_of};
use super::guide::{Guide, GuidedText};
use super::other_rows::RowLogits;
use super::prefill::PREFILL_CHUNK;
use super::{
    EarlyExit, EngineError, GivenText, LoadedModel, Logits, Progress, Prompt, Row, SequenceId,
};
use crate::decoding::{
    Coins, GrammarDraw, GrammarState, Guidance, History, LegalTokens, LogitsHash, Mixture,
    SamplerChain, Taken, TokenId,
};
use crate::generation::{
    FinishReason, GenerationConfig, GenerationId, PieceKind, PromptForm, PromptRecord, Step,
    StepTime, Vocabulary,
};

/// How many logits one pass may compute, so that a chunk takes at most 16 MB.
const N_LOGITS: usize = 1 << 22;

/// A text that is being scored.
pub(super) struct Scoring {
    /// The prompt, with the tokens of the text after its own.
    text: Prompt,
    /// How many tokens belong to the prompt. Nothing comes before the first token of a text without
    /// one, so that token is its prompt.
    n_prompt: usize,
    panes: Vec<ScoredPane>,
    /// Panes whose settings can't score a text, with the reason. They are reported by the first
    /// pass.
    refused: Vec<(GenerationId, String)>,
    /// `None` until the first pass.
    sequence: Option<SequenceId>,
    /// How many tokens the model has read. The last token is never read, because nothing follows
    /// it.
    n_read: usize,
    requested_at: Instant,
}

/// A pane under whose settings the text is scored.
struct ScoredPane {
    id: GenerationId,
    chain: SamplerChain,
    /// The state of the pane's grammar after the text scored so far.
    grammar: Option<GrammarState>,
    guide: Option<PaneGuide>,
    seed: u64,
}

/// The guidance of a pane, and the row that guides it.
struct PaneGuide {
    guidance: Arc<Guidance>,
    guide: Guide,
    /// The guide's logits for the rows of the current chunk.
    rows: Vec<GuidingRow>,
}

/// The tokens of one forward pass that others to score follow, with the logits after each.
struct Chunk<'a> {
    /// The prompt and the text.
    tokens: &'a [TokenId],
    n_prompt: usize,
    /// The position of the first of these tokens.
    start: usize,
    logits: &'a Logits,
    vocabulary: &'a Vocabulary,
    time: StepTime,
}

impl Scoring {
    /// Prepares to score a text after its prompt. Both have at least one token.
    pub(super) fn new(GivenText { text, n_prompt }: GivenText, requested_at: Instant) -> Self {
        Self {
            text,
            n_prompt,
            panes: Vec::new(),
            refused: Vec::new(),
            sequence: None,
            n_read: 0,
            requested_at,
        }
    }

    /// Adds a pane, so that the text is also scored under its settings.
    pub(super) fn add_pane(
        &mut self,
        id: GenerationId,
        config: &GenerationConfig,
        n_detail_bytes: usize,
        model: &LoadedModel,
    ) {
        let guide = match self.guide_of(config, model) {
            Ok(guide) => guide,
            Err(error) => return self.refused.push((id, error.to_string())),
        };
        let mut grammar = match model.grammar_of(&config.chain, &config.limits) {
            Ok(grammar) => grammar,
            Err(error) => return self.refused.push((id, error.to_string())),
        };
        let chain = match model.spelled(&config.chain) {
            Ok(chain) => chain,
            Err(error) => return self.refused.push((id, error.to_string())),
        };
        let first = self.text.tokens.first().copied();
        let is_text = |token: &TokenId| model.vocabulary.piece(*token).kind == PieceKind::Text;
        let is_of_grammar = |token: &TokenId| self.text.chat.is_none() && is_text(token);
        if let (Some(grammar), Some(token)) = (&mut grammar, first.filter(is_of_grammar)) {
            grammar.accept(token);
        }
        self.panes.push(ScoredPane {
            id,
            grammar,
            guide,
            chain: SamplerChain::new(chain).with_detail(n_detail_bytes),
            seed: config.seed,
        });
    }

    /// Returns what guides a pane: it reads its own prompt in place of the text's.
    fn guide_of(
        &self,
        config: &GenerationConfig,
        model: &LoadedModel,
    ) -> Result<Option<PaneGuide>, EngineError> {
        let Some(guidance) = config.chain.guidance.clone() else {
            return Ok(None);
        };
        let prompt = self.text.tokens.get(..self.n_prompt).unwrap_or_default();
        let form = PromptForm::of(self.text.chat.as_ref());
        let prompt = model.guiding_prompt(&guidance, prompt, form)?;
        Ok(Some(PaneGuide {
            guide: Guide::new(guidance.against.clone(), prompt),
            guidance: Arc::new(guidance),
            rows: Vec::new(),
        }))
    }

    pub(super) fn ids(&self) -> impl Iterator<Item = GenerationId> {
        self.panes.iter().map(|pane| pane.id)
    }

    pub(super) fn has(&self, id: GenerationId) -> bool {
        self.ids().any(|other| other == id)
    }

    pub(super) const fn has_panes(&self) -> bool {
        !self.panes.is_empty()
    }

    /// Removes a pane. Frees the sequence along with the last one.
    pub(super) fn leave(&mut self, id: GenerationId, model: &mut LoadedModel) {
        let left = self.panes.extract_if(.., |pane| pane.id == id);
        left.for_each(|pane| pane.close(model));
        if self.panes.is_empty() {
            self.close(model);
        }
    }

    /// Reads the next chunk and reports its steps. Returns whether tokens are left to score.
    pub(super) fn advance(
        &mut self,
        model: &mut LoadedModel,
        progress: &mut Vec<Progress>,
    ) -> bool {
        let reads = self.read_guides(model);
        let refused = self.refused.drain(..);
        progress.extend(refused.map(|(id, error)| Progress::failed(id, error)));
        if self.panes.is_empty() || reads {
            return reads;
        }
        let goes_on = self.read_chunk(model, progress).unwrap_or_else(|error| {
            let failed = |id| Progress::failed(id, &error);
            progress.extend(self.ids().map(failed));
            false
        });
        if !goes_on {
            self.close(model);
        }
        goes_on
    }

    /// Reads the next chunk of what guides the panes, before the text. Refuses panes whose guide
    /// fails. Returns whether there was anything to read.
    fn read_guides(&mut self, model: &mut LoadedModel) -> bool {
        let n_tokens = self.text.tokens.len().saturating_sub(1);
        let mut reads = false;
        for pane in &mut self.panes {
            let Some(guide) = &mut pane.guide else {
                continue;
            };
            match guide.guide.reads_prompt(n_tokens, model) {
                Ok(read) => reads |= read,
                Err(error) => self.refused.push((pane.id, error.to_string())),
            }
        }
        let is_refused = |pane: &mut ScoredPane| self.refused.iter().any(|(id, _)| *id == pane.id);
        let refused = self.panes.extract_if(.., is_refused);
        refused.for_each(|pane| pane.close(model));
        reads
    }

    fn read_chunk(
        &mut self,
        model: &mut LoadedModel,
        progress: &mut Vec<Progress>,
    ) -> Result<bool, EngineError> {
        let tokens = &self.text.tokens;
        let n_to_read = tokens.len().saturating_sub(1);
        let n_rows = (N_LOGITS / model.lm.n_vocab().max(1)).clamp(1, PREFILL_CHUNK);
        let sequence = if let Some(sequence) = self.sequence {
            sequence
        } else {
            progress.push(self.started(&model.vocabulary));
            *self.sequence.insert(model.lm.open_for(n_to_read))
        };
        let n_after = (self.n_read + n_rows).min(n_to_read);
        let read = tokens.get(self.n_read..n_after).unwrap_or_default();
        // The first token to score follows the last one of the prompt.
        let n_skipped = self
            .n_prompt
            .saturating_sub(self.n_read + 1)
            .min(read.len());
        let rows: Vec<Row> = read
            .iter()
            .enumerate()
            .map(|(index, token)| Row {
                sequence,
                token: *token,
                logits_wanted: index >= n_skipped,
            })
            .collect();
        let positions = self.n_read + n_skipped..n_after;
        let started_at = Instant::now();
        let guides = self.panes.iter().filter_map(|pane| pane.guide.as_ref());
        let exits = guides.flat_map(|guide| exits_of(n_skipped..rows.len(), guide.guide.layers()));
        let exits: Vec<EarlyExit> = exits.collect();
        let (logits, early) = model.lm.forward_with_exits(&rows, &exits)?;
        let mut own = OwnPass {
            last: &logits,
            early: &early,
            first: 0,
        };
        let text = GuidedText {
            tokens,
            n_prompt: self.n_prompt,
        };
        let guides = self.panes.iter_mut().filter_map(|pane| pane.guide.as_mut());
        for guide in guides.filter(|_| !positions.is_empty()) {
            guide.rows = guide.guide.rows(text, positions.clone(), &own, model)?;
            own.first += positions.len() * guide.guide.layers().len();
        }
        let chunk = Chunk {
            tokens,
            n_prompt: self.n_prompt,
            start: positions.start,
            logits: &logits,
            vocabulary: &model.vocabulary,
            time: StepTime {
                at_secs: self.requested_at.elapsed().as_secs_f64(),
                forward_secs: started_at.elapsed().as_secs_f64() / rows.len().max(1) as f64,
                n_batch: 1,
                mask_secs: None,
                network_secs: None,
            },
        };
        self.n_read = n_after;
        let is_done = self.n_read == n_to_read;
        for pane in &mut self.panes {
            let id = pane.id;
            for step in chunk.steps(pane)? {
                let step = Box::new(step);
                progress.push(Progress::Stepped { id, step });
            }
            if is_done {
                let reason = FinishReason::Scored;
                progress.push(Progress::Finished { id, reason });
            }
        }
        Ok(!is_done)
    }

    fn started(&self, vocabulary: &Vocabulary) -> Progress {
        let tokens = self.text.tokens.get(..self.n_prompt).unwrap_or_default();
        let pieces: Vec<_> = tokens.iter().map(|id| vocabulary.piece(*id)).collect();
        let shown = pieces.iter().filter(|piece| piece.kind == PieceKind::Text);
        let text = match &self.text.chat {
            Some(_) => self.text.text.clone(),
            None => shown.map(ToString::to_string).collect(),
        };
        Progress::Started {
            ids: self.ids().collect(),
            prompt: Arc::new(PromptRecord {
                text,
                chat: self.text.chat.clone(),
                tokens: tokens.to_vec(),
                pieces,
                n_prefilled: 0,
                prefill_secs: 0.0,
            }),
        }
    }

    fn close(&mut self, model: &mut LoadedModel) {
        self.panes.drain(..).for_each(|pane| pane.close(model));
        if let Some(sequence) = self.sequence.take() {
            model.lm.close(sequence);
        }
    }
}

impl ScoredPane {
    fn close(self, model: &mut LoadedModel) {
        if let Some(mut guide) = self.guide {
            guide.guide.close(model);
        }
    }

    /// Returns the guiding row after the same text as this row of the chunk.
    fn other_row(&self, row: usize) -> Option<&GuidingRow> {
        self.guide.as_ref()?.rows.get(row)
    }
}

impl Chunk<'_> {
    /// Scores the token after each one that was read.
    fn steps(&self, pane: &mut ScoredPane) -> Result<Vec<Step>, EngineError> {
        let legal = self.legal(pane.grammar.as_mut())?;
        let legal = |row: usize| legal.get(row).and_then(Option::as_ref);
        let rows = 0..self.logits.n_rows();
        if pane.chain.config().selector.is_adaptive() {
            // Each step begins with what the selector has learned from the tokens before.
            let mut chain = pane.chain.clone();
            let steps = rows.map(|row| self.step(row, pane, legal(row), &mut chain));
            let steps = steps.filter_map(Result::transpose).collect();
            pane.chain = chain;
            return steps;
        }
        let steps = rows.into_par_iter().map_init(
            || pane.chain.clone(),
            |chain, row| self.step(row, pane, legal(row), chain),
        );
        steps.filter_map(Result::transpose).collect()
    }

    /// Returns the legal tokens of each row, for as long as the text follows the grammar.
    fn legal(
        &self,
        grammar: Option<&mut GrammarState>,
    ) -> Result<Vec<Option<LegalTokens>>, EngineError> {
        let Some(grammar) = grammar else {
            return Ok(Vec::new());
        };
        let mut all = Vec::new();
        for row in 0..self.logits.n_rows() {
            if grammar.is_broken() {
                break;
            }
            let legal = grammar.legal()?;
            all.push((legal.n_legal() > 0).then_some(legal));
            if let Some(token) = self.tokens.get(self.start + row + 1) {
                grammar.accept(*token);
            }
        }
        Ok(all)
    }

    fn step(
        &self,
        row: usize,
        pane: &ScoredPane,
        legal: Option<&LegalTokens>,
        chain: &mut SamplerChain,
    ) -> Result<Option<Step>, EngineError> {
        let position = self.start + row + 1;
        let (Some(logits), Some(token)) = (self.logits.row(row), self.tokens.get(position)) else {
            return Ok(None);
        };
        let before = self.tokens.get(..position).unwrap_or_default();
        let history = History::new(before, self.n_prompt);
        let coins = Coins {
            seed: pane.seed,
            position: position as u64,
        };
        let given = Taken::Given(*token);
        let failed = |source| EngineError::SamplingFailed { position, source };
        let other = pane.other_row(row);
        let rows = RowLogits {
            own: logits,
            other: other.map(|other| other.logits.as_slice()),
        };
        let mixed = rows.for_chain(chain.config()).map_err(failed)?;
        let logits = &*mixed;
        let rule = pane.grammar.as_ref().map(GrammarState::rule);
        let scored = match rule.zip(legal) {
            Some((rule, legal)) => GrammarDraw {
                rule,
                legal,
                logits,
            }
            .take(chain, history, coins, given),
            None => chain.take(logits, history, coins, given),
        };
        let mut scored = scored.map_err(failed)?;
        if let (Some(guide), Some(other)) = (&pane.guide, other) {
            let rows = [rows.own, &other.logits];
            let (trace, guidance) = (&mut scored.trace, &guide.guidance);
            Mixture::note(trace, guidance, *token, rows, other.layer).map_err(failed)?;
        }
        Ok(Some(Step {
            token: *token,
            piece: self.vocabulary.piece(*token),
            trace: Arc::new(scored.trace),
            time: self.time,
            draft: None,
            logits_hash: Some(match rows.other {
                Some(other) => LogitsHash::of_guided(rows.own, other),
                None => LogitsHash::of(rows.own),
            }),
        }))
    }
}
