//! Starts the build for NVIDIA GPUs, or the one for the CPU if NVIDIA's driver is not installed: for
//! the Windows package with GPU support. Windows does not start a program whose libraries are
//! missing, so the program itself can't find out. The Linux archive has a script instead.

use std::env;
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

/// Runs this program from the folder `cuda` or `cpu` beside the launcher, with the launcher's
/// arguments. Returns its exit code.
#[expect(
    clippy::print_stderr,
    reason = "nothing else shows why no program was started"
)]
pub(crate) fn run(program: &str) -> ExitCode {
    // Ctrl+C also reaches the program, which decides what to do.
    if let Err(error) = ctrlc::set_handler(|| ()) {
        eprintln!("warning: Ctrl+C ends the launcher: {error}");
    }
    match start(program) {
        Ok(code) => ExitCode::from(code),
        Err(error) => {
            eprintln!("error: {program} could not be started: {error}");
            ExitCode::FAILURE
        }
    }
}

fn start(program: &str) -> io::Result<u8> {
    let launcher = env::current_exe()?;
    let folder = launcher.parent().unwrap_or(Path::new("."));
    let windows = env::var_os("SystemRoot").map(PathBuf::from);
    let mut command = command(folder, program, windows.as_deref());
    let code = command.args(env::args_os().skip(1)).status()?.code();
    Ok(code.map_or(1, |code| u8::try_from(code).unwrap_or(1)))
}

/// Returns the command that starts the right build of a program below this folder. `windows` is the
/// folder of Windows.
pub(crate) fn command(folder: &Path, program: &str, windows: Option<&Path>) -> Command {
    let driver = windows.map(|windows| windows.join("System32").join("nvcuda.dll"));
    let has_driver = driver.is_some_and(|driver| driver.is_file());
    let build = folder.join(if has_driver { "cuda" } else { "cpu" });
    let mut command = Command::new(build.join(format!("{program}{}", env::consts::EXE_SUFFIX)));
    if !has_driver {
        let reason = "NVIDIA’s driver is not installed";
        command.env("QUARTET_GPU_UNAVAILABLE", reason);
    }
    command
}
