// SPDX-License-Identifier: MIT
//
// wake.ts: the wake descriptor in the event loop: a FIFO, read by the loop itself, so nothing spins and no timer runs. The bytes that are
// read have no meaning; that there was something has. Knows nothing of plugins.
import { closeSync } from "node:fs";
import { Socket } from "node:net";

interface BunFile {
  stream(): ReadableStream<Uint8Array>;
}

/** Calls `ring` whenever something was written to the FIFO, until the returned function is called. Takes the descriptor over. In Node the process
 * may end meanwhile; in Bun it goes on until it is stopped or exits by itself, as agents do. */
export function pollDescriptor(fd: number, ring: () => void): () => void {
  const bun = (globalThis as unknown as { Bun?: { file(fd: number): BunFile } }).Bun;
  return bun ? pollInBun(bun.file(fd), fd, ring) : pollInNode(fd, ring);
}

function pollInNode(fd: number, ring: () => void): () => void {
  const socket = new Socket({ fd, readable: true, writable: false });
  socket.on("data", ring);
  socket.on("error", () => socket.destroy()); // wake_at is left
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
  read().catch(() => {}); // wake_at is left
  return () => {
    if (stopped) return;
    stopped = true;
    reader.cancel().then(() => closeSync(fd), () => {}); // Bun leaves a descriptor that it was given to whoever gave it
  };
}
