//! Free disk space.

use std::path::Path;

/// Returns the free bytes on the disk of this folder, or of its nearest existing ancestor. Returns
/// `None` if the system does not report them.
pub(super) fn free_bytes(folder: &Path) -> Option<u64> {
    let there = folder.ancestors().find(|path| path.exists())?;
    let n_bytes = fs4::available_space(there).ok()?;
    // File systems that do not track free space report zero.
    (n_bytes > 0).then_some(n_bytes)
}

#[cfg(test)]
mod tests {
    use super::free_bytes;

    #[test]
    fn a_missing_folder_has_the_free_space_of_its_ancestor() {
        let folder = tempfile::tempdir().unwrap();
        let room = free_bytes(&folder.path().join("not/there/yet"));
        assert!(room.is_some_and(|n_bytes| n_bytes > 1 << 20), "{room:?}");
    }
}
