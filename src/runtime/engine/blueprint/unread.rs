//! Rejects models whose files set a value that changes what the model computes, but that its family
//! does not read.

use super::Blueprint;
use super::facts::{Facts, Key};
use crate::engine::EngineError;

/// How far a scale in a file may differ from the one that the family computes.
const TOLERANCE: f32 = 1e-4;

impl Blueprint {
    /// Fails if the file sets such a value and it would have an effect.
    pub(super) fn check_unread(&self, facts: &Facts<'_>) -> Result<(), EngineError> {
        let (scales, caps) = (&self.scales, &self.caps);
        let values = [
            (
                Key::new("logits_scaling", "logit_scale"),
                scales.logit.is_some(),
            ),
            (Key::config("logit_scale"), scales.logit.is_some()),
            (
                Key::new("embedding_multiplier", "embedding_scale"),
                scales.embedding.is_some(),
            ),
            (
                Key::new("residual_multiplier", "residual_scale"),
                scales.residual.is_some(),
            ),
            (
                Key::new("attn_logit_softcapping", "attn_logit_softcapping"),
                caps.score.is_some(),
            ),
            (
                Key::new("final_logit_softcapping", "final_logit_softcapping"),
                caps.logit.is_some(),
            ),
            (
                Key::new("clip_qkv", "attention.clamp_kqv"),
                self.qkv_limit.is_some(),
            ),
            (
                Key::gguf("attention.temperature_scale"),
                self.temperature.is_some(),
            ),
            (Key::gguf("attention.max_alibi_bias"), false),
        ];
        for (key, _) in values.into_iter().filter(|(_, is_read)| !is_read) {
            // A scale of 1 and a limit of 0 have no effect.
            if let Some(value) = facts
                .number(key)?
                .filter(|value| ![0.0, 1.0].contains(value))
            {
                return Err(unread(facts, key, value));
            }
        }
        let score = Key::new("attention_multiplier", "attention.scale");
        let score_differs =
            |value: &f32| *value != 0.0 && (value / scales.score - 1.0).abs() > TOLERANCE;
        match facts.number(score)?.filter(score_differs) {
            Some(value) => Err(unread(facts, score, value)),
            None => Ok(()),
        }
    }
}

fn unread(facts: &Facts<'_>, key: Key, value: f32) -> EngineError {
    facts.unsupported(format!("{} {value} in this family", facts.name(key)))
}
