/**
 * Everything that goes to one peer: over frames, or over HTTP to a node of a version that does not know them.
 *
 * Owns: which of the two. Knows nothing of: sockets. Rule: frames are tried first. A peer that does not know them has
 * seen nothing of the request, so it is asked over HTTP at once. Some time later, or when the peer closes its connection, frames are tried again.
 */
import type { Clock } from '../base/clock.ts'
import type { Logger } from '../base/types.ts'
import { SpeaksHttpError } from './frame-dial.ts'
import { PeerClient, type PeerClientOptions } from './peer-client.ts'
import { type LaneName, PeerFrames, type PeerFramesOptions } from './peer-frames.ts'
import type { CallRequest, CallResponse } from './transport.ts'

export interface PeerLinkOptions extends PeerClientOptions, PeerFramesOptions {
  readonly clock: Clock
  readonly logger: Logger
  /** Whether this node asks over frames at all. */
  readonly triesFrames: boolean
}

/** How long an older peer is asked over HTTP before frames are tried again. ms */
const HTTP_MS = 10_000

export class PeerLink {
  readonly #options: PeerLinkOptions
  readonly #frames: PeerFrames
  #http: PeerClient | null = null
  /** clock.now() until which frames are not tried. */
  #httpUntil: number

  constructor(options: PeerLinkOptions) {
    this.#options = options
    this.#frames = new PeerFrames(options)
    this.#httpUntil = options.triesFrames ? -Infinity : Infinity
  }

  postBatch(batch: Uint8Array): Promise<void> {
    return this.#ask((way) => way.postBatch(batch))
  }

  call(method: string, request: CallRequest): Promise<CallResponse> {
    return this.#ask((way) => way.call(method, request))
  }

  /** Connections by lane. Count. */
  sizes(): Readonly<Record<LaneName, number>> {
    return this.#frames.sizes()
  }

  get speaksHttp(): boolean {
    return this.#options.clock.now() < this.#httpUntil
  }

  wake(): void {
    this.#frames.wake()
  }

  renew(): void {
    this.#frames.renew()
  }

  async close(): Promise<void> {
    this.#frames.close()
    await this.#http?.close()
  }

  async #ask<T>(ask: (way: Pick<PeerClient, 'postBatch' | 'call'>) => Promise<T>): Promise<T> {
    if (this.speaksHttp) return ask(this.#overHttp())
    try {
      return await ask(this.#frames)
    } catch (err) {
      if (!(err instanceof SpeaksHttpError)) throw err
    }
    const { clock, peer, logger } = this.#options
    if (!this.speaksHttp) logger.info({ peer }, 'peer does not know frames, it is asked over HTTP')
    this.#httpUntil = Math.max(this.#httpUntil, clock.now() + HTTP_MS)
    return ask(this.#overHttp())
  }

  #overHttp(): PeerClient {
    this.#http ??= new PeerClient({
      ...this.#options,
      onDisconnect: () => {
        // An upgrade restarts the peer, and that closes the connection.
        if (this.#options.triesFrames) this.#httpUntil = -Infinity
        this.#options.onDisconnect()
      },
    })
    return this.#http
  }
}
