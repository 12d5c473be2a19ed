// SPDX-License-Identifier: MIT
//
// addon_worker.mjs: a worker that opens an instance and never closes it.
import { parentPort, workerData } from "node:worker_threads";
import { addon } from "./tap.mjs";

const kit = addon.open(workerData);
parentPort.postMessage(kit.info().name);
parentPort.on("message", () => {}); // it lives until it is ended
