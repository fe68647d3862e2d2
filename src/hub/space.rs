//! How much room a disk has left.

use std::path::Path;

use sysinfo::Disks;

/// How many bytes can still be written into this folder, or into the one that it will be made in;
/// nothing where the system does not say.
pub(super) fn free_bytes(folder: &Path) -> Option<u64> {
    let there = folder
        .ancestors()
        .find_map(|path| path.canonicalize().ok())?;
    let disks = Disks::new_with_refreshed_list();
    disks
        .list()
        .iter()
        .filter(|disk| {
            let mount_point = disk.mount_point();
            // In the folder's form: Windows has two for each path.
            let whole = mount_point.canonicalize();
            there.starts_with(whole.as_deref().unwrap_or(mount_point))
        })
        .max_by_key(|disk| disk.mount_point().components().count())
        .map(sysinfo::Disk::available_space)
        // A file system that keeps no count answers zero.
        .filter(|n_bytes| *n_bytes > 0)
}
