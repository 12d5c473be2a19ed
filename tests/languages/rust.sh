# SPDX-License-Identifier: MIT
# Sourced by run.sh: the crates for Rust, built without a network. They are copied into the build first: cargo writes a file beside them.
cargo --version >"$work/out" 2>"$work/err" || skip "cargo does not run here: $(head -n 1 "$work/err")" # rustup's cargo may be only a proxy for a
                                                                                                       # missing one
crates=$TIDINGS_BUILD_DIR/rust
export CARGO_TARGET_DIR=$TIDINGS_BUILD_DIR/cargo CARGO_NET_OFFLINE=true RUSTFLAGS="-D warnings"

rust_build() {
  mkdir -p "$crates"
  (
    flock 9
    cp -Rp "$bindings/rust/." "$crates" && cd "$crates" && cargo build --quiet --offline --examples
  ) 9>"$crates.lock" >"$work/out" 2>"$work/err"
}

check "the crates compile without a warning" rust_build
[ $failed = 0 ] || finish
# shellcheck disable=SC2034 # run.sh uses them
example=("$CARGO_TARGET_DIR/debug/examples/host") driver=("$CARGO_TARGET_DIR/debug/examples/conformance-host")

rust_calls() {
  (cd "$crates" && flock 9 && cargo test --quiet --offline) 9>"$crates.lock" 2>&1
}
calls=(rust_calls)

# Makes another project, which has a copy of the folder.
package_install() {
  mkdir -p "$work/project/src/bin"
  cp -R "$bindings/rust" "$work/copy" && cp "$bindings/rust/tidings/examples/host.rs" "$work/project/src/main.rs" || return 1
  sed -n '/^```rust$/,/^```$/p' "$TIDINGS_SOURCE_DIR/docs/embedding.md" | sed '1d;$d' >"$work/project/src/bin/page.rs" # the page's example
  printf '[package]\nname = "project"\nversion = "1.0.0"\nedition = "2021"\n\n[dependencies]\ntidings = { path = "../copy/tidings" }\n' >"$work/project/Cargo.toml"
  (cd "$work/project" && CARGO_TARGET_DIR=$work/target cargo build --quiet --offline) && example=("$work/target/debug/project")
}
