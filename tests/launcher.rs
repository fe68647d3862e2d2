//! The launchers of the Linux archive and of the Windows package with GPU support: which of two
//! programs they start, and the reason they report if that is not the GPU one.
#![cfg(unix)]

use std::ffi::OsStr;
use std::fs;
use std::io;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::Command;
use std::sync::{Mutex, PoisonError};

#[expect(dead_code, reason = "a test can't run the program that started it")]
#[path = "../src/bin/launcher/mod.rs"]
mod windows_launcher;

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

#[test]
fn the_windows_launcher_starts_the_gpu_program_if_the_driver_is_installed() {
    let windows = tempfile::tempdir().unwrap();
    let command = || {
        let folder = Path::new("Quartet");
        windows_launcher::command(folder, "quartet-window", Some(windows.path()))
    };
    let without = command();
    assert_eq!(without.get_program(), "Quartet/cpu/quartet-window");
    let reason = (
        "QUARTET_GPU_UNAVAILABLE",
        "NVIDIA’s driver is not installed",
    );
    let reason = (OsStr::new(reason.0), Some(OsStr::new(reason.1)));
    assert_eq!(without.get_envs().collect::<Vec<_>>(), [reason]);

    let driver = windows.path().join("System32/nvcuda.dll");
    fs::create_dir(driver.parent().unwrap()).unwrap();
    fs::write(driver, "").unwrap();
    let with = command();
    assert_eq!(with.get_program(), "Quartet/cuda/quartet-window");
    assert_eq!(with.get_envs().len(), 0);
}
