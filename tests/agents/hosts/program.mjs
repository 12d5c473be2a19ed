// SPDX-License-Identifier: MIT
//
// program.mjs: a minimal program of the Claude Agent SDK. node program.mjs SDK CLAUDE PROMPT [SESSION]
const [sdk, claude, prompt, resume] = process.argv.slice(2);
const { query } = await import(sdk);
const options = { pathToClaudeCodeExecutable: claude, settingSources: ["user", "project", "local"], permissionMode: "bypassPermissions", allowDangerouslySkipPermissions: true, resume };
for await (const message of query({ prompt, options })) if (message.type === "result") console.log(message.result);
