/**
 * A stopped node that is ordered to skip an entry, on real logs and files: the comparisons before, and the files after a crash.
 */
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { orderSkip, type SkipOrder } from '../../cluster/quorum-recovery/skip-order.ts'
import { planSkip, type SkipDecision } from '../../cluster/quorum-recovery/skip-plan.ts'
import { SkipFile, SKIPS_MAX } from '../../cluster/quorum-recovery/skip-file.ts'
import { command, MemoryStateMachine } from '../helpers/memory-state-machine.ts'
import { type Disk, factsIn, makeDisk, stopped } from './stopped-world.ts'

const STOPPING = { last: 9, applied: 5, poisoned: [7] }

const orderOn = (disk: Disk, order: SkipOrder) =>
  stopped(disk, (node) => orderSkip(node, () => new MemoryStateMachine(disk.state.copy()), order))

async function decide(disks: readonly Disk[], dead: readonly string[] = []): Promise<SkipDecision> {
  const reports = []
  for (const disk of disks) reports.push(await factsIn(disk))
  const planned = planSkip(reports, dead)
  if ('refusals' in planned) throw new Error(JSON.stringify(planned.refusals))
  return planned.decision
}

async function three(t: Parameters<typeof makeDisk>[0]): Promise<readonly [Disk, Disk, Disk]> {
  return [
    await makeDisk(t, 'n1', STOPPING),
    await makeDisk(t, 'n2', { ...STOPPING, applied: 6 }),
    await makeDisk(t, 'n3', { last: 6, applied: 2 }),
  ]
}

async function planned(disks: readonly Disk[], planId = 'sp_1'): Promise<SkipOrder> {
  return { planId, decision: await decide(disks), command: command('append skipped') }
}

const fileIn = ({ dataDir }: Disk): string => join(dataDir, 'skipped-entries.json')

t.test('collects the entry that stops a node, and the states before it', async (t) => {
  const [one, two, three_] = await three(t)
  const facts = await factsIn(one)
  t.match(facts, {
    obstacle: { index: 7, term: 2, kind: 'command', why: 'no node survives poison' },
    skips: [],
  })
  t.strictSame(
    facts.checksums.map(({ index }) => index),
    [5, 6],
  )
  t.match(await factsIn(three_), { obstacle: null })
  t.match(await decide([one, two, three_]), {
    before: { index: 6 },
    holders: ['n1', 'n2'],
    behind: ['n3'],
    uncompared: [],
  })
  t.strictSame(
    await stopped(one, async (node) => node.commandsAt(7)),
    [command('poison')].map((bytes) => Buffer.from(bytes)),
  )
})

t.test('orders each of them, and rehearses the entries after the skipped one', async (t) => {
  const disks = await three(t)
  const order = await planned(disks)
  for (const disk of disks) {
    t.equal(await orderOn(disk, order), 'ordered')
    const bytes = readFileSync(fileIn(disk))
    t.equal(await orderOn(disk, order), 'ordered already')
    t.ok(bytes.equals(readFileSync(fileIn(disk))), 'a second time changes nothing')
  }
  const facts = await factsIn(disks[0])
  t.match(facts, { obstacle: null, skips: [{ planId: 'sp_1', index: 7, term: 2 }] })
  t.strictSame(
    facts.checksums.map(({ index }) => index),
    [5, 6, 7, 8, 9],
  )
  const { checksums } = await factsIn(disks[1])
  t.strictSame(checksums.slice(-3), facts.checksums.slice(-3), 'and leaves equal states')
})

t.test('finds the next entry that cannot be applied', async (t) => {
  const disk = await makeDisk(t, 'n1', { last: 9, applied: 5, poisoned: [7, 9] })
  const other = await makeDisk(t, 'n2', { last: 9, applied: 5, poisoned: [7, 9] })
  const first = {
    planId: 'sp_1',
    decision: await decide([disk, other], ['n3']),
    command: command('append one'),
  }
  for (const each of [disk, other]) await orderOn(each, first)
  t.match(await factsIn(disk), { obstacle: { index: 9 } })
  const decision = await decide([disk, other], ['n3'])
  t.match(decision, { index: 9, before: { index: 8 }, dead: ['n3'] })
  t.equal(await orderOn(disk, { planId: 'sp_2', decision, command: command('append two') }), 'ordered')
  t.match(await factsIn(disk), { obstacle: null })
})

t.test('refuses a node', async (t) => {
  const disks = await three(t)
  const order = await planned(disks)
  const { decision } = order

  t.test('[states_differ] whose state before the entry differs', async (t) => {
    const wrong = await makeDisk(t, 'n1', STOPPING)
    wrong.state.diverge()
    await t.rejects(orderOn(wrong, order), { code: 'states_differ' })
    const behind = await makeDisk(t, 'n3', { last: 6, applied: 2 })
    behind.state.diverge()
    const compared = { ...decision, checksums: (await factsIn(disks[2])).checksums }
    await t.rejects(orderOn(behind, { ...order, decision: compared }), { code: 'states_differ' })
    t.notOk(existsSync(fileIn(wrong)))
  })

  t.test('[not_comparable] whose log ends long before, until it stops at the entry itself', async (t) => {
    const far = await makeDisk(t, 'n3', { last: 3, applied: 3 })
    await t.rejects(orderOn(far, order), { code: 'not_comparable', hint: /apply the plan on it then/ })
    t.notOk(existsSync(fileIn(far)))
    const arrived = await makeDisk(t, 'n3', { ...STOPPING, applied: 3 })
    t.equal(await orderOn(arrived, order), 'ordered')
  })

  t.test('[already_applied] that is past the entry', async (t) => {
    const passed = await makeDisk(t, 'n3', { last: 9, applied: 8 })
    await t.rejects(orderOn(passed, order), { code: 'already_applied' })
  })

  t.test('[node_changed] that does not stop there', async (t) => {
    await t.rejects(orderOn(await makeDisk(t, 'n1', { last: 9, applied: 5 }), order), {
      code: 'node_changed',
    })
    const earlier = await makeDisk(t, 'n1', { ...STOPPING, poisoned: [6] })
    await t.rejects(orderOn(earlier, order), { code: 'node_changed' })
    const other = { ...order, decision: { ...decision, digest: 'ab' } }
    await t.rejects(orderOn(await makeDisk(t, 'n1', STOPPING), other), { code: 'node_changed' })
    const epoch = { ...order, decision: { ...decision, recoveryEpoch: 1 } }
    await t.rejects(orderOn(await makeDisk(t, 'n1', STOPPING), epoch), { code: 'node_changed' })
  })

  t.test('[skip_ordered] that skips it by another plan', async (t) => {
    const disk = await makeDisk(t, 'n1', STOPPING)
    await orderOn(disk, order)
    await t.rejects(orderOn(disk, { ...order, planId: 'sp_2' }), { code: 'skip_ordered', message: /sp_1/ })
  })

  t.test('[report_unusable] whose state cannot be used', async (t) => {
    const disk = await makeDisk(t, 'n1', STOPPING)
    disk.state.quarantined = 'row 7'
    await t.rejects(orderOn(disk, order), { code: 'report_unusable' })
  })
})

const skipAt = (index: number) => {
  return { planId: `sp_${index}`, index, term: 2, digest: 'ab', command: Uint8Array.of(1, 2, index % 256) }
}

t.test('skipped-entries.json', async (t) => {
  t.test('returns the written orders, in the order of the entries', async (t) => {
    const { dataDir } = await makeDisk(t, 'n1', { last: 1, applied: 1 })
    const file = SkipFile.open(dataDir, 'c')
    t.strictSame(file.skips, [])
    for (const index of [9, 7]) file.add(skipAt(index), 0)
    const [first, second] = SkipFile.open(dataDir, 'c').skips
    t.match(
      [first, second],
      [
        { planId: 'sp_7', index: 7 },
        { planId: 'sp_9', index: 9, term: 2, digest: 'ab' },
      ],
    )
    t.ok(Buffer.from(skipAt(7).command).equals(first?.command ?? new Uint8Array()))
  })

  t.test('has the old or the new content after a crash', async (t) => {
    const { dataDir } = await makeDisk(t, 'n1', { last: 1, applied: 1 })
    const path = join(dataDir, 'skipped-entries.json')
    writeFileSync(`${path}.tmp`, '{"format":1,"clusterId":"c","ski')
    t.strictSame(SkipFile.open(dataDir, 'c').skips, [], 'cut before the rename it is the old one')
    SkipFile.open(dataDir, 'c').add(skipAt(7), 0)
    t.match(SkipFile.open(dataDir, 'c').skips, [{ index: 7 }])
    t.notOk(existsSync(`${path}.tmp`))
  })

  t.test(
    '[damaged_skips] refuses every start when it cannot be understood, or is of another cluster',
    async (t) => {
      const disk = await makeDisk(t, 'n1', STOPPING)
      SkipFile.open(disk.dataDir, 'c').add(skipAt(7), 0)
      t.throws(() => SkipFile.open(disk.dataDir, 'other'), { code: 'damaged_skips' })
      const text = readFileSync(fileIn(disk), 'utf8')
      writeFileSync(fileIn(disk), text.replace('"index":7', '"index":8'))
      t.throws(() => SkipFile.open(disk.dataDir, 'c'), { code: 'damaged_skips', hint: /another node/ })
      await t.rejects(factsIn(disk), { code: 'damaged_skips' })
    },
  )

  t.test('[too_many_skips] drops orders of applied entries before it refuses', async (t) => {
    const { dataDir } = await makeDisk(t, 'n1', { last: 1, applied: 1 })
    const file = SkipFile.open(dataDir, 'c')
    for (let index = 1; index <= SKIPS_MAX; index++) file.add(skipAt(index), 0)
    t.throws(() => file.add(skipAt(100), 0), { code: 'too_many_skips' })
    file.add(skipAt(100), 3)
    t.equal(file.skips.length, SKIPS_MAX)
    t.strictSame([file.skips[0]?.index, file.skips.at(-1)?.index], [2, 100])
  })
})
