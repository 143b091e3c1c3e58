/**
 * The bucket for the operations of the benchmark, and connections of each client to each node.
 *
 * Owns: log-in, the bucket, its removal, and the three requests whose cost is measured.
 * Rule: any unexpected answer is an error.
 */
import { createHash, randomBytes } from 'node:crypto'
import { Readable } from 'node:stream'
import { BenchClient } from './client.ts'
import type { BenchTarget } from './options.ts'
import type { BenchObjects, StoredObject } from './objects.ts'
import { logIn, makeBucket } from './log-in.ts'

const LIST_KEYS = 1000
const DELETE_CLIENTS = 16

interface Stream {
  readonly client: number
  readonly signal: AbortSignal
  /** Called with the number of bytes passed on since the last call. */
  readonly onBytes: (bytes: number) => void
}

function* brokenOff(
  pieces: Iterable<Buffer>,
  signal: AbortSignal,
  onBytes: (bytes: number) => void,
): Generator<Buffer> {
  for (const piece of pieces) {
    if (signal.aborted) throw new Error('The upload is aborted')
    onBytes(piece.length)
    yield piece
  }
}

export class Workplace {
  readonly bucket = `bench-${randomBytes(6).toString('hex')}`
  readonly nodes: number
  readonly #target: BenchTarget
  readonly #token: string
  readonly #clients = new Map<string, BenchClient>()

  private constructor(target: BenchTarget, token: string) {
    this.#target = target
    this.#token = token
    this.nodes = target.endpoints.length
  }

  static async open(target: BenchTarget): Promise<Workplace> {
    const workplace = new Workplace(target, await logIn(target))
    await makeBucket(target, workplace.bucket)
    return workplace
  }

  /** A separate connection for each pair. */
  client(client: number, node: number): BenchClient {
    const name = `${client}@${node}`
    let found = this.#clients.get(name)
    if (found === undefined) {
      found = new BenchClient(this.#target.endpoints[node] ?? '', this.#token)
      this.#clients.set(name, found)
    }
    return found
  }

  async put(objects: BenchObjects, client: number): Promise<void> {
    const index = objects.next()
    const node = client % this.nodes
    const asked = { method: 'PUT', path: this.#path(objects, index), body: objects.body(index) } as const
    const { status } = await this.client(client, node).ask({ ...asked, bodyBytes: objects.size })
    if (status !== 200) throw new Error(`PUT gave ${status}`)
    objects.keep({ index, node })
  }

  /** Uploads until the signal is aborted. Throws when the node ends the upload first. */
  async stream(objects: BenchObjects, { client, signal, onBytes }: Stream): Promise<void> {
    const index = objects.next()
    const body = Readable.from(brokenOff(objects.pieces(index), signal, onBytes), { objectMode: false })
    const asked = { method: 'PUT', path: this.#path(objects, index), body, bodyBytes: objects.size } as const
    try {
      const { status } = await this.client(client, client % this.nodes).ask(asked)
      throw new Error(`PUT gave ${status}`)
    } catch (error) {
      if (!signal.aborted) throw error
    }
  }

  async get(
    objects: BenchObjects,
    object: StoredObject,
    via: { client: number; node: number },
  ): Promise<void> {
    let start: Buffer | null = null
    const path = this.#path(objects, object.index)
    const onPiece = (piece: Buffer): void => void (start ??= piece)
    const answer = await this.client(via.client, via.node).ask({ method: 'GET', path, onPiece })
    if (answer.status !== 200 || answer.bytes !== objects.size)
      throw new Error(`GET gave ${answer.status} with ${answer.bytes} bytes`)
    if (start !== null && !objects.isOf(object.index, start)) throw new Error('GET gave another object')
  }

  /** Compares every byte; too expensive for every answer. */
  async verify(objects: BenchObjects, object: StoredObject, node: number): Promise<void> {
    const hash = createHash('sha256')
    const path = this.#path(objects, object.index)
    await this.client(0, node).ask({ method: 'GET', path, onPiece: (piece) => void hash.update(piece) })
    if (hash.digest('hex') !== objects.sha256(object.index))
      throw new Error(`The bytes of '${objects.key(object.index)}' are not the stored ones`)
  }

  /** 1,000 keys that follow a stored one. */
  async list(objects: BenchObjects, after: StoredObject, client: number): Promise<void> {
    let start = ''
    const key = encodeURIComponent(objects.key(after.index))
    const path = `/buckets/${this.bucket}/objects?maxKeys=${LIST_KEYS}&startAfter=${key}`
    const onPiece = (piece: Buffer): void => void (start ||= piece.toString('latin1', 0, 512))
    const { status } = await this.client(client, client % this.nodes).ask({ method: 'GET', path, onPiece })
    if (status !== 200 || !start.includes(`"keyCount":${LIST_KEYS}`))
      throw new Error(`LIST gave ${status} or fewer keys`)
  }

  /** The bucket and everything in it. */
  async remove(all: readonly BenchObjects[]): Promise<void> {
    for (const objects of all) {
      const left = objects.stored.map(({ index }) => index)
      const removeSome = async (client: number): Promise<void> => {
        for (let index = left.pop(); index !== undefined; index = left.pop())
          await this.#delete(this.#path(objects, index), client)
      }
      await Promise.all(Array.from({ length: DELETE_CLIENTS }, (_, client) => removeSome(client)))
    }
    await this.#delete(`/buckets/${this.bucket}`, 0)
  }

  async close(): Promise<void> {
    await Promise.all([...this.#clients.values()].map((client) => client.close()))
  }

  async #delete(path: string, client: number): Promise<void> {
    const { status } = await this.client(client, client % this.nodes).ask({ method: 'DELETE', path })
    if (status !== 204) throw new Error(`Cannot remove ${path}: the answer was ${status}`)
  }

  #path(objects: BenchObjects, index: number): string {
    return `/buckets/${this.bucket}/objects/${objects.key(index)}`
  }
}
