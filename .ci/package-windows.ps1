# Builds the Windows installer into target/packages. Runs on Windows, with Inno Setup 6.
param([switch]$Cuda)
$ErrorActionPreference = "Stop"
$PSNativeCommandUseErrorActionPreference = $true
Set-Location "$PSScriptRoot/.."

$version = (Select-String -Path Cargo.toml -Pattern '^version = "(.*)"').Matches[0].Groups[1].Value
$features = @("windows-program")
if ($Cuda) { $features += "cuda" }

# Messages must not contain the builder's folders.
$cargoHome = if ($env:CARGO_HOME) { $env:CARGO_HOME } else { "$HOME\.cargo" }
$env:RUSTFLAGS = "$env:RUSTFLAGS --remap-path-prefix=$cargoHome=cargo --remap-path-prefix=$PWD=quartet"
# aws-lc-sys needs NASM, or the objects that it ships.
$env:AWS_LC_SYS_PREBUILT_NASM = "1"
cargo build --profile release-lto --locked --bins --features ($features -join ",")

target/release-lto/quartet.exe system-files target/system-files
New-Item -ItemType Directory -Force target/packages | Out-Null
$iscc = "${env:ProgramFiles(x86)}\Inno Setup 6\ISCC.exe"
$suffix = if ($Cuda) { "-cuda" } else { "" }
& $iscc "/DVersion=$version" "/DSuffix=$suffix" assets/windows/quartet.iss
