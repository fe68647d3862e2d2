//! Compares our watermarks and our detector with those of transformers and vLLM.
//!
//! `golden/make_watermark_fixtures.py` generated the expected values; their file names the
//! versions.

use quartet::analysis::watermark::WatermarkScan;
use quartet::decoding::filters::{GreenList, SynthId};
use quartet::decoding::selector::GumbelMark;
use quartet::decoding::watermark::{LayerKeys, MarkScorer, TokenMark, Watermark};
use quartet::decoding::{ChainConfig, Coins, Filter, History, SamplerChain, TokenId};
use serde::Deserialize;

#[derive(Deserialize)]
struct File {
    green_list: Vec<GreenCase>,
    gumbel: Vec<GumbelCase>,
    synth_id: Vec<SynthCase>,
}

#[derive(Deserialize)]
struct SynthCase {
    keys: Vec<u32>,
    window: u32,
    text: Vec<u32>,
    rows: Vec<SynthRow>,
    long: Vec<u32>,
    g_values: Vec<Vec<u32>>,
    counted: Vec<u32>,
}

#[derive(Deserialize)]
struct SynthRow {
    n: usize,
    logits: Vec<Option<f32>>,
    probs: Vec<f64>,
}

#[derive(Deserialize)]
struct GreenCase {
    vocab: u32,
    ratio: f32,
    key: u32,
    window: u32,
    history: Vec<u32>,
    logits: Option<Vec<f32>>,
    raised: Vec<u32>,
    text: Vec<u32>,
    n_scored: usize,
    n_green: usize,
    z: f64,
}

#[derive(Deserialize)]
struct GumbelCase {
    key: u32,
    window: u32,
    contexts: Vec<Vec<i64>>,
    tokens: Vec<u32>,
    uniforms: Vec<Vec<f64>>,
    text: Vec<u32>,
    n_scored: usize,
    score: f64,
    p_value: f64,
}

fn file() -> File {
    serde_json::from_str(include_str!("golden/watermark_reference.json")).unwrap()
}

fn tokens(ids: &[u32]) -> Vec<TokenId> {
    ids.iter().copied().map(TokenId).collect()
}

#[test]
fn the_green_tokens_match_transformers() {
    for case in file().green_list {
        let list = GreenList {
            bias: 2.0,
            ratio: case.ratio,
            key: case.key,
            window: case.window,
        };
        let name = format!("{list:?}, {} tokens", case.vocab);
        let history = tokens(&case.history);
        let logits = case
            .logits
            .unwrap_or_else(|| vec![0.0; case.vocab as usize]);
        let coins = Coins {
            seed: 0,
            position: 0,
        };
        let left = |filters: Vec<Filter>| {
            let chain = SamplerChain::new(ChainConfig::sampled(filters));
            let history = History::new(&history, history.len());
            let mut left = chain.distribution(&logits, history, coins).unwrap();
            left.sort_by_key(|next| next.token);
            left
        };
        let (before, after) = (left(vec![]), left(vec![Filter::GreenList(list)]));
        let raised = before.iter().zip(&after).filter_map(|(before, after)| {
            let gain = after.logit - before.logit;
            assert!(gain.abs() < 1e-3 || (gain - 2.0).abs() < 1e-3, "{name}");
            (gain > 1.0).then_some(after.token.0)
        });
        assert_eq!(raised.collect::<Vec<_>>(), case.raised, "{name}");

        let mark = Watermark::GreenList(list);
        let scan = WatermarkScan::of(mark, case.vocab, &tokens(&case.text));
        assert_eq!(scan.n_scored(), case.n_scored, "{name}");
        assert!((scan.score() - case.n_green as f64).abs() < 0.5, "{name}");
        assert!((scan.z_score() - case.z).abs() < 1e-5, "{name}");
    }
}

#[test]
fn the_numbers_of_the_gumbel_watermark_match_vllm() {
    for case in file().gumbel {
        let mark = Watermark::GumbelMark(GumbelMark {
            key: case.key,
            window: case.window,
        });
        for (context, uniforms) in case.contexts.iter().zip(&case.uniforms) {
            for (token, uniform) in case.tokens.iter().zip(uniforms) {
                let mut scorer = MarkScorer::new(mark, 200_000);
                // Tokens missing at the beginning are −1.
                let known = context.iter().filter(|token| **token >= 0);
                for known in known {
                    scorer.push(TokenId(u32::try_from(*known).unwrap()));
                }
                let TokenMark::Scored(score) = scorer.push(TokenId(*token)) else {
                    panic!("{mark}: token {token} has no score");
                };
                let expected = -(1.0 - uniform).ln();
                assert!((score - expected).abs() < 1e-9, "{mark}, {context:?}");
            }
        }
        let scan = WatermarkScan::of(mark, 200_000, &tokens(&case.text));
        assert_eq!(scan.n_scored(), case.n_scored, "{mark}");
        assert!((scan.score() - case.score).abs() < 1e-6, "{mark}");
        assert!((scan.p_value().get() - case.p_value).abs() < 1e-9, "{mark}");
    }
}

#[test]
fn the_tournament_of_synth_id_matches_transformers() {
    for case in file().synth_id {
        let synth = SynthId {
            window: case.window,
            keys: LayerKeys::new(&case.keys).unwrap(),
        };
        let name = format!("{} keys, window {}", case.keys.len(), case.window);
        let coins = Coins {
            seed: 0,
            position: 0,
        };
        for row in &case.rows {
            let logits: Vec<f32> = row
                .logits
                .iter()
                .map(|logit| logit.unwrap_or(f32::NEG_INFINITY))
                .collect();
            let history = tokens(&[&[7, 7], &case.text[..row.n]].concat());
            let chain = ChainConfig::sampled([Filter::SynthId(synth)]);
            let left = SamplerChain::new(chain)
                .distribution(&logits, History::new(&history, 2), coins)
                .unwrap();
            let mut probs = vec![0.0; logits.len()];
            for next in left {
                probs[next.token.index()] = next.prob;
            }
            for (prob, expected) in probs.iter().zip(&row.probs) {
                let near = (prob - expected).abs() < 1e-5;
                assert!(near, "{name} after {}: {prob}, not {expected}", row.n);
            }
        }
        let mut scorer = MarkScorer::new(Watermark::SynthId(synth), 0);
        for token in tokens(&case.long) {
            scorer.push(token);
        }
        let (before, marks) = scorer.marks().split_at(case.window as usize);
        assert!(before.iter().all(|mark| *mark == TokenMark::NoContext));
        assert_eq!(marks.len(), case.g_values.len(), "{name}");
        for ((mark, bits), counted) in marks.iter().zip(&case.g_values).zip(&case.counted) {
            let expected = match counted {
                0 => TokenMark::Repeated,
                _ => TokenMark::Scored(f64::from(bits.iter().sum::<u32>())),
            };
            assert_eq!(*mark, expected, "{name}");
        }
    }
}
