/**
 * The connections of all clients to one system, and the operations that rows are made of.
 *
 * Owns: which node a client asks, what counts as an answer. Knows nothing of: time, figures.
 * Rules: any unexpected answer is an error; one GET in `compareEach` and one LIST in as many are compared with what was written.
 */
import type { BenchObjects, StoredObject } from '../bench/objects.ts'
import { RaceSocket, type RaceAnswer, type RaceRequest } from './race-socket.ts'
import { type Dialect, LIST_KEYS, type RaceSystem } from './system.ts'

/** Bodies above this are sent piece by piece. Bytes. */
const WHOLE_BYTES_MAX = 256 * 1024

export interface FieldOptions {
  readonly compareEach: number
  /** The node that all clients ask; null: all nodes are asked. */
  readonly only: number | null
}

export class Field {
  readonly #system: RaceSystem
  readonly #options: FieldOptions
  readonly #sockets = new Map<number, RaceSocket>()
  readonly #turns: number[] = []
  #answers = 0
  #compared = 0

  constructor(system: RaceSystem, options: FieldOptions) {
    this.#system = system
    this.#options = options
  }

  /** Answers that were compared since this was made. */
  get compared(): number {
    return this.#compared
  }

  /** What this system can be asked. */
  get dialect(): Dialect {
    return this.#system.dialect(0)
  }

  async put(objects: BenchObjects, client: Client): Promise<void> {
    const index = objects.next()
    const node = this.#nodeOf(client)
    const body = objects.size <= WHOLE_BYTES_MAX ? wholeOf(objects, index) : objects.pieces(index)
    await this.#ask(client, node, ({ put }) => put(objects.key(index), body, objects.size))
    objects.keep({ index, node })
  }

  async get(objects: BenchObjects, object: StoredObject, client: Client): Promise<void> {
    const node = this.#nodeOf(client)
    const isCompared = this.#isCompared()
    const answer = await this.#ask(client, node, ({ get }) => get(objects.key(object.index)), isCompared)
    const { isPlain, objectOf } = this.#system.dialect(node)
    if (isPlain && answer.bytes !== objects.size) throw new Error(`GET gave ${answer.bytes} bytes`)
    if (isCompared && !isSame(objectOf(answer.kept), objects, object.index))
      throw new Error(`The bytes of '${objects.key(object.index)}' are not the ones that were written`)
  }

  async head(objects: BenchObjects, object: StoredObject, client: Client): Promise<void> {
    await this.#ask(client, this.#nodeOf(client), ({ head }) => head?.(objects.key(object.index)))
  }

  async delete(objects: BenchObjects, object: StoredObject, client: Client): Promise<void> {
    await this.#ask(client, this.#nodeOf(client), (dialect) => dialect.delete(objects.key(object.index)))
  }

  async list(objects: BenchObjects, after: StoredObject, client: Client): Promise<void> {
    const node = this.#nodeOf(client)
    const isCompared = this.#isCompared()
    const start = objects.key(after.index)
    const answer = await this.#ask(client, node, ({ list }) => list?.(start), isCompared)
    if (!isCompared) return
    const keys = this.#system.dialect(node).keysOf(answer.kept)
    const isOrdered = keys.every((key, at) => key > (keys[at - 1] ?? start))
    if (keys.length !== LIST_KEYS || !isOrdered)
      throw new Error(`LIST after '${start}' gave ${keys.length} keys, expected ${LIST_KEYS} that ascend`)
  }

  close(): void {
    for (const socket of this.#sockets.values()) socket.close()
  }

  #isCompared(): boolean {
    const isCompared = this.#answers++ % this.#options.compareEach === 0
    if (isCompared) this.#compared++
    return isCompared
  }

  /** Many clients keep to one node each; a few take turns, so that it does not matter which node leads. */
  #nodeOf({ client, clients }: Client): number {
    const nodes = this.#system.endpoints.length
    if (this.#options.only !== null) return this.#options.only
    if (clients >= 2 * nodes) return client % nodes
    const turn = (this.#turns[client] ?? client) + 1
    this.#turns[client] = turn
    return turn % nodes
  }

  async #ask(
    { client }: Client,
    node: number,
    requestOf: (dialect: Dialect) => RaceRequest | undefined,
    keep = false,
  ): Promise<RaceAnswer> {
    const request = requestOf(this.#system.dialect(node))
    if (request === undefined) throw new Error(`${this.#system.name} has no such operation`)
    const answer = await this.#socket(client, node).ask(request, keep)
    if (answer.status !== request.status)
      throw new Error(`${request.head.slice(0, request.head.indexOf(' HTTP'))} gave ${answer.status}`)
    return answer
  }

  #socket(client: number, node: number): RaceSocket {
    const place = client * this.#system.endpoints.length + node
    let found = this.#sockets.get(place)
    if (found === undefined) {
      found = new RaceSocket(this.#system.endpoints[node] ?? '')
      this.#sockets.set(place, found)
    }
    return found
  }
}

/** One of the clients of a row. */
export interface Client {
  readonly client: number
  readonly clients: number
}

function wholeOf(objects: BenchObjects, index: number): Buffer {
  const [body = Buffer.alloc(0)] = objects.pieces(index)
  return body
}

function isSame(bytes: Buffer, objects: BenchObjects, index: number): boolean {
  if (bytes.length !== objects.size) return false
  let at = 0
  for (const piece of objects.pieces(index)) {
    if (!piece.equals(bytes.subarray(at, at + piece.length))) return false
    at += piece.length
  }
  return true
}
