#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# run_languages.sh LANGUAGE: runs the example host in Rust or JavaScript, compiling it first if need be, against this build. Where the toolchain is
# not on the machine, the test is skipped and says so (exit status 77).
set -u
language=$1
examples=$TIDINGS_SOURCE_DIR/docs/examples
library=$TIDINGS_BUILD_DIR/libtidings-hostkit.so.1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export TIDINGS_HOSTKIT_PROBE=$TIDINGS_BUILD_DIR/tidings-hostkit-probe

skip() {
  echo "1..0 # SKIP $1"
  echo "SKIPPED: $1" >&2
  exit 77
}

works() { # rustup's stands in for a compiler that it may not have
  command -v "$1" >/dev/null || skip "$1 is not on this machine"
  "$1" --version >"$work/out" 2>"$work/err" || skip "$1 does not run here: $(head -n 1 "$work/err")"
}

case $language in
  rust)
    works rustc
    rustc --edition 2021 -D warnings -o "$work/host" "$examples/host.rs" || { echo "not ok 1 - it compiles without a warning"; exit 1; }
    host=("$work/host" "$library")
    ;;
  libloading)
    works cargo
    cp "$examples/Cargo.toml" "$examples"/*.rs "$work"
    export CARGO_NET_RETRY=0 CARGO_HTTP_TIMEOUT=20 CARGO_TARGET_DIR=$work/target RUSTFLAGS="-D warnings"
    # From crates.io, else what Debian's librust-libloading-dev has installed.
    # A resolver that does not answer has kept it for five minutes.
    if ! timeout 60 cargo fetch --quiet --manifest-path "$work/Cargo.toml" 2>"$work/err"; then
      compgen -G '/usr/share/cargo/registry/libloading-*' >/dev/null || skip "the crate libloading cannot be fetched: $(tail -n 1 "$work/err")"
      mkdir "$work/.cargo"
      printf '[source.crates-io]\nreplace-with = "debian"\n[source.debian]\ndirectory = "/usr/share/cargo/registry"\n' >"$work/.cargo/config.toml"
      cd "$work" || exit 1
    fi
    cargo build --quiet --offline --manifest-path "$work/Cargo.toml" || { echo "not ok 1 - it compiles without a warning"; exit 1; }
    language=rust
    host=("$work/target/debug/host" "$library")
    ;;
  node)
    node=$("$TIDINGS_SOURCE_DIR/tests/agents/hosts/install.sh" node20) || skip "no Node can be had"
    host=("$node/node_modules/.bin/node" "$examples/host.mjs" "$TIDINGS_BUILD_DIR/tidings.node")
    ;;
esac

"${host[@]}" "$TIDINGS_PLUGIN" "$work/store" >"$work/out" 2>"$work/err" &
pid=$!
until grep -qx waiting "$work/out" || ! kill -0 "$pid" 2>/dev/null; do sleep 0.02; done
[ "$language" = rust ] || "$TIDINGS_BUILD_DIR/tidings" push -S "$work/store" -s s -l critical -k disk.full "The disk is full."
wait "$pid"
status=$?

failed=0
check() { # WHAT TEST…
  if "${@:3}"; then echo "ok $1 - $2"; else failed=1; echo "not ok $1 - $2"; sed 's/^/# /' "$work/out" "$work/err"; fi
}
check 1 "it ends in order, and says nothing of errors" test "$status" = 0 -a ! -s "$work/err"
check 2 "the news is before the result" test "$(sed -n '/^- The build failed\.$/,/^a\.c$/p' "$work/out" | tr '\n' '|')" = '- The build failed.|---||a.c|'
if [ "$language" = rust ]; then echo "1..2"; exit $failed; fi
check 3 "news from another process wakes it" grep -qx 'session s: start_turn: Critical notification (disk\.full); see the notifications in this message\.' "$work/out"
echo "1..3"
exit $failed
