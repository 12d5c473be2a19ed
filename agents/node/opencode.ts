// SPDX-License-Identifier: MIT
//
// opencode.ts: the plugin for opencode. opencode makes one for each folder in which it works, all in one process. This file finds the session of a hook
// or an event, and passes it on. It exports only the plugin, because opencode would take any other export for another plugin.
import { commandEnvironment, describe, log, openKit, openKitAgain } from "./kit.ts";
import { Conversation } from "./opencode_session.ts";
import type { BusEvent, MessageInfo, Model, Part, PluginInput, SessionInfo, StoredMessage, ToolOutput } from "./opencode_types.ts";
import { Session, Withdrawn } from "./session.ts";

/** Other agents load this plugin too; the file that `tidings setup` makes for them names the agent. */
const AGENT = (globalThis as { tidingsAgent?: string }).tidingsAgent ?? "opencode";
const COMMANDS = new Set(["run", "serve", "web", "acp", "attach", "tui", "github", "pr"]);
const SHORTLY_MS = 1000;
const UNTITLED = "New session - "; // opencode's title for a session that a person begins in a window; programs set a title

/** Returns the command with which opencode was started; undefined: it is a window. */
function command(): string | undefined {
  return process.argv.slice(2).find((word) => COMMANDS.has(word));
}

class Conversations {
  #input: PluginInput;
  #oneShot = command() === "run"; // it ends with its turn, so no other turn is started in it
  #window = [undefined, "tui"].includes(command()); // a person sees this process, which shows one session
  #used: Conversation | undefined; // the last conversation with a prompt
  #known = new Map<string, Conversation>();
  #attaching = new Map<string, Promise<Conversation | undefined>>();
  #gone = new Set<string>(); // MCP servers whose connection was lost

  constructor(input: PluginInput) {
    this.#input = input;
  }

  get(id: string | undefined): Conversation | undefined {
    return id === undefined ? undefined : this.#known.get(id);
  }

  create(id: string, directory: string): Conversation | undefined {
    const kit = openKitAgain(AGENT, this.#input.directory);
    if (!kit) return undefined;
    const place = { client: this.#input.client, directory, isOneShot: this.#oneShot, others: (other?: string) => this.get(other) };
    const conversation = new Conversation(place, id, (driver) => new Session(kit, id, driver));
    this.#known.set(id, conversation);
    return conversation;
  }

  /** Finds the session, and resumes it if this process did not begin it. */
  find(id: string): Promise<Conversation | undefined> {
    const known = this.#known.get(id);
    const attaching = this.#attaching.get(id);
    if (attaching) return attaching;
    if (known) return Promise.resolve(known);
    const attached = this.#attach(id).finally(() => this.#attaching.delete(id));
    this.#attaching.set(id, attached);
    return attached;
  }

  async #attach(id: string): Promise<Conversation | undefined> {
    const conversation = this.create(id, this.#input.directory);
    let attached = false;
    try {
      if (!conversation || (attached = await conversation.attach())) return conversation;
    } finally {
      if (!attached) this.forget(id)?.leave();
    }
    return undefined;
  }

  forget(id: string): Conversation | undefined {
    const known = this.#known.get(id);
    this.#known.delete(id);
    if (this.#used === known) this.#used = undefined;
    return known;
  }

  /** Notes that there is a prompt in the conversation. */
  uses(conversation: Conversation): Conversation {
    if (!conversation.parent) this.#used = conversation;
    return conversation;
  }

  /** Call it when the window shows a new session: waiting notifications of the session before pass to it. opencode does not report which session is
   * shown; a session with a running turn is not left. A prompt in a session that was left resumes it. */
  follow(conversation: Conversation): void {
    const former = this.#used;
    this.#used = conversation;
    if (!this.#window || !former?.mayBeLeft) return;
    this.forget(former.id)?.leaveBehind();
    conversation.follow();
  }

  /** Returns the session that a person sees, for a subagent's session. */
  seen(conversation: Conversation): Conversation {
    const above = this.get(conversation.parent);
    return above ? this.seen(above) : conversation;
  }

  /** A fork gets the pending notifications of its parent; at its first prompt it names the deliveries in its copy of the parent's transcript. */
  async fork(parent: string, child: string): Promise<void> {
    (await this.find(parent))?.session.report("session.forked", { child });
  }

  /** opencode reports that a server has changed, but not how, and it does not report every restored connection. */
  async servers(server?: string): Promise<void> {
    if (!server && !this.#gone.size) return;
    const { data } = (await this.#input.client.mcp?.status()) ?? {};
    for (const [name, { status }] of Object.entries(data ?? {})) {
      if (status === "connected" ? !this.#gone.delete(name) : name !== server || this.#gone.has(name)) continue;
      if (status !== "connected") this.#gone.add(name);
      const state = status === "connected" ? "reconnected" : "disconnected";
      for (const { parent, session } of this.#known.values()) if (!parent && !session.lost) session.report("mcp.state", { server: name, state });
    }
  }

  leave(): void {
    for (const conversation of this.#known.values()) conversation.leave();
    this.#known.clear();
  }
}

async function onCreated(conversations: Conversations, info: SessionInfo): Promise<void> {
  const from = info.parentID ? undefined : info.metadata?.tidings?.session;
  if (from && from !== info.id) return conversations.fork(from, info.id);
  const conversation = conversations.create(info.id, info.directory);
  conversation?.opened(info);
  if (conversation && !info.parentID && (info.title ?? UNTITLED).startsWith(UNTITLED)) conversations.follow(conversation);
}

function onEvent(conversations: Conversations, { type, properties }: BusEvent): Promise<void> | void {
  if (type === "session.created" && properties.info && !conversations.get(properties.info.id)) return onCreated(conversations, properties.info);
  if (type === "mcp.tools.changed") return conversations.servers(properties.server);
  const conversation = conversations.get(properties.sessionID ?? properties.info?.sessionID ?? properties.part?.sessionID);
  if (!conversation) return;
  if (type === "message.part.updated" && properties.part) conversation.stored(properties.part);
  else if (type === "message.removed" || type === "message.part.removed") conversation.removed();
  else if (type === "session.status" && properties.status) conversation.status(properties.status);
  else if (type === "session.idle") conversation.idle();
  else if (type === "session.error") conversation.failed(properties.error);
  else if (type === "message.updated" && properties.info?.error) conversation.failed(properties.info.error);
  else if (type === "permission.asked") conversation.session.asks("approval");
  else if (type === "question.asked") conversation.session.asks("user-input");
  else if (type === "permission.replied" || type === "question.replied" || type === "question.rejected") conversation.session.answered();
  else if (type === "session.compacted") conversation.compacting(false);
  else if (type === "session.deleted") conversations.forget(conversation.id)?.closed();
}

/** Catches exceptions, because an exception of a hook would become the tool's result, or would make the prompt fail. */
async function safely(hook: () => Promise<void> | void): Promise<void> {
  try {
    await hook();
  } catch (error) {
    if (error instanceof Withdrawn) throw error; // so that opencode does not send a withdrawn prompt
    log(AGENT, describe(error));
  }
}

/** Waits, for a limited time, for something that a prompt should not miss. */
async function shortly(promise: Promise<void>): Promise<void> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<void>((resolve) => (timer = setTimeout(resolve, SHORTLY_MS)));
  await Promise.race([promise, late]);
  clearTimeout(timer);
}

function hooks(conversations: Conversations): object {
  return {
    event: ({ event }: { event: BusEvent }) => safely(() => onEvent(conversations, event)),
    "chat.message": (input: { sessionID: string }, output: { message: MessageInfo; parts: Part[] }) =>
      safely(async () => {
        await shortly(safely(() => conversations.servers()));
        const conversation = await conversations.find(input.sessionID);
        if (conversation) await conversations.uses(conversation).prompt(output.message, output.parts);
      }),
    "tool.execute.after": (input: { tool: string; sessionID: string; callID: string; args: unknown }, output: ToolOutput | undefined) =>
      safely(async () => {
        const conversation = output && (await conversations.find(input.sessionID));
        if (!conversation) return;
        conversation.edited(conversations.seen(conversation), input.tool, input.callID, input.args, output.metadata);
        conversation.toolResult(input.tool, input.callID, output);
      }),
    "experimental.chat.messages.transform": (_input: object, output: { messages: StoredMessage[] }) =>
      safely(async () => {
        const conversation = conversations.get(output.messages.at(-1)?.info.sessionID);
        conversation?.asks(output.messages);
        await conversation?.failedResults(output.messages);
      }),
    "experimental.chat.system.transform": (input: { sessionID?: string; model?: Model }, output: { system: string[] }) =>
      safely(() => {
        const conversation = conversations.get(input.sessionID);
        conversation?.isAskedOf(input.model);
        const paragraph = conversation?.session.instructions(!conversation.parent);
        if (paragraph) output.system.push(paragraph);
      }),
    "experimental.session.compacting": (input: { sessionID: string }) => safely(() => conversations.get(input.sessionID)?.compacting(true)),
    "shell.env": (input: { sessionID?: string }, output: { env: Record<string, string> }) =>
      safely(() => {
        const conversation = conversations.get(input.sessionID);
        if (conversation && !conversation.isCalled) Object.assign(output.env, commandEnvironment(conversations.seen(conversation).id));
      }),
    dispose: () => safely(() => conversations.leave()),
  };
}

export default async function tidings(input: PluginInput): Promise<object> {
  openKit(AGENT, input.directory);
  return hooks(new Conversations(input));
}
