// SPDX-License-Identifier: MIT
//
// bridge.mjs PACKAGES COMMAND...: an HTTP server in front of a server over stdio, for the conformance suite, which supports only HTTP. Each session
// has its own process; the official transports carry the messages. Prints its port.
import { randomUUID } from 'node:crypto'
import { createServer } from 'node:http'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'

const [packages, command, ...args] = process.argv.slice(2)
const require = createRequire(join(packages, 'x.js'))
const load = (name) => import(pathToFileURL(require.resolve(name)))
const { StreamableHTTPServerTransport } = await load('@modelcontextprotocol/sdk/server/streamableHttp.js')
const { StdioClientTransport } = await load('@modelcontextprotocol/sdk/client/stdio.js')
const sessions = new Map()

async function open() {
  const stdio = new StdioClientTransport({ command, args, env: process.env, stderr: 'ignore' })
  const http = new StreamableHTTPServerTransport({ sessionIdGenerator: () => randomUUID(), onsessioninitialized: (id) => sessions.set(id, http) })
  http.onmessage = (message) => stdio.send(message).catch(() => {})
  // Requests and notices of the server belong to the running call, because the suite makes one call at a time.
  let current
  const toServer = http.onmessage
  http.onmessage = (message) => {
    if ('id' in message && 'method' in message) current = message.id
    return toServer(message)
  }
  stdio.onmessage = (message) => http.send(message, 'method' in message ? { relatedRequestId: current } : undefined).catch(() => {})
  http.onclose = () => stdio.close()
  await stdio.start()
  await http.start()
  return http
}

const server = createServer(async (request, response) => {
  const known = sessions.get(request.headers['mcp-session-id'])
  await (known ?? (await open())).handleRequest(request, response)
})
server.listen(0, '127.0.0.1', () => console.log(server.address().port))
process.on('SIGTERM', () => process.exit(0))
