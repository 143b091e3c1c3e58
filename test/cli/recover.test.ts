/** The files of a quorum recovery: seals, the loss, the checks of verify. */
import { randomBytes } from 'node:crypto'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import t from 'tap'
import { bucketKeys } from '../../src/state-machine/buckets/keys.ts'
import { MasterKey } from '../../src/access/master-key.ts'
import { CopySet } from '../../src/quorum-recovery/copy-set.ts'
import { readInventory, writeInventory, type InventoryLine } from '../../src/quorum-recovery/inventory.ts'
import { type Inventory, lossOf } from '../../src/quorum-recovery/loss.ts'
import { readSignedFile, signFile } from '../../src/quorum-recovery/signed-file.ts'
import { statementOf } from '../../src/quorum-recovery/statement.ts'
import { checksOf, type Observation } from '../../src/cli/recover/verify.ts'
import { encodeRow, keyBytes } from '../../src/store/rows/row-codec.ts'
import { temporaryFolder } from '../helpers/process-cluster.ts'
import { createBucket, fresh, type MapWorld, putChunks, worldWithBucket } from '../state-machine/map-world.ts'

const key = MasterKey.fromBytes('mk-one', randomBytes(32))

t.test('a signed file is read as it was written, and refused after any change', async (t) => {
  const file = join(temporaryFolder(t), 'plan.json')
  writeFileSync(file, signFile(key, 'recovery-plan', { planId: 'rp_1', dead: ['n3'] }))
  t.same(await readSignedFile(key, 'recovery-plan', file), { planId: 'rp_1', dead: ['n3'] })
  await t.rejects(
    readSignedFile(key, 'recovery-report', file),
    { code: 'paper_unreadable' },
    'a plan is not a report',
  )
  const foreign = MasterKey.fromBytes('mk-one', randomBytes(32))
  await t.rejects(readSignedFile(foreign, 'recovery-plan', file), { code: 'seal_broken' })
  const text = readFileSync(file, 'utf8')
  writeFileSync(file, text.replace('n3', 'n4'))
  await t.rejects(readSignedFile(key, 'recovery-plan', file), {
    code: 'seal_broken',
    hint: /Collect or plan again/,
  })
  for (const bad of ['', '{', 'null', '{"kind":"recovery-plan","body":{}}']) {
    writeFileSync(file, bad)
    await t.rejects(readSignedFile(key, 'recovery-plan', file), { code: 'paper_unreadable' }, bad)
  }
})

t.test('CopySet finds every name that was added, and no other', async () => {
  fc.assert(
    fc.property(fc.array(fc.string(), { maxLength: 3_000 }), fc.array(fc.string()), (added, others) => {
      const set = new CopySet()
      for (const name of added) set.add(name)
      return (
        added.every((name) => set.has(name)) && others.every((name) => set.has(name) === added.includes(name))
      )
    }),
    { numRuns: 50 },
  )
})

const inventoryOf = (...lines: readonly InventoryLine[]): Inventory =>
  async function* () {
    yield* lines
  }

t.test(
  '[membership.recover.loss] a chunk is lost when no survivor lists and holds it, with every version that needs it',
  async (t) => {
    const rows: readonly InventoryLine[] = [
      ['bucket', 'b1', 'acme', 'photos'],
      ['chunk', 'here', 'x', ['n1', 'n3', 'n4']],
      ['chunk', 'there', 'x', ['n2', 'n3', 'n4']],
      ['chunk', 'listed', 'x', ['n1', 'n2', 'n3']],
      ['chunk', 'unlisted', 'x', ['n3', 'n4', 'n5']],
      ['chunk', 'born-again', 'y', ['n1', 'n4', 'n5']],
      ['body', 'b1', 'v1', ['there']],
      ['body', 'b1', 'v2', ['here', 'listed']],
      ['body', 'b1', 'v3', ['unlisted']],
      ['body', 'b1', 'part-1', ['born-again']],
      ['audit', 1, 2, 10, 'unlisted'],
      ['audit', 3, 4, 20, 'here'],
      ['version', 'b1', 'of parts', 'v4', false],
      ['parts', 'b1', 'v4', ['part-0', 'part-1']],
      ['version', 'b1', 'fine', 'v1', false],
      ['version', 'b1', 'no file', 'v2', true],
      ['version', 'b1', 'nowhere', 'v3', false],
    ]
    const loss = await lossOf(
      'n1',
      new Map([
        ['n1', inventoryOf(['copy', 'here.x'], ['copy', 'unlisted.x'], ['copy', 'born-again.x'], ...rows)],
        ['n2', inventoryOf(['copy', 'there.x'], ['bucket', 'b9', 'other', 'rows of this one do not count'])],
      ]),
    )
    t.same(loss.copiesLeft, { 0: 3, 1: 2 })
    t.match(loss, { chunks: 3, versions: 3 })
    t.same(
      loss.named.map(({ key: name, versionId }) => `${name} ${versionId}`),
      ['of parts v4', 'no file null', 'nowhere v3'],
    )
    t.match(loss.named[0], { tenantId: 'acme', bucket: 'photos' })
    t.strictSame(loss.auditRows, [{ firstTime: 1, lastTime: 2, rows: 10 }])
  },
)

/** A node with all copies that the rows list for it. */
function nodeWith(world: MapWorld, nodeId: string) {
  const names = [...world.rows].flatMap(([name, row]) => {
    if (!name.startsWith('chunk\u0000')) return []
    const { id, birth, replicas } = row as { id: string; birth: string; replicas: readonly string[] }
    return replicas.includes(nodeId) ? { id, birth } : []
  })
  async function* copies() {
    yield names
  }
  const identity = { clusterId: 'c', nodeId, incarnation: 'i', fingerprint: 'f', boot: 1, before: [] }
  return { identity, copies }
}

function stateOf(world: MapWorld): Parameters<typeof writeInventory>[2] {
  const sorted = [...world.rows].toSorted(([one], [other]) => Buffer.compare(keyBytes(one), keyBytes(other)))
  async function* rows() {
    for (const [name, row] of sorted) yield { key: name, value: encodeRow(keyBytes(name), row) }
  }
  return { rows }
}

t.test(
  '[membership.recover.loss] an inventory of rows finds the same loss as a walk over everything',
  async (t) => {
    const folder = temporaryFolder(t)
    const nodes = ['n1', 'n2', 'n3', 'n4', 'n5']
    const holders = fc.subarray(nodes, { minLength: 2, maxLength: 3 })
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.array(holders, { minLength: 1, maxLength: 3 }), { maxLength: 8 }),
        async (objects) => {
          const world = worldWithBucket()
          world.do({ ...createBucket(), name: 'other' })
          const lost: string[] = []
          for (const [n, chunks] of objects.entries()) {
            const uses = chunks.map((replicas, at) => fresh(`c${n}x${at}`, { replicas, missing: [] }))
            world.do(putChunks(`k${n}`, uses))
            if (chunks.some((replicas) => !replicas.includes('n1') && !replicas.includes('n2')))
              lost.push(`k${n}`)
          }
          const inventories = new Map<string, Inventory>()
          for (const nodeId of ['n1', 'n2']) {
            const file = join(folder, `${nodeId}.zst`)
            await writeInventory(file, nodeWith(world, nodeId), stateOf(world))
            inventories.set(nodeId, () => readInventory(file))
          }
          const loss = await lossOf('n1', inventories)
          t.same(
            loss.named.map((version) => version.key),
            lost,
          )
          t.equal(world.get(bucketKeys.bucket('acme', 'photos'))?.versionCount, objects.length)
        },
      ),
      { numRuns: 30 },
    )
  },
)

t.test('the statement says what is unknown', async (t) => {
  const decision = {
    winner: 'n1',
    survivors: ['n1', 'n2'],
    dead: ['n3', 'n4', 'n5'],
    epoch: 1,
    term: 5,
    previous: { index: 90, term: 4 },
    configuration: { voters: ['n1', 'n2'], learners: [], outgoing: [] },
    certainThrough: 88,
    mayMissAfter: 90,
    isRestored: false,
    boots: {},
    uncompared: [['n1', 'n2'] as const],
  }
  const none = { copiesLeft: {}, chunks: 0, versions: 0, named: [], auditRows: [] }
  const text = statementOf(decision, { ...none, copiesLeft: { 0: 1, 2: 7 }, chunks: 1, versions: 2 }).join(
    '\n',
  )
  t.match(text, /Every change after index 90 that was acknowledged is lost. Their number is unknown/)
  t.match(text, /Changes 89 to 90 become committed/)
  t.match(text, /n1 and n2 could not be compared/)
  t.match(text, /1 chunks have no copy on a survivor. 2 object versions can no longer be read/)
  t.match(text, /1 with 0, 7 with 2/)
  const even = statementOf(
    { ...decision, mayMissAfter: null, certainThrough: 90, uncompared: [] },
    none,
  ).join('\n')
  t.match(even, /No acknowledged change is missing/)
  t.match(even, /Every change up to index 90 was committed before/)
  const copies = statementOf({ ...decision, isRestored: true, dead: [] }, none).join('\n')
  t.match(copies, /the copies are older/)
  t.notMatch(copies, /never come back/)
})

type Member = Observation['membership']['members'][number]

function observed(
  changes: Partial<Observation['membership']> = {},
  member: Partial<Member> = {},
  more: Partial<Pick<Observation, 'repair' | 'operations'>> = {},
): Observation {
  const well: Omit<Member, 'nodeId'> = {
    phase: 'active',
    reachable: true,
    recoveryEpoch: 1,
    stateEqual: true,
  }
  const gone: Member = {
    nodeId: 'n3',
    phase: 'lost',
    reachable: false,
    recoveryEpoch: null,
    stateEqual: null,
  }
  const recovery = { planId: 'rp_1', epoch: 1, index: 9, dead: ['n3'], loss: { chunks: 0, versions: 0 } }
  const members = [{ nodeId: 'n1', ...well }, { nodeId: 'n2', ...well, ...member }, gone]
  const membership = { leaderId: 'n1', recoveries: [recovery], members, ...changes }
  return { membership, repair: { nodes: [{ pending: 0 }] }, operations: [], ...more }
}

t.test('[membership.recover.verify] each check is well, waiting or broken', async (t) => {
  const stateOfCheck = (name: string, what: Observation) =>
    checksOf(what).find(({ check }) => check === name)?.state
  t.ok(checksOf(observed()).every(({ state }) => state === 'ok'))
  t.equal(stateOfCheck('recovery', observed({ recoveries: [] })), 'broken')
  t.equal(stateOfCheck('leader', observed({ leaderId: null })), 'waiting')
  t.equal(stateOfCheck('members', observed({}, { reachable: false })), 'waiting')
  t.equal(stateOfCheck('epochs', observed({}, { recoveryEpoch: 0 })), 'broken')
  t.equal(stateOfCheck('states', observed({}, { stateEqual: false })), 'broken')
  t.equal(stateOfCheck('states', observed({}, { stateEqual: null })), 'waiting')
  t.equal(stateOfCheck('copies', observed({}, {}, { repair: { nodes: [{ pending: 3 }] } })), 'waiting')
  const operation = { type: 'lost', nodeId: 'n3', status: 'running', error: null } as const
  t.equal(stateOfCheck('copies', observed({}, {}, { operations: [operation] })), 'waiting')
  const error = 'Of 2 chunks the only listed copy is on this member'
  const given = { ...operation, status: 'failed', error } as const
  const copies = checksOf(observed({}, {}, { operations: [given] })).find(({ check }) => check === 'copies')
  t.match(copies, { state: 'ok', found: /n3: Of 2 chunks/ })
})
