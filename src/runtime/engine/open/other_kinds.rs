//! Names what a model is that does not write text, or not only, from the name of its architecture.

/// Parts of architecture names in lower case, with what such a model is. The first match counts.
const KINDS: [(&[&str], &str); 8] = [
    (
        &[
            "whisper",
            "wav2vec",
            "hubert",
            "speech",
            "moonshine",
            "parakeet",
            "canary",
            "qwen3asr",
            "voxtral",
            "audio",
            "ultravox",
        ],
        "a speech model",
    ),
    (
        &[
            "musicgen",
            "bark",
            "parler",
            "vits",
            "encodec",
            "wavtokenizer",
            "mimi",
        ],
        "a model that generates sound",
    ),
    (
        &[
            "flux",
            "sdxl",
            "sd1",
            "sd3",
            "stablediffusion",
            "pixart",
            "hidream",
            "qwen_image",
            "qwenimage",
            "lumina2",
            "auraflow",
            "cosmos",
            "ltxv",
            "hunyuanvideo",
            "unet",
        ],
        "a model that generates images",
    ),
    (
        &[
            "llava",
            "idefics",
            "smolvlm",
            "internvl",
            "paligemma",
            "mllama",
            "qwen2_5_vl",
            "qwen2vl",
            "qwen2_vl",
            "qwen2_5omni",
            "omni",
            "multimodal",
            "florence",
            "blip",
            "moondream",
            "minicpmv",
            "deepseekvl",
            "deepseek_vl",
            "deepseekocr",
            "kimivl",
            "glm4v",
            "molmo",
            "pixtral",
            "vision",
        ],
        "a model that reads images",
    ),
    (
        &[
            "siglip",
            "dino",
            "vit",
            "detr",
            "swin",
            "resnet",
            "convnext",
            "segformer",
            "clip",
        ],
        "a vision model",
    ),
    (
        &[
            "t5", "mt5", "umt5", "bart", "mbart", "pegasus", "marianmt", "m2m100",
        ],
        "an encoder and decoder",
    ),
    (
        &[
            "forsequenceclassification",
            "fortokenclassification",
            "forquestionanswering",
            "formultiplechoice",
        ],
        "a classifier",
    ),
    (
        &[
            "bert",
            "roberta",
            "mpnet",
            "electra",
            "deberta",
            "formaskedlm",
            "nomic",
            "jina",
            "gte",
            "newmodel",
            "embedding",
            "colpali",
            "xlnet",
            "eurobert",
        ],
        "an encoder for embeddings",
    ),
];

/// Returns what a model is that does not only write text: "an encoder for embeddings". `None` if the
/// name of its architecture does not say.
pub(super) fn other_kind(architecture: &str) -> Option<&'static str> {
    let name = architecture.to_ascii_lowercase();
    let starts_or_stands = |part: &&&str| {
        // Short parts occur by chance inside other names.
        if part.len() <= 4 {
            name.starts_with(**part)
        } else {
            name.contains(**part)
        }
    };
    let (_, kind) = KINDS
        .iter()
        .find(|(parts, _)| parts.iter().any(|part| starts_or_stands(&part)))?;
    Some(kind)
}

#[cfg(test)]
mod tests {
    use super::other_kind;

    #[test]
    fn a_kind_is_named_after_its_architecture() {
        for (architecture, kind) in [
            ("BertModel", "an encoder for embeddings"),
            ("XLMRobertaModel", "an encoder for embeddings"),
            ("nomic-bert", "an encoder for embeddings"),
            ("ModernBertForMaskedLM", "an encoder for embeddings"),
            ("BertForSequenceClassification", "a classifier"),
            ("WhisperForConditionalGeneration", "a speech model"),
            ("Qwen2AudioForConditionalGeneration", "a speech model"),
            ("CLIPModel", "a vision model"),
            ("ViTForImageClassification", "a vision model"),
            ("LlavaForConditionalGeneration", "a model that reads images"),
            (
                "Qwen2_5_VLForConditionalGeneration",
                "a model that reads images",
            ),
            ("qwen2vl", "a model that reads images"),
            ("T5ForConditionalGeneration", "an encoder and decoder"),
            ("t5encoder", "an encoder and decoder"),
            ("flux", "a model that generates images"),
        ] {
            assert_eq!(other_kind(architecture), Some(kind), "{architecture}");
        }
        for architecture in [
            "LlamaForCausalLM",
            "DeepseekV3ForCausalLM",
            "MixtralForCausalLM",
            "GPTNeoXForCausalLM",
            "RwkvForCausalLM",
            "dbrx",
            "jamba",
            "bitnet",
            "mamba2",
            "",
        ] {
            assert_eq!(other_kind(architecture), None, "{architecture}");
        }
    }
}
