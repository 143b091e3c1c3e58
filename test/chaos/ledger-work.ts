/**
 * Clients that store objects under keys that never come again, through any node, and know at every moment what must be there.
 *
 * Owns: what was acknowledged, the failures by code. Knows nothing of: faults.
 * Rules: what brought no answer, or a 503, is asked again elsewhere as the documents say: uploads with an idempotency key,
 * deletes and completions as they are. Each client has a folder of its own and does one thing at a time, so that a listing of
 * the folder, at any node, shows exactly what the ledger says.
 */
import { randomBytes } from 'node:crypto'
import { setTimeout as wait } from 'node:timers/promises'
import { type Answer, type Asked, type ProcessCluster, sha256 } from '../helpers/process-cluster.ts'
import type { Random } from '../sim/random.ts'

export const LEDGER_BUCKET = 'ledger'
const TIMEOUT_MS = 10_000
const PAUSE_MS = 50
/** Far more than any fault of a run lasts. */
const PATIENCE_MS = 120_000
/** More are removed again, so that disks stay small. */
const KEYS_MAX = 12
const MIB = 1024 * 1024
/** Empty, inline, in packs, a file of one chunk. */
const SIZES = [0, 700, 700, 40_000, 90_000, 90_000, 1_500_000]
const LARGE_BYTES = 6 * MIB
const PART_BYTES = 5 * MIB
const WEIGHTS = { put: 10, putLarge: 1, multipart: 1, get: 8, remove: 4, list: 3 } as const
type Kind = keyof typeof WEIGHTS

export interface ClientOptions {
  readonly client: number
  readonly random: Random
}

export class LedgerWork {
  readonly violations: string[] = []
  /** Codes, and how often each was the answer. */
  readonly failures = new Map<string, number>()
  /** When a change was acknowledged, rising. [ms of performance.now()] */
  readonly writtenAt: number[] = []
  /** How often each kind of request was answered. */
  readonly done = new Map<string, number>()
  readonly #cluster: ProcessCluster
  readonly #folders: Map<string, string>[] = []
  #sequence = 0
  #running = false
  #clients: Promise<void>[] = []

  constructor(cluster: ProcessCluster) {
    this.#cluster = cluster
  }

  start(clients: readonly ClientOptions[]): void {
    this.#running = true
    this.#clients = clients.map((options) => this.#work(options))
  }

  /** Each client ends what it has begun: what became of it must be known. */
  async stop(): Promise<void> {
    this.#running = false
    await Promise.all(this.#clients)
  }

  /** Keys, and the digest of what is under each. */
  get stored(): ReadonlyMap<string, string> {
    return new Map(this.#folders.flatMap((folder) => [...folder]))
  }

  /** The keys of each client. */
  get folders(): readonly (readonly string[])[] {
    return this.#folders.map((folder) => [...folder.keys()])
  }

  async #work({ client, random }: ClientOptions): Promise<void> {
    const folder = new Map<string, string>()
    this.#folders.push(folder)
    const desk = new Desk(this.#cluster, random, this)
    while (this.#running) {
      const kind = fitting(anyKind(random), folder.size)
      try {
        await this.#step(kind, { client, folder, desk, random })
        this.#count(this.done, kind)
      } catch (error) {
        if (!(error instanceof DeadEnd)) throw error
        this.violations.push(error.message)
        return
      }
    }
  }

  async #step(kind: Kind, { client, folder, desk, random }: Seat): Promise<void> {
    const [key, digest] = [...folder][random.below(folder.size)] ?? []
    if (kind === 'list') return this.#list(desk, client, folder)
    if (kind === 'get' && key !== undefined) return this.#get(desk, key, digest ?? '')
    if (kind === 'remove' && key !== undefined) {
      // Between question and answer nobody knows.
      folder.delete(key)
      await this.#change(desk, [204], { method: 'DELETE', path: objectPath(key) })
      return
    }
    this.#sequence += 1
    const fresh = `c${client}/${this.#sequence}`
    const bytes = randomBytes(kind === 'put' ? random.pick(SIZES) : LARGE_BYTES)
    if (kind === 'multipart') await this.#putInParts(desk, fresh, bytes)
    else await this.#put(desk, fresh, bytes)
    folder.set(fresh, sha256(bytes))
  }

  async #put(desk: Desk, key: string, bytes: Buffer): Promise<void> {
    const sum = Buffer.from(sha256(bytes), 'hex').toString('base64')
    const headers = { 'idempotency-key': key, 'x-service-checksum-sha256': sum }
    await this.#change(desk, [200], { method: 'PUT', path: objectPath(key), body: bytes, headers })
  }

  async #putInParts(desk: Desk, key: string, bytes: Buffer): Promise<void> {
    const path = (rest: string): string => `/buckets/${LEDGER_BUCKET}/multipart/${rest}`
    const begun = await this.#change(desk, [201], { method: 'POST', path: path(key), body: '{}' })
    const { uploadId } = jsonOf<{ uploadId: string }>(begun)
    const parts: { partNumber: number; etag: string }[] = []
    for (const [at, body] of [bytes.subarray(0, PART_BYTES), bytes.subarray(PART_BYTES)].entries()) {
      const asked = { method: 'PUT', path: path(`${uploadId}/parts/${at + 1}/${key}`), body } as const
      const { etag } = jsonOf<{ etag: string }>(await this.#change(desk, [200], asked))
      parts.push({ partNumber: at + 1, etag })
    }
    const body = JSON.stringify({ parts })
    await this.#change(desk, [200], { method: 'POST', path: path(`${uploadId}/complete/${key}`), body })
  }

  async #get(desk: Desk, key: string, digest: string): Promise<void> {
    const { status, body } = await desk.ask({ method: 'GET', path: objectPath(key) })
    if (status !== 200 || sha256(body) !== digest)
      this.violations.push(
        `GET ${key} at ${desk.nodeId}: ${status}, ${body.length} bytes, not what was stored`,
      )
  }

  async #list(desk: Desk, client: number, folder: ReadonlyMap<string, string>): Promise<void> {
    const answer = await desk.ask({ method: 'GET', path: folderPath(client) })
    const wrong = answer.status === 200 ? listingFault(answer, [...folder.keys()]) : `${answer.status}`
    if (wrong !== null) this.violations.push(`a listing of c${client}/ at ${desk.nodeId}: ${wrong}`)
  }

  async #change(desk: Desk, expected: readonly number[], asked: Asked): Promise<Answer> {
    const answer = await desk.ask(asked)
    const said = answer.body.toString('utf8', 0, 200)
    if (!expected.includes(answer.status))
      throw new DeadEnd(`${asked.method} ${asked.path} at ${desk.nodeId}: ${answer.status} ${said}`)
    this.writtenAt.push(performance.now())
    return answer
  }

  hasFailed(code: string): void {
    this.#count(this.failures, code)
  }

  #count(counts: Map<string, number>, name: string): void {
    counts.set(name, (counts.get(name) ?? 0) + 1)
  }
}

interface Seat extends ClientOptions {
  readonly folder: Map<string, string>
  readonly desk: Desk
}

/** A client cannot go on: it does not know any more what must be there. */
class DeadEnd extends Error {}

/** Asks until there is an answer that is one. */
class Desk {
  nodeId = ''
  readonly #cluster: ProcessCluster
  readonly #random: Random
  readonly #work: LedgerWork

  constructor(cluster: ProcessCluster, random: Random, work: LedgerWork) {
    this.#cluster = cluster
    this.#random = random
    this.#work = work
  }

  async ask(asked: Asked): Promise<Answer> {
    const giveUpAt = performance.now() + PATIENCE_MS
    while (performance.now() < giveUpAt) {
      this.nodeId = this.#random.pick(this.#cluster.plan).nodeId
      const answer = await this.#once(asked)
      if (answer !== null) return answer
      await wait(PAUSE_MS)
    }
    throw new DeadEnd(`${asked.method} ${asked.path}: no answer from any node in ${PATIENCE_MS / 1000} s`)
  }

  async #once(asked: Asked): Promise<Answer | null> {
    try {
      const answer = await this.#cluster.ask(this.nodeId, { ...asked, timeoutMs: TIMEOUT_MS })
      const code = answer.status >= 400 && answer.body.length > 0 ? jsonOf<{ code: string }>(answer).code : ''
      if (answer.status !== 503 && code !== 'idempotency_in_progress') return answer
      this.#work.hasFailed(code)
    } catch (error) {
      this.#work.hasFailed(error instanceof Error && 'code' in error ? String(error.code) : 'no answer')
    }
    return null
  }
}

function fitting(kind: Kind, keys: number): Kind {
  if (keys > KEYS_MAX) return 'remove'
  return keys === 0 && (kind === 'get' || kind === 'remove') ? 'put' : kind
}

function anyKind(random: Random): Kind {
  const kinds = Object.entries(WEIGHTS) as [Kind, number][]
  let at = random.below(kinds.reduce((sum, [, weight]) => sum + weight, 0))
  for (const [kind, weight] of kinds) {
    at -= weight
    if (at < 0) return kind
  }
  return 'get'
}

export const objectPath = (key: string): string => `/buckets/${LEDGER_BUCKET}/objects/${key}`
export const folderPath = (client: number): string =>
  `/buckets/${LEDGER_BUCKET}/objects?prefix=${encodeURIComponent(`c${client}/`)}`

/** Null when it shows these keys and no other. */
export function listingFault(answer: Answer, keys: readonly string[]): string | null {
  const shown = new Set(jsonOf<{ objects: { key: string }[] }>(answer).objects.map(({ key }) => key))
  const missing = keys.filter((key) => !shown.has(key))
  const known = new Set(keys)
  const strange = [...shown].filter((key) => !known.has(key))
  return missing.length + strange.length === 0
    ? null
    : `without [${missing.join()}], with [${strange.join()}]`
}

function jsonOf<T>({ body }: Answer): T {
  return JSON.parse(body.toString()) as T
}
