/**
 * `npm run bench:restore [-- --objects 1000000 --bytes 1024 --large 128]`: how long backup, verification, restore into the running cluster and restore of a cluster of one node take, with many
 * small objects and with large ones. `--large 0`: no more than one restore and one backup of small objects.
 *
 * Owns: the phases, the figures. Rules: nodes and commands are processes as they are shipped; the small objects come from a seeded backup and are restored first, so
 * that backups are made of a cluster that serves; processor time stands beside wall time, because other work on the machine makes only the second longer; objects are
 * read and compared at the end; no figure is judged here.
 */
import { createHash, randomBytes } from 'node:crypto'
import { spawn } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { availableParallelism, loadavg, tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { type DataClient, dataClient } from '../../src/client/clients.ts'
import type { NodePlan } from '../../src/cli/up/setup.ts'
import { nodeProgram } from '../build/node-program.ts'
import { LoopbackCluster } from '../local/loopback-cluster.ts'
import { UsageError, wholeNumber } from '../local/options.ts'
import { keyAt } from './listing-rows.ts'
import { Processes } from './processes.ts'
import { bodyOf, seedBackup } from './seeded-backup.ts'

const BUCKET = 'restored'
const LARGE_BYTES = 8 * 1024 * 1024
const WRITERS = 4
const POLL_MS = 100
const SAMPLED = 200
const READY = 'start of the restored node until it is ready'

interface Sizes {
  readonly objects: number
  readonly bytes: number
  readonly large: number
}

interface Phase {
  readonly name: string
  readonly seconds: number
  readonly processor: number
  /** Null: does not apply. */
  readonly objects: number | null
  readonly bytes: number | null
}

const say = (text: string): void => void process.stderr.write(`${text}\n`)
const folder = mkdtempSync(join(tmpdir(), 'holdfast-restore-'))
const phases: Phase[] = []

function note(phase: Phase): void {
  phases.push(phase)
  say(`${phase.name}: ${phase.seconds.toFixed(1)} s, processor ${phase.processor.toFixed(1)} s`)
}

/** Wall seconds and processor seconds of `holdfast …`, by the `times` of a shell. */
async function command(...words: readonly string[]): Promise<{ seconds: number; processor: number }> {
  const script = '"$@" >&2; code=$?; times; exit $code'
  const startedAt = performance.now()
  const shell = spawn('sh', ['-c', script, 'sh', process.execPath, nodeProgram(), ...words], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  let printed = ''
  shell.stdout.on('data', (piece) => (printed += String(piece)))
  const code = await new Promise((resolve, reject) => shell.once('error', reject).once('close', resolve))
  if (code !== 0) throw new Error(`holdfast ${words.slice(0, 2).join(' ')} ended with ${String(code)}`)
  const [, ofChildren = ''] = printed.trim().split('\n')
  const spent = [...ofChildren.matchAll(/(\d+)m([\d.]+)s/g)]
  const processor = spent.reduce(
    (sum, [, minutes, seconds]) => sum + 60 * Number(minutes) + Number(seconds),
    0,
  )
  return { seconds: (performance.now() - startedAt) / 1000, processor }
}

/** A cluster of one node that begins with the newest backup of this folder. */
async function restored(before: LoopbackCluster, from: string, sizes: Sizes): Promise<LoopbackCluster> {
  let readyFrom = 0
  const beforeStart = async ([node]: readonly NodePlan[]): Promise<void> => {
    const words = ['--config', node?.configFile ?? '', '--from', `directory:${join(folder, from)}`]
    note({
      name: 'holdfast backup restore',
      ...whole(sizes),
      ...(await command('backup', 'restore', ...words)),
    })
    readyFrom = performance.now()
  }
  const cluster = await LoopbackCluster.start(join(folder, 'settings.yaml'), {
    nodes: 1,
    successorOf: before,
    beforeStart,
  })
  const processor = Processes.of(cluster.pids)?.sinceStart().cpuSeconds ?? 0
  const seconds = (performance.now() - readyFrom) / 1000
  note({ name: READY, seconds, processor, objects: null, bytes: null })
  return cluster
}

const whole = ({ objects, bytes, large }: Sizes): Pick<Phase, 'objects' | 'bytes'> => ({
  objects: objects + large,
  bytes: objects * bytes + large * LARGE_BYTES,
})

type Counts = Pick<Phase, 'objects' | 'bytes'>

/** Resolves with the id of the backup. */
async function backUp(cluster: LoopbackCluster, name: string, counts: Counts): Promise<string> {
  const body = { target: 'directory:made', reason: 'measured' }
  return operate(cluster, { name, path: '/cluster/backups', body }, counts)
}

/** Everything that the cluster has comes back as another tenant, and is compared. */
async function restoreInto(cluster: LoopbackCluster, backupId: string, counts: Counts): Promise<void> {
  const { tenantId: tenant } = cluster.setup
  const body = { target: 'directory:made', tenant, toTenant: 'measured', reason: 'measured' }
  const name = 'restore of the tenant into the running cluster, with the comparison'
  await operate(cluster, { name, path: `/cluster/backups/${backupId}/restore`, body }, counts)
}

async function operate(
  cluster: LoopbackCluster,
  { name, path, body }: { readonly name: string; readonly path: string; readonly body: object },
  counts: Counts,
): Promise<string> {
  const processes = Processes.of(cluster.pids)
  processes?.startMeasuring()
  const startedAt = performance.now()
  const asked = { nodeId: 'n1', method: 'POST', path, body, status: 202 } as const
  const { operationId, backupId } = await cluster.manage(asked)
  const look = {
    nodeId: 'n1',
    method: 'GET',
    path: `/cluster/operations/${String(operationId)}`,
    status: 200,
  } as const
  for (;;) {
    const { status, error } = await cluster.manage(look)
    if (status === 'succeeded' && error === null) break
    if (['failed', 'cancelled', 'succeeded'].includes(String(status)))
      throw new Error(`${name}: ${String(status)} ${String(error)}`)
    await wait(POLL_MS)
  }
  const seconds = (performance.now() - startedAt) / 1000
  note({ name, seconds, processor: processes?.sinceStart().cpuSeconds ?? 0, ...counts })
  return String(backupId)
}

/** Digests of the bodies by key. */
async function storeLarge(client: DataClient, count: number): Promise<ReadonlyMap<string, string>> {
  const digests = new Map<string, string>()
  let next = 0
  const writer = async (): Promise<void> => {
    for (let n = next++; n < count; n = next++) {
      const [key, body] = [`large/${n}`, randomBytes(LARGE_BYTES)]
      await client.call('putObject', { params: { bucket: BUCKET, key }, headers: {}, body })
      digests.set(key, digestOf(body))
    }
  }
  await Promise.all(Array.from({ length: WRITERS }, writer))
  return digests
}

const digestOf = (bytes: Uint8Array): string => createHash('sha256').update(bytes).digest('hex')

async function readBack(
  cluster: LoopbackCluster,
  sizes: Sizes,
  large: ReadonlyMap<string, string>,
): Promise<number> {
  const client = dataClient(cluster.target)
  const wanted = new Map(large)
  const step = Math.max(1, Math.floor(sizes.objects / SAMPLED))
  for (let n = 0; n < sizes.objects; n += step) wanted.set(keyAt(n), digestOf(bodyOf(n, sizes.bytes)))
  try {
    for (const [key, digest] of wanted) {
      const { answer } = await client.call('getObject', { params: { bucket: BUCKET, key } })
      if (digestOf(Buffer.concat(await answer.toArray())) !== digest)
        throw new Error(`${key} has other bytes`)
    }
    return wanted.size
  } finally {
    await client.close()
  }
}

/** Stops the node of `cluster`: what is left of it stands for its key file and credentials. */
async function seed(cluster: LoopbackCluster, { objects, bytes }: Sizes): Promise<void> {
  const client = dataClient(cluster.target)
  await client.call('createBucket', { body: { name: BUCKET } })
  await client.close()
  await cluster.signal('n1', 'SIGTERM')
  const { clusterId, tenantId } = cluster.setup
  const { masterKeyFile } = cluster
  const dataDir = cluster.plan[0]?.dataDir ?? ''
  const into = join(folder, 'seeded')
  mkdirSync(into)
  const names = { dataDir, masterKeyFile, clusterId, tenantId, bucket: BUCKET, folder: into }
  await seedBackup({ ...names, objects, bytes, say })
  rmSync(dataDir, { recursive: true })
}

async function ofOneNode(cluster: LoopbackCluster, sizes: Sizes): Promise<ReadonlyMap<string, string>> {
  const few = { ...sizes, large: 0 }
  await backUp(cluster, 'backup, the first in its folder', whole(few))
  if (sizes.large === 0) return new Map()
  await backUp(cluster, 'backup, nothing is new', whole(few))
  const client = dataClient(cluster.target)
  const digests = await storeLarge(client, sizes.large).finally(() => client.close())
  say(`${sizes.large} large objects stored`)
  const isNew = { objects: sizes.large, bytes: sizes.large * LARGE_BYTES }
  await backUp(cluster, 'backup, the large objects are new', isNew)
  const last = await backUp(cluster, 'backup, nothing is new', whole(sizes))
  await restoreInto(cluster, last, whole(sizes))
  const words = ['--config', cluster.plan[0]?.configFile ?? '', '--from', `directory:${join(folder, 'made')}`]
  note({ name: 'holdfast backup verify', ...whole(sizes), ...(await command('backup', 'verify', ...words)) })
  return digests
}

async function measured(cluster: LoopbackCluster, sizes: Sizes) {
  try {
    const digests = await ofOneNode(cluster, sizes)
    return { digests, read: sizes.large === 0 ? await readBack(cluster, sizes, digests) : 0 }
  } finally {
    await cluster.stop()
  }
}

async function measure(sizes: Sizes): Promise<number> {
  writeFileSync(join(folder, 'settings.yaml'), `backup:\n  directory: ${JSON.stringify(folder)}\n`)
  const origin = await LoopbackCluster.start(null, { nodes: 1 })
  try {
    await seed(origin, sizes)
    const first = await restored(origin, 'seeded', { ...sizes, large: 0 })
    rmSync(join(folder, 'seeded'), { recursive: true })
    const large = await measured(first, sizes)
    if (sizes.large === 0) return large.read
    const second = await restored(origin, 'made', sizes)
    return await readBack(second, sizes, large.digests).finally(() => second.stop())
  } finally {
    await origin.stop()
  }
}

const rate = (count: number | null, seconds: number): string =>
  count === null ? '' : (count / seconds).toFixed(1)

function table(): readonly string[] {
  return [
    '| phase | wall s | processor s | objects/s | MB/s | objects per processor second |',
    '|---|---:|---:|---:|---:|---:|',
    ...phases.map(
      ({ name, seconds, processor, objects, bytes }) =>
        `| ${name} | ${seconds.toFixed(1)} | ${processor.toFixed(1)} | ${rate(objects, seconds)} | ${rate(bytes === null ? null : bytes / 1e6, seconds)} | ${rate(objects, processor)} |`,
    ),
  ]
}

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: {
      objects: { type: 'string', default: '100000' },
      bytes: { type: 'string', default: '1024' },
      large: { type: 'string', default: '64' },
    },
  })
  const sizes = {
    objects: wholeNumber(values.objects, '--objects', { min: 1, max: 10_000_000 }),
    bytes: wholeNumber(values.bytes, '--bytes', { min: 1, max: 8192 }),
    large: wholeNumber(values.large, '--large', { min: 0, max: 100_000 }),
  }
  const before = loadavg()[0]?.toFixed(1) ?? '?'
  const read = await measure(sizes)
  const after = loadavg()[0]?.toFixed(1) ?? '?'
  const lines = [
    `${sizes.objects} objects of ${sizes.bytes} bytes in rows, then ${sizes.large} of 8 MiB in chunks beside them; ${read} objects read back and compared`,
    '',
    ...table(),
    '',
    `Node ${process.versions.node}, ${availableParallelism()} cores, load average ${before} before and ${after} after`,
  ]
  process.stdout.write(`${lines.join('\n')}\n`)
}

try {
  await main()
} catch (error) {
  if (!(error instanceof UsageError)) throw error
  process.stderr.write(`${error.message}\n`)
  process.exitCode = 2
} finally {
  rmSync(folder, { recursive: true, force: true })
}
