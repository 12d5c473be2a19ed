// SPDX-License-Identifier: MIT
//
// configuration.ts: the configuration that the plugin is opened with. The user's JSON is read here. TOML, and a project's file over the user's, are
// what the command `tidings` knows about: it is asked where there is any, and then only.
import { spawnSync } from "node:child_process";
import { existsSync, readFileSync, realpathSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { inHome } from "./paths.ts";

const PATIENCE_MS = 5000;
const here = dirname(fileURLToPath(import.meta.url));

/** It may be outside of the repository, or wrong: the command decides. */
function mayHaveProject(folder: string): boolean {
  if (process.env.TIDINGS_NO_PROJECT) return false;
  for (let at = folder; ; at = dirname(at)) {
    if (existsSync(join(at, ".tidings.json")) || existsSync(join(at, ".tidings.toml"))) return true;
    if (at === dirname(at)) return false;
  }
}

function realFolder(folder: string): string {
  try {
    return realpathSync(folder);
  } catch {
    return folder;
  }
}

function isToml(): boolean {
  const named = process.env.TIDINGS_CONFIG;
  return named ? named.endsWith(".toml") : existsSync(inHome("XDG_CONFIG_HOME", ".config", "tidings/config.toml"));
}

/** Without comments, which the command reads. */
function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

/** Installed with this module, or else in PATH. */
function command(): string {
  const installed = [join(here, "../../../bin/tidings"), join(here, "../../../../bin/tidings")];
  return installed.find((path) => existsSync(path)) ?? "tidings";
}

/** What is in force in the folder; undefined: the command cannot be asked, or refuses. */
function ask(folder: string, say: (text: string) => void): string | undefined {
  const { status, stdout, stderr, error } = spawnSync(command(), ["config", "show", "--json"], { cwd: folder, env: process.env, encoding: "utf8", timeout: PATIENCE_MS });
  if (stderr) say(stderr.trim());
  if (status === 0) return JSON.stringify(JSON.parse(stdout).config);
  say(`'tidings config show' failed${error ? `: ${error.message}` : ""}; TOML and the project's configuration are not in force`);
  return undefined;
}

/** For an agent that works in the folder; undefined when there is none and nobody named one. */
export function readConfiguration(folder: string, say: (text: string) => void): string | undefined {
  const named = process.env.TIDINGS_CONFIG;
  const real = realFolder(folder);
  const shown = isToml() || mayHaveProject(real) ? ask(real, say) : undefined;
  if (shown !== undefined) return shown;
  try {
    const text = readFileSync(named || inHome("XDG_CONFIG_HOME", ".config", "tidings/config.json"), "utf8");
    return isJson(text) ? text : (ask(real, say) ?? text);
  } catch (error) {
    if (!named && (error as { code?: string }).code === "ENOENT") return undefined;
    throw error;
  }
}
