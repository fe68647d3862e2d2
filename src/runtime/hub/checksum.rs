//! The checksum that identifies a file's content on the Hub and names its blob in the cache.
//!
//! Large files (Git LFS) have a SHA-256, all others git's SHA-1 of a blob.

use std::fmt::Write;

use sha1::Sha1;
use sha2::{Digest, Sha256};

/// The expected checksum of a file, in lower-case hexadecimal.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Checksum {
    /// SHA-256 of the bytes.
    Sha256(String),
    /// SHA-1 of git's blob header and the bytes.
    GitBlob(String),
}

impl Checksum {
    /// Parses a checksum, whose length determines its kind. Anything but hexadecimal digits is
    /// rejected, because the text comes from a server and becomes part of a path.
    pub(super) fn parse(text: &str) -> Option<Self> {
        let is_hex = text.bytes().all(|byte| byte.is_ascii_hexdigit());
        let text = text.to_ascii_lowercase();
        match text.len() {
            64 if is_hex => Some(Self::Sha256(text)),
            40 if is_hex => Some(Self::GitBlob(text)),
            _ => None,
        }
    }

    /// Returns the name of the content's blob, which is also its `ETag` on the Hub.
    pub(super) fn etag(&self) -> &str {
        match self {
            Self::Sha256(text) | Self::GitBlob(text) => text,
        }
    }

    /// Starts verifying a file of this length.
    pub(super) fn start(&self, n_bytes: u64) -> Check<'_> {
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

/// A verification in progress.
pub(super) struct Check<'a> {
    expected: &'a str,
    hasher: Hasher,
}

enum Hasher {
    Sha256(Sha256),
    Sha1(Sha1),
}

impl Check<'_> {
    /// Hashes the next bytes of the file.
    pub(super) fn update(&mut self, bytes: &[u8]) {
        match &mut self.hasher {
            Hasher::Sha256(hash) => hash.update(bytes),
            Hasher::Sha1(hash) => hash.update(bytes),
        }
    }

    /// Returns whether all bytes together match the expected checksum.
    pub(super) fn holds(self) -> bool {
        let found = match self.hasher {
            Hasher::Sha256(hash) => hex(&hash.finalize()),
            Hasher::Sha1(hash) => hex(&hash.finalize()),
        };
        found == self.expected
    }
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |mut hex, byte| {
        // Writing to a string can't fail.
        write!(hex, "{byte:02x}").ok();
        hex
    })
}

#[cfg(test)]
mod tests {
    use super::Checksum;

    /// git's hashes of the empty file and of "hello\n", and the example from FIPS 180-2.
    #[test]
    fn content_is_verified_with_the_hash_that_its_checksum_implies() {
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
    fn text_that_is_not_a_checksum_is_rejected() {
        let path = format!("../{}", "a".repeat(37));
        for text in ["", "abc", "d41d8cd98f00b204e9800998ecf8427e-5", &path] {
            assert_eq!(Checksum::parse(text), None, "{text}");
        }
    }
}
