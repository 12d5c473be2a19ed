// SPDX-License-Identifier: MIT
//
// Loads the module for @AGENT@ from the package for this machine, which npm has put where `tidings` is found from here. Without it the agent goes on.
import { existsSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";

function folder() {
  const { platform, arch } = process;
  const musl = arch === "x64" ? "/lib/ld-musl-x86_64.so.1" : "/lib/ld-musl-aarch64.so.1";
  const glibc = arch === "x64" ? "/lib64/ld-linux-x86-64.so.2" : "/lib/ld-linux-aarch64.so.1";
  const libc = !existsSync(glibc) && existsSync(musl) ? "musl" : "gnu";
  const tidings = createRequire(import.meta.url).resolve("tidings/package.json");
  return dirname(createRequire(tidings).resolve(`@tidings/${platform}-${arch}-${libc}/package.json`));
}

export default async (...given) => {
  const module = await import(join(folder(), "lib/tidings/node/@AGENT@.ts")).catch(() => undefined);
  return module ? module.default(...given) : {};
};
