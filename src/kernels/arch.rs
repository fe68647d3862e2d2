//! Picks the instruction set that vectorized loops are compiled for, at run time. An environment
//! variable can restrict the choice.

use std::sync::LazyLock;

use pulp::Arch;
#[cfg(target_arch = "x86_64")]
use pulp::x86::V3;

/// The environment variable that restricts a run to narrower instructions than the CPU supports,
/// for comparisons and debugging.
pub const ENV_VARIABLE: &str = "QUARTET_INSTRUCTIONS";

/// Returns the value of [`ENV_VARIABLE`], if it is set and not blank.
pub fn requested() -> Option<String> {
    let name = std::env::var_os(ENV_VARIABLE)?;
    named(&name.to_string_lossy())
}

fn named(value: &str) -> Option<String> {
    Some(value.trim().to_owned()).filter(|name| !name.is_empty())
}

/// Returns the widest instructions that the CPU supports and [`ENV_VARIABLE`] allows. An unknown
/// name restricts nothing here; it is reported when a model is opened.
pub fn widest() -> Arch {
    static ARCH: LazyLock<Arch> =
        LazyLock::new(|| requested().map_or_else(Arch::new, |name| arch_of(&name)));
    *ARCH
}

/// Returns the widest instructions that the CPU supports within the named set.
pub fn arch_of(name: &str) -> Arch {
    match name {
        #[cfg(target_arch = "x86_64")]
        "avx2" | "avx-vnni" => V3::try_new().map_or(Arch::Scalar, Arch::V3),
        "scalar" => Arch::Scalar,
        _ => Arch::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::{Arch, arch_of, named};

    #[test]
    fn a_narrower_set_is_never_widened() {
        assert!(matches!(arch_of("scalar"), Arch::Scalar));
        #[cfg(target_arch = "x86_64")]
        for name in ["avx2", "avx-vnni"] {
            assert!(matches!(arch_of(name), Arch::V3(_) | Arch::Scalar));
        }
    }

    #[test]
    fn a_blank_value_asks_for_nothing() {
        for (value, name) in [
            ("", None),
            (" ", None),
            ("avx2", Some("avx2")),
            (" avx2\n", Some("avx2")),
        ] {
            assert_eq!(named(value).as_deref(), name, "{value:?}");
        }
    }

    #[test]
    fn an_unknown_name_restricts_nothing() {
        assert_eq!(
            format!("{:?}", arch_of("abacus")),
            format!("{:?}", Arch::new())
        );
    }
}
