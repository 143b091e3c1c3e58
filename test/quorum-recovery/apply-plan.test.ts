/**
 * A stopped node that is read and bound to a plan, on real logs and files: the order of durable writes, and the refusals.
 */
import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { findIdentity } from '../../cluster/directory/identity.ts'
import { MemberFile } from '../../cluster/directory/member-file.ts'
import { decodeRecoveryNote } from '../../cluster/node/base/recovery-note.ts'
import { decodeConfiguration, noteOf } from '../../cluster/raft/configuration.ts'
import { bindToPlan, type RecoveryOrder } from '../../cluster/quorum-recovery/apply-plan.ts'
import { RecoveryFile } from '../../cluster/quorum-recovery/recovery-file.ts'
import { nodeFileOps } from '../../cluster/wal/file-ops.ts'
import { recoverLog } from '../../cluster/wal/recovery.ts'
import { command } from '../helpers/memory-state-machine.ts'
import { decide, type Disk, factsIn, logOf, makeDisk, startOnce, stopped } from './stopped-world.ts'

async function orderFor(
  disk: Disk,
  planId = 'rp_1',
  dead: readonly string[] = ['n2', 'n3'],
): Promise<RecoveryOrder> {
  const decision = await decide([disk], dead)
  return { planId, decision, report: await factsIn(disk), time: 500, command: command('append recovered') }
}

const bind = (disk: Disk, order: RecoveryOrder) => stopped(disk, (node) => bindToPlan(node, order))

async function lastEntry(disk: Disk) {
  const identity = await findIdentity(disk.dataDir)
  if (identity === null) throw new Error('it has an identity')
  const { content } = recoverLog(nodeFileOps, { ...identity, dir: join(disk.dataDir, 'raft') })
  return { entry: content.entries.at(-1), hardState: content.hardState }
}

/** Names and bytes of everything but the lock. */
function bytesIn(dir: string): readonly string[] {
  return readdirSync(dir, { recursive: true })
    .map(String)
    .filter((name) => !name.startsWith('lock') && statSync(join(dir, name)).isFile())
    .toSorted()
    .map((name) => `${name} ${readFileSync(join(dir, name), 'base64')}`)
}

t.test('reading a stopped node', async (t) => {
  const disk = await makeDisk(t, 'n1', { last: 9, applied: 6 })
  const before = bytesIn(disk.dataDir)
  const facts = await factsIn(disk)
  t.match(facts, {
    nodeId: 'n1',
    term: 2,
    votedFor: 'n1',
    last: { index: 9, term: 2 },
    applied: { index: 6, term: 2 },
    recoveryEpoch: 0,
    fault: null,
    registered: [{ nodeId: 'n1', boot: 1 }],
  })
  t.same(
    facts.checksums.map(({ index }) => index),
    [6, 7, 8, 9],
    'and after each following entry',
  )
  const later = await factsIn(await makeDisk(t, 'n2', { last: 9, applied: 8 }))
  const sumAt = (at: number) => facts.checksums.find(({ index }) => index === at)?.checksum
  t.equal(
    later.checksums.find(({ index }) => index === 9)?.checksum,
    sumAt(9),
    'the very sum of a node that is further',
  )
  t.same(bytesIn(disk.dataDir), before, 'changes nothing')
  const running = stopped(disk, () => factsIn(disk))
  await t.rejects(running, { code: 'data_dir_in_use' }, 'and is refused while another process has it open')
})

t.test('the winner gets one entry with votes, epoch and command', async (t) => {
  const disk = await makeDisk(t, 'n1', { last: 9, applied: 6 })
  const order = await orderFor(disk)
  t.equal(await bind(disk, order), 'bound')
  const { entry, hardState } = await lastEntry(disk)
  t.match(entry, { index: 10, term: 4, kind: 'configuration' })
  t.same(hardState, { currentTerm: 4, votedFor: 'n1' })
  const data = entry?.data ?? new Uint8Array()
  t.same(decodeConfiguration(data), { voters: ['n1'], learners: [], outgoing: [] })
  t.match(decodeRecoveryNote(noteOf(data) ?? data), {
    planId: 'rp_1',
    recoveryEpoch: 1,
    featureLevel: 2,
    time: 500,
  })
  t.same(RecoveryFile.open(disk.dataDir).mark, { epoch: 1, planId: 'rp_1' })
  const known = await new MemberFile(disk.dataDir).read()
  t.same(known?.departed, ['n2', 'n3'], 'no node calls the dead, from the first message on')
  t.match(await factsIn(disk), { recoveryEpoch: 1, pendingPlan: 'rp_1', last: { index: 10 } })
  const before = bytesIn(disk.dataDir)
  t.equal(await bind(disk, order), 'bound already', 'a second time changes nothing')
  t.same(bytesIn(disk.dataDir), before)
})

t.test(
  'any other survivor gets the epoch, and waits for the winner with an entry by which no other node is elected',
  async (t) => {
    const disks = [
      await makeDisk(t, 'n1', { last: 9, applied: 6 }),
      await makeDisk(t, 'n2', { last: 7, applied: 7 }),
    ]
    const [winner, other] = disks as [Disk, Disk]
    // Two of three are a majority; two restored copies prove nothing by their number.
    const decision = { ...(await decide([winner], ['n2', 'n3'])), survivors: ['n1', 'n2'], dead: ['n3'] }
    const report = await factsIn(other)
    const order = { planId: 'rp_1', decision, report, time: 500, command: command('append recovered') }
    const open = join(other.dataDir, 'sweep.json')
    writeFileSync(open, 'of rows that may give way to those of the winner')
    t.equal(await bind(other, order), 'bound')
    t.notOk(existsSync(open), 'all copies are walked over')
    const { entry } = await lastEntry(other)
    t.match(entry, { index: 8, term: 3 }, 'older than that of the winner, so it gives way')
    const waiting = decodeConfiguration(entry?.data ?? new Uint8Array())
    t.same(waiting, { voters: ['n1'], learners: ['n3'], outgoing: ['n1'] })
    t.equal(noteOf(entry?.data ?? new Uint8Array()), null)
    t.equal(await bind(other, order), 'bound already')
    t.same(RecoveryFile.open(other.dataDir).mark, { epoch: 1, planId: 'rp_1' })
  },
)

t.test('a crash between the epoch and the entry is repaired by applying the plan again', async (t) => {
  const disk = await makeDisk(t, 'n1', { last: 9, applied: 6 })
  const order = await orderFor(disk)
  RecoveryFile.open(disk.dataDir).write({ epoch: 1, planId: 'rp_1' })
  t.equal(await bind(disk, order), 'bound')
  t.match((await lastEntry(disk)).entry, { index: 10, term: 4 })
})

t.test('node_changed: a node that was started since, or has another end of its log', async (t) => {
  const started = await makeDisk(t, 'n1', { last: 9, applied: 6 })
  const order = await orderFor(started)
  await startOnce(started)
  await t.rejects(bind(started, order), { code: 'node_changed' })
  t.match((await lastEntry(started)).entry, { index: 9 })
  t.equal(RecoveryFile.open(started.dataDir).epoch, 0, 'and nothing was bound')

  const voted = await makeDisk(t, 'n1', { last: 9, applied: 6 })
  const stale = await orderFor(voted)
  const identity = await findIdentity(voted.dataDir)
  if (identity === null) throw new Error('it has an identity')
  const log = logOf(voted, identity)
  log.open()
  log.append([{ sequence: 1, hardState: { currentTerm: 8, votedFor: 'n3' }, base: null, entries: [] }])
  log.close()
  await t.rejects(bind(voted, stale), { code: 'node_changed' })
})

t.test('plan_pending: another plan of the same epoch; a later one replaces it', async (t) => {
  const disk = await makeDisk(t, 'n1', { last: 9, applied: 6 })
  const [first, second] = [await orderFor(disk, 'rp_1'), await orderFor(disk, 'rp_2')]
  // Before the plan takes effect n2 dies as well.
  const configuration = { voters: ['n1', 'n2'], learners: [], outgoing: [] }
  await bind(disk, { ...first, decision: { ...first.decision, configuration, dead: ['n3'] } })
  await t.rejects(bind(disk, second), { code: 'plan_pending', message: /rp_1/ })
  const third = await orderFor(disk, 'rp_3', ['n2'])
  t.match(third.decision, { epoch: 2, term: 6, previous: { index: 10, term: 4 } })
  t.equal(await bind(disk, third), 'bound')
  t.match((await lastEntry(disk)).entry, { index: 11, term: 6 })
})

t.test('plan_outdated: a plan of an epoch that has passed', async (t) => {
  const disk = await makeDisk(t, 'n1', { last: 9, applied: 6 })
  const order = await orderFor(disk)
  RecoveryFile.open(disk.dataDir).raise(3)
  await t.rejects(bind(disk, order), { code: 'plan_outdated' })
})

t.test('the next process of a restored copy comes after the one that others have registered', async (t) => {
  const disk = await makeDisk(t, 'n1', { last: 9, applied: 6 })
  const order = await orderFor(disk)
  const decision = { ...order.decision, boots: { n1: 7 } }
  await bind(disk, { ...order, decision })
  t.match(await findIdentity(disk.dataDir), { boot: 7 })
  t.equal(await bind(disk, { ...order, decision }), 'bound already')
})

t.test('damaged_recovery: a mark that cannot be understood refuses every start', async (t) => {
  const disk = await makeDisk(t, 'n1', { last: 1, applied: 1 })
  writeFileSync(join(disk.dataDir, 'recovery.json'), '{"format":1,"epoch":0,"planId":null}\n00\n')
  t.throws(() => RecoveryFile.open(disk.dataDir), { code: 'damaged_recovery' })
})
