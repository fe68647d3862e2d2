//! The launcher of the Linux archive with GPU support: which of its two programs it starts, and the
//! reason it reports if that is not the GPU one.
#![cfg(unix)]

use std::fs;
use std::io;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::Command;
use std::sync::{Mutex, PoisonError};

fn write_script(path: &Path, script: &str) -> io::Result<()> {
    fs::write(path, format!("#!/bin/sh\n{script}\n"))?;
    fs::set_permissions(path, fs::Permissions::from_mode(0o755))
}

/// Held while programs are written and started. A process that another thread started meanwhile
/// would inherit the file being written, and Linux does not run a program that is open for writing.
static TURN: Mutex<()> = Mutex::new(());

/// Runs the launcher next to a GPU program with the script `cuda`, and a CPU program that prints
/// why it was chosen and its arguments. Returns what was printed.
fn launched(cuda: &str) -> io::Result<String> {
    let _turn = TURN.lock().unwrap_or_else(PoisonError::into_inner);
    let folder = tempfile::tempdir()?;
    let launcher = concat!(env!("CARGO_MANIFEST_DIR"), "/assets/linux/quartet-cuda.sh");
    fs::copy(launcher, folder.path().join("quartet"))?;
    fs::create_dir(folder.path().join("bin"))?;
    write_script(&folder.path().join("bin/quartet-cuda"), cuda)?;
    let cpu = r#"echo "cpu: $QUARTET_GPU_UNAVAILABLE: $*""#;
    write_script(&folder.path().join("bin/quartet-cpu"), cpu)?;
    // Started through a symbolic link, as from a folder in PATH.
    let link = folder.path().join("link");
    std::os::unix::fs::symlink(folder.path().join("quartet"), &link)?;
    let output = Command::new(link).args(["bench", "a b"]).output()?;
    assert!(output.status.success());
    Ok(String::from_utf8_lossy(&output.stdout).trim().to_owned())
}

#[test]
fn the_gpu_program_runs_if_its_libraries_can_be_loaded() {
    let printed = launched(r#"echo "cuda: $*""#).unwrap();
    assert_eq!(printed, "cuda: bench a b");
}

#[test]
fn without_a_driver_the_cpu_program_runs_and_receives_the_reason() {
    let missing = "echo 'quartet-cuda: error while loading shared libraries: libcuda.so.1: cannot \
                   open shared object file: No such file or directory' >&2; exit 127";
    let expected = "cpu: NVIDIA’s driver is not installed: bench a b";
    assert_eq!(launched(missing).unwrap(), expected);
    let other = "echo first >&2; echo 'libcublas.so.13: file too short' >&2; exit 127";
    let expected = "cpu: libcublas.so.13: file too short: bench a b";
    assert_eq!(launched(other).unwrap(), expected);
}
