/**
 * The messages of a turn, which leave as one, with their bytes.
 *
 * Owns: when they leave, and in which buffers. Knows nothing of: what they mean.
 * Rule: a view is never cloned as it is, because a clone of a view takes all the bytes of its buffer along; so small ones are copied into one
 * buffer, and those that fill a buffer of their own are moved with it: the sender gives them away.
 */

/** Views of this size have a buffer of their own, whose memory is free as soon as their reader is done. Bytes */
export const OWN_BUFFER_FROM_BYTES = 16 * 1024

interface Message {
  readonly kind: string
  readonly bytes?: unknown
}

export interface Batch<M> {
  readonly messages: readonly M[]
  /** Hold every view in the messages. */
  readonly buffers: readonly ArrayBuffer[]
}

export class Outbox<M extends Message> {
  readonly #post: (batch: Batch<M>) => void
  #messages: M[] = []
  #beforeLeaving: (() => void)[] = []
  #isAwaiting = false

  constructor(post: (batch: Batch<M>) => void) {
    this.#post = post
  }

  send(message: M): void {
    this.#awaitTurnEnd()
    this.#messages.push(message)
  }

  /** Runs at the end of the turn, before its messages leave; what it sends leaves with them. */
  beforeLeaving(callback: () => void): void {
    this.#awaitTurnEnd()
    this.#beforeLeaving.push(callback)
  }

  #awaitTurnEnd(): void {
    if (this.#isAwaiting) return
    this.#isAwaiting = true
    setImmediate(() => this.#leave())
  }

  #leave(): void {
    const callbacks = this.#beforeLeaving
    this.#beforeLeaving = []
    for (const callback of callbacks) callback()
    const messages = this.#messages
    this.#messages = []
    this.#isAwaiting = false
    if (this.#beforeLeaving.length > 0) this.#awaitTurnEnd()
    if (messages.length > 0) this.#post(batchOf(messages))
  }
}

function ownedBytes(bytes: Uint8Array): Uint8Array<ArrayBuffer> {
  const { buffer } = bytes
  return buffer instanceof ArrayBuffer && buffer.byteLength === bytes.length
    ? new Uint8Array(buffer)
    : new Uint8Array(bytes)
}

/** `messages`: their bytes are read now, or moved. */
export function batchOf<M extends Message>(messages: readonly M[]): Batch<M> {
  let shared = 0
  let isAny = false
  for (const { bytes } of messages) {
    if (!(bytes instanceof Uint8Array)) continue
    isAny = true
    if (bytes.length < OWN_BUFFER_FROM_BYTES) shared += bytes.length
  }
  if (!isAny) return { messages, buffers: [] }
  const buffer = new ArrayBuffer(shared)
  const buffers = [buffer]
  let at = 0
  const moved = messages.map((message) => {
    const { bytes } = message
    if (!(bytes instanceof Uint8Array)) return message
    if (bytes.length >= OWN_BUFFER_FROM_BYTES) {
      const own = ownedBytes(bytes)
      buffers.push(own.buffer)
      return { ...message, bytes: own }
    }
    const view = new Uint8Array(buffer, at, bytes.length)
    view.set(bytes)
    at += bytes.length
    return { ...message, bytes: view }
  })
  return { messages: moved, buffers }
}
