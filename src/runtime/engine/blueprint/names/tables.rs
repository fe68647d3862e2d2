//! The names that each scheme gives to tensors: in full for those outside the layers, without the
//! layer's prefix for others, and always without the ending.

use super::TensorRole;

pub(super) const fn gguf(role: TensorRole) -> &'static str {
    match role {
        TensorRole::Embedding => "token_embd",
        TensorRole::PositionEmbedding => "position_embd",
        TensorRole::RopeFactors => "rope_freqs",
        TensorRole::RopeShortFactors => "rope_factors_short",
        TensorRole::RopeLongFactors => "rope_factors_long",
        TensorRole::FinalNorm => "output_norm",
        TensorRole::Head => "output",
        TensorRole::AttentionNorm => "attn_norm",
        TensorRole::Query => "attn_q",
        TensorRole::Key => "attn_k",
        TensorRole::Value => "attn_v",
        TensorRole::QueryKeyValue | TensorRole::LinearQueryKeyValue => "attn_qkv",
        TensorRole::QueryNorm => "attn_q_norm",
        TensorRole::KeyNorm => "attn_k_norm",
        TensorRole::AttentionOutput => "attn_output",
        TensorRole::Sinks => "attn_sinks",
        TensorRole::LatentQuery => "attn_q_a",
        TensorRole::LatentQueryNorm => "attn_q_a_norm",
        TensorRole::LatentQueryHeads => "attn_q_b",
        TensorRole::LatentKeyValue => "attn_kv_a_mqa",
        TensorRole::LatentKeyValueNorm => "attn_kv_a_norm",
        TensorRole::LatentKeyValueHeads => "attn_kv_b",
        TensorRole::AttentionNormAfter => "post_attention_norm",
        TensorRole::ConvInput => "shortconv.in_proj",
        TensorRole::ConvTaps => "shortconv.conv",
        TensorRole::ConvOutput => "shortconv.out_proj",
        TensorRole::LinearGate => "attn_gate",
        TensorRole::LinearBeta => "ssm_beta",
        TensorRole::LinearDecay => "ssm_alpha",
        TensorRole::LinearDecayBias | TensorRole::MambaStep | TensorRole::MambaStepBias => "ssm_dt",
        TensorRole::LinearRate | TensorRole::MambaRate => "ssm_a",
        TensorRole::LinearTaps | TensorRole::MambaTaps => "ssm_conv1d",
        TensorRole::LinearNorm | TensorRole::MambaNorm => "ssm_norm",
        TensorRole::LinearOutput | TensorRole::MambaOutput => "ssm_out",
        TensorRole::MambaInput => "ssm_in",
        TensorRole::MambaSelection => "ssm_x",
        TensorRole::MambaSkip => "ssm_d",
        TensorRole::FfnNorm => "ffn_norm",
        TensorRole::FfnGate => "ffn_gate",
        TensorRole::FfnUp | TensorRole::FfnGateUp => "ffn_up",
        TensorRole::FfnDown => "ffn_down",
        TensorRole::FfnNormAfter => "post_ffw_norm",
        TensorRole::LayerInputTable => "per_layer_token_embd",
        TensorRole::LayerInputProjection => "per_layer_model_proj",
        TensorRole::LayerInputNorm => "per_layer_proj_norm",
        TensorRole::InputGate => "inp_gate",
        TensorRole::InputOutput => "proj",
        TensorRole::InputNormAfter => "post_norm",
        TensorRole::LayerScale => "layer_output_scale",
        TensorRole::Router => "ffn_gate_inp",
        TensorRole::RouterScale => "ffn_gate_inp.scale",
        TensorRole::ExpertChoiceBias => "exp_probs_b",
        TensorRole::ExpertScale => "ffn_down_exps.scale",
        TensorRole::ExpertNorm => "pre_ffw_norm_2",
        TensorRole::ExpertNormAfter => "post_ffw_norm_2",
        TensorRole::DenseNormAfter => "post_ffw_norm_1",
        TensorRole::SharedGate => "ffn_gate_shexp",
        TensorRole::SharedUp => "ffn_up_shexp",
        TensorRole::SharedDown => "ffn_down_shexp",
        TensorRole::SharedScore => "ffn_gate_inp_shexp",
        TensorRole::AltUpProjections => "altup_proj",
        TensorRole::AltUpMerging => "altup_unembd_proj",
        TensorRole::AltUpRouter => "altup_router",
        TensorRole::AltUpRouterNorm => "altup_router_norm",
        TensorRole::AltUpPrediction => "altup_predict_coef",
        TensorRole::AltUpCorrection => "altup_correct_coef",
        TensorRole::AltUpOutputScale => "altup_correct_scale",
        TensorRole::LaurelLeft => "laurel_l",
        TensorRole::LaurelRight => "laurel_r",
        TensorRole::LaurelNorm => "laurel_post_norm",
        TensorRole::MtpInput => "nextn.eh_proj",
        TensorRole::MtpTokenNorm => "nextn.enorm",
        TensorRole::MtpHiddenNorm => "nextn.hnorm",
        TensorRole::MtpFinalNorm => "nextn.shared_head_norm",
    }
}

pub(super) const fn gguf_lfm2(role: TensorRole) -> &'static str {
    match role {
        TensorRole::FinalNorm => "token_embd_norm",
        other => gguf(other),
    }
}

pub(super) const fn gguf_nemotron_h(role: TensorRole) -> &'static str {
    match role {
        TensorRole::FfnNorm => "attn_norm",
        other => gguf(other),
    }
}

pub(super) const fn gguf_seed_oss(role: TensorRole) -> &'static str {
    match role {
        TensorRole::FfnNorm => "post_attention_norm",
        other => gguf(other),
    }
}

#[expect(clippy::too_many_lines, reason = "one line for each role")]
pub(super) const fn transformers(role: TensorRole) -> &'static str {
    match role {
        TensorRole::Embedding => "model.embed_tokens",
        TensorRole::PositionEmbedding => "model.embed_positions",
        TensorRole::RopeFactors => "rope_factors",
        TensorRole::RopeShortFactors => "rope_short_factors",
        TensorRole::RopeLongFactors => "rope_long_factors",
        TensorRole::FinalNorm => "model.norm",
        TensorRole::Head => "lm_head",
        TensorRole::AttentionNorm => "input_layernorm",
        TensorRole::Query => "self_attn.q_proj",
        TensorRole::Key => "self_attn.k_proj",
        TensorRole::Value => "self_attn.v_proj",
        TensorRole::QueryKeyValue => "self_attn.qkv_proj",
        TensorRole::QueryNorm => "self_attn.q_norm",
        TensorRole::KeyNorm => "self_attn.k_norm",
        TensorRole::AttentionOutput => "self_attn.o_proj",
        TensorRole::Sinks => "self_attn.sinks",
        TensorRole::LatentQuery => "self_attn.q_a_proj",
        TensorRole::LatentQueryNorm => "self_attn.q_a_layernorm",
        TensorRole::LatentQueryHeads => "self_attn.q_b_proj",
        TensorRole::LatentKeyValue => "self_attn.kv_a_proj_with_mqa",
        TensorRole::LatentKeyValueNorm => "self_attn.kv_a_layernorm",
        TensorRole::LatentKeyValueHeads => "self_attn.kv_b_proj",
        TensorRole::AttentionNormAfter => "post_self_attn_layernorm",
        TensorRole::ConvInput => "conv.in_proj",
        TensorRole::ConvTaps => "conv.conv",
        TensorRole::ConvOutput => "conv.out_proj",
        TensorRole::LinearQueryKeyValue => "linear_attn.in_proj_qkv",
        TensorRole::LinearGate => "linear_attn.in_proj_z",
        TensorRole::LinearBeta => "linear_attn.in_proj_b",
        TensorRole::LinearDecay => "linear_attn.in_proj_a",
        TensorRole::LinearDecayBias => "linear_attn.dt_bias",
        TensorRole::LinearRate => "linear_attn.A_log",
        TensorRole::LinearTaps => "linear_attn.conv1d",
        TensorRole::LinearNorm => "linear_attn.norm",
        TensorRole::LinearOutput => "linear_attn.out_proj",
        TensorRole::MambaInput => "mamba.in_proj",
        TensorRole::MambaTaps => "mamba.conv1d",
        TensorRole::MambaSelection => "mamba.x_proj",
        TensorRole::MambaStep => "mamba.dt_proj",
        TensorRole::MambaStepBias => "mamba.dt_bias",
        TensorRole::MambaRate => "mamba.A_log",
        TensorRole::MambaSkip => "mamba.D",
        TensorRole::MambaNorm => "mamba.norm",
        TensorRole::MambaOutput => "mamba.out_proj",
        TensorRole::FfnNorm => "post_attention_layernorm",
        TensorRole::FfnGate => "mlp.gate_proj",
        TensorRole::FfnUp => "mlp.up_proj",
        TensorRole::FfnGateUp => "mlp.gate_up_proj",
        TensorRole::FfnDown => "mlp.down_proj",
        TensorRole::FfnNormAfter => "post_feedforward_layernorm",
        TensorRole::LayerInputTable => "model.embed_tokens_per_layer",
        TensorRole::LayerInputProjection => "model.per_layer_model_projection",
        TensorRole::LayerInputNorm => "model.per_layer_projection_norm",
        TensorRole::InputGate => "per_layer_input_gate",
        TensorRole::InputOutput => "per_layer_projection",
        TensorRole::InputNormAfter => "post_per_layer_input_norm",
        TensorRole::LayerScale => "layer_scalar",
        TensorRole::Router => "mlp.gate",
        TensorRole::RouterScale => "router.scale",
        TensorRole::ExpertChoiceBias => "mlp.gate.e_score_correction_bias",
        TensorRole::ExpertScale => "router.per_expert_scale",
        TensorRole::ExpertNorm => "pre_feedforward_layernorm_2",
        TensorRole::ExpertNormAfter => "post_feedforward_layernorm_2",
        TensorRole::DenseNormAfter => "post_feedforward_layernorm_1",
        TensorRole::SharedGate => "mlp.shared_expert.gate_proj",
        TensorRole::SharedUp => "mlp.shared_expert.up_proj",
        TensorRole::SharedDown => "mlp.shared_expert.down_proj",
        TensorRole::SharedScore => "mlp.shared_expert_gate",
        TensorRole::AltUpProjections => "model.altup_projections",
        TensorRole::AltUpMerging => "model.altup_unembed_projections",
        TensorRole::AltUpRouter => "altup.modality_router",
        TensorRole::AltUpRouterNorm => "altup.router_norm",
        TensorRole::AltUpPrediction => "altup.prediction_coefs",
        TensorRole::AltUpCorrection => "altup.correction_coefs",
        TensorRole::AltUpOutputScale => "altup.correct_output_scale",
        TensorRole::LaurelLeft => "laurel.linear_left",
        TensorRole::LaurelRight => "laurel.linear_right",
        TensorRole::LaurelNorm => "laurel.post_laurel_norm",
        TensorRole::MtpInput => "mtp.fc",
        TensorRole::MtpTokenNorm => "mtp.pre_fc_norm_embedding",
        TensorRole::MtpHiddenNorm => "mtp.pre_fc_norm_hidden",
        TensorRole::MtpFinalNorm => "mtp.norm",
    }
}

pub(super) const fn transformers_with_norms_after(role: TensorRole) -> &'static str {
    match role {
        TensorRole::AttentionNormAfter => "post_attention_layernorm",
        TensorRole::FfnNorm => "pre_feedforward_layernorm",
        TensorRole::Router => "router.proj",
        other => transformers(other),
    }
}

pub(super) const fn apertus(role: TensorRole) -> &'static str {
    match role {
        TensorRole::AttentionNorm => "attention_layernorm",
        TensorRole::FfnNorm => "feedforward_layernorm",
        other => transformers(other),
    }
}

pub(super) const fn backbone(role: TensorRole) -> &'static str {
    match role {
        TensorRole::Embedding => "backbone.embeddings",
        TensorRole::FinalNorm => "backbone.norm_f",
        TensorRole::AttentionNorm | TensorRole::FfnNorm => "norm",
        TensorRole::Query => "mixer.q_proj",
        TensorRole::Key => "mixer.k_proj",
        TensorRole::Value => "mixer.v_proj",
        TensorRole::AttentionOutput => "mixer.o_proj",
        TensorRole::MambaInput => "mixer.in_proj",
        TensorRole::MambaTaps => "mixer.conv1d",
        TensorRole::MambaSelection => "mixer.x_proj",
        TensorRole::MambaStep => "mixer.dt_proj",
        TensorRole::MambaStepBias => "mixer.dt_bias",
        TensorRole::MambaRate => "mixer.A_log",
        TensorRole::MambaSkip => "mixer.D",
        TensorRole::MambaNorm => "mixer.norm",
        TensorRole::MambaOutput => "mixer.out_proj",
        TensorRole::FfnUp => "mixer.up_proj",
        TensorRole::FfnDown => "mixer.down_proj",
        TensorRole::Router => "mixer.gate",
        TensorRole::ExpertChoiceBias => "mixer.gate.e_score_correction_bias",
        TensorRole::SharedUp => "mixer.shared_experts.up_proj",
        TensorRole::SharedDown => "mixer.shared_experts.down_proj",
        other => transformers(other),
    }
}

pub(super) const fn falcon_h1(role: TensorRole) -> &'static str {
    match role {
        TensorRole::FinalNorm => "model.final_layernorm",
        TensorRole::FfnNorm => "pre_ff_layernorm",
        TensorRole::FfnGate => "feed_forward.gate_proj",
        TensorRole::FfnUp => "feed_forward.up_proj",
        TensorRole::FfnDown => "feed_forward.down_proj",
        other => transformers(other),
    }
}

pub(super) const fn glm4(role: TensorRole) -> &'static str {
    match role {
        TensorRole::FfnNormAfter => "post_mlp_layernorm",
        other => transformers(other),
    }
}

pub(super) const fn glm4_moe(role: TensorRole) -> &'static str {
    match role {
        TensorRole::SharedGate => "mlp.shared_experts.gate_proj",
        TensorRole::SharedUp => "mlp.shared_experts.up_proj",
        TensorRole::SharedDown => "mlp.shared_experts.down_proj",
        TensorRole::MtpInput => "eh_proj",
        TensorRole::MtpTokenNorm => "enorm",
        TensorRole::MtpHiddenNorm => "hnorm",
        TensorRole::MtpFinalNorm => "shared_head.norm",
        other => transformers(other),
    }
}

pub(super) const fn gpt2(role: TensorRole) -> &'static str {
    match role {
        TensorRole::Embedding => "transformer.wte",
        TensorRole::PositionEmbedding => "transformer.wpe",
        TensorRole::FinalNorm => "transformer.ln_f",
        TensorRole::AttentionNorm => "ln_1",
        TensorRole::QueryKeyValue => "attn.c_attn",
        TensorRole::AttentionOutput => "attn.c_proj",
        TensorRole::FfnNorm => "ln_2",
        TensorRole::FfnUp => "mlp.c_fc",
        TensorRole::FfnDown => "mlp.c_proj",
        other => transformers(other),
    }
}

pub(super) const fn gpt_oss(role: TensorRole) -> &'static str {
    match role {
        TensorRole::Router => "mlp.router",
        other => transformers(other),
    }
}

pub(super) const fn granite_hybrid(role: TensorRole) -> &'static str {
    match role {
        TensorRole::FfnGateUp => "shared_mlp.input_linear",
        TensorRole::FfnDown => "shared_mlp.output_linear",
        TensorRole::Router => "block_sparse_moe.router.layer",
        other => transformers(other),
    }
}

pub(super) const fn hunyuan(role: TensorRole) -> &'static str {
    match role {
        TensorRole::QueryNorm => "self_attn.query_layernorm",
        TensorRole::KeyNorm => "self_attn.key_layernorm",
        other => transformers(other),
    }
}

pub(super) const fn lfm2(role: TensorRole) -> &'static str {
    match role {
        TensorRole::FinalNorm => "model.embedding_norm",
        TensorRole::AttentionNorm => "operator_norm",
        TensorRole::QueryNorm => "self_attn.q_layernorm",
        TensorRole::KeyNorm => "self_attn.k_layernorm",
        TensorRole::AttentionOutput => "self_attn.out_proj",
        TensorRole::FfnNorm => "ffn_norm",
        TensorRole::FfnGate => "feed_forward.w1",
        TensorRole::FfnUp => "feed_forward.w3",
        TensorRole::FfnDown => "feed_forward.w2",
        TensorRole::Router => "feed_forward.gate",
        TensorRole::ExpertChoiceBias => "feed_forward.expert_bias",
        other => transformers(other),
    }
}

pub(super) const fn mixtral(role: TensorRole) -> &'static str {
    match role {
        TensorRole::Router => "block_sparse_moe.gate",
        other => transformers(other),
    }
}
