//! The checksum by which the Hub names a file's content; it is also the name of the file's blob in the
//! cache. Large files (Git LFS) have a SHA-256, the others git's SHA-1 of a blob.

use std::fmt::Write;

use sha1::Sha1;
use sha2::{Digest, Sha256};

/// What a file's content must come to, in hexadecimal.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Checksum {
    /// SHA-256 of the bytes.
    Sha256(String),
    /// SHA-1 of git's blob header and the bytes.
    GitBlob(String),
}

impl Checksum {
    /// Understands a checksum by its length; the name comes from a server and ends in a path.
    pub fn parse(text: &str) -> Option<Self> {
        let is_hex = text.bytes().all(|byte| byte.is_ascii_hexdigit());
        let text = text.to_ascii_lowercase();
        match text.len() {
            64 if is_hex => Some(Self::Sha256(text)),
            40 if is_hex => Some(Self::GitBlob(text)),
            _ => None,
        }
    }

    /// The name under which the cache keeps the content, which the Hub sends as its etag.
    pub fn etag(&self) -> &str {
        match self {
            Self::Sha256(text) | Self::GitBlob(text) => text,
        }
    }

    /// Begins to check a file of this many bytes.
    pub fn start(&self, n_bytes: u64) -> Check<'_> {
        match self {
            Self::Sha256(expected) => Check {
                expected,
                hasher: Hasher::Sha256(Sha256::new()),
            },
            Self::GitBlob(expected) => {
                let mut hash = Sha1::new();
                hash.update(format!("blob {n_bytes}\0").as_bytes());
                Check {
                    expected,
                    hasher: Hasher::Sha1(hash),
                }
            }
        }
    }
}

/// A check that is going on.
pub(super) struct Check<'a> {
    expected: &'a str,
    hasher: Hasher,
}

enum Hasher {
    Sha256(Sha256),
    Sha1(Sha1),
}

impl Check<'_> {
    /// The next bytes.
    pub fn update(&mut self, bytes: &[u8]) {
        match &mut self.hasher {
            Hasher::Sha256(hash) => hash.update(bytes),
            Hasher::Sha1(hash) => hash.update(bytes),
        }
    }

    /// Whether the content is what it must be.
    pub fn holds(self) -> bool {
        let found = match self.hasher {
            Hasher::Sha256(hash) => hex(&hash.finalize()),
            Hasher::Sha1(hash) => hex(&hash.finalize()),
        };
        found == self.expected
    }
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |mut hex, byte| {
        // Writing to a string does not fail.
        write!(hex, "{byte:02x}").ok();
        hex
    })
}

#[cfg(test)]
mod tests {
    use super::Checksum;

    /// git's names of the empty file and of "hello\n", and the example of FIPS 180-2.
    #[test]
    fn content_is_checked_by_the_kind_of_its_name() {
        for (name, content, holds) in [
            ("e69de29bb2d1d6434b8b29ae775ad8c2e48c5391", "", true),
            ("ce013625030ba8dba906f756967f9e9ca394464a", "hello\n", true),
            ("ce013625030ba8dba906f756967f9e9ca394464a", "hallo\n", false),
            (
                "BA7816BF8F01CFEA414140DE5DAE2223B00361A396177A9CB410FF61F20015AD",
                "abc",
                true,
            ),
        ] {
            let checksum = Checksum::parse(name).unwrap();
            let mut check = checksum.start(content.len() as u64);
            check.update(content.as_bytes());
            assert_eq!(check.holds(), holds, "{name}");
        }
    }

    #[test]
    fn what_is_no_checksum_names_no_blob() {
        let path = format!("../{}", "a".repeat(37));
        for text in ["", "abc", "d41d8cd98f00b204e9800998ecf8427e-5", &path] {
            assert_eq!(Checksum::parse(text), None, "{text}");
        }
    }
}
