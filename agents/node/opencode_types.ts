// SPDX-License-Identifier: MIT
//
// opencode_types.ts: the parts of opencode's plugin interface that the plugin uses, as of opencode 1.18.

/** The metadata of tidings in opencode's parts. */
export interface Mark {
  delivery?: string;
  turn?: string[]; // in a prompt of tidings: the ids of its messages
}

export interface Part {
  id: string;
  sessionID: string;
  messageID: string;
  type: string;
  text?: string;
  synthetic?: boolean;
  metadata?: { tidings?: Mark };
  callID?: string;
  tool?: string;
  tokens?: { input: number; output: number; reasoning?: number; cache?: { read: number; write: number } }; // of a finished step
  state?: { status: string; output?: string; error?: string; metadata?: { tidings?: Mark; background?: boolean; sessionId?: string } };
}

export interface MessageInfo {
  id: string;
  role: string;
  sessionID: string;
  agent?: string;
  model?: { providerID: string; modelID: string };
  error?: { name: string; data?: { message?: string } };
}

export interface StoredMessage {
  info: MessageInfo;
  parts: Part[];
}

/** The model, as far as it matters here. */
export interface Model {
  limit?: { context?: number };
}

export interface SessionInfo {
  id: string;
  directory: string;
  title?: string;
  parentID?: string;
  agent?: string;
  metadata?: Record<string, unknown> & { tidings?: { session?: string } };
}

/** Either data or an error; the client does not throw if the server refuses. */
type Answer<T> = Promise<{ data?: T; error?: unknown }>;
type OfSession<More = object> = { path: { id: string } } & More;

export interface Client {
  session: {
    get(request: OfSession): Answer<SessionInfo>;
    messages(request: OfSession<{ query?: { limit: number } }>): Answer<StoredMessage[]>;
    abort(request: OfSession): Answer<boolean>;
    update?(request: OfSession<{ body: { metadata: object } }>): Answer<SessionInfo>;
    promptAsync(request: OfSession<{ body: { agent?: string; model?: MessageInfo["model"]; parts: object[] } }>): Answer<void>;
  };
  mcp?: { status(): Answer<Record<string, { status: string }>> };
  // The underlying client, for a route without a method.
  _client?: { patch(request: { url: string; path: Record<string, string>; body: object; headers: Record<string, string> }): Answer<unknown> };
}

export interface PluginInput {
  client: Client;
  directory: string;
}

/** `output` of tool.execute.after: the result of a tool of opencode, or of an MCP server; nothing if a subagent failed. */
export interface ToolOutput {
  output?: string;
  content?: { type: string; text?: string }[];
  metadata?: Record<string, unknown>;
}

export interface BusEvent {
  type: string;
  properties: {
    sessionID?: string;
    info?: MessageInfo & SessionInfo;
    part?: Part;
    status?: { type: string; attempt?: number; message?: string; next?: number };
    server?: string;
    error?: MessageInfo["error"];
  };
}
