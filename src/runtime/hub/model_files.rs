//! Finds, among a repository's files, the models in formats that Quartet reads: a GGUF file, a split GGUF,
//! or a folder with safetensors.

use std::collections::{BTreeMap, BTreeSet};

use crate::generation::Openness;

/// The file format of a model's weights.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ModelFormat {
    /// One self-contained file, or its parts.
    Gguf,
    /// A folder with `config.json`, `tokenizer.json` and the weights.
    Safetensors,
}

/// The files of one model in a format that Quartet reads.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ModelFiles {
    pub format: ModelFormat,
    /// The quantization that the file name states, such as `Q4_K_M`.
    pub quantization: Option<String>,
    /// The total size of all files, if it is known.
    pub n_bytes: Option<u64>,
    /// The files' paths in the repository; the weights come last, in order.
    pub paths: Vec<String>,
    /// Whether it opens, as far as is known.
    pub openness: Openness,
}

/// Larger sizes are treated as bogus, so that no sum of sizes overflows.
pub(super) const LARGEST_FILE: u64 = 1 << 50;

/// The name of the safetensors folder; a repository has at most one that can be opened.
pub(super) const FOLDER: &str = "safetensors";

/// Files without which a folder with safetensors can't be opened.
const NEEDED: &[&str] = &["config.json", "tokenizer.json"];

/// Files that are downloaded if present.
const COMPANIONS: &[&str] = &[
    "added_tokens.json",
    "chat_template.jinja",
    "chat_template.json",
    "generation_config.json",
    "model.safetensors.index.json",
    "special_tokens_map.json",
    "tokenizer_config.json",
];

/// The GGUF quantizations that Quartet reads. Longer names come first.
const QUANTIZATIONS: &[&str] = &[
    "IQ2_XXS", "IQ3_XXS", "IQ2_XS", "IQ3_XS", "IQ4_NL", "IQ4_XS", "IQ1_M", "IQ1_S", "IQ2_M",
    "IQ2_S", "IQ3_M", "IQ3_S", "MXFP4", "NVFP4", "TQ1_0", "TQ2_0", "Q1_0", "Q3_K_XL", "Q2_K_L",
    "Q2_K_S", "Q2_K_XL", "Q3_K_L", "Q3_K_M", "Q3_K_S", "Q4_K_L", "Q4_K_M", "Q4_K_S", "Q4_K_XL",
    "Q5_K_L", "Q5_K_M", "Q5_K_S", "Q5_K_XL", "Q6_K_L", "Q6_K_XL", "Q8_K_XL", "Q2_K", "Q3_K",
    "Q4_0", "Q4_1", "Q4_K", "Q5_0", "Q5_1", "Q5_K", "Q6_K", "Q8_0", "Q8_1", "Q8_K", "BF16", "FP16",
    "FP32", "F16", "F32", "Q4", "Q5", "Q8",
];

/// Parts of file names that mark files other than language models, or formats that Quartet does not
/// read.
const UNSUPPORTED: &[&str] = &["MMPROJ", "IMATRIX", "Q4_0_4_4", "Q4_0_4_8", "Q4_0_8_8"];

impl ModelFiles {
    /// Finds the models among these files (path and size), smallest first.
    pub fn among<'a>(files: impl IntoIterator<Item = (&'a str, Option<u64>)>) -> Vec<Self> {
        let files: BTreeMap<&str, Option<u64>> = files
            .into_iter()
            .filter(|(path, _)| is_safe_relative_path(path))
            .map(|(path, n_bytes)| (path, n_bytes.filter(|n| *n <= LARGEST_FILE)))
            .collect();
        let mut models: Vec<Self> = ggufs(&files);
        models.extend(safetensors(&files));
        models.sort_by(|one, other| {
            let key = |model: &Self| (model.n_bytes, model.paths.first().cloned());
            key(one).cmp(&key(other))
        });
        models
    }

    /// Returns the name that selects this model in its repository: the path of its file (the first
    /// part if it is split), or `safetensors` for the folder.
    pub fn name(&self) -> &str {
        self.file().unwrap_or(FOLDER)
    }

    /// Returns the path of its file (the first part if it is split), or `None` for a folder.
    pub fn file(&self) -> Option<&str> {
        match self.format {
            ModelFormat::Gguf => self.paths.first().map(String::as_str),
            ModelFormat::Safetensors => None,
        }
    }

    /// Returns the quantization, or the file format if the quantization is unknown.
    pub fn kind(&self) -> &str {
        let format = match self.format {
            ModelFormat::Gguf => "GGUF",
            ModelFormat::Safetensors => FOLDER,
        };
        self.quantization.as_deref().unwrap_or(format)
    }

    /// Returns the model with exactly this name, or else all models with this file name or
    /// quantization.
    pub(super) fn matching<'a>(models: &'a [Self], name: &str) -> Vec<&'a Self> {
        match models.iter().find(|model| model.name() == name) {
            Some(model) => vec![model],
            None => models
                .iter()
                .filter(|model| model.matches_loosely(name))
                .collect(),
        }
    }

    /// Returns whether this is its name, its file name or its quantization.
    pub fn is_named(&self, name: &str) -> bool {
        self.name() == name || self.matches_loosely(name)
    }

    fn matches_loosely(&self, name: &str) -> bool {
        let quantization = self.quantization.as_deref();
        let file_name = self.file().and_then(|file| file.rsplit('/').next());
        file_name == Some(name)
            || quantization.is_some_and(|quantization| quantization.eq_ignore_ascii_case(name))
    }
}

/// Returns whether a path stays inside the folder that it is joined to, on every platform.
pub(super) fn is_safe_relative_path(path: &str) -> bool {
    let is_safe_part = |part: &str| {
        !part.is_empty() && part != "." && part != ".." && !part.contains(['\\', ':', '\0'])
    };
    path.split('/').all(is_safe_part)
}

fn ggufs(files: &BTreeMap<&str, Option<u64>>) -> Vec<ModelFiles> {
    let mut models = Vec::new();
    for path in files.keys() {
        let Some(stem) = path.strip_suffix(".gguf") else {
            continue;
        };
        let name = stem.rsplit('/').next().unwrap_or(stem).to_ascii_uppercase();
        if UNSUPPORTED.iter().any(|sign| name.contains(sign)) {
            continue;
        }
        let paths = match part(stem) {
            None => vec![(*path).to_owned()],
            Some((base, 1, n_parts)) => (1..=n_parts)
                .map(|index| part_name(base, index, n_parts))
                .collect(),
            Some(_) => continue,
        };
        models.extend(if_complete(
            files,
            ModelFormat::Gguf,
            quantization(&name),
            paths,
        ));
    }
    models
}

/// Returns the first part that a split GGUF among these files lacks, if there is one.
pub(super) fn missing_part<'a>(paths: impl IntoIterator<Item = &'a str>) -> Option<String> {
    let paths: BTreeSet<&str> = paths.into_iter().collect();
    paths.iter().find_map(|path| {
        let (base, _, n_parts) = part(path.strip_suffix(".gguf")?)?;
        let mut parts = (1..=n_parts).map(|index| part_name(base, index, n_parts));
        parts.find(|part| !paths.contains(part.as_str()))
    })
}

/// Returns the path of the first part of a split GGUF, or the path itself if it is not split.
pub(super) fn first_part(path: &str) -> String {
    match path.strip_suffix(".gguf").and_then(part) {
        Some((base, _, n_parts)) => part_name(base, 1, n_parts),
        None => path.to_owned(),
    }
}

fn part_name(base: &str, index: u32, n_parts: u32) -> String {
    format!("{base}-{index:05}-of-{n_parts:05}.gguf")
}

fn safetensors(files: &BTreeMap<&str, Option<u64>>) -> Option<ModelFiles> {
    let weights = if files.contains_key("model.safetensors") {
        vec!["model.safetensors".to_owned()]
    } else {
        let first = files.keys().find_map(|path| {
            let (base, index, n_parts) = part(path.strip_suffix(".safetensors")?)?;
            (base == "model" && index == 1).then_some(n_parts)
        })?;
        (1..=first)
            .map(|index| format!("model-{index:05}-of-{first:05}.safetensors"))
            .collect()
    };
    let is_split = weights.len() > 1;
    if is_split && !files.contains_key("model.safetensors.index.json") {
        return None;
    }
    let companions = COMPANIONS
        .iter()
        .filter(|path| files.contains_key(**path))
        .filter(|path| is_split || !path.ends_with(".index.json"));
    let paths = NEEDED
        .iter()
        .chain(companions)
        .map(|path| (*path).to_owned())
        .chain(weights)
        .collect();
    if_complete(files, ModelFormat::Safetensors, None, paths)
}

/// Returns a model with these files, or `None` if any of them is missing.
fn if_complete(
    files: &BTreeMap<&str, Option<u64>>,
    format: ModelFormat,
    quantization: Option<String>,
    paths: Vec<String>,
) -> Option<ModelFiles> {
    let sizes: Vec<Option<u64>> = paths
        .iter()
        .map(|path| files.get(path.as_str()).copied())
        .collect::<Option<_>>()?;
    Some(ModelFiles {
        format,
        quantization,
        n_bytes: sizes.into_iter().sum(),
        paths,
        openness: Openness::default(),
    })
}

/// Splits "name-00001-of-00003" into base name, index and number of parts. Rejects indices beyond
/// the number of parts, and implausibly many parts.
fn part(stem: &str) -> Option<(&str, u32, u32)> {
    let (rest, n_parts) = stem.rsplit_once("-of-")?;
    let (base, index) = rest.rsplit_once('-')?;
    let count = |digits: &str| {
        let is_count = digits.len() == 5 && digits.bytes().all(|byte| byte.is_ascii_digit());
        digits.parse().ok().filter(|n: &u32| is_count && *n > 0)
    };
    Some((base, count(index)?, count(n_parts)?)).filter(|(_, index, n)| index <= n && *n <= 1_000)
}

/// Returns the last quantization that occurs as a separate word in an upper-case file name.
fn quantization(name: &str) -> Option<String> {
    let is_border = |c: Option<char>| c.is_none_or(|c| !c.is_ascii_alphanumeric() && c != '_');
    QUANTIZATIONS
        .iter()
        .filter_map(|known| {
            let start = name.rfind(known)?;
            let (before, after) = (name.get(..start)?, name.get(start + known.len()..)?);
            let stands_alone =
                is_border(before.chars().next_back()) && is_border(after.chars().next());
            stands_alone.then_some((start, known.len(), *known))
        })
        .max()
        .map(|(_, _, known)| match known.strip_prefix("FP") {
            Some(bits) => format!("F{bits}"),
            None => known.to_owned(),
        })
}

#[cfg(test)]
mod tests {
    use super::{ModelFiles, ModelFormat, is_safe_relative_path};

    fn among(paths: &[&str]) -> Vec<ModelFiles> {
        ModelFiles::among(paths.iter().map(|path| (*path, Some(10))))
    }

    #[test]
    fn the_quantization_is_read_from_the_file_name() {
        for (path, quantization) in [
            ("Qwen3-0.6B-Q8_0.gguf", Some("Q8_0")),
            ("smollm2-1.7b-instruct-q4_k_m.gguf", Some("Q4_K_M")),
            ("tinyllama-1.1b-chat-v1.0.Q4_K_S.gguf", Some("Q4_K_S")),
            ("Phi-3-mini-4k-instruct-q4.gguf", Some("Q4")),
            ("Phi-3-mini-4k-instruct-fp16.gguf", Some("F16")),
            ("model-bf16.gguf", Some("BF16")),
            ("model-UD-Q4_K_XL.gguf", Some("Q4_K_XL")),
            ("BF16/model-BF16-00001-of-00001.gguf", Some("BF16")),
            ("Qwen3-4B-IQ4_XS.gguf", Some("IQ4_XS")),
            ("Llama-3.2-3B-Instruct.i1-IQ2_XXS.gguf", Some("IQ2_XXS")),
            ("gpt-oss-20b-mxfp4.gguf", Some("MXFP4")),
            ("model.gguf", None),
            ("AQ4_0B.gguf", None),
        ] {
            let models = among(&[path]);
            assert_eq!(models.len(), 1, "{path}");
            assert_eq!(models[0].quantization.as_deref(), quantization, "{path}");
        }
    }

    #[test]
    fn files_that_cannot_be_opened_are_not_offered() {
        for path in [
            "model-Q4_0_4_4.gguf",
            "mmproj-model-f16.gguf",
            "model.bin",
            "../model.gguf",
            "/model.gguf",
            "model-00002-of-00002.gguf",
            "model-00001-of-00002.gguf",
            "model.safetensors",
        ] {
            assert_eq!(among(&[path]), [], "{path}");
        }
    }

    #[test]
    fn the_parts_of_a_split_file_are_one_model() {
        let models = among(&[
            "Q8_0/big-Q8_0-00002-of-00002.gguf",
            "Q8_0/big-Q8_0-00001-of-00002.gguf",
        ]);
        assert_eq!(models.len(), 1);
        assert_eq!(models[0].n_bytes, Some(20));
        assert_eq!(models[0].file(), Some("Q8_0/big-Q8_0-00001-of-00002.gguf"));
        for name in ["q8_0", "big-Q8_0-00001-of-00002.gguf"] {
            assert_eq!(ModelFiles::matching(&models, name), [&models[0]], "{name}");
        }
        assert!(ModelFiles::matching(&models, "Q4_0").is_empty());
    }

    #[test]
    fn a_full_path_selects_one_model_and_a_quantization_may_select_several() {
        let models = among(&[
            "a/model-Q8_0.gguf",
            "b/model-Q8_0.gguf",
            "config.json",
            "model-Q8_0.gguf",
            "model.safetensors",
            "tokenizer.json",
        ]);
        let called = |name| -> Vec<&str> {
            let called = ModelFiles::matching(&models, name).into_iter();
            called.map(ModelFiles::name).collect()
        };
        let ggufs = ["a/model-Q8_0.gguf", "b/model-Q8_0.gguf", "model-Q8_0.gguf"];
        for name in ggufs {
            assert_eq!(called(name), [name]);
        }
        assert_eq!(called("Q8_0"), ggufs);
        assert_eq!(called("safetensors"), ["safetensors"]);
    }

    #[test]
    fn a_folder_is_offered_only_if_it_is_complete() {
        let single = [
            "config.json",
            "tokenizer.json",
            "model.safetensors",
            "README.md",
        ];
        let models = among(&single);
        assert_eq!(models[0].format, ModelFormat::Safetensors);
        assert_eq!(models[0].paths.len(), 3);
        assert_eq!(models[0].n_bytes, Some(30));

        let split = [
            "config.json",
            "model-00001-of-00002.safetensors",
            "model-00002-of-00002.safetensors",
            "model.safetensors.index.json",
            "tokenizer.json",
        ];
        assert_eq!(among(&split)[0].paths.len(), 5);
        for missing in 0..split.len() {
            let mut rest = split.to_vec();
            rest.remove(missing);
            assert_eq!(among(&rest), [], "without {}", split[missing]);
        }
    }

    #[test]
    fn paths_that_leave_the_folder_are_unsafe() {
        for path in ["a", "a/b.gguf", "..a/b"] {
            assert!(is_safe_relative_path(path), "{path}");
        }
        for path in ["", "/a", "a//b", "../a", "a/../b", "a/.", "c:a", "a\\b"] {
            assert!(!is_safe_relative_path(path), "{path}");
        }
    }
}
