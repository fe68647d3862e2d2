//! Small generations for tests: a real chain's traces over synthetic logits.

#![allow(
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::missing_panics_doc,
    clippy::unwrap_used,
    reason = "a helper that fails fails the test that called it"
)]

use std::sync::Arc;

use super::{
    ChatMessage, ChatRecord, FinishReason, Generation, GenerationConfig, Limits, Lineage,
    ModelInfo, Piece, PieceKind, PromptRecord, Step, StepTime, Vocabulary,
};
use crate::decoding::filters::Temperature;
use crate::decoding::{ChainConfig, Coins, Filter, History, SamplerChain, Taken, TokenId, Trace};

/// The base vocabulary, ids 0 to 7, so that every step has alternatives.
const ALTERNATIVES: [&str; 8] = [
    "</s>", " the", " a", " little", " house", " fox", ".", "\n\n",
];

/// A finished generation of these pieces, each with its probability before the chain; `</s>` is a
/// special token.
pub fn generation(pieces: &[(&str, f64)]) -> Generation {
    let pieces: Vec<(Piece, f64)> = pieces
        .iter()
        .map(|&(text, prob)| (piece(text), prob))
        .collect();
    generation_of(&pieces)
}

/// An answer to a chat message, whose template got these messages before it.
pub fn answer_to(message: &str, history: Vec<ChatMessage>, pieces: &[(&str, f64)]) -> Generation {
    let mut text = generation(pieces);
    let mut chat = ChatRecord::default();
    chat.settings.history = history;
    let prompt = Arc::make_mut(&mut text.prompt);
    message.clone_into(&mut prompt.text);
    prompt.chat = Some(chat);
    text
}

/// Like [`generation`], for pieces that may be special tokens or partial characters.
pub fn generation_of(pieces: &[(Piece, f64)]) -> Generation {
    let mut vocabulary: Vec<Piece> = ALTERNATIVES.map(piece).to_vec();
    for (piece, _) in pieces {
        if !vocabulary.contains(piece) {
            vocabulary.push(piece.clone());
        }
    }
    let chain = ChainConfig::sampled([Filter::Temperature(Temperature { temperature: 0.7 })]);
    let steps: Vec<Step> = pieces
        .iter()
        .enumerate()
        .map(|(index, (piece, prob))| step(index, piece, *prob, &vocabulary, &chain))
        .collect();
    let finish = match steps.last() {
        Some(step) if step.piece.kind == PieceKind::Special => FinishReason::EndOfText,
        _ => FinishReason::MaxTokens,
    };
    Generation {
        name: "Top-p".to_owned(),
        config: GenerationConfig {
            chain,
            seed: 42,
            limits: Limits::default(),
        },
        earlier: Vec::new(),
        contradiction: None,
        model: Arc::new(ModelInfo {
            name: "Test".to_owned(),
            n_vocab: vocabulary.len(),
            n_context: 512,
            ..ModelInfo::default()
        }),
        second_model: None,
        prompt: Arc::new(PromptRecord {
            text: "Once there was".to_owned(),
            chat: None,
            tokens: vec![TokenId(1), TokenId(2), TokenId(3)],
            pieces: ["Once", " there", " was"].map(Piece::text).to_vec(),
            n_prefilled: 3,
            prefill_secs: 0.02,
        }),
        vocabulary: Arc::new(Vocabulary::new(vocabulary)),
        steps: steps.into(),
        finish: Some(finish),
        grammar_complete: None,
        lineage: Lineage::default(),
        beams: Arc::default(),
        previous_turn: None,
        not_applied: Vec::new(),
    }
}

/// A text of these pieces that was scored under settings in the `--pane` grammar.
pub fn scored(pieces: &[(&str, f64)], settings: &str) -> Generation {
    let settings: crate::generation::PaneSettings = settings.parse().expect("valid settings");
    let mut generation = generation(pieces);
    generation.config.chain = settings.chain;
    generation.finish = Some(FinishReason::Scored);
    let n_vocab = generation.vocabulary.n_tokens();
    for (step, (_, prob)) in generation.steps.iter_mut().zip(pieces) {
        let logits = logits(step.token, *prob, n_vocab);
        let coins = Coins {
            seed: 42,
            position: 0,
        };
        let mut chain = SamplerChain::new(generation.config.chain.clone());
        let scored = chain.take(&logits, History::empty(), coins, Taken::Given(step.token));
        let mut trace = scored.expect("the logits are finite").trace;
        // The other tokens don't add up to exactly the rest.
        trace.raw_prob = *prob;
        step.trace = Arc::new(trace);
    }
    generation
}

fn piece(text: &str) -> Piece {
    if text == "</s>" {
        Piece::special(text)
    } else {
        Piece::text(text)
    }
}

fn step(index: usize, piece: &Piece, prob: f64, vocabulary: &[Piece], chain: &ChainConfig) -> Step {
    let at = vocabulary
        .iter()
        .position(|other| other == piece)
        .expect("every piece is in the vocabulary");
    let token = TokenId(at as u32);
    Step {
        token,
        piece: piece.clone(),
        trace: Arc::new(trace(token, prob, vocabulary.len(), chain)),
        time: StepTime {
            at_secs: 0.02 + index as f64 / 400.0,
            forward_secs: 0.002,
            n_batch: 4,
            mask_secs: None,
            network_secs: None,
        },
        draft: None,
        logits_hash: None,
    }
}

/// The trace of a step at which the model assigns `prob` to `token` and each other token gets half
/// the probability of the previous one; the coin falls on `token`.
fn trace(token: TokenId, prob: f64, n_vocab: usize, chain: &ChainConfig) -> Trace {
    let logits = logits(token, prob, n_vocab);
    let coins = Coins {
        seed: 42,
        position: 0,
    };
    let mut trace = SamplerChain::new(chain.clone())
        .sample(&logits, History::empty(), coins)
        .expect("the logits are finite")
        .trace;
    let rank = trace
        .survivors
        .iter()
        .position(|candidate| candidate.token == token)
        .expect("temperature cuts nothing");
    let probs = || trace.survivors.iter().map(|candidate| candidate.prob);
    trace.draw.token = token;
    trace.draw.below = probs().take(rank).sum();
    trace.draw.prob = probs().nth(rank).expect("the rank was found");
    trace.draw.coin = Some(trace.draw.below + trace.draw.prob / 2.0);
    trace.raw_prob = (f64::from(logits[token.index()]) - trace.raw.log_sum_exp).exp();
    trace.raw_rank = 1 + logits
        .iter()
        .enumerate()
        .filter(|(index, logit)| {
            let own = logits[token.index()];
            match logit.total_cmp(&own) {
                std::cmp::Ordering::Greater => true,
                std::cmp::Ordering::Equal => *index < token.index(),
                std::cmp::Ordering::Less => false,
            }
        })
        .count() as u32;
    trace
}

fn logits(token: TokenId, prob: f64, n_vocab: usize) -> Vec<f32> {
    let prob = prob.clamp(1e-9, 1.0 - 1e-9);
    let mut share = 1.0 - prob;
    let logit = |index: usize| {
        if index == token.index() {
            return prob.ln() as f32;
        }
        share /= 2.0;
        share.ln() as f32
    };
    (0..n_vocab).map(logit).collect()
}
