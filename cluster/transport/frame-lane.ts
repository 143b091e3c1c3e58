/**
 * The connection to a peer for one kind of traffic: at most one that is in use, and at most one that is being opened.
 *
 * Owns: when a connection is opened, and the pause after a failure. Knows nothing of: what is asked.
 * Rule: a caller that asks while one is being opened waits for that one. A pause is short and bounded, and hearing from the peer ends it.
 */
import type { Timer } from '../base/clock.ts'
import { dial, type DialOptions } from './frame-dial.ts'
import { FrameConnection, type FrameConnectionOptions } from './frame-connection.ts'

export interface FrameLaneOptions
  extends Omit<DialOptions, 'timeoutMs' | 'handshakeMs'>,
    Omit<FrameConnectionOptions, 'socket' | 'onLeaving' | 'onClosed'> {
  readonly connectTimeoutMs: number
  /** A connection broke; what was under way on it may have arrived or not. */
  readonly onDisconnect: () => void
}

/** The first and the longest pause between two attempts. ms */
const PAUSE_MIN_MS = 10
const PAUSE_MAX_MS = 200

export class FrameLane {
  readonly #options: FrameLaneOptions
  /** The one in use, and those that end when everything on them is answered. */
  readonly #connections = new Set<FrameConnection>()
  #current: FrameConnection | null = null
  #opening: Promise<FrameConnection> | null = null
  #failures = 0
  #pause: { readonly timer: Timer; resolve(): void } | null = null
  #closed: Error | null = null

  constructor(options: FrameLaneOptions) {
    this.#options = options
  }

  /** Null: `open` it first. */
  get current(): FrameConnection | null {
    return this.#current
  }

  /** Connections that are open. Count. */
  get size(): number {
    return this.#connections.size
  }

  /** Rejects with SpeaksHttpError, PeerRefusedError or the reason. */
  open(): Promise<FrameConnection> {
    if (this.#closed !== null) return Promise.reject(this.#closed)
    if (this.#current !== null) return Promise.resolve(this.#current)
    this.#opening ??= this.#open().finally(() => (this.#opening = null))
    return this.#opening
  }

  /** Ends the pause. */
  wake(): void {
    const pause = this.#pause
    this.#pause = null
    pause?.timer.cancel()
    pause?.resolve()
  }

  /** What is asked from now on is asked on a new connection. */
  renew(): void {
    this.#current?.retire()
  }

  close(reason: Error): void {
    this.#closed = reason
    this.wake()
    for (const connection of this.#connections) connection.destroy(reason)
  }

  async #open(): Promise<FrameConnection> {
    await this.#waitAfterFailures()
    try {
      const connection = await this.#connect()
      this.#failures = 0
      this.#current = connection
      return connection
    } catch (err) {
      this.#failures++
      throw err
    }
  }

  async #waitAfterFailures(): Promise<void> {
    if (this.#failures === 0 || this.#closed !== null) return
    const ms = Math.min(PAUSE_MIN_MS * 2 ** Math.min(this.#failures - 1, 10), PAUSE_MAX_MS)
    await new Promise<void>((resolve) => {
      this.#pause = { timer: this.#options.clock.after(ms, () => this.wake()), resolve }
    })
  }

  async #connect(): Promise<FrameConnection> {
    const { connectTimeoutMs, helloTimeoutMs, onDisconnect } = this.#options
    const socket = await dial({
      ...this.#options,
      timeoutMs: connectTimeoutMs,
      handshakeMs: helloTimeoutMs,
    })
    const connection: FrameConnection = new FrameConnection({
      ...this.#options,
      socket,
      onLeaving: () => {
        if (this.#current === connection) this.#current = null
      },
      onClosed: (isOrderly) => {
        this.#connections.delete(connection)
        if (!isOrderly) onDisconnect()
      },
    })
    this.#connections.add(connection)
    if (this.#closed !== null) connection.destroy(this.#closed)
    await connection.greet()
    if (!connection.isOpen) throw this.#closed ?? new Error('The peer closed the connection at once')
    return connection
  }
}
