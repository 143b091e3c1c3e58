/**
 * Clients of the damage run: they store every object once, then read each object from every node and compare all bytes.
 *
 * Rules: after an answer of 503 or a broken connection the request is retried, as a client would, and counted; bytes that are
 * not the stored ones are always an error.
 */
import { createHash, type Hash } from 'node:crypto'
import { setTimeout as wait } from 'node:timers/promises'
import { BenchClient } from '../bench/client.ts'
import type { BenchTarget } from '../bench/options.ts'
import type { DamageObjects } from './objects.ts'
import { logIn } from '../bench/log-in.ts'

const BUCKET = 'damage'
const CLIENTS = 6
const TRIES_MAX = 120
const RETRY_MS = 500

export interface ReadReport {
  readonly reads: number
  readonly bytes: number
  /** Complete bodies that differ from the stored ones. */
  readonly wrong: number
  /** Answers that reported a missing object. */
  readonly denied: number
  /** Objects that some node did not return after all retries. */
  readonly failed: number
  /** Temporary refusals and broken connections. */
  readonly askedAgain: number
}

interface Outcome {
  readonly outcome: 'right' | 'wrong' | 'failed'
  readonly askedAgain: number
  readonly denied: number
}

export class DamageReaders {
  readonly #target: BenchTarget
  readonly #objects: DamageObjects
  #token = ''

  static async open(target: BenchTarget, objects: DamageObjects): Promise<DamageReaders> {
    const readers = new DamageReaders(target, objects)
    await readers.#logIn()
    const client = readers.#client(0)
    const bucket = Buffer.from(JSON.stringify({ name: BUCKET }))
    await client.askJson({ method: 'POST', path: '/buckets', body: bucket }, 201)
    await client.close()
    return readers
  }

  private constructor(target: BenchTarget, objects: DamageObjects) {
    this.#target = target
    this.#objects = objects
  }

  /** Throws when an upload is refused. */
  async storeAll(): Promise<{ readonly bytes: number }> {
    await this.#each(async (index, client) => {
      const body = this.#objects.body(index)
      const asked = {
        method: 'PUT',
        path: this.#path(index),
        body,
        bodyBytes: this.#objects.size(index),
      } as const
      const { status } = await client(index % this.#target.endpoints.length).ask(asked)
      if (status !== 200) throw new Error(`PUT of ${this.#objects.key(index)} gave ${status}`)
    })
    return { bytes: this.#objects.bytes }
  }

  async readAll(): Promise<ReadReport> {
    const report = { reads: 0, bytes: 0, wrong: 0, denied: 0, failed: 0, askedAgain: 0 }
    await this.#each(async (index, client) => {
      for (const node of this.#target.endpoints.keys()) {
        const { outcome, askedAgain, denied } = await this.#readOnce(index, () => client(node))
        report.reads++
        report.askedAgain += askedAgain
        report.denied += denied
        if (outcome === 'right') report.bytes += this.#objects.size(index)
        else report[outcome]++
      }
    })
    return report
  }

  async #readOnce(index: number, client: () => BenchClient): Promise<Outcome> {
    let denied = 0
    for (let askedAgain = 0; askedAgain < TRIES_MAX; askedAgain++) {
      const hash = createHash('sha256')
      const status = await this.#ask(index, client(), hash)
      if (status === 200) {
        const isRight = hash.digest('hex') === this.#objects.digest(index)
        return { outcome: isRight ? 'right' : 'wrong', askedAgain, denied }
      }
      if (status === 404) denied++
      await wait(RETRY_MS)
    }
    return { outcome: 'failed', askedAgain: TRIES_MAX, denied }
  }

  /** 200 only for a complete body; null for an incomplete one, or when no node listens. */
  async #ask(index: number, client: BenchClient, hash: Hash): Promise<number | null> {
    try {
      const onPiece = (piece: Buffer): void => void hash.update(piece)
      const { status, bytes } = await client.ask({ method: 'GET', path: this.#path(index), onPiece })
      return status === 200 && bytes !== this.#objects.size(index) ? null : status
    } catch {
      return null
    }
  }

  /** Every object, the largest first so that no long read remains at the end, by CLIENTS concurrent clients, each with its own connections. */
  async #each(work: (index: number, client: (node: number) => BenchClient) => Promise<void>): Promise<void> {
    await this.#logIn()
    let next = this.#objects.sizes.length
    const worker = async (): Promise<void> => {
      const clients = new Map<number, BenchClient>()
      const client = (node: number): BenchClient => {
        const found = clients.get(node) ?? this.#client(node)
        clients.set(node, found)
        return found
      }
      while (next > 0) {
        next--
        await work(next, client)
      }
      await Promise.all([...clients.values()].map((opened) => opened.close()))
    }
    await Promise.all(Array.from({ length: CLIENTS }, worker))
  }

  #client(node: number): BenchClient {
    return new BenchClient(this.#target.endpoints[node] ?? '', this.#token)
  }

  /** Called before each round: a token is valid for an hour. */
  async #logIn(): Promise<void> {
    this.#token = await logIn(this.#target)
  }

  #path(index: number): string {
    return `/buckets/${BUCKET}/objects/${this.#objects.key(index)}`
  }
}
