// SPDX-License-Identifier: MIT
//
// addon_worker.mjs: a worker that opens an instance, makes so many calls, and never closes it.
import { parentPort, workerData } from "node:worker_threads";
import { addon, push } from "./tap.mjs";

const { rounds = 0, ...options } = workerData;
const kit = addon.open(options);
for (let round = 0; round < rounds; round++) {
  push(kit, `Round ${round}.`);
  const reply = JSON.parse(kit.toolResult("s"));
  if (reply.notifications[0].message !== `Round ${round}.`) throw new Error(JSON.stringify(reply));
  kit.settle(reply.delivery, "committed");
}
parentPort.postMessage(kit.info().name);
parentPort.on("message", () => {}); // it lives until it is ended
