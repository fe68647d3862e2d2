# Builds the Windows installer into target/packages. Runs on Windows, with Inno Setup 6. With -Cuda,
# the installer has the builds with and without GPU support, a launcher, and the CUDA libraries that
# the first one links, which NVIDIA allows to be passed on (CUDA Toolkit EULA, attachment A).
param([switch]$Cuda)
$ErrorActionPreference = "Stop"
$PSNativeCommandUseErrorActionPreference = $true
Set-Location "$PSScriptRoot/.."

$version = (Select-String -Path Cargo.toml -Pattern '^version = "(.*)"').Matches[0].Groups[1].Value

# Messages must not contain the builder's folders.
$cargoHome = if ($env:CARGO_HOME) { $env:CARGO_HOME } else { "$HOME\.cargo" }
$env:RUSTFLAGS = "$env:RUSTFLAGS --remap-path-prefix=$cargoHome=cargo --remap-path-prefix=$PWD=quartet"
# aws-lc-sys needs NASM, or the objects that it ships.
$env:AWS_LC_SYS_PREBUILT_NASM = "1"
cargo build --profile release-lto --locked --bins --features windows-program

target/release-lto/quartet.exe system-files target/system-files
$programs = "target/windows-programs"
if (Test-Path $programs) { Remove-Item -Recurse $programs }
New-Item -ItemType Directory -Force target/packages, $programs | Out-Null
$build = "target/release-lto"
if ($Cuda) {
    New-Item -ItemType Directory "$programs/cpu", "$programs/cuda" | Out-Null
    Copy-Item "$build/quartet.exe", "$build/quartet-window.exe" "$programs/cpu"
    Copy-Item "$build/quartet-launcher.exe" "$programs/quartet.exe"
    Copy-Item "$build/quartet-window-launcher.exe" "$programs/quartet-window.exe"
    cargo build --profile release-lto --locked --bins --features windows-program,cuda
    Copy-Item "$build/quartet.exe", "$build/quartet-window.exe" "$programs/cuda"
    # CUDA 13 has its libraries in a folder below.
    $libraries = Get-ChildItem -Recurse "$env:CUDA_PATH/bin" -Include cublas64_*.dll, cublasLt64_*.dll, curand64_*.dll, cudart64_*.dll, nvrtc64_*.dll, nvrtc-builtins64_*.dll
    Copy-Item $libraries "$programs/cuda"
} else {
    Copy-Item "$build/quartet.exe", "$build/quartet-window.exe" $programs
}
$iscc = "${env:ProgramFiles(x86)}\Inno Setup 6\ISCC.exe"
$suffix = if ($Cuda) { "-cuda" } else { "" }
& $iscc "/DVersion=$version" "/DSuffix=$suffix" assets/windows/quartet.iss
