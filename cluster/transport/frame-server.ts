/**
 * Answers other nodes over connections of frames.
 *
 * Owns: all such connections, from the first byte to the last. Knows nothing of: what batches and calls mean.
 * Rule: nothing of a connection is read before its hello was accepted, and no connection can hold memory without a bound.
 */
import type { Socket } from 'node:net'
import { TLSSocket } from 'node:tls'
import type { Clock } from '../base/clock.ts'
import type { Logger } from '../base/types.ts'
import type { Message, NodeId } from '../raft/types.ts'
import { ServedConnection } from './served-connection.ts'
import type { IdentityRules } from './peer-identity.ts'
import type { PeerTls } from './peer-tls.ts'
import type { PeerTraffic } from './peer-traffic.ts'
import type { CallHandler } from './transport.ts'
import type { TurnEnd } from './turn-end.ts'

export interface FrameServerOptions {
  readonly rules: Omit<IdentityRules, 'certifies'>
  readonly tls: PeerTls | null
  readonly traffic: PeerTraffic
  readonly clock: Clock
  readonly turn: TurnEnd
  readonly logger: Logger
  readonly isStopping: () => boolean
  readonly handlerOf: (method: string) => CallHandler | undefined
  readonly onBatch: (messages: readonly Message[]) => void
  /** Something of this member has passed every check of its identity. */
  readonly onContact: (peer: NodeId) => void
}

export class FrameServer {
  readonly #options: FrameServerOptions
  readonly #connections = new Set<ServedConnection>()
  #onIdle: (() => void) | null = null

  constructor(options: FrameServerOptions) {
    this.#options = options
  }

  /** Nothing of the socket may have been read. */
  accept(socket: Socket): void {
    const { tls } = this.#options
    const connection: ServedConnection = new ServedConnection({
      ...this.#options,
      socket,
      certifies: (nodeId) => {
        if (tls === null) return true
        const certificate = socket instanceof TLSSocket ? socket.getPeerX509Certificate() : undefined
        return certificate !== undefined && tls.certifies(certificate, nodeId)
      },
      onIdle: () => this.#lookIfIdle(),
      onClosed: () => {
        this.#connections.delete(connection)
        this.#lookIfIdle()
      },
    })
    this.#connections.add(connection)
  }

  /** Calls that come from now on come on new connections. */
  leave(): void {
    for (const connection of this.#connections) connection.leave()
  }

  /** Resolves once no call is being answered. */
  async idle(): Promise<void> {
    if (this.#isIdle) return
    await new Promise<void>((resolve) => (this.#onIdle = resolve))
  }

  get #isIdle(): boolean {
    return [...this.#connections].every(({ calls }) => calls === 0)
  }

  #lookIfIdle(): void {
    if (this.#onIdle !== null && this.#isIdle) this.#onIdle()
  }
}
