/**
 * One call in progress between two nodes of a loopback network; it corresponds to a connection between real nodes.
 *
 * Owns: that both streams of the call break together, and at once. Knows nothing of: headers, delays.
 * Rule: a chunk moves only when its reader requests it, and is copied in transit; nothing is shared and nothing is buffered.
 */
import type { NodeId } from '../raft/types.ts'
import { raceAbort } from './deadline.ts'
import { type ByteStream, PeerUnreachableError } from './transport.ts'

/** An endless stream must let the virtual clock advance and other work run. Count. */
const CHUNKS_PER_MS = 16

export class LoopbackLink {
  readonly from: NodeId
  readonly to: NodeId
  /** Resolves one millisecond later. */
  readonly wait: () => Promise<void>
  readonly #broken = new AbortController()

  constructor({ from, to }: { from: NodeId; to: NodeId }, wait: () => Promise<void>) {
    this.from = from
    this.to = to
    this.wait = wait
  }

  /** Aborted with the reason once the link is broken. */
  get signal(): AbortSignal {
    return this.#broken.signal
  }

  touches(nodeId: NodeId): boolean {
    return this.from === nodeId || this.to === nodeId
  }

  break(reason: unknown): void {
    this.#broken.abort(reason)
  }

  /** The stream as the other end receives it. If it breaks, the error names `sender`; `onEnd` is called once. */
  carry(stream: ByteStream, sender: NodeId, onEnd: () => void = () => {}): CarriedStream {
    return new CarriedStream(this, stream[Symbol.asyncIterator](), { sender, onEnd })
  }
}

interface CarriedStreamOptions {
  readonly sender: NodeId
  readonly onEnd: () => void
}

export class CarriedStream implements ByteStream, AsyncIterator<Uint8Array, undefined> {
  readonly #link: LoopbackLink
  readonly #source: AsyncIterator<Uint8Array>
  readonly #options: CarriedStreamOptions
  #ended = false
  #carried = 0

  constructor(link: LoopbackLink, source: AsyncIterator<Uint8Array>, options: CarriedStreamOptions) {
    this.#link = link
    this.#source = source
    this.#options = options
  }

  async next(): Promise<IteratorResult<Uint8Array, undefined>> {
    if (this.#ended) return { done: true, value: undefined }
    const { sender } = this.#options
    try {
      this.#link.signal.throwIfAborted()
      const { done, value } = await raceAbort(this.#link.signal, this.#source.next())
      if (done !== true) {
        if (++this.#carried % CHUNKS_PER_MS === 0) await raceAbort(this.#link.signal, this.#link.wait())
        return { done: false, value: Uint8Array.from(value) }
      }
    } catch (cause) {
      this.#link.break(cause)
      this.#end()
      this.#letGo()
      throw new PeerUnreachableError(sender, `The stream from ${sender} broke off`, { cause })
    }
    this.#end()
    return { done: true, value: undefined }
  }

  async return(): Promise<IteratorResult<Uint8Array, undefined>> {
    if (!this.#ended) this.#letGo()
    this.#end()
    return { done: true, value: undefined }
  }

  [Symbol.asyncIterator](): this {
    return this
  }

  #end(): void {
    if (!this.#ended) this.#options.onEnd()
    this.#ended = true
  }

  /** Not awaited: a source that is inside `next` answers only when that has settled. */
  #letGo(): void {
    const { sender } = this.#options
    Promise.resolve(this.#source.return?.()).catch((cause: unknown) => {
      this.#link.break(new PeerUnreachableError(sender, `The source of ${sender} did not close`, { cause }))
    })
  }
}
