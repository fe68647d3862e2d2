//! Whether a record describes a model as the same file describes itself.

use crate::generation::{Generation, Implementation, ModelInfo, listed};

/// Returns what a text says about its models that their files rule out. Only what the same version
/// reads from a file with the same hash is compared; a file can be renamed, and its context limited.
pub(super) fn false_description(then: &Generation, now: &Generation) -> Option<String> {
    let fault = fault_of(&then.model, &now.model);
    let seconds = then
        .second_model
        .as_deref()
        .zip(now.second_model.as_deref());
    let of_second = || {
        let fault = fault_of(seconds?.0, seconds?.1)?;
        Some(format!("of its second model, {fault}"))
    };
    fault.or_else(of_second)
}

fn fault_of(then: &ModelInfo, now: &ModelInfo) -> Option<String> {
    let is_comparable = !then.sha256.is_empty()
        && then.sha256 == now.sha256
        && then.implementation == now.implementation
        && then.implementation != Implementation::Server
        && then.provenance.version == now.provenance.version;
    if !is_comparable {
        return None;
    }
    let values = |info: &ModelInfo| {
        [
            info.architecture.clone(),
            info.n_params.to_string(),
            info.quantization.clone(),
            listed(&info.formats),
            info.n_vocab.to_string(),
        ]
    };
    let names = [
        "architecture",
        "number of parameters",
        "quantization",
        "list of formats",
        "number of tokens",
    ];
    let mut compared = names
        .into_iter()
        .zip(values(then).into_iter().zip(values(now)));
    let (name, (said, found)) = compared.find(|(_, (said, found))| said != found)?;
    Some(format!("the {name} is {found} in the file; it says {said}"))
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::false_description;
    use crate::generation::testing::generation;
    use crate::generation::{Generation, ModelInfo};

    fn text(change: impl Fn(&mut ModelInfo)) -> Generation {
        let mut text = generation(&[(" fox", 0.5)]);
        let mut model = ModelInfo {
            architecture: "llama".to_owned(),
            n_params: 1000,
            sha256: "2fb4".to_owned(),
            ..ModelInfo::clone(&text.model)
        };
        change(&mut model);
        text.model = Arc::new(model);
        text
    }

    #[test]
    fn a_file_with_the_same_hash_describes_itself_in_the_same_way() {
        type Change<'a> = (&'a dyn Fn(&mut ModelInfo), Option<&'a str>);
        let now = text(|_| {});
        let cases: [Change<'_>; 5] = [
            (&|_| {}, None),
            (
                &|model| model.n_params += 1,
                Some("the number of parameters is 1000 in the file; it says 1001"),
            ),
            (
                &|model| model.architecture = "llamb".to_owned(),
                Some("the architecture is llama in the file; it says llamb"),
            ),
            // It was renamed.
            (&|model| model.name = "Story".to_owned(), None),
            // It is another file.
            (
                &|model| {
                    model.n_params += 1;
                    model.sha256 = "00c0".to_owned();
                },
                None,
            ),
        ];
        for (change, words) in cases {
            assert_eq!(false_description(&text(change), &now).as_deref(), words);
        }
    }
}
