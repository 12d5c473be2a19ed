// SPDX-License-Identifier: MIT
//
// wake.ts: waits for the wake descriptor in the event loop. It is a FIFO, which the loop itself reads, so nothing spins and no timer runs. Only the
// arrival of bytes matters, not their values.
import { closeSync } from "node:fs";
import { Socket } from "node:net";

interface BunFile {
  stream(): ReadableStream<Uint8Array>;
}

/** Calls `ring` whenever something was written to the FIFO, until the returned function is called. It closes the descriptor at the end. In Node the
 * process may end meanwhile; in Bun it runs until it is stopped or exits by itself, like agents. */
export function pollDescriptor(fd: number, ring: () => void): () => void {
  const bun = (globalThis as unknown as { Bun?: { file(fd: number): BunFile } }).Bun;
  return bun ? pollInBun(bun.file(fd), fd, ring) : pollInNode(fd, ring);
}

function pollInNode(fd: number, ring: () => void): () => void {
  const socket = new Socket({ fd, readable: true, writable: false });
  socket.on("data", ring);
  socket.on("error", () => socket.destroy()); // sessions are still woken at their wake_at
  socket.unref();
  return () => {
    socket.destroy();
  };
}

// Bun's sockets do not take FIFOs; its files do, and wait for them in the event loop.
function pollInBun(file: BunFile, fd: number, ring: () => void): () => void {
  const reader = file.stream().getReader();
  let stopped = false;
  const read = async (): Promise<void> => {
    for (;;) {
      const { done } = await reader.read();
      if (done || stopped) return;
      ring();
    }
  };
  read().catch(() => {}); // sessions are still woken at their wake_at
  return () => {
    if (stopped) return;
    stopped = true;
    reader.cancel().then(() => closeSync(fd), () => {}); // Bun does not close a descriptor that it was given
  };
}
