#!/bin/sh
# Starts the build for NVIDIA GPUs, or the one for the CPU if the libraries that the first one links
# can't be loaded: without NVIDIA's driver, not even `--version` runs.
here=$(dirname "$(readlink -f "$0")")
LD_LIBRARY_PATH=$here/lib${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
if reason=$(LD_LIBRARY_PATH=$LD_LIBRARY_PATH "$here/bin/quartet-cuda" --version 2>&1 >/dev/null); then
    export LD_LIBRARY_PATH
    exec "$here/bin/quartet-cuda" "$@"
fi
case $reason in
*libcuda.so*) reason="NVIDIA’s driver is not installed" ;;
*) reason=$(printf '%s' "$reason" | tail -n 1) ;;
esac
export QUARTET_GPU_UNAVAILABLE="$reason"
exec "$here/bin/quartet-cpu" "$@"
