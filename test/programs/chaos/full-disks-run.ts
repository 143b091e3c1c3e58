/**
 * The disks of all hosts full at once, down to the last byte, for as long as asked; then an operator deletes a bucket and a tenant
 * through the API, and nothing else is done for the cluster.
 *
 * Owns: the story and its claims. Knows nothing of: how much room which part of a node needs.
 * Rules: a node that ends is started again at once, as a supervisor does, and may end once; the ballast stays to the end, so that all room
 * comes from deleted data.
 */
import { setTimeout as wait } from 'node:timers/promises'
import { request } from 'undici'
import { until } from '../../helpers/async.ts'
import { type Answer, ProcessCluster, sha256 } from '../../helpers/process-cluster.ts'
import { type ChaosReport, reportOf } from './chaos-report.ts'
import type { Verdict } from './final-checks.ts'
import { Hosts } from './hosts-site.ts'
import { isExplained, type LogLine } from './log-alarms.ts'
import type { ChaosOptions } from './options.ts'
import { logFaults } from './removed-node-checks.ts'

const MIB = 1024 * 1024
/** Inline, in a pack, a file of its own. Bytes. */
const KEPT_SIZES = [300, 90_000, 2 * MIB]
const KEPT_OF_EACH = 4
/** What is deleted: of the disk of 512 MiB, far more than all reserves. */
const BULK_OBJECTS = 16
const BULK_BYTES = 8 * MIB
/** Between two rounds of requests at every node. */
const ROUND_MS = 200
const READY_MS_MAX = 120_000
const ENDS_MAX = 1
/** Allowed answers to a write on full disks, and while a node starts. */
const REFUSALS = ['disk_full', 'slow_down', 'leader_not_ready', 'no_leader', 'commit_unknown', 'unreachable']

interface Seen {
  readonly writes: Record<string, number>
  readonly reads: Record<string, number>
  readonly ends: Record<string, number>
  readonly faults: string[]
}

export async function runFullDisks(options: ChaosOptions, say: (line: string) => void): Promise<ChaosReport> {
  const hosts = new Hosts()
  const cluster = await ProcessCluster.startAt({ teardown: () => undefined }, await hosts.site(options.nodes))
  await cluster.login('n1')
  const story = new FullDisks(cluster, hosts, say)
  const startedAt = Date.now()
  const at = performance.now()
  await story.store()
  await story.fill(options.seconds)
  const healedAt = performance.now()
  await story.empty()
  const readyAt = performance.now()
  const isExpected = (_: string, line: LogLine): boolean =>
    isExplained(line, [{ since: startedAt, until: Date.now() }])
  const verdicts = await story.judged((nodeId) => logFaults({ cluster, isExpected }, nodeId))
  const { seen } = story
  const named = (what: string, counts: Readonly<Record<string, number>>): (readonly [string, number])[] =>
    Object.entries(counts).map(([code, count]) => [`${what}, ${code}`, count])
  const done = [
    ...named('writes', seen.writes),
    ...named('reads', seen.reads),
    ...named('ends of', seen.ends),
  ]
  const nothing = { operations: [], failures: new Map() }
  const ledger = { done: new Map(done), failures: new Map(), writtenAt: [] }
  const struck = [{ nemesis: 'all-disks-full', what: 'fill all disks', at, healedAt, readyAt, excused: [] }]
  return reportOf({ options, struck, registers: nothing, ledger, verdicts })
}

class FullDisks {
  readonly seen: Seen = { writes: {}, reads: {}, ends: {}, faults: [] }
  readonly #cluster: ProcessCluster
  readonly #hosts: Hosts
  readonly #say: (line: string) => void
  readonly #kept = new Map<string, string>()
  #tenantToken = ''
  #round = 0

  constructor(cluster: ProcessCluster, hosts: Hosts, say: (line: string) => void) {
    this.#cluster = cluster
    this.#hosts = hosts
    this.#say = say
  }

  async store(): Promise<void> {
    for (const name of ['kept', 'bulk']) await this.#expect(201, 'POST', '/buckets', JSON.stringify({ name }))
    for (const size of KEPT_SIZES)
      for (let n = 0; n < KEPT_OF_EACH; n++)
        await this.#put(`/buckets/kept/objects/${size}-${n}`, bodyOf(size, n))
    for (let n = 0; n < BULK_OBJECTS; n++)
      await this.#expect(200, 'PUT', `/buckets/bulk/objects/${n}`, bodyOf(BULK_BYTES, 100 + n))
    await this.#secondTenant()
    this.#say('stored')
  }

  async fill(seconds: number): Promise<void> {
    const disks = [...this.#hosts.disks.values()]
    await Promise.all(disks.map((disk) => disk.fill()))
    this.#say(`all disks are full, for ${seconds} s`)
    const end = performance.now() + seconds * 1000
    while (performance.now() < end) {
      await this.#roundOfRequests()
      await wait(ROUND_MS)
    }
    await this.#allReady()
    // All are up: from here on nothing but the want of room may be in the way.
    for (const { nodeId } of this.#cluster.plan) {
      const read = await this.#read(nodeId)
      if (read !== '200') this.seen.faults.push(`a read through ${nodeId} on full disks gave ${read}`)
      const write = await this.#write(nodeId)
      if (write !== 'disk_full')
        this.seen.faults.push(`a write through ${nodeId} on full disks gave ${write}`)
    }
  }

  /** As an operator does it, only through the API. */
  async empty(): Promise<void> {
    this.#say('an operator deletes a bucket and a tenant')
    for (let n = 0; n < BULK_OBJECTS; n++) await this.#expect(204, 'DELETE', `/buckets/bulk/objects/${n}`)
    await this.#expect(204, 'DELETE', '/buckets/bulk')
    await this.#admin(200, 'POST', '/tenants/second/disable', { reason: 'full' })
    await this.#admin(202, 'POST', '/tenants/second/delete', { reason: 'full', confirm: 'second' })
    for (const { nodeId } of this.#cluster.plan)
      await until(`${nodeId} stores again`, async () => {
        this.#supervise()
        return (await this.#write(nodeId)) === '200'
      })
    await this.#allReady()
    this.#say('the cluster stores again')
  }

  async judged(logFaultsOf: (nodeId: string) => readonly string[]): Promise<Verdict[]> {
    const { seen } = this
    const tooMany = Object.entries(seen.ends).filter(([, count]) => count > ENDS_MAX)
    const strange = Object.keys(seen.writes).filter((code) => code !== '200' && !REFUSALS.includes(code))
    const lost: string[] = []
    for (const { nodeId } of this.#cluster.plan)
      for (const [path, digest] of this.#kept) {
        const { status, body } = await this.#cluster.call(nodeId, 'GET', path)
        if (status !== 200 || sha256(body) !== digest) lost.push(`${path} at ${nodeId}: ${status}`)
      }
    const nodes = this.#cluster.plan.map(({ nodeId }) => nodeId)
    return [
      { claim: 'no node ends again and again', faults: tooMany.map(([id, n]) => `${id} ended ${n} times`) },
      { claim: 'writes are refused with a reason, reads continue', faults: [...seen.faults, ...strange] },
      { claim: `each of ${this.#kept.size} acknowledged objects is whole at each node`, faults: lost },
      { claim: 'logs tell of nothing but full disks', faults: nodes.flatMap(logFaultsOf) },
    ]
  }

  async #roundOfRequests(): Promise<void> {
    this.#supervise()
    for (const { nodeId } of this.#cluster.plan) {
      count(this.seen.writes, await this.#write(nodeId))
      count(this.seen.reads, await this.#read(nodeId))
    }
  }

  /** The next of all kept objects. */
  async #read(nodeId: string): Promise<string> {
    const all = [...this.#kept]
    const [path = '', digest] = all[this.#round++ % all.length] ?? []
    const answer = await this.#answer(nodeId, 'GET', path)
    if (answer?.status === 200 && sha256(answer.body) !== digest)
      this.seen.faults.push(`${path} was read wrong`)
    return codeOf(answer)
  }

  async #write(nodeId: string): Promise<string> {
    const n = this.#round++
    const size = KEPT_SIZES[n % 2] ?? 0
    const [path, body] = [`/buckets/kept/objects/more-${n}`, bodyOf(size, n)]
    const answer = await this.#answer(nodeId, 'PUT', path, body)
    if (answer?.status === 200) this.#kept.set(path, sha256(body))
    return codeOf(answer)
  }

  #supervise(): void {
    for (const { nodeId } of this.#cluster.plan) {
      if (this.#cluster.isRunning(nodeId)) continue
      this.#say(`${nodeId} has ended and is started again`)
      count(this.seen.ends, nodeId)
      this.#cluster.startNode(nodeId)
    }
  }

  async #allReady(): Promise<void> {
    const giveUpAt = performance.now() + READY_MS_MAX
    for (const { nodeId } of this.#cluster.plan)
      while (!(await this.#cluster.ready(nodeId))) {
        if (performance.now() > giveUpAt) throw new Error(`${nodeId} does not become ready`)
        this.#supervise()
        await wait(ROUND_MS)
      }
  }

  async #secondTenant(): Promise<void> {
    await this.#admin(201, 'POST', '/tenants', { id: 'second', name: 'Second' })
    const key = await this.#admin(201, 'POST', '/tenants/second/keys', { scopes: 'read,write,delete,admin' })
    this.#tenantToken = await this.#tokenFor(key)
    await this.#asTenant('POST', '/buckets', JSON.stringify({ name: 'theirs' }))
    for (let n = 0; n < BULK_OBJECTS / 2; n++)
      await this.#asTenant('PUT', `/buckets/theirs/objects/${n}`, bodyOf(BULK_BYTES, 200 + n))
  }

  async #tokenFor(key: Record<string, unknown>): Promise<string> {
    const { accessKeyId, secretKey } = key
    const body = JSON.stringify({ accessKeyId, secretKey })
    const { body: reported } = await this.#cluster.call('n1', 'POST', '/auth/token', body)
    return String((JSON.parse(reported.toString()) as { token: string }).token)
  }

  async #asTenant(method: 'POST' | 'PUT', path: string, body: string | Buffer): Promise<void> {
    const json = typeof body === 'string' ? { 'content-type': 'application/json' } : {}
    const headers = { authorization: `Bearer ${this.#tenantToken}`, ...json }
    const url = `${this.#cluster.node('n1').dataUrl}/api/v1${path}`
    const { statusCode, body: reported } = await request(url, { method, body, headers })
    const text = await reported.text()
    if (statusCode >= 300) throw new Error(`${method} ${path}: ${statusCode} ${text}`)
  }

  async #put(path: string, body: Buffer): Promise<void> {
    await this.#expect(200, 'PUT', path, body)
    this.#kept.set(path, sha256(body))
  }

  async #expect(
    status: number,
    method: 'PUT' | 'POST' | 'DELETE',
    path: string,
    body?: Buffer | string,
  ): Promise<void> {
    const answer = await this.#cluster.call('n1', method, path, body ?? null)
    if (answer.status !== status)
      throw new Error(`${method} ${path}: ${answer.status} ${answer.body.toString()}`)
  }

  async #admin(status: number, method: 'POST', path: string, body: object): Promise<Record<string, unknown>> {
    const answer = await this.#cluster.admin('n2', { method, path, body })
    if (answer.status !== status)
      throw new Error(`${method} ${path}: ${answer.status} ${answer.body.toString()}`)
    return JSON.parse(answer.body.toString()) as Record<string, unknown>
  }

  async #answer(nodeId: string, method: 'GET' | 'PUT', path: string, body?: Buffer): Promise<Answer | null> {
    return this.#cluster.call(nodeId, method, path, body ?? null).catch(() => null)
  }
}

function codeOf(answer: Answer | null): string {
  if (answer === null) return 'unreachable'
  if (answer.status === 200) return '200'
  return (JSON.parse(answer.body.toString()) as { code: string }).code
}

function count(counts: Record<string, number>, name: string): void {
  counts[name] = (counts[name] ?? 0) + 1
}

/** No two share a chunk, and none gets smaller when it is packed. */
function bodyOf(size: number, seed: number): Buffer {
  const body = Buffer.alloc(size)
  let state = seed * 2654435761 + size
  for (let at = 0; at + 4 <= size; at += 4) {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0
    body.writeUInt32LE((state ^ (state >>> 13)) >>> 0, at)
  }
  return body
}
