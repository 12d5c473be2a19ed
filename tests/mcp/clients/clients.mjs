// SPDX-License-Identifier: MIT
//
// clients.mjs TIDINGS PACKAGES: tests the official clients with `tidings mcp`, as a server and around server-everything. The node_modules of the
// folder PACKAGES has them. Prints TAP. The process itself is the agent.
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'

const [tidings, packages] = process.argv.slice(2)
const require = createRequire(join(packages, 'x.js'))
const load = (name) => import(pathToFileURL(require.resolve(name)))
const home = mkdtempSync(join(tmpdir(), 'tidings-clients-'))
const env = { PATH: process.env.PATH, HOME: home, XDG_STATE_HOME: join(home, 'state'), TIDINGS_PLUGIN: process.env.TIDINGS_PLUGIN ?? '' }
const everything = [process.execPath, require.resolve('@modelcontextprotocol/server-everything/dist/index.js'), 'stdio']

const TOOLS = ['news', 'run', 'watch', 'remind', 'send', 'reply']
const run = (...words) => execFileSync(tidings, words, { env, cwd: home, encoding: 'utf8' })
const sessions = () => {
  try {
    return JSON.parse(run('sessions', '--json')).sessions
  } catch {
    return []
  }
}
const version = (name) => JSON.parse(execFileSync(process.execPath, ['-p', `JSON.stringify(require('./node_modules/@modelcontextprotocol/${name}/package.json').version)`], { cwd: packages, encoding: 'utf8' }))

const old = { ...(await load('@modelcontextprotocol/sdk/client/index.js')), ...(await load('@modelcontextprotocol/sdk/client/stdio.js')) }
const modern = { ...(await load('@modelcontextprotocol/client')), ...(await load('@modelcontextprotocol/client/stdio')) }
const clients = {
  [`sdk ${version('sdk')}`]: (transport) => [old, {}, transport],
  [`client ${version('client')}`]: (transport) => [modern, {}, transport],
  [`client ${version('client')}, auto`]: (transport) => [modern, { versionNegotiation: { mode: 'auto' } }, transport],
}

async function connect(which, args) {
  const [library, options, parameters] = clients[which]({ command: tidings, args, env, cwd: home })
  const client = new library.Client({ name: 'test', version: '1' }, options)
  await client.connect(new library.StdioClientTransport(parameters))
  return client
}

const texts = (result) => result.content.filter((block) => block.type === 'text').map((block) => block.text)

async function news(which) {
  const client = await connect(which, ['mcp'])
  const { tools } = await client.listTools()
  assert.deepEqual(tools.map((tool) => tool.name), TOOLS)
  const call = (name, args = {}) => client.callTool({ name, arguments: args })
  assert.deepEqual(texts(await call('news')), ['Nothing is pending.'])
  const [{ session }] = sessions()
  run('push', '-s', session, 'the build has failed')
  assert.match(texts(await call('news')).join(), /the build has failed/)
  assert.deepEqual(texts(await call('news')), ['Nothing is pending.'])
  assert.equal((await call('send', { to: 7 })).isError, true)
  await client.close()
}

async function wrapped(which) {
  const client = await connect(which, ['mcp', '--', ...everything])
  const { tools } = await client.listTools()
  assert.ok(tools.some((tool) => tool.name === 'echo'))
  const call = async () => texts(await client.callTool({ name: 'echo', arguments: { message: 'hi' } }))
  assert.deepEqual(await call(), ['Echo: hi'])
  let found = sessions()
  while (!found.length) found = sessions()
  run('push', '-s', found[0].session, 'the build has failed')
  const [first, block] = await call()
  assert.equal(first, 'Echo: hi')
  assert.match(block, /^\n\n.*\n- \[cli\] the build has failed$/s)
  assert.deepEqual(await call(), ['Echo: hi'])
  await client.close()
  assert.equal(JSON.parse(run('pending', '-s', found[0].session, '--json')).count, 0)
}

function inspector() {
  const bin = join(packages, 'node_modules', '.bin', 'mcp-inspector')
  const ask = (command, ...more) => JSON.parse(execFileSync(bin, ['--cli', ...command, ...more], { env: { ...env, PATH: `${join(packages, 'node_modules', '.bin')}:${env.PATH}` }, cwd: home, encoding: 'utf8' }))
  assert.equal(ask([tidings, 'mcp'], '--method', 'tools/list').tools.length, TOOLS.length)
  const bare = ask(everything, '--method', 'tools/list')
  assert.deepEqual(ask([tidings, 'mcp', '--', ...everything], '--method', 'tools/list'), bare)
  assert.deepEqual(ask([tidings, 'mcp', '--', ...everything], '--method', 'tools/call', '--tool-name', 'echo', '--tool-arg', 'message=hi').content, [{ type: 'text', text: 'Echo: hi' }])
}

const tests = Object.keys(clients).flatMap((which) => [
  [`${which} with the server`, () => news(which)],
  [`${which} with server-everything ${version('server-everything')} in the wrapper`, () => wrapped(which)],
])
tests.push([`inspector ${version('inspector')}`, inspector])
let failed = 0
for (const [number, [title, test]] of tests.entries()) {
  try {
    await test()
    console.log(`ok ${number + 1} - ${title}`)
  } catch (error) {
    failed++
    console.log(`# ${String(error.stack ?? error).split('\n').join('\n# ')}\nnot ok ${number + 1} - ${title}`)
  }
}
console.log(`1..${tests.length}`)
rmSync(home, { recursive: true, force: true })
process.exit(failed ? 1 : 0)
