//! The widest instructions that loops may be compiled for: found out when the program runs, or held narrower.

use std::sync::LazyLock;

use pulp::Arch;
#[cfg(target_arch = "x86_64")]
use pulp::x86::V3;

/// The variable that holds a run to instructions that are not the quickest: to compare them, or where they
/// fail.
pub const VARIABLE: &str = "QUARTET_INSTRUCTIONS";

/// What the variable says, where it is set.
pub fn held_to() -> Option<String> {
    std::env::var_os(VARIABLE).map(|name| name.to_string_lossy().into_owned())
}

/// For loops that the compiler makes wide. A name that says nothing holds nothing: whoever opens a model is
/// told of it.
pub fn arch() -> Arch {
    static ARCH: LazyLock<Arch> =
        LazyLock::new(|| held_to().map_or_else(Arch::new, |name| arch_of(&name)));
    *ARCH
}

/// The widest instructions of those that go by this name.
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
    use super::{Arch, arch_of};

    #[test]
    fn narrower_instructions_are_never_widened() {
        assert!(matches!(arch_of("scalar"), Arch::Scalar));
        #[cfg(target_arch = "x86_64")]
        for name in ["avx2", "avx-vnni"] {
            assert!(matches!(arch_of(name), Arch::V3(_) | Arch::Scalar));
        }
    }

    #[test]
    fn a_name_that_says_nothing_holds_nothing() {
        assert_eq!(
            format!("{:?}", arch_of("abacus")),
            format!("{:?}", Arch::new())
        );
    }
}
