/** The judge of a run: it finds nothing where nothing is wrong, and each claim is broken once to see that it can be. */
import { appendFileSync, globSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { randomBytes } from 'node:crypto'
import t from 'tap'
import type { AdminClient } from '../../src/client/clients.ts'
import { ProcessCluster, sha256 } from '../helpers/process-cluster.ts'
import type { RecordedOperation } from '../helpers/recorded-work.ts'
import { type Evidence, judge } from './final-checks.ts'
import { LEDGER_BUCKET, objectPath } from './ledger-work.ts'
import { partingFaults } from './parting-checks.ts'
import { adminOf, becomesWhole } from './wholeness.ts'

const CHUNK_BYTES = 300_000
const WHOLE_MS_MAX = 60_000

/** Something was read that nobody wrote. */
const INVENTED: RecordedOperation = {
  client: 'n1',
  call: 1,
  input: { type: 'get', key: 'r1' },
  answer: { at: 2, output: { type: 'value', value: 'nobody wrote this' } },
}

t.test('the judge of a run', { timeout: 240_000 }, async (t) => {
  const cluster = await ProcessCluster.start(t, 3)
  await cluster.login('n1')
  t.equal((await cluster.call('n1', 'POST', '/buckets', JSON.stringify({ name: LEDGER_BUCKET }))).status, 201)
  const stored = new Map<string, string>()
  for (const [n, size] of [700, CHUNK_BYTES, CHUNK_BYTES].entries()) {
    const body = randomBytes(size)
    t.equal((await cluster.call('n1', 'PUT', objectPath(`c0/${n}`), body)).status, 200)
    stored.set(`c0/${n}`, sha256(body))
  }
  const seen = (changes: {
    readonly stored?: ReadonlyMap<string, string>
    readonly operations?: readonly RecordedOperation[]
    readonly violations?: readonly string[]
  }) => {
    const { operations = [], violations = [] } = changes
    const ledger = {
      stored: changes.stored ?? stored,
      folders: [[...(changes.stored ?? stored).keys()]],
      violations,
    }
    return { ledger, registers: { operations, violations: [] } } as unknown as Pick<
      Evidence,
      'ledger' | 'registers'
    >
  }
  const isWhole = (): Promise<boolean> => becomesWhole(cluster, WHOLE_MS_MAX)

  await t.test('has nothing to say where nothing was done', async (t) => {
    const admin = adminOf(cluster)
    const verdicts = await judge({
      cluster,
      admin,
      ...seen({}),
      mishaps: [],
      isExpected: () => false,
      isWhole,
    })
    await admin.close()
    for (const { claim, faults } of verdicts) t.same(faults, [], claim)
    t.equal(verdicts.length, 13)
  })

  await t.test('finds each claim broken that is', async (t) => {
    for (const { nodeId } of cluster.plan) cluster.startNode(nodeId)
    await cluster.allReady()
    await cluster.login('n1')
    t.ok(await isWhole())
    const plain = adminOf(cluster)
    const admin = meddled(plain, {
      scrub: async () => damageOneFile(cluster, 'n2'),
      // The scrub is over: nobody finds this one before the disks are looked at.
      getRepair: async () => {
        damageOneFile(cluster, 'n3')
        await cluster.signal('n3', 'SIGKILL')
      },
    })
    appendFileSync(
      cluster.node('n1').logFile,
      `{"level":"error","time":"${new Date().toISOString()}","msg":"oh"}\n`,
    )
    const wrong = new Map([...stored, ['c0/0', 'another digest'], ['c0/gone', '']])
    const claimed = seen({ stored: wrong, operations: [INVENTED], violations: ['GET c0/1: 204'] })
    const evidence = { cluster, admin, ...claimed, isExpected: () => false, isWhole: async () => false }
    const verdicts = await judge({ ...evidence, mishaps: ['n1 ended by itself'] })
    await plain.close()
    for (const { claim, faults } of verdicts.filter(
      ({ claim }) => !claim.startsWith('who left') && !claim.startsWith('every chunk has'),
    ))
      t.not(faults.length, 0, claim)
  })

  await t.test('finds copies where no member is, and a member that left and runs no more', async (t) => {
    t.same(await partingFaults(cluster, 'n3', 'c0/0'), ['n3 has ended'])
    cluster.hasLeft('n3')
    const admin = adminOf(cluster)
    // Nobody runs any more; rows on disks are looked at none the less.
    const verdicts = await judge({
      cluster,
      admin,
      ...seen({}),
      mishaps: [],
      isExpected: () => false,
      isWhole: async () => true,
    })
    await admin.close()
    const faults = verdicts.find(({ claim }) => claim.startsWith('every chunk has 2 copies'))?.faults ?? []
    t.ok(
      faults.some((fault) => fault.endsWith('names n3, who left')),
      faults.join(),
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

/** Something happens before it is asked, and a recount finds a difference. */
function meddled(admin: AdminClient, before: Readonly<Record<string, () => Promise<void>>>): AdminClient {
  const asked = admin as unknown as { call(name: string, about: object): Promise<{ answer: object }> }
  const call = async (name: string, about: object): Promise<unknown> => {
    await before[name]?.()
    const told = await asked.call(name, about)
    const lastRecount = { differences: 2, firstDifference: 'usage of demo' }
    return name === 'getRepair' ? { ...told, answer: { ...told.answer, lastRecount } } : told
  }
  return { call } as unknown as AdminClient
}
