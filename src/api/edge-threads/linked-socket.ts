/**
 * A connection as the thread of the state sees it: the socket is on an edge thread.
 *
 * Owns: what is known of it here. Rule: it is closed when the other thread says so, or ends; a call here only asks for it.
 */
import { EventEmitter } from 'node:events'
import type { RawSocket } from '../raw/raw-pair.ts'
import type { Connected, ToEdge } from './thread-messages.ts'

export class LinkedSocket extends EventEmitter implements RawSocket {
  readonly remoteAddress: string
  readonly remotePort: number
  /** Fastify takes the protocol of a request from it. */
  readonly encrypted: boolean
  readonly connection: number
  readonly #send: (message: ToEdge) => void
  /** Of those that are not over. */
  readonly requests = new Set<number>()
  destroyed = false
  /** The connection ends with its answer, and the client may still send: see `Exchange`. */
  isLingering = false

  constructor(
    { connection, remoteAddress, remotePort, isEncrypted }: Connected,
    send: (message: ToEdge) => void,
  ) {
    super()
    this.connection = connection
    this.remoteAddress = remoteAddress
    this.remotePort = remotePort
    this.encrypted = isEncrypted
    this.#send = send
    // Each of its requests listens for the end, one after the other, and drops its listener later than the next one comes.
    this.setMaxListeners(0)
  }

  get writable(): boolean {
    return !this.destroyed
  }

  destroy(): this {
    if (this.destroyed) return this
    this.destroyed = true
    this.#send({ kind: 'destroy', connection: this.connection })
    return this
  }

  get destroySoon(): () => void {
    return () => this.destroy()
  }

  set destroySoon(_: () => void) {
    this.isLingering = true
  }

  end(text = ''): void {
    this.#send({ kind: 'say', connection: this.connection, text })
  }

  /** Which requests of a connection are read ahead is decided where it is. */
  isPaused(): boolean {
    return false
  }

  pause(): void {}

  resume(): void {}

  /** The other side of the link has closed it, or is gone. */
  onClosed(): void {
    this.destroyed = true
    this.emit('close')
  }
}
