// SPDX-License-Identifier: MIT
//
// pi_types.ts: the parts of pi's API that the extension uses, as of pi 0.87. pi's own declarations are not installed where extensions are.
import type { TextPart } from "./compose.ts";

/** The data of tidings in pi's records. */
export interface Mark {
  delivery?: string;
}

export interface PiMessage {
  role: string;
  content?: string | TextPart[];
  toolCallId?: string;
  toolName?: string;
  stopReason?: string;
  errorMessage?: string;
  usage?: { input?: number; output?: number; cacheRead?: number; cacheWrite?: number; totalTokens?: number };
  tidings?: Mark;
}

export interface Entry {
  type: string;
  message?: PiMessage;
  details?: { tidings?: Mark };
}

export interface PiContext {
  cwd: string;
  mode: string; // "tui", "rpc", "json", "print"
  model: { contextWindow?: number } | undefined;
  sessionManager: { getSessionId(): string; getSessionFile(): string | undefined; getEntries(): Entry[]; getBranch(): Entry[] };
  isIdle(): boolean;
  abort(): void;
}

interface Events {
  session_start: { reason: string; previousSessionFile?: string };
  session_shutdown: { reason: string };
  session_before_switch: object;
  session_before_fork: object;
  session_tree: object;
  model_select: object;
  session_before_compact: object;
  session_compact: object;
  session_compact_failed: object;
  input: { text: string; source: string };
  before_agent_start: { systemPromptOptions: { sections: Record<string, string> } };
  agent_start: object;
  agent_end: object;
  before_provider_request: object;
  tool_execution_start: { toolName?: string; toolCallId?: string } | undefined;
  tool_execution_end: { toolCallId?: string } | undefined;
  tool_result: { toolName: string; toolCallId: string; input: { path?: unknown }; isError: boolean };
  message_end: { message: PiMessage };
  turn_end: object;
  ui_prompt_start: object;
  ui_prompt_end: object;
  agent_settled: object;
}

export interface PiApi {
  on<Name extends keyof Events>(name: Name, handler: (event: Events[Name], ctx: PiContext) => unknown): unknown;
  sendUserMessage(text: string): void;
}
