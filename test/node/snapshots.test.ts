/**
 * How one node reads the state of another: cuts that are bounded and released, and a reader that continues at another node.
 */
import assert from 'node:assert/strict'
import t from 'tap'
import { Applier } from '../../cluster/node/state/applier.ts'
import { DEFAULT_NODE_LIMITS } from '../../cluster/node/base/limits.ts'
import { decodeMachineRecord } from '../../cluster/node/base/machine-record.ts'
import { encodeBlockRequest, SNAPSHOT_METHODS } from '../../cluster/node/state/snapshot-calls.ts'
import { SnapshotPuller } from '../../cluster/node/state/snapshot-puller.ts'
import type { Input } from '../../cluster/raft/types.ts'
import type { CallResponse } from '../../cluster/transport/transport.ts'
import { SILENT } from '../helpers/loggers.ts'
import { NodeWorld } from '../helpers/node-world.ts'

const keepLittle = { logKeepEntries: 8, logKeepBytes: 1024 * 1024 }
const first = { after: new Uint8Array(0), held: null }

async function appendMany(world: NodeWorld, count: number): Promise<void> {
  for (let i = 0; i < count; i += 20) {
    const batch = Array.from({ length: 20 }, (_, j) => world.append(world.leaderOrDie(), `text ${i + j}`))
    await world.run(Promise.all(batch))
  }
}

function call(
  world: NodeWorld,
  [from, to]: [string, string],
  method: string,
  header: unknown,
): Promise<CallResponse> {
  return world.run(world.process(from).transport.call(to, method, { header }))
}

async function openAt(world: NodeWorld, path: [string, string]): Promise<string> {
  const { header } = await call(world, path, SNAPSHOT_METHODS.open, null)
  return (header as { id: string }).id
}

t.test('a cut', async (t) => {
  t.test('nothing_applied: is refused where nothing was applied', async (t) => {
    const world = new NodeWorld()
    await world.start('n1')
    await world.start('n2')
    await t.rejects(openAt(world, ['n1', 'n2']), { code: 'nothing_applied' })
    await world.stopAll()
  })

  t.test('belongs to the node that opened it', async (t) => {
    const world = await NodeWorld.started()
    await appendMany(world, 20)
    const id = await openAt(world, ['n1', 'n2'])
    const header = encodeBlockRequest(id, first)
    t.match(await call(world, ['n1', 'n2'], SNAPSHOT_METHODS.block, header), { header: { hasRows: true } })
    const stolen = call(world, ['n3', 'n2'], SNAPSHOT_METHODS.block, header)
    await t.rejects(stolen, { code: 'unknown_snapshot' })
    await call(world, ['n3', 'n2'], SNAPSHOT_METHODS.close, { id })
    await call(world, ['n1', 'n2'], SNAPSHOT_METHODS.block, header)
    await call(world, ['n1', 'n2'], SNAPSHOT_METHODS.close, { id })
    await t.rejects(call(world, ['n1', 'n2'], SNAPSHOT_METHODS.block, header), { code: 'unknown_snapshot' })
    await world.stopAll()
  })

  t.test('is released when its reader is silent, and not while it reads', async (t) => {
    const world = await NodeWorld.started({ node: { limits: { snapshotIdleMs: 1_000 } } })
    await appendMany(world, 20)
    const header = encodeBlockRequest(await openAt(world, ['n1', 'n2']), first)
    for (let i = 0; i < 5; i += 1) {
      await world.clock.advance(900)
      await call(world, ['n1', 'n2'], SNAPSHOT_METHODS.block, header)
    }
    await world.clock.advance(1_100)
    await t.rejects(call(world, ['n1', 'n2'], SNAPSHOT_METHODS.block, header), { code: 'unknown_snapshot' })
    await world.stopAll()
  })

  t.test('slow_down: is one of few; a reader that opens another loses its first', async (t) => {
    const nodeIds = ['n1', 'n2', 'n3', 'n4']
    const world = await NodeWorld.started({ nodeIds, node: { limits: { snapshotsServedMax: 2 } } })
    await appendMany(world, 20)
    const old = await openAt(world, ['n1', 'n4'])
    const id = await openAt(world, ['n1', 'n4'])
    await openAt(world, ['n2', 'n4'])
    await t.rejects(openAt(world, ['n3', 'n4']), { code: 'slow_down' })
    const forgotten = call(world, ['n1', 'n4'], SNAPSHOT_METHODS.block, encodeBlockRequest(old, first))
    await t.rejects(forgotten, { code: 'unknown_snapshot' })
    await call(world, ['n1', 'n4'], SNAPSHOT_METHODS.close, { id })
    await openAt(world, ['n3', 'n4'])
    await world.stopAll()
  })

  t.test('bad_request: refuses a malformed request for blocks', async (t) => {
    const world = await NodeWorld.started()
    for (const header of [
      null,
      { id: 1 },
      { id: 'a', after: 'b', held: null },
      { id: 'a', after: new Uint8Array(0) },
    ])
      await t.rejects(call(world, ['n1', 'n2'], SNAPSHOT_METHODS.block, header), { code: 'bad_request' })
    await world.stopAll()
  })
})

t.test('a pull', async (t) => {
  t.test('continues with another node when the leader dies in the middle', async (t) => {
    const world = await NodeWorld.started({ node: keepLittle })
    const [away = '', other = ''] = world.followers
    world.crash(away)
    await appendMany(world, 600)
    await world.untilEqual()
    const leader = world.leaderOrDie()
    await world.start(away)
    await world.clock.runUntil(() => world.metric(leader, 'snapshot_blocks_served_total') > 5, {
      limitMs: 10_000,
    })
    const texts = world.texts(leader)
    world.crash(leader)
    await world.clock.runUntil(() => world.texts(away).length === texts.length, { limitMs: 60_000 })
    t.strictSame(world.texts(away), texts)
    t.equal(world.metric(other, 'snapshots_served_total'), 1)
    t.equal(world.metric(away, 'snapshots_failed_total'), 0, 'one pull with two sources')
    await world.untilReady()
    await world.start(leader)
    await world.run(world.append(away, 'after'))
    await world.untilEqual()
    await world.stopAll()
  })

  t.test('continues with the same node when that has dropped the cut', async (t) => {
    const world = await NodeWorld.started({ node: keepLittle })
    const [away = '', other = ''] = world.followers
    world.crash(away)
    await appendMany(world, 600)
    await world.untilEqual()
    const leader = world.leaderOrDie()
    world.network.block(other, away)
    await world.start(away)
    await world.clock.runUntil(() => world.metric(leader, 'snapshot_blocks_served_total') > 5, {
      limitMs: 10_000,
    })
    await openAt(world, [away, leader])
    await world.clock.runUntil(() => world.texts(away).length === 600, { limitMs: 60_000 })
    t.equal(world.metric(away, 'snapshots_failed_total'), 0, 'within the same pull')
    t.equal(world.metric(leader, 'snapshots_served_total'), 3)
    await world.stopAll()
  })

  t.test('takes no state that is older than its own, for any requested index', async (t) => {
    const world = await NodeWorld.started()
    await appendMany(world, 20)
    await world.untilEqual()
    const { machine, transport } = world.process('n3')
    const { record: bytes } = world.state('n3').current
    assert(bytes !== null)
    const record = decodeMachineRecord(bytes)
    const parts = { clock: world.clock, transport, stateMachine: machine, logger: SILENT }
    const limits = DEFAULT_NODE_LIMITS
    const applier = new Applier({
      ...parts,
      limits,
      session: { nodeId: 'n3', incarnation: 'i', boot: 1 },
      record: { ...record, appliedIndex: record.appliedIndex + 1 },
      onApplied: () => undefined,
      onPoint: () => undefined,
      onDamaged: () => undefined,
      onFatal: () => undefined,
    })
    const reported: Input[] = []
    const counts = { served: 0, blocks: 0, installed: 0, failed: 0, fetchedBytes: 0, reusedBytes: 0 }
    const puller = new SnapshotPuller({
      ...parts,
      applier,
      limits,
      counts,
      submit: (input) => reported.push(input),
      peers: () => ['n1', 'n2'],
      onInstalled: () => undefined,
    })
    puller.fetch('n1', { index: 1, term: 1 })
    await world.clock.runUntil(() => reported.length > 0, { limitMs: 10_000 })
    t.strictSame(reported, [{ type: 'snapshotFailed' }])
    t.equal(counts.failed, 0, 'no node has the requested state; nothing failed')
    t.equal(applier.appliedIndex, record.appliedIndex + 1)
    await world.stopAll()
  })
})
