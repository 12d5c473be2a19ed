// SPDX-License-Identifier: MIT
//
// wake.mjs: the wake descriptor in the event loop: a FIFO, read by the loop itself, so nothing spins. The bytes that are read have no meaning;
// that there was something has.
import { closeSync } from "node:fs";
import { Socket } from "node:net";

/** Calls `ring` whenever something was written to the FIFO, until the returned function is called. Takes the descriptor over. */
export function pollDescriptor(fd, ring) {
  return globalThis.Bun ? pollInBun(globalThis.Bun.file(fd), fd, ring) : pollInNode(fd, ring);
}

function pollInNode(fd, ring) {
  const socket = new Socket({ fd, readable: true, writable: false });
  socket.on("data", ring);
  socket.on("error", () => socket.destroy()); // the replies' wakeAtMs is left
  return () => socket.destroy();
}

// Bun's sockets do not take FIFOs; its files do, and wait for them in the event loop.
function pollInBun(file, fd, ring) {
  const reader = file.stream().getReader();
  let stopped = false;
  const read = async () => {
    for (;;) {
      const { done } = await reader.read();
      if (done || stopped) return;
      ring();
    }
  };
  read().catch(() => {}); // the replies' wakeAtMs is left
  return () => {
    if (stopped) return;
    stopped = true;
    reader.cancel().then(() => closeSync(fd), () => {}); // Bun leaves a descriptor that it was given to whoever gave it
  };
}
