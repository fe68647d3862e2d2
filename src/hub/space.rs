//! How much room a disk has left.

use std::path::Path;

/// How many bytes can still be written into this folder, or into the one that it will be made in;
/// nothing where the system does not say.
pub(super) fn free_bytes(folder: &Path) -> Option<u64> {
    let there = folder.ancestors().find(|path| path.exists())?;
    let n_bytes = fs4::available_space(there).ok()?;
    // A file system that keeps no count answers zero.
    (n_bytes > 0).then_some(n_bytes)
}

#[cfg(test)]
mod tests {
    use super::free_bytes;

    #[test]
    fn a_folder_that_is_not_there_yet_has_the_room_of_the_one_around_it() {
        let folder = tempfile::tempdir().unwrap();
        let room = free_bytes(&folder.path().join("not/there/yet"));
        assert!(room.is_some_and(|n_bytes| n_bytes > 1 << 20), "{room:?}");
    }
}
