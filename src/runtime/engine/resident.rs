//! How much physical memory this program occupies.

/// The resident memory of this program, in bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Resident {
    pub n_now: u64,
    /// The peak since the program started. `None` if the system does not report it.
    pub n_peak: Option<u64>,
}

/// Returns the resident memory of this program, or `None` if the system does not report it.
#[cfg(target_os = "linux")]
pub fn resident_memory() -> Option<Resident> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    Some(Resident {
        n_now: n_bytes(&status, "VmRSS:")?,
        n_peak: n_bytes(&status, "VmHWM:"),
    })
}

/// Returns the resident memory of this program, or `None` if the system does not report it.
#[cfg(not(target_os = "linux"))]
pub fn resident_memory() -> Option<Resident> {
    use sysinfo::{ProcessRefreshKind, ProcessesToUpdate, System, get_current_pid};

    let pid = get_current_pid().ok()?;
    let mut system = System::new();
    let memory = ProcessRefreshKind::nothing().with_memory();
    system.refresh_processes_specifics(ProcessesToUpdate::Some(&[pid]), false, memory);
    Some(Resident {
        n_now: system.process(pid)?.memory(),
        n_peak: None,
    })
}

/// Returns a field of `/proc/self/status` in bytes. The kernel reports it in KiB.
#[cfg(target_os = "linux")]
fn n_bytes(status: &str, name: &str) -> Option<u64> {
    let line = status.lines().find_map(|line| line.strip_prefix(name))?;
    let number = line.trim().strip_suffix(" kB")?;
    number
        .trim()
        .parse::<u64>()
        .ok()
        .map(|number| number * 1024)
}

#[cfg(test)]
mod tests {
    use super::resident_memory;

    #[test]
    fn memory_that_was_written_is_resident() {
        let before = resident_memory().unwrap();
        let written = vec![7_u8; 64 << 20];
        let after = resident_memory().unwrap();
        assert!(after.n_now > before.n_now + (32 << 20), "{}", written.len());
        assert!(after.n_peak.is_none_or(|n_peak| n_peak >= before.n_now));
    }
}
