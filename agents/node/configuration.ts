// SPDX-License-Identifier: MIT
//
// configuration.ts: reads the configuration for opening the plugin. It reads the user's JSON itself. If there is TOML or a
// project's file, it runs `tidings config show`, which reads all of them.
import { spawnSync } from "node:child_process";
import { existsSync, readFileSync, realpathSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { inHome } from "./paths.ts";

const PATIENCE_MS = 5000;
const here = dirname(fileURLToPath(import.meta.url));

/** May there be a project's file? The command decides whether a file that was found counts. */
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

/** Is it JSON without comments? Only the command can read JSON with comments. */
function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

/** Returns the command that was installed with this module, or else the one in PATH. */
function command(): string {
  const installed = [join(here, "../../../bin/tidings"), join(here, "../../../../bin/tidings")];
  return installed.find((path) => existsSync(path)) ?? "tidings";
}

/** Returns the effective configuration in the folder; undefined: the command cannot be run, or fails. */
function ask(folder: string, say: (text: string) => void): string | undefined {
  const { status, stdout, stderr, error } = spawnSync(command(), ["config", "show", "--json"], { cwd: folder, env: process.env, encoding: "utf8", timeout: PATIENCE_MS });
  if (stderr) say(stderr.trim());
  if (status === 0) return JSON.stringify(JSON.parse(stdout).config);
  say(`'tidings config show' failed${error ? `: ${error.message}` : ""}; TOML and the project's configuration are not in force`);
  return undefined;
}

/** Returns the configuration for an agent that works in the folder; undefined: there is none. Throws if a file that $TIDINGS_CONFIG names cannot be read. */
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
