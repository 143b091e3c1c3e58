/**
 * Requests to one peer over frames: messages of Raft and short calls over one connection, bodies over another.
 *
 * Owns: the two lanes, which call goes over which, the certificate that the peer presents. Knows nothing of: HTTP, queues.
 * Rule: bulk data never delays a heartbeat. SpeaksHttpError means that nothing was sent of a call; any other outcome is reported.
 */
import type { Clock } from '../base/clock.ts'
import type { PeerAddress } from '../base/types.ts'
import type { NodeId } from '../raft/types.ts'
import type { AddressMemory } from './address-memory.ts'
import { Deadline } from './deadline.ts'
import { encodeHeader } from './frame.ts'
import type { FrameConnection } from './frame-connection.ts'
import { SpeaksHttpError } from './frame-dial.ts'
import { FrameLane } from './frame-lane.ts'
import type { PeerIdentity, PeerStatus } from './peer-identity.ts'
import type { PeerClientLimits } from './peer-client.ts'
import type { PeerTls } from './peer-tls.ts'
import type { PeerTraffic } from './peer-traffic.ts'
import { type CallRequest, type CallResponse, PeerRefusedError, PeerUnreachableError } from './transport.ts'
import type { TurnEnd } from './turn-end.ts'

export interface PeerFramesOptions {
  readonly self: PeerIdentity
  readonly peerStatus: () => PeerStatus
  readonly peer: NodeId
  readonly address: PeerAddress
  readonly tls: PeerTls | null
  readonly names: AddressMemory
  readonly clock: Clock
  readonly turn: TurnEnd
  readonly traffic: PeerTraffic
  readonly limits: PeerClientLimits
  /** Whether answers to this method are short and wanted at once. */
  readonly isShort: (method: string) => boolean
  /** The connection for batches broke or was closed: the outcome of batches in flight is unknown. */
  readonly onDisconnect: () => void
}

export type LaneName = 'short' | 'bulk'

/** Shorter than the server's, so that the server never closes a connection while a call is in flight on it. ms */
const KEEP_ALIVE_MS = 30_000

export class PeerFrames {
  readonly #options: PeerFramesOptions
  readonly #lanes: Readonly<Record<LaneName, FrameLane>>
  #callsRunning = 0

  constructor(options: PeerFramesOptions) {
    this.#options = options
    const { limits, onDisconnect } = options
    const common = {
      ...options,
      connectTimeoutMs: limits.connectTimeoutMs,
      helloTimeoutMs: limits.callTimeoutMs,
      bodyIdleMs: limits.bodyIdleMs,
      idleMs: KEEP_ALIVE_MS,
      numbersMax: limits.numbersMax,
    }
    const { batchTimeoutMs, callTimeoutMs } = limits
    this.#lanes = {
      short: new FrameLane({
        ...common,
        silentMs: batchTimeoutMs,
        onDisconnect,
      }),
      bulk: new FrameLane({
        ...common,
        silentMs: callTimeoutMs,
        onDisconnect: () => {},
      }),
    }
  }

  async postBatch(batch: Uint8Array): Promise<void> {
    const { short } = this.#lanes
    await (short.current ?? (await this.#openForBatch())).postBatch(batch)
  }

  async call(method: string, request: CallRequest): Promise<CallResponse> {
    const { limits, peer, isShort } = this.#options
    if (this.#callsRunning >= limits.callsMax)
      throw new PeerUnreachableError(peer, `More than ${limits.callsMax} calls to ${peer} are waiting`)
    const header = encodeHeader(request.header)
    const lane = this.#lanes[isShort(method) ? 'short' : 'bulk']
    const timeoutMs = request.timeoutMs ?? limits.callTimeoutMs
    this.#callsRunning++
    try {
      const answer =
        lane.current === null
          ? await this.#callSoon({ lane, method, header, timeoutMs }, request)
          : await lane.current.call(method, header, request, timeoutMs)
      return { ...answer, certificate: this.#certificate() }
    } finally {
      this.#callsRunning--
    }
  }

  /** Connections by lane. Count. */
  sizes(): Readonly<Record<LaneName, number>> {
    return { short: this.#lanes.short.size, bulk: this.#lanes.bulk.size }
  }

  wake(): void {
    for (const lane of Object.values(this.#lanes)) lane.wake()
  }

  /** The certificate of this node was replaced. */
  renew(): void {
    for (const lane of Object.values(this.#lanes)) lane.renew()
  }

  /** All calls in flight fail at once. */
  close(): void {
    for (const lane of Object.values(this.#lanes)) lane.close(new Error('This node closed its connections'))
  }

  /** A batch does not wait longer than it is worth; the connection continues to open. */
  async #openForBatch(): Promise<FrameConnection> {
    const { clock, limits } = this.#options
    const deadline = new Deadline({ clock, timeoutMs: limits.batchTimeoutMs })
    try {
      return await deadline.race(this.#lanes.short.open())
    } finally {
      deadline.release()
    }
  }

  /** First a connection, within the time limit of the call. */
  async #callSoon(
    {
      lane,
      method,
      header,
      timeoutMs,
    }: { lane: FrameLane; method: string; header: Uint8Array; timeoutMs: number },
    request: CallRequest,
  ): Promise<CallResponse> {
    const { clock } = this.#options
    const startedAt = clock.now()
    const deadline = new Deadline({ clock, timeoutMs, signal: request.signal })
    let connection: FrameConnection
    try {
      connection = await deadline.race(lane.open())
    } catch (cause) {
      throw this.#explain(method, cause)
    } finally {
      deadline.release()
    }
    return connection.call(method, header, request, Math.max(1, timeoutMs - (clock.now() - startedAt)))
  }

  /** Null: none, or not the same on both connections. */
  #certificate(): string | null {
    const shown = new Set(
      Object.values(this.#lanes).flatMap(({ current }) => (current === null ? [] : [current.certificate])),
    )
    const [certificate = null, ...others] = shown
    return others.length === 0 ? certificate : null
  }

  #explain(method: string, cause: unknown): Error {
    if (cause instanceof SpeaksHttpError || cause instanceof PeerRefusedError) return cause
    const { peer, traffic } = this.#options
    traffic.add(peer, 'failures')
    const why = cause instanceof Error ? cause.message : String(cause)
    return new PeerUnreachableError(peer, `Call ${method} to ${peer} failed: ${why}`, { cause })
  }
}
