/** The final checks of a run: they find nothing in a good run, and each claim is broken once to prove that it can fail. */
import { appendFileSync, globSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { randomBytes } from 'node:crypto'
import t from 'tap'
import { ProcessCluster, sha256 } from '../../helpers/process-cluster.ts'
import type { RecordedOperation } from '../../helpers/recorded-work.ts'
import { type Evidence, judge, recountSays, type Verdict } from './final-checks.ts'
import { LEDGER_BUCKET, objectPath } from './ledger-work.ts'
import { removedNodeFaults } from './removed-node-checks.ts'
import { adminOf, owesNoCopyWithin } from './owed-copies.ts'

/** Claims about stopped nodes. */
const OF_STOPPED = /^(removed nodes|each node stops|every chunk has|every row and copy)/
const CHUNK_BYTES = 300_000
const WHOLE_MS_MAX = 60_000

/** A read returned a value that no client wrote. */
const INVENTED: RecordedOperation = {
  client: 'n1',
  call: 1,
  input: { type: 'get', key: 'r1' },
  answer: { at: 2, output: { type: 'value', value: 'no client wrote this' } },
}

t.test('a recount', async (t) => {
  const collection = { halted: null }
  const good = { lastRecount: { differences: 0, firstDifference: null }, collection }
  t.same(recountSays({ status: 'succeeded', error: null }, good), [])
  const bad = {
    lastRecount: { differences: 2, firstDifference: 'usage' },
    collection: { halted: { reason: 'it' } },
  }
  t.equal(recountSays({ status: 'failed', error: 'late' }, bad).length, 3)
  t.equal(recountSays({ status: 'succeeded', error: null }, { lastRecount: null, collection }).length, 1)
})

t.test('the judge of a run', { timeout: 1_800_000 }, async (t) => {
  const cluster = await ProcessCluster.start(t, 3)
  await cluster.login('n1')
  t.equal((await cluster.call('n1', 'POST', '/buckets', JSON.stringify({ name: LEDGER_BUCKET }))).status, 201)
  const stored = new Map<string, string>()
  for (const [n, size] of [700, CHUNK_BYTES, CHUNK_BYTES].entries()) {
    const body = randomBytes(size)
    t.equal((await cluster.call('n1', 'PUT', objectPath(`c0/${n}`), body)).status, 200)
    stored.set(`c0/${n}`, sha256(body))
  }
  const judged = async (wrong: {
    readonly stored?: ReadonlyMap<string, string>
    readonly operations?: readonly RecordedOperation[]
    readonly violations?: readonly string[]
    readonly mishaps?: readonly string[]
    readonly isWhole?: Evidence['isWhole']
  }): Promise<readonly Verdict[]> => {
    const { stored: expected = stored, operations = [], violations = [], mishaps = [] } = wrong
    const ledger = { stored: expected, folders: [[...expected.keys()]], violations }
    const registers = { operations, violations: [] }
    const admin = adminOf(cluster)
    const evidence = { cluster, admin, ledger, registers, mishaps, isExpected: () => false }
    const verdicts = await judge({ ...evidence, isWhole: wrong.isWhole ?? isWhole })
    await admin.close()
    return verdicts
  }
  const isWhole = (): Promise<boolean> => owesNoCopyWithin(cluster, WHOLE_MS_MAX)

  await t.test('finds nothing where nothing was done', async (t) => {
    const verdicts = await judged({})
    for (const { claim, faults } of verdicts) t.same(faults, [], claim)
    t.equal(verdicts.length, 13)
  })

  await t.test('finds violations while nodes run', async (t) => {
    for (const { nodeId } of cluster.plan) cluster.startNode(nodeId)
    await cluster.allReady()
    await cluster.login('n1')
    t.ok(await isWhole())
    const line = { level: 'error', time: new Date().toISOString(), msg: 'oh' }
    appendFileSync(cluster.node('n1').logFile, `${JSON.stringify(line)}\n`)
    const wrong = new Map([...stored, ['c0/0', 'another digest'], ['c0/gone', '']])
    const verdicts = await judged({
      stored: wrong,
      operations: [INVENTED],
      violations: ['GET c0/1: 204'],
      mishaps: ['n1 ended by itself'],
      // Reads would have found it; the scrub has to.
      isWhole: async () => {
        damageOneFile(cluster, 'n2')
        return false
      },
    })
    for (const { claim, faults } of verdicts)
      if (!OF_STOPPED.test(claim) && !claim.startsWith('a recount')) t.not(faults.length, 0, claim)
  })

  await t.test('finds violations on the disks of stopped nodes', async (t) => {
    t.same(await removedNodeFaults(cluster, 'n3', 'c0/0'), ['n3 has ended'])
    cluster.hasLeft('n3')
    damageOneFile(cluster, 'n1')
    const verdicts = await judged({ isWhole: async () => true })
    const broken = verdicts.filter(({ claim }) => OF_STOPPED.test(claim))
    for (const { claim, faults } of broken) t.not(faults.length, 0, claim)
    t.match(
      broken.map(({ faults }) => faults[0]),
      ['n3 has ended', /does not run/, /names n3, which left$/, /./],
    )
  })
})

/** Of a chunk. */
function damageOneFile(cluster: ProcessCluster, nodeId: string): void {
  const folder = join(cluster.node(nodeId).dataDir, 'blobs')
  const file = globSync('**/*', { cwd: folder })
    .map((name) => join(folder, name))
    .find((path) => statSync(path).isFile() && statSync(path).size >= CHUNK_BYTES)
  if (file === undefined) throw new Error(`${nodeId} has no file of a chunk`)
  const bytes = readFileSync(file)
  bytes[CHUNK_BYTES / 2] = (bytes[CHUNK_BYTES / 2] ?? 0) ^ 1
  writeFileSync(file, bytes)
}
