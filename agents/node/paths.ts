// SPDX-License-Identifier: MIT
//
// paths.ts: the paths of the user's files, and the names of files for a session. A watcher's notification of the assistant's own edit is withdrawn only if the
// watcher and the agent name the file by the same bytes. So a name must be the one that `tidings watch` uses: relative to the session's folder if the file is
// inside, otherwise absolute. Links of existing folders are resolved; the last component is not.
import { lstatSync, realpathSync } from "node:fs";
import { homedir } from "node:os";
import { basename, dirname, isAbsolute, join, resolve, sep } from "node:path";

export function inHome(variable: string, folderOfHome: string, name: string): string {
  const named = process.env[variable];
  return join(named && isAbsolute(named) ? named : join(homedir(), folderOfHome), name);
}

export function fromHome(path: string): string {
  const home = homedir() + sep;
  return path.startsWith(home) ? `~${sep}${path.slice(home.length)}` : path;
}

function resolvedFolder(folder: string): string {
  try {
    return realpathSync(folder);
  } catch {
    const above = dirname(folder);
    return above === folder ? folder : join(resolvedFolder(above), basename(folder));
  }
}

export function sessionPath(cwd: string, path: string): string {
  const whole = resolve(cwd, path);
  const named = join(resolvedFolder(dirname(whole)), basename(whole));
  const folder = resolvedFolder(resolve(cwd));
  const prefix = folder.endsWith(sep) ? folder : folder + sep;
  return named.startsWith(prefix) && named !== prefix ? named.slice(prefix.length) : named;
}

/** Returns the files that have changed since the last call for this session; the first call returns none. */
export function changedFiles(stamps: Map<string, Map<string, string | null>>, session: string, files: string[]): string[] {
  const now = new Map(files.map((file) => [file, fileStamp("/", file)]));
  const before = stamps.get(session);
  stamps.set(session, now);
  return before ? files.filter((file) => before.has(file) && before.get(file) !== now.get(file)) : [];
}

/** Returns the stamp of a file in the form of `tidings watch`: equal stamps mean the same state. Null: the file cannot be examined. */
export function fileStamp(cwd: string, path: string): string | null {
  try {
    const info = lstatSync(resolve(cwd, path), { bigint: true });
    return `${info.ino}:${info.size}:${info.mtimeNs}`;
  } catch (error) {
    const { code } = error as { code?: string };
    return code === "ENOENT" || code === "ENOTDIR" ? "gone" : null;
  }
}
