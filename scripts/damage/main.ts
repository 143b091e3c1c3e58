/**
 * `npm run damage`: one bit of every copy and every row of one node is flipped, while clients read from every node.
 *
 * Owns: the order of the run and its report. Knows nothing of: how damage is found or repaired.
 * Rules: every body is compared with its digest at every node; a request with a temporary refusal is retried and counted; a
 * second round of damage is not read by any client, so that only the scrub can find it; nothing counts as good before it was
 * read from the disks of stopped nodes.
 */
import { writeFileSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { setTimeout as wait } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { VERSION } from '../../src/base/version.ts'
import { auditNode } from './audit.ts'
import { flipCopies, type Flips, flipState } from './flips.ts'
import { DamageObjects } from './objects.ts'
import { DamageReaders, type ReadReport } from './readers.ts'
import { UsageError, wholeNumber } from '../local/options.ts'
import { LoopbackCluster } from '../local/loopback-cluster.ts'

const USAGE = `npm run damage -- [--objects N] [--bytes-max N] [--json FILE] [--config FILE]

  --objects N      how many objects are stored, 10 to 1000000 (default 10000)
  --bytes-max N    size of the largest object, 1 to 1073741824 (default 20971520, 20 MiB)
  --json FILE      the same report as JSON
  --config FILE    settings (YAML) for the nodes, over the defaults

With the defaults it needs about 35 GB in the folder for temporary files and takes about a quarter of an hour.
`

const VICTIM = 'n2'
const POLL_MS = 250
const WAIT_MS = 2 * 3_600_000

interface Run {
  readonly cluster: LoopbackCluster
  readonly readers: DamageReaders
  readonly objects: DamageObjects
}

interface Timed<T> {
  readonly seconds: number
  readonly value: T
}

async function timed<T>(what: string, work: () => Promise<T>): Promise<Timed<T>> {
  const start = performance.now()
  const value = await work()
  const seconds = Math.round((performance.now() - start) / 100) / 10
  process.stderr.write(`${what}: ${seconds} s ${JSON.stringify(value)}\n`)
  return { seconds, value }
}

async function flipAll(dataDir: string): Promise<Flips> {
  const copies = await flipCopies(dataDir)
  return { ...copies, stateBits: await flipState(dataDir) }
}

/** Resolves with the final state of the operation. */
async function scrub({ cluster }: Run): Promise<Record<string, unknown>> {
  const manage = (method: 'GET' | 'POST', path: string, status: number, body?: object) =>
    cluster.manage({ nodeId: 'n1', method, path, status, ...(body === undefined ? {} : { body }) })
  const asked = { node: VICTIM, reason: 'Look at every copy after damage' }
  let operation = await manage('POST', '/cluster/scrub', 202, asked)
  const giveUpAt = performance.now() + WAIT_MS
  while (operation['finishedAt'] === null) {
    if (performance.now() > giveUpAt) throw new Error('Gave up waiting for the end of the scrub')
    await wait(POLL_MS)
    operation = await manage('GET', `/cluster/operations/${String(operation['operationId'])}`, 200)
  }
  return operation
}

/** Resolves when rows list a copy of every chunk on every node. */
async function allMade({ cluster }: Run): Promise<void> {
  const giveUpAt = performance.now() + WAIT_MS
  for (;;) {
    const usage = await cluster.manage({
      nodeId: 'n1',
      method: 'GET',
      path: '/tenants/demo/usage',
      status: 200,
    })
    const missing = cluster.plan.length * Number(usage['storedBytes']) - Number(usage['physicalBytes'])
    if (missing === 0) return
    if (performance.now() > giveUpAt) throw new Error(`Gave up waiting for ${missing} bytes of copies`)
    await wait(POLL_MS)
  }
}

async function damageTwice(run: Run) {
  const { cluster, readers, objects } = run
  const victim = cluster.plan.find(({ nodeId }) => nodeId === VICTIM)
  if (victim === undefined) throw new Error(`There is no node ${VICTIM}`)
  const stored = await timed('stored', () => readers.storeAll())
  await timed('all copies made', () => allMade(run))
  // LevelDB makes a table of what its log holds when it opens.
  await cluster.signal(VICTIM, 'SIGTERM')
  cluster.startNode(VICTIM)
  await cluster.ready(VICTIM)
  const first = await timed('flipped', () => flipAll(victim.dataDir))
  const reads = await timed('read at every node', () => readers.readAll())
  await timed('all copies made', () => allMade(run))
  const second = await timed('flipped again', () => flipCopies(victim.dataDir))
  const scrubbed = await timed('scrubbed', () => scrub(run))
  const made = await timed('all copies made', () => allMade(run))
  const again = await timed('read at every node', () => readers.readAll())
  const wentOn = cluster.isRunning(VICTIM)
  return {
    objects: objects.sizes.length,
    bytes: objects.bytes,
    stored,
    first,
    reads,
    second,
    scrubbed,
    made,
    again,
    wentOn,
  }
}

function isRight(report: ReadReport): boolean {
  return report.wrong === 0 && report.denied === 0 && report.failed === 0
}

async function run(values: ReturnType<typeof options>): Promise<number> {
  const count = wholeNumber(values.objects, '--objects', { min: 10, max: 1_000_000 })
  const bytesMax = wholeNumber(values['bytes-max'], '--bytes-max', { min: 1, max: 1024 ** 3 })
  const startedAt = new Date().toISOString()
  const cluster = await LoopbackCluster.start(values.config ?? null)
  const interrupted = (): void => void cluster.stop().finally(() => process.exit(130))
  process.once('SIGINT', interrupted).once('SIGTERM', interrupted)
  try {
    const objects = new DamageObjects(count, bytesMax)
    const readers = await DamageReaders.open(cluster.target, objects)
    const figures = await damageTwice({ cluster, readers, objects })
    await Promise.all(cluster.plan.map(({ nodeId }) => cluster.signal(nodeId, 'SIGTERM')))
    const audit = []
    for (const { nodeId, dataDir } of cluster.plan)
      audit.push(await timed(`audit of ${nodeId}`, () => auditNode(dataDir, nodeId, cluster.plan.length)))
    const machine = {
      cores: availableParallelism(),
      node: process.versions.node,
      version: VERSION,
      startedAt,
    }
    const report = { ...machine, ...figures, audit: audit.map(({ value }) => value) }
    process.stdout.write(`${JSON.stringify(report, null, 2)}\n`)
    if (values.json !== undefined) writeFileSync(values.json, `${JSON.stringify(report, null, 2)}\n`)
    const isGood = report.audit.every(({ faults, incomplete }) => faults.length === 0 && incomplete === 0)
    return isGood && isRight(figures.reads.value) && isRight(figures.again.value) && figures.wentOn ? 0 : 1
  } finally {
    process.off('SIGINT', interrupted).off('SIGTERM', interrupted)
    await cluster.stop()
  }
}

function options() {
  try {
    return parseArgs({
      options: {
        objects: { type: 'string', default: '10000' },
        'bytes-max': { type: 'string', default: String(20 * 1024 * 1024) },
        json: { type: 'string' },
        config: { type: 'string' },
        help: { type: 'boolean', default: false },
      },
    }).values
  } catch (cause) {
    throw new UsageError(cause instanceof Error ? cause.message : String(cause), { cause })
  }
}

async function main(): Promise<number> {
  try {
    const values = options()
    if (!values.help) return await run(values)
    process.stdout.write(USAGE)
    return 0
  } catch (error) {
    if (!(error instanceof UsageError)) throw error
    process.stderr.write(`error: ${error.message}\n`)
    return error.cause === undefined ? 1 : 2
  }
}

process.exitCode = await main()
