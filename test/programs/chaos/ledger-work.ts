/**
 * Clients that store objects under keys that are never reused, through any node, and know at every moment which must exist.
 *
 * Owns: what was acknowledged, the failures by code. Knows nothing of: faults, the contacted nodes.
 * Rules: a request without an answer, or with a 503, is repeated as the documents say: uploads with an idempotency key,
 * deletes and completions as they are. Each client has a folder of its own and does one thing at a time, so that a listing of
 * the folder, at any node, shows exactly what the ledger says.
 */
import { randomBytes } from 'node:crypto'
import { setTimeout as wait } from 'node:timers/promises'
import { type Answer, sha256 } from '../../helpers/process-cluster.ts'
import type { Random } from '../simulator/random.ts'
import {
  type LedgerClient,
  askUntilAnswered,
  describe,
  type LedgerRequest,
  SilenceError,
} from './ledger-client.ts'

export const LEDGER_BUCKET = 'ledger'
/** More are removed again, so that disks stay small. */
const KEYS_MAX = 12
/** This many objects of each client, one in KEPT_EVERY, stay to the end: objects stored at any time must survive all later faults. */
const KEPT_MAX = 20
const KEPT_EVERY = 8
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
  readonly requester: LedgerClient
  /** Between two things that it does. */
  readonly restMs: number
}

export class LedgerWork {
  readonly violations: string[] = []
  /** Codes, and how often each was the answer. */
  readonly failures = new Map<string, number>()
  /** When a change was acknowledged, rising. [ms of performance.now()] */
  readonly writtenAt: number[] = []
  /** How often each kind of request was answered. */
  readonly done = new Map<string, number>()
  readonly #folders: Map<string, string>[] = []
  #sequence = 0
  #running = false
  #clients: Promise<void>[] = []

  start(clients: readonly ClientOptions[]): void {
    this.#running = true
    this.#clients = clients.map((options) => this.#work(options))
  }

  /** Each client finishes its last request: the outcome must be known. */
  async stop(): Promise<void> {
    this.#running = false
    await Promise.all(this.#clients)
  }

  /** Keys, and the digest of each object. */
  get stored(): ReadonlyMap<string, string> {
    return new Map(this.#folders.flatMap((folder) => [...folder]))
  }

  /** The keys of each client. */
  get folders(): readonly (readonly string[])[] {
    return this.#folders.map((folder) => [...folder.keys()])
  }

  async #work(options: ClientOptions): Promise<void> {
    const { requester, random, restMs } = options
    const state: ClientState = { ...options, folder: new Map(), kept: new Set() }
    this.#folders.push(state.folder)
    try {
      while (this.#running) {
        const kind = fitting(anyKind(random), state)
        await this.#step(kind, state)
        this.#count(this.done, kind)
        await wait(restMs)
      }
    } catch (error) {
      // The client no longer knows which objects must exist.
      if (!(error instanceof DeadEnd || error instanceof SilenceError)) throw error
      this.violations.push(error.message)
    } finally {
      await requester.close()
    }
  }

  async #step(kind: Kind, state: ClientState): Promise<void> {
    const { client, folder, kept, random } = state
    const [key, digest] = [...folder][random.below(folder.size)] ?? []
    if (kind === 'list') return this.#list(state)
    if (kind === 'get' && key !== undefined) return this.#get(state, key, digest ?? '')
    if (kind === 'remove') return this.#remove(state)
    this.#sequence += 1
    const fresh = `c${client}/${this.#sequence}`
    const bytes = randomBytes(kind === 'put' ? random.pick(SIZES) : LARGE_BYTES)
    if (kind === 'multipart') await this.#putInParts(state, fresh, bytes)
    else await this.#put(state, fresh, bytes)
    folder.set(fresh, sha256(bytes))
    if (this.#sequence % KEPT_EVERY === 0 && kept.size < KEPT_MAX) kept.add(fresh)
  }

  async #remove(state: ClientState): Promise<void> {
    const key = state.random.pick(removable(state))
    // Unknown between request and answer.
    state.folder.delete(key)
    await this.#change(state, 204, { operation: 'deleteObject', params: { bucket: LEDGER_BUCKET, key } })
  }

  async #put(state: ClientState, key: string, body: Buffer): Promise<void> {
    const sum = Buffer.from(sha256(body), 'hex').toString('base64')
    const headers = { 'idempotency-key': key, 'x-service-checksum-sha256': sum }
    await this.#change(state, 200, {
      operation: 'putObject',
      params: { bucket: LEDGER_BUCKET, key },
      headers,
      body,
    })
  }

  async #putInParts(state: ClientState, key: string, bytes: Buffer): Promise<void> {
    const about = { bucket: LEDGER_BUCKET, key }
    const started = await this.#change(state, 201, {
      operation: 'createMultipartUpload',
      params: about,
      body: {},
    })
    const { uploadId } = jsonOf<{ uploadId: string }>(started)
    const parts: { partNumber: number; etag: string }[] = []
    for (const [at, body] of [bytes.subarray(0, PART_BYTES), bytes.subarray(PART_BYTES)].entries()) {
      const params = { ...about, uploadId, partNumber: `${at + 1}` }
      const stored = await this.#change(state, 200, { operation: 'uploadPart', params, body })
      parts.push({ partNumber: at + 1, etag: jsonOf<{ etag: string }>(stored).etag })
    }
    const params = { ...about, uploadId }
    await this.#change(state, 200, { operation: 'completeMultipartUpload', params, body: { parts } })
  }

  async #get({ requester }: ClientState, key: string, digest: string): Promise<void> {
    const params = { bucket: LEDGER_BUCKET, key }
    const { status, body } = await askUntilAnswered(requester, { operation: 'getObject', params })
    if (status !== 200 || sha256(body) !== digest)
      this.violations.push(
        `GET ${key} at ${requester.nodeId}: ${status}, ${body.length} bytes, not the stored bytes`,
      )
  }

  async #list({ requester, client, folder }: ClientState): Promise<void> {
    const params = { bucket: LEDGER_BUCKET }
    const query = { prefix: `c${client}/` }
    const answer = await askUntilAnswered(requester, { operation: 'listObjects', params, query })
    const wrong = answer.status === 200 ? listingFault(answer, [...folder.keys()]) : `${answer.status}`
    if (wrong !== null) this.violations.push(`a listing of c${client}/ at ${requester.nodeId}: ${wrong}`)
  }

  async #change({ requester }: ClientState, expected: number, request: LedgerRequest): Promise<Answer> {
    const answer = await askUntilAnswered(requester, request)
    const text = answer.body.toString('utf8', 0, 200)
    if (answer.status !== expected)
      throw new DeadEnd(`${describe(request)} at ${requester.nodeId}: ${answer.status} ${text}`)
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

interface ClientState extends ClientOptions {
  readonly folder: Map<string, string>
  /** The keys that are never removed. */
  readonly kept: Set<string>
}

/** An answer that is never allowed. */
class DeadEnd extends Error {}

function fitting(kind: Kind, state: ClientState): Kind {
  const { length } = removable(state)
  if (length > KEYS_MAX) return 'remove'
  return length === 0 && (kind === 'get' || kind === 'remove') ? 'put' : kind
}

function removable({ folder, kept }: ClientState): readonly string[] {
  return [...folder.keys()].filter((key) => !kept.has(key))
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
