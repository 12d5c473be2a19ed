// SPDX-License-Identifier: MIT
//
// wake.mjs: waits for the wake descriptor in the event loop. It is a FIFO, which the loop itself reads, so nothing spins. Only the arrival of bytes
// matters, not their values.
import { closeSync } from "node:fs";
import { Socket } from "node:net";

/** Calls `ring` whenever something was written to the FIFO, until the returned function is called. It closes the descriptor at the end. */
export function pollDescriptor(fd, ring) {
  return globalThis.Bun ? pollInBun(globalThis.Bun.file(fd), fd, ring) : pollInNode(fd, ring);
}

function pollInNode(fd, ring) {
  const socket = new Socket({ fd, readable: true, writable: false });
  socket.on("data", ring);
  socket.on("error", () => socket.destroy()); // sessions are still woken at their wakeAtMs
  return () => socket.destroy();
}

// Bun's sockets do not take FIFOs; its files do, and wait for them in the event loop.
function pollInBun(file, fd, ring) {
  const reader = file.stream().getReader();
  let stopped = false;
  const read = async () => {
    for (;;) {
      const { done } = await reader.read();
      if (!done) ring(); // stopped, too: other loops wait for the same FIFO
      if (done || stopped) return;
    }
  };
  read().catch(() => {}); // sessions are still woken at their wakeAtMs
  return () => {
    if (stopped) return;
    stopped = true;
    reader.cancel().then(() => closeSync(fd), () => {}); // Bun does not close a descriptor that it was given
  };
}
