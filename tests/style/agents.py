# SPDX-License-Identifier: MIT
"""agents.py: rules about agents: facts about an agent are in its row, agents/hosts/, and transcripts are read by their structure. For style.py."""
import re

NAMES = re.compile(r"codex|claude|gemini|qwen|copilot|opencode|kilo|vscode|\bcursor\b", re.IGNORECASE)
PRODUCT = ("agents/", "cli/", "command/", "mcp/", "hostkit/", "listen/", "plugin/", "recipes/", "hostsim/", "common/")
# These files may name an agent, each for the given reason.
NAMED = {
    "agents/hook/hook.c": "the help explains options that one agent needs",
    "agents/setup/verb_setup.c": "the help has examples",
    "mcp/message.c": "a member of a protocol",
    "mcp/server.c": "the same",
}
# Tools, notices and members of results that only one agent has; these belong into fields of its row.
INNER = re.compile(r"\b(?:Write|Edit|MultiEdit|NotebookEdit|apply_patch|write_file|notebook_edit|run_shell_command|invoke_agent|idle_prompt|permission_prompt|elicitation_dialog|ToolPermission|llmContent|untrusted_context)\b")
COMMENT = re.compile(r"/\*.*?\*/", re.DOTALL)
STRING = re.compile(r'"((?:[^"\\\n]|\\.)*)"')
MEMBER = re.compile(r'call->input,\s*"')
SEARCH = re.compile(r"\b(memmem|strstr|strcasestr)\s*\(")


def code_of(text):
    return COMMENT.sub(lambda comment: "\n" * comment[0].count("\n"), text)


def named_agents(path, text):
    """Finds names of agents outside of the table."""
    if not path.endswith((".c", ".h")) or not path.startswith(PRODUCT) or path.startswith("agents/hosts/") or path in NAMED:
        return []
    lines = [line for line in code_of(text).splitlines() if not line.lstrip().startswith("#include")]
    return [f'has "{string}": what is known of an agent is in its row, agents/hosts/' for line in lines for string in STRING.findall(line)
            if NAMES.search(string) or (path.startswith("agents/") and INNER.search(string))]


def searched_bytes(path, text):
    """Finds searches for words in transcripts, which are JSON lines; only records.c may search, within one string."""
    if not path.startswith("agents/transcript/") or path == "agents/transcript/records.c":
        return []
    return [f"calls {found}: records.c reads transcripts, by the table in the agent's row" for found in SEARCH.findall(code_of(text))]


def named_members(path, text):
    """Finds names of a call's members outside of the agents' rows."""
    if not path.startswith("agents/") or not path.endswith(".c"):
        return []
    return ["names a member of a call: hook_call_value has it, by the table in the agent's row"] * len(MEMBER.findall(code_of(text)))


OF_FILES = {
    "agents are named in their rows only": named_agents,
    "members of a hook's call are named in the rows only": named_members,
    "transcripts are not searched byte by byte": searched_bytes,
}
SAMPLES = (
    (named_members, "agents/turn/a.c", 'json_object_get(call->input, "tool_input");\n', "hook_call_value(call, FIELD_INPUT);\n"),
    (named_agents, "agents/turn/a.c", 'if (strcmp(name, "codex") == 0) return;\n', '/* "codex" */ call("a transcript");\n'),
    (named_agents, "agents/call/a.c", 'if (strcmp(call->tool, "apply_patch") == 0) return;\n', 'send(call, "apply");\n'),
    (named_agents, "cli/a.c", 'puts("Claude Code");\n', '#include "agents/hosts/claude.h"\n'),
    (searched_bytes, "agents/transcript/a.c", "at = memmem(text, len, words, 3);\n", "at = memchr(text, 10, len); /* no memmem() */\n"),
)
