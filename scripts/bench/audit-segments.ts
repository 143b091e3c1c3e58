/**
 * `node scripts/bench/audit-segments.ts [--changes 20480] [--reads 200000]`: bytes of the audit log for each request, in rows and in
 * segments, the segments that a query opens, and how long sealing holds the thread.
 *
 * Owns: the measurement, of entries put straight into the LevelDB of one node, with copies in memory. Rule: bytes and counts depend
 * only on the code; times are processor time and are printed with the load of the machine.
 */
import { hash, randomBytes } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { loadavg, tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { zstdCompressSync } from 'node:zlib'
import pino from 'pino'
import { kindOf } from '../../src/state-machine/base/row-key.ts'
import { FEATURE_LEVEL } from '../../cluster/node/base/feature-level.ts'
import { MasterKey } from '../../src/access/master-key.ts'
import { ClusterContent } from '../../src/content/cluster-content.ts'
import { type AuditFilters, rowFilter } from '../../src/operations/audit/audit-filters.ts'
import { auditPage } from '../../src/operations/audit/audit-page.ts'
import { AuditSegments } from '../../src/operations/audit-segments/audit-segments.ts'
import type { AuditRow } from '../../src/state-machine/audit/records.ts'
import { birthOf } from '../../src/state-machine/chunks/births.ts'
import type { Command } from '../../src/state-machine/commands.ts'
import type { Origin } from '../../src/state-machine/base/origin.ts'
import { decodeReply, encodeCommand } from '../../src/commands/command-codec.ts'
import { openStore } from '../../src/store/open-store.ts'
import { AuditSealing } from '../../src/workers/audit-sealing.ts'
import { CopiesInMemory } from './copies.ts'

const COPIES = 3
const COMMANDS_PER_ENTRY = 64
/** Rows of one node in a second: the size of one round of shipping. */
const ROWS_PER_BATCH = 250
const START = 1_800_000_000_000
const AUDIT_KINDS = new Set(['auditLink', 'auditHead', 'auditSegment', 'auditSpool', 'auditKeys'])

const { values } = parseArgs({
  options: {
    changes: { type: 'string', default: '20480' },
    reads: { type: 'string', default: '200000' },
  },
})
const [changes, reads] = [Number(values.changes), Number(values.reads)]

interface Sizes {
  /** Rows of the audit log and of its chunks, keys and values. */
  readonly rows: number
  readonly links: number
  readonly snapshot: number
}

class World {
  readonly blobs = new CopiesInMemory(COPIES)
  readonly masterKey = MasterKey.fromBytes('mk-bench', randomBytes(32))
  readonly dir = mkdtempSync(join(tmpdir(), 'holdfast-audit-'))
  readonly store = openStore({ dir: this.dir, logger: pino({ level: 'silent' }) })
  readonly own: ClusterContent
  /** The longest that one entry held the thread: processor time of that thread. ms */
  heldMs = 0
  time = START
  #index = 0
  #birth = 0

  constructor() {
    const begin = async () => ({ newBirth: () => birthOf('bench', this.#birth++), end: () => undefined })
    const { blobs, masterKey, store } = this
    const readBarrier = async (): Promise<void> => undefined
    this.own = new ClusterContent({ blobs, uploads: { begin }, state: store.reader, masterKey, readBarrier })
  }

  async open(): Promise<void> {
    await this.store.stateMachine.open()
    const keys = { dataKey: Buffer.alloc(32), dedupKey: Buffer.alloc(32), masterKeyId: 'mk-bench' }
    const plain = { bucketsMax: 1, versioning: 'Unversioned', objectLockEnabled: false } as const
    await this.entry([
      { type: 'createTenant', id: 'acme', name: 'acme', ...keys },
      { type: 'createBucket', tenantId: 'acme', name: 'films', ...plain },
      { type: 'openSession', session: 'bench', node: 'n1', keep: [] },
    ])
  }

  async entry(commands: readonly (Command & { readonly origin?: Origin })[]): Promise<readonly unknown[]> {
    this.#index++
    this.time += 1_000
    const { time } = this
    const order = { time, confirmedTime: time, orderTime: time, featureLevel: FEATURE_LEVEL }
    const entry = { index: this.#index, ...order, commands: commands.map(encodeCommand) }
    const record = Buffer.from(`${this.#index}`)
    const before = process.threadCpuUsage()
    // All of apply except the write runs before it first yields.
    const applied = this.store.stateMachine.apply({ entries: [entry], record })
    const { user, system } = process.threadCpuUsage(before)
    this.heldMs = Math.max(this.heldMs, (user + system) / 1_000)
    const [replies = []] = await applied
    return replies.map(decodeReply)
  }

  sealing(): AuditSealing {
    const propose = async (command: Command): Promise<unknown> => (await this.entry([command]))[0]
    return new AuditSealing({
      cluster: { isJobRunner: () => true, membership: { local: () => ({ stateLevel: FEATURE_LEVEL }) } },
      state: this.store.reader,
      content: this.own,
      masterKey: this.masterKey,
      propose: propose as ConstructorParameters<typeof AuditSealing>[0]['propose'],
      now: () => this.time,
      monotonic: () => performance.now(),
      logger: pino({ level: 'silent' }),
    })
  }

  async sizes(): Promise<Sizes> {
    let [rows, links, snapshot] = [0, 0, 0]
    for await (const [key, value] of this.store.stateMachine.handle.current.db.iterator({})) {
      const name = key.toString()
      const bytes = key.length + value.length
      snapshot += bytes
      const isOfChunk = name.includes('.audit') || (kindOf(name) === 'making' && name.includes('bench-'))
      if (AUDIT_KINDS.has(kindOf(name)) || isOfChunk) rows += bytes
      if (kindOf(name) === 'auditLink') links++
    }
    return { rows, links, snapshot }
  }

  async close(): Promise<void> {
    await this.store.stateMachine.close()
    rmSync(this.dir, { recursive: true, force: true })
  }
}

const requestId = (): string => randomBytes(16).toString('hex')

function origin(n: number): Origin {
  const key = `2026/11/reports/report-${n}.json`
  return {
    requestId: requestId(),
    api: 'native',
    operation: 'putObject',
    method: 'PUT',
    path: `/api/v1/buckets/films/objects/${key}`,
    actor: { type: 'accessKey', id: `AKBENCH${n % 20}`, role: null },
    tenantId: 'acme',
    bucket: 'films',
    key,
    versionId: null,
    reason: null,
    sourceIp: `192.0.2.${n % 250}`,
    userAgent: 'bench/1.0 (node)',
    bytesIn: 1_024,
    elapsedMs: n % 17,
    successStatus: 200,
    nodeId: `n${n % 3}`,
  }
}

function put(n: number): Command & { readonly origin: Origin } {
  const etag = hash('md5', `${n}`)
  const about = { contentType: 'application/json', checksums: { CRC64NVME: 'AAAAAAAAAAA=' }, metadata: {} }
  const settings = { tags: {}, retention: null, legalHold: false, masterKeyId: 'mk-bench' }
  const precondition = { ifMatch: null, ifNoneMatch: null }
  const from = origin(n)
  const named = { tenantId: 'acme', bucket: 'films', key: from.key ?? '' }
  const body = { kind: 'inline', chunkId: etag, sealed: Buffer.alloc(40) } as const
  const stored = { size: 24, etag, body, precondition, idempotency: null }
  return { type: 'putObject', ...named, ...stored, ...about, ...settings, origin: from }
}

function get(n: number): AuditRow {
  const { successStatus, elapsedMs, ...asked } = origin(n)
  const request = { operation: 'getObject', method: 'GET', bytesIn: 0, bytesOut: 1_024, details: null }
  return { ...asked, ...request, time: START + n, status: successStatus, code: null, durationMs: elapsedMs }
}

function batch(first: number): Command {
  const rows = Array.from({ length: ROWS_PER_BATCH }, (_, n) => JSON.stringify(get(first + n)))
  const plain = rows.join('\n')
  const packed = zstdCompressSync(plain)
  const about = { first, count: rows.length, digest: hash('sha256', plain), packed }
  return { type: 'shipAudit', node: 'n1', spool: 'bench', ...about }
}

async function fill(world: World, what: 'changes' | 'reads'): Promise<void> {
  if (what === 'reads') for (let n = 0; n < reads; n += ROWS_PER_BATCH) await world.entry([batch(n)])
  else
    for (let n = 0; n < changes; n += COMMANDS_PER_ENTRY)
      await world.entry(Array.from({ length: COMMANDS_PER_ENTRY }, (_, m) => put(n + m)))
}

const cpuMs = (since: NodeJS.CpuUsage): number => {
  const { user, system } = process.cpuUsage(since)
  return (user + system) / 1_000
}

const shown = (value: number): string => value.toFixed(value < 100 ? 1 : 0)

async function bytes(what: 'changes' | 'reads', requests: number): Promise<readonly string[]> {
  const world = new World()
  await world.open()
  const empty = await world.sizes()
  await fill(world, what)
  const before = await world.sizes()
  world.heldMs = 0
  const sealing = world.sealing()
  const cpu = process.cpuUsage()
  // The remaining rows are younger than the age of a segment: in a steady state they would be sealed later.
  world.time += 86_400_000
  for (let links = Infinity; links > 0; ) {
    await sealing.round()
    const left = (await world.sizes()).links
    if (left >= links) throw new Error('Nothing was sealed')
    links = left
  }
  const spent = cpuMs(cpu)
  const held = world.heldMs
  const after = await world.sizes()
  const segments = world.blobs.blobs
  const per = (sum: number): string => shown(sum / requests)
  const lines = [
    `| ${what} | ${requests} | ${per(before.rows - empty.rows)} | ${per(after.rows - empty.rows)} | ${per(world.blobs.bytes)} | ${per(world.blobs.bytes * COPIES)} | ${per(before.snapshot)} | ${per(after.snapshot)} | ${segments} | ${shown(spent / segments)} | ${shown(held)} |`,
  ]
  if (what === 'changes') lines.push('', ...(await queries(world)))
  await world.close()
  return lines
}

async function queries(world: World): Promise<readonly string[]> {
  const lines = [
    '| query | rows found | segments opened | CPU ms, nothing open | CPU ms, again |',
    '|---|---|---|---|---|',
  ]
  const asked: Readonly<Record<string, AuditFilters>> = {
    'the newest 100': {},
    'one key, the oldest': { key: origin(0).key ?? '' },
    'one key, which does not exist': { key: 'nowhere' },
    denied: { outcome: 'denied' },
    'a prefix of keys that does not exist': { keyPrefix: 'nowhere/' },
  }
  for (const [name, filters] of Object.entries(asked)) {
    const segments = new AuditSegments(world.own)
    const parts = { state: world.store.reader, segments }
    const query = { since: 0, until: null, limit: 100, from: null, filter: rowFilter(filters) }
    const first = process.cpuUsage()
    const page = await auditPage(parts, query)
    const cold = cpuMs(first)
    const second = process.cpuUsage()
    await auditPage(parts, query)
    const warm = cpuMs(second)
    lines.push(`| ${name} | ${page.rows.length} | ${page.segmentsOpened} | ${shown(cold)} | ${shown(warm)} |`)
  }
  return lines
}

const lines = [
  '| requests | number | bytes of rows for each, before | after | bytes of a segment for each | times three copies | state for each, before | after | segments | CPU ms to seal one | longest hold by one entry, CPU ms |',
  '|---|---|---|---|---|---|---|---|---|---|---|',
  ...(await bytes('reads', reads)),
  ...(await bytes('changes', changes)),
]
process.stdout.write(`${lines.join('\n')}\n\nload of the machine ${loadavg().map(shown).join(', ')}\n`)
