// SPDX-License-Identifier: MIT
//
// signers.mjs TIDINGS FOLDER: sends requests that the vendors' own libraries in FOLDER/node_modules have signed. Prints TAP.
import assert from "node:assert/strict";
import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";

const [tidings, folder] = process.argv.slice(2);
const from = createRequire(join(folder, "package.json"));
const { Webhook } = from("standardwebhooks");
const svix = from("svix");
const { CloudEvent, HTTP } = from("cloudevents");
const octokit = await import(join(folder, "node_modules/@octokit/webhooks-methods/index.js")).catch(
  () => import(join(folder, "node_modules/@octokit/webhooks-methods/dist-node/index.js")),
);

const home = realpathSync(mkdtempSync(join(tmpdir(), "tidings-signers-")));
const env = { PATH: process.env.PATH, HOME: home, XDG_STATE_HOME: join(home, "state"), TIDINGS_PLUGIN: process.env.TIDINGS_PLUGIN };
const key = "whsec_" + Buffer.from("a key of at least sixteen bytes").toString("base64");
const secret = "an example of a secret";
writeFileSync(join(home, "key"), key + "\n", { mode: 0o600 });
writeFileSync(join(home, "token"), secret + "\n", { mode: 0o600 });
writeFileSync(
  join(home, "listen.json"),
  JSON.stringify({
    listen: {
      routes: [
        { path: "/standard", recipe: "standard", secret_file: "key", to: "box:standard" },
        { path: "/svix", recipe: "standard", secret_file: "key", to: "box:svix" },
        { path: "/github", recipe: "github", secret_file: "token" },
        { path: "/cloudevents", recipe: "cloudevents", secret_file: "token", to: "box:cloudevents" },
      ],
    },
  }),
);

const waiting = (box) =>
  JSON.parse(execFileSync(tidings, ["box", "show", box, "--json"], { env, encoding: "utf8" })).pending.map((item) => item.message);

const server = spawn(tidings, ["listen", "-c", join(home, "listen.json"), "--bind", "127.0.0.1:0"], { env, stdio: ["ignore", "pipe", "inherit"] });
const [line] = await once(createInterface({ input: server.stdout }), "line");
const base = /^listening on (\S+);/.exec(line)[1];

const post = async (path, body, headers) => {
  const answer = await fetch(base + path, { method: "POST", body, headers: { "content-type": "application/json", ...headers } });
  return [answer.status, await answer.json()];
};

let number = 0;
const test = async (title, run) => {
  number++;
  try {
    await run();
    console.log(`ok ${number} - ${title}`);
  } catch (error) {
    process.exitCode = 1;
    console.log(String(error.stack).replace(/^/gm, "# ") + `\nnot ok ${number} - ${title}`);
  }
};

// The libraries of Standard Webhooks and of Svix sign in the same way.
for (const [name, make] of [["standard", () => new Webhook(key)], ["svix", () => new svix.Webhook(key)]])
  await test(`${name}: a signed request is taken, a repeated one is stored once, a changed or an old one is refused`, async () => {
    const body = JSON.stringify({ type: "invoice.paid", timestamp: new Date().toISOString(), data: { message: `by ${name}` } });
    const at = (date) => ({
      "webhook-id": `msg_${name}`,
      "webhook-timestamp": String(Math.floor(date / 1000)),
      "webhook-signature": make().sign(`msg_${name}`, new Date(Math.floor(date / 1000) * 1000), body),
    });
    assert.deepEqual(await post(`/${name}`, body, at(Date.now())), [200, { accepted: 1, repeated: 0 }]);
    assert.deepEqual(await post(`/${name}`, body, at(Date.now() + 1000)), [200, { accepted: 0, repeated: 1 }]);
    assert.equal((await post(`/${name}`, body.replace("by", "By"), at(Date.now())))[0], 401);
    assert.equal((await post(`/${name}`, body, at(Date.now() - 302_000)))[0], 401);
    assert.equal(waiting(name).length, 1);
  });

await test("@octokit/webhooks-methods: what it signs is taken, and routed by the repository", async () => {
  const body = JSON.stringify({
    action: "completed",
    workflow_run: { id: 7, workflow_id: 3, name: "CI", head_branch: "main", head_sha: "0123456789abcdef", conclusion: "failure", html_url: "https://github.com/o/n/actions/runs/7", run_attempt: 1, event: "push" },
    repository: { full_name: "o/n", html_url: "https://github.com/o/n" },
  });
  const headers = { "x-github-event": "workflow_run", "x-github-delivery": "d-1", "x-hub-signature-256": await octokit.sign(secret, body) };
  assert.deepEqual(await post("/github", body, headers), [200, { accepted: 1, repeated: 0 }]);
  assert.deepEqual(await post("/github", body, headers), [200, { accepted: 0, repeated: 1 }]);
  const wrong = { ...headers, "x-hub-signature-256": await octokit.sign(secret + "x", body) };
  assert.equal((await post("/github", body, wrong))[0], 401);
  assert.match(waiting("repo:github.com/o/n@main")[0], /CI/);
});

await test("cloudevents: structured, binary and batched events are taken", async () => {
  const event = (id) => new CloudEvent({ id, source: "/jobs", type: "job.failed", data: { message: `Job ${id} failed.` } });
  const authorization = `Bearer ${secret}`;
  for (const message of [HTTP.structured(event("s")), HTTP.binary(event("b"))]) {
    assert.deepEqual(await post("/cloudevents", message.body, { ...message.headers, authorization }), [200, { accepted: 1, repeated: 0 }]);
    assert.deepEqual(await post("/cloudevents", message.body, { ...message.headers, authorization }), [200, { accepted: 0, repeated: 1 }]);
  }
  const batch = JSON.stringify([event("x"), event("y")].map((one) => one.toJSON()));
  assert.deepEqual(await post("/cloudevents", batch, { "content-type": "application/cloudevents-batch+json", authorization }), [200, { accepted: 2, repeated: 0 }]);
  assert.equal(waiting("cloudevents").length, 4);
});

console.log(`1..${number}`);
server.kill("SIGTERM");
await once(server, "exit");
rmSync(home, { recursive: true });
