/**
 * Three real processes: a stream of events continues at another node without a missed change, and ends with its token and its node.
 */
import { spawnSync } from 'node:child_process'
import t from 'tap'
import { HoldfastAdmin, type ServerEvent } from '../../packages/client/src/admin.ts'
import { nodeProgram } from '../../scripts/build/node-program.ts'
import { collected } from '../helpers/async.ts'
import { ProcessCluster } from '../helpers/process-cluster.ts'
import { withoutLoader } from '../helpers/without-loader.ts'

type Events = AsyncGenerator<ServerEvent, void, undefined>

interface Minted {
  readonly token: string
  readonly tokenId: string
}

async function next(events: Events): Promise<ServerEvent> {
  const { value } = await events.next()
  if (value === undefined) throw new Error('the stream has ended')
  return value
}

/** Until an event names the topic; others, such as of members, may come before. Returns its id. */
async function named(events: Events, topic: string): Promise<string> {
  for (;;) {
    const { id, data } = await next(events)
    const { changed } = JSON.parse(data) as { readonly changed: readonly string[] }
    if (changed.includes(topic)) return id
  }
}

t.test('events of three nodes', { timeout: 900_000 }, async (t) => {
  const cluster = await ProcessCluster.start(t, 3)
  const { ownerToken } = cluster.setup
  const at = (nodeId: string, token = ownerToken) =>
    new HoldfastAdmin({ endpoints: cluster.node(nodeId).adminUrl, token })
  const command = (nodeId: string, ...words: readonly string[]): Partial<Minted> => {
    const { dataDir } = cluster.node(nodeId)
    const line = ['admin-token', ...words, '--data', dataDir, '--json']
    const { status, stdout, stderr } = spawnSync(...withoutLoader(process.execPath, nodeProgram(), ...line), {
      encoding: 'utf8',
    })
    if (status !== 0) throw new Error(stderr)
    return JSON.parse(stdout) as Partial<Minted>
  }

  await t.test(
    'what changes while no stream is open is the first event at another node [membership.events]',
    async (t) => {
      const events = await at('n1').getEvents()
      const since = await named(events, 'operations')
      await events.return()
      await at('n2').scrub({ reason: 'Test' })
      const resumed = await at('n3').getEvents({ since })
      t.not(await named(resumed, 'operations'), since)
      await resumed.return()
    },
  )

  await t.test(
    'a token that is revoked at another node ends its stream [membership.events.ends]',
    async (t) => {
      const { token = '', tokenId = '' } = command('n1', 'create', '--name', 'page', '--role', 'owner')
      const events = await at('n2', token).getEvents()
      await next(events)
      command('n3', 'revoke', tokenId)
      await collected(events)
      await t.rejects(at('n2', token).getEvents(), { code: 'token_invalid' })
    },
  )

  await t.test('a node that stops ends its streams whole, and stops [membership.events.ends]', async (t) => {
    const events = await at('n1').getEvents()
    await next(events)
    const stopped = cluster.signal('n1', 'SIGTERM')
    await collected(events)
    t.equal(await stopped, 0)
  })
})
