# SPDX-License-Identifier: MIT
# Sourced by run.sh: the npm package, in Node and Bun.
export TIDINGS_ADDON=$TIDINGS_BUILD_DIR/tidings.node
hosts=$TIDINGS_SOURCE_DIR/tests/agents/hosts

if [ "$language" = bun ]; then # the Bun inside opencode
  [ "$(uname -m)" = x86_64 ] || skip "the pinned opencode, and the Bun in it, is for x86_64"
  folder=$("$hosts/install.sh" opencode) || skip "no Bun can be had"
  runtime=$folder/node_modules/opencode-linux-x64/bin/opencode
  export BUN_BE_BUN=1
else
  folder=$("$hosts/install.sh" node20) || skip "no Node can be had"
  runtime=$folder/node_modules/.bin/node
fi
example=("$runtime" "$bindings/node/examples/host.mjs")
# shellcheck disable=SC2034 # run.sh uses them
calls=("$runtime" "$bindings/node/tests/calls_test.mjs") driver=("$runtime" "$bindings/node/tests/conformance_host.mjs")

# Installs the packages of this build into another project.
package_install() {
  command -v npm >/dev/null || skip "there is no npm"
  local platform
  platform=linux-$(uname -m | sed 's/x86_64/x64/; s/aarch64/arm64/')-gnu
  cmake --install "$TIDINGS_BUILD_DIR" --prefix "$work/stage" >"$work/log" 2>&1 &&
    "$TIDINGS_SOURCE_DIR/packaging/npm_packages.py" "$work/packages" "$platform=$work/stage" || return 1
  mkdir "$work/project" && cd "$work/project" || return 1
  HOME=$work npm install --offline --no-audit --no-fund "$work"/packages/*.tgz || return 1
  cp "$bindings/node/examples/host.mjs" "$work/project/host.mjs"
  sed -n '/^```js$/,/^```$/p' "$TIDINGS_SOURCE_DIR/docs/embedding.md" | sed '1d;$d' >"$work/project/page.mjs" # the page's example
  unset TIDINGS_ADDON TIDINGS_HOSTKIT_PROBE
  XDG_STATE_HOME=$work/state "$runtime" page.mjs && npm_package_probe "$runtime" || return 1
  example=("$runtime" "$work/project/host.mjs")
}

# Tests that the package hides its internal files, and exports its manifest and its command.
npm_package_probe() {
  "$1" --input-type=module -e '
    import assert from "node:assert/strict";
    import { createRequire } from "node:module";
    const require = createRequire(`${process.cwd()}/`);
    await assert.rejects(import("tidings/host/reply.mjs"), { code: "ERR_PACKAGE_PATH_NOT_EXPORTED" });
    const { bin, exports } = require("tidings/package.json");
    assert.equal(bin.tidings, "bin/tidings");
    assert.equal(exports["."].types, "./host/index.d.ts");'
}
