/**
 * Clients at every node that write, read and remove a few objects, some of it conditional on the value that they saw last, and
 * record the time and outcome of each request.
 *
 * Owns: the history. Knows nothing of: faults, the check of the history.
 * Rules: an answer that says "nothing was done" is trusted and leaves the history, so that a false one shows as a
 * value that no client wrote; without an answer, or with commit_unknown, a change stays open, and a read is dropped. Every byte
 * of a body is compared.
 */
import { setTimeout as wait } from 'node:timers/promises'
import type { RegisterInput, RegisterOutput } from '../programs/simulator/history-models.ts'
import { type Random, seeded } from '../programs/simulator/invented-history.ts'
import type { Operation } from '../programs/simulator/linearizability.ts'
import { until } from './async.ts'
import type { Answer, Asked, ProcessCluster } from './process-cluster.ts'

const TIMEOUT_MS = 3000
/** Between two attempts at a node that does not run. */
const PAUSE_MS = 20
/** Inline in the log, one chunk, and more than one chunk. */
const SIZES = [40, 700, 700, 5000, 60_000, 1_200_000]
/** Codes whose page says that nothing was done. */
const NOTHING_DONE = [
  'no_leader',
  'no_quorum',
  'leader_not_ready',
  'not_enough_replicas',
  'slow_down',
  'disk_full',
  'shutting_down',
]

/** The status of a failed condition; 404 where there is nothing to compare. */
const MISMATCHES = [404, 412]

export type RecordedOperation = Operation<RegisterInput, RegisterOutput>

interface WorkOptions {
  readonly clientsPerNode: number
  readonly keys: number
  readonly seed: number
  /** Between two requests of a client; 0 unless given. */
  readonly restMs?: number
}

/** The outcome at a client: an answer, "nothing was done", no answer, or no connection. */
type Outcome = { readonly output: RegisterOutput } | 'not done' | 'unknown' | 'unreachable'

export class RecordedWork {
  readonly operations: RecordedOperation[] = []
  /** Answers that no fault excuses. */
  readonly violations: string[] = []
  /** How often each code was the answer. */
  readonly failures = new Map<string, number>()
  readonly #answered = new Map<string, number>()
  readonly #cluster: ProcessCluster
  readonly #options: WorkOptions
  /** The value last read or written under a key, by any client. */
  readonly #seen = new Map<string, string | null>()
  readonly #etags = new Map<string, string>()
  #values = 0
  #running = false
  /** Nodes with clients. */
  readonly #places = new Set<string>()
  #placesMade = 0
  #clients: Promise<void>[] = []

  constructor(cluster: ProcessCluster, options: WorkOptions) {
    this.#cluster = cluster
    this.#options = options
  }

  start(): void {
    this.#running = true
    for (const { nodeId } of this.#cluster.plan) this.startAt(nodeId)
  }

  /** Clients at one more node. */
  startAt(nodeId: string): void {
    const { clientsPerNode, seed } = this.#options
    const node = this.#placesMade++
    this.#places.add(nodeId)
    for (let client = 0; client < clientsPerNode; client += 1)
      this.#clients.push(this.#work(nodeId, `${nodeId}/${client}`, seeded(seed + 100 * node + client)))
  }

  /** Ends the clients of this node when their last requests have settled. */
  stopAt(nodeId: string): void {
    this.#places.delete(nodeId)
  }

  async stop(): Promise<void> {
    this.#running = false
    await Promise.all(this.#clients)
  }

  /** Waits until each of these nodes has answered `count` more operations than now. */
  async moreAnswered(count: number, nodeIds: readonly string[]): Promise<void> {
    for (const nodeId of nodeIds) {
      const goal = (this.#answered.get(nodeId) ?? 0) + count
      await until(
        `${nodeId} answers ${count} more operations`,
        () => (this.#answered.get(nodeId) ?? 0) >= goal || this.violations.length > 0,
      )
    }
  }

  async #work(nodeId: string, client: string, random: Random): Promise<void> {
    const { restMs = 0 } = this.#options
    while (this.#running && this.#places.has(nodeId)) {
      const input = this.#anyInput(random)
      const call = performance.now()
      const reported = await this.#perform(nodeId, input)
      if (typeof reported === 'object')
        this.#hasAnswered(nodeId, { client, input, call, output: reported.output })
      else {
        if (reported === 'unknown' && input.type !== 'get')
          this.operations.push({ client, input, call, answer: null })
        await wait(PAUSE_MS)
      }
      if (restMs > 0) await wait(restMs)
    }
  }

  #hasAnswered(
    nodeId: string,
    { output, ...asked }: Omit<RecordedOperation, 'answer'> & { readonly output: RegisterOutput },
  ): void {
    this.operations.push({ ...asked, answer: { at: performance.now(), output } })
    this.#answered.set(nodeId, (this.#answered.get(nodeId) ?? 0) + 1)
  }

  #hasFailed(code: string): void {
    this.failures.set(code, (this.failures.get(code) ?? 0) + 1)
  }

  #anyInput(random: Random): RegisterInput {
    const key = `key-${random(this.#options.keys)}`
    const kind = random(10)
    if (kind < 4) return { type: 'get', key }
    if (kind < 5) return { type: 'delete', key }
    this.#values += 1
    const value = `${this.#values}:${SIZES[random(SIZES.length)] ?? 0}`
    if (kind < 8) return { type: 'put', key, value }
    const from = this.#seen.get(key) ?? null
    return { type: 'cas', key, from, to: from !== null && random(3) === 0 ? null : value }
  }

  async #perform(nodeId: string, input: RegisterInput): Promise<Outcome> {
    const asked = askedFor(input, this.#etags)
    let answer: Answer
    try {
      answer = await this.#cluster.ask(nodeId, { ...asked, timeoutMs: TIMEOUT_MS })
    } catch (error) {
      const reported = isUnreachable(error) ? 'unreachable' : 'unknown'
      this.#hasFailed(reported === 'unreachable' ? 'unreachable' : 'no answer')
      // Interrupted or too slow: the outcome is unknown, which is allowed when nodes are killed.
      return reported
    }
    const reported = this.#reportedBy(input, answer)
    if (reported !== null && typeof reported === 'object') this.#remember(input, reported.output, answer)
    if (reported === null) {
      const { status, body } = answer
      this.violations.push(
        `${asked.method} ${input.key} at ${nodeId}: ${status} ${body.toString('utf8', 0, 200)}`,
      )
    }
    return reported ?? 'unknown'
  }

  /** Null: an answer that is never allowed. */
  #reportedBy(input: RegisterInput, { status, body }: Answer): Outcome | null {
    if (status === 503) {
      const { code = '' } = JSON.parse(body.toString()) as { code?: string }
      this.#hasFailed(code)
      if (code === 'commit_unknown') return 'unknown'
      return NOTHING_DONE.includes(code) ? 'not done' : null
    }
    if (input.type === 'cas' && MISMATCHES.includes(status)) return { output: { type: 'mismatch' } }
    if (input.type !== 'get')
      return status === (valueIn(input) === null ? 204 : 200) ? { output: { type: 'done' } } : null
    if (status === 404) return { output: { type: 'value', value: null } }
    const value = status === 200 ? valueOf(body) : null
    return value === null ? null : { output: { type: 'value', value } }
  }

  #remember(input: RegisterInput, output: RegisterOutput, { headers, body }: Answer): void {
    if (output.type === 'mismatch') return
    const value = output.type === 'value' ? output.value : valueIn(input)
    this.#seen.set(input.key, value)
    if (value === null) return
    const etag = input.type === 'get' ? String(headers['etag']) : `"${etagIn(body)}"`
    this.#etags.set(value, etag)
  }
}

/** The connection was refused: not one byte of the request left. */
function isUnreachable(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'ECONNREFUSED'
}

function askedFor(input: RegisterInput, etags: ReadonlyMap<string, string>): Asked {
  const path = `/buckets/work/objects/${input.key}`
  if (input.type === 'get') return { method: 'GET', path }
  const headers = input.type === 'cas' ? conditionOf(input.from, etags) : {}
  const value = valueIn(input)
  return value === null
    ? { method: 'DELETE', path, headers }
    : { method: 'PUT', path, headers, body: bytesOf(value) }
}

function conditionOf(from: string | null, etags: ReadonlyMap<string, string>): Record<string, string> {
  return from === null ? { 'if-none-match': '*' } : { 'if-match': etags.get(from) ?? '' }
}

/** The value under the key once the change is made. */
function valueIn(input: RegisterInput): string | null {
  if (input.type === 'put') return input.value
  return input.type === 'cas' ? input.to : null
}

function etagIn(body: Buffer): string {
  return (JSON.parse(body.toString()) as { readonly etag: string }).etag
}

/** The value names its size, and the body repeats its text: a piece of another body is detected. */
function bytesOf(value: string): Buffer {
  return Buffer.alloc(Number(value.split(':')[1]), `${value};`)
}

/** Null when the bytes are not exactly those of one value. */
function valueOf(body: Buffer): string | null {
  const value = body.toString('latin1', 0, Math.max(0, body.indexOf(';')))
  return /^\d+:\d+$/.test(value) && bytesOf(value).equals(body) ? value : null
}
