#!/bin/sh
# Build the kernel with ASan and UBSan in .sanitize/, then run its tests and COUNT cases of its
# fuzzer there: sh tests/sanitize.sh PYTHON [COUNT [FIRST]]
set -eu
cd "$(dirname "$0")/.."
python=$(realpath -s "$1")
cc=${CC:-cc}
rm -rf .sanitize
mkdir .sanitize
cp -R ragkpi tests pyproject.toml .sanitize
cd .sanitize
rm -f ragkpi/_kernel*.so
include=$("$python" -c 'import sysconfig; print(sysconfig.get_path("include"))')
if ! "$cc" -shared -fPIC -O1 -g -fno-omit-frame-pointer -fsanitize=address,undefined \
    -fno-sanitize-recover=all -I"$include" ragkpi/_kernel.c -o ragkpi/_kernel.abi3.so 2> log; then
  echo "the kernel is not sanitized, as $cc cannot: $(head -n 1 log)"
  exit 0
fi
# Python itself leaks what it needs to its end, and its own allocator would hide what is freed.
export PYTHONMALLOC=malloc UBSAN_OPTIONS=print_stacktrace=1
export ASAN_OPTIONS=detect_leaks=0:allocator_may_return_null=1
sanitized() {
  LD_PRELOAD="$("$cc" -print-file-name=libasan.so) $("$cc" -print-file-name=libubsan.so)" "$python" "$@"
}
sanitized -c 'import os, ragkpi._kernel as k; assert k.__file__.startswith(os.getcwd()), k.__file__'
sanitized -m pytest -s -p no:cacheprovider -k "not plain" tests/kernel
sanitized -m tests.fuzz.kernel "${2:-5000}" "${3:-0}"
