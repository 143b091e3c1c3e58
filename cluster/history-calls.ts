/**
 * The recent history of all members: this node asks each of them, and answers each that asks.
 *
 * Owns: the `history.read` call, its time limit and its bound. Knows nothing of: what the bytes say. Rule: a member that does not answer, or is of a version
 * that does not know the call, costs ASK_MS_MAX at most and does not affect the answers of the others.
 */
import type { Clock } from './base/clock.ts'
import { HISTORY_BYTES_MAX, type Histories, type NodeHistory } from './base/history-port.ts'
import type { Logger, NodeId } from './base/types.ts'
import { collectBody } from './transport/collect-body.ts'
import { Deadline } from './transport/deadline.ts'
import { PeerRefusedError, type PeerCalls } from './transport/transport.ts'

const HISTORY_METHOD = 'history.read'
const ASK_MS_MAX = 2_000

export interface HistoryCallsParts {
  readonly nodeId: NodeId
  readonly members: () => readonly NodeId[]
  readonly transport: PeerCalls
  readonly clock: Clock
  readonly logger: Logger
}

export class HistoryCalls implements Histories {
  readonly #parts: HistoryCallsParts
  #own: (() => Uint8Array) | null = null

  /** Before the transport's start. */
  constructor(parts: HistoryCallsParts) {
    this.#parts = parts
    parts.transport.handle(HISTORY_METHOD, async () => {
      if (this.#own === null) throw new PeerRefusedError('not_ready', 'This node has no history yet')
      return { header: null, body: this.#own() }
    })
  }

  open(own: () => Uint8Array): void {
    this.#own = own
  }

  all(): Promise<readonly NodeHistory[]> {
    return Promise.all(
      this.#parts.members().map(async (nodeId) => ({ nodeId, bytes: await this.#ask(nodeId) })),
    )
  }

  async #ask(nodeId: NodeId): Promise<Uint8Array | null> {
    const { clock, logger } = this.#parts
    if (nodeId === this.#parts.nodeId) return this.#own?.() ?? null
    // The time limit of a call ends with the head of its answer; this one ends with the body.
    const deadline = new Deadline({ clock, timeoutMs: ASK_MS_MAX })
    try {
      return await deadline.race(this.#read(nodeId, deadline.signal))
    } catch (err) {
      logger.debug({ err, peer: nodeId }, 'no history from this member')
      return null
    } finally {
      deadline.release()
    }
  }

  async #read(nodeId: NodeId, signal: AbortSignal): Promise<Uint8Array> {
    const asked = { header: null, timeoutMs: ASK_MS_MAX, signal }
    const { body } = await this.#parts.transport.call(nodeId, HISTORY_METHOD, asked)
    return collectBody(body, HISTORY_BYTES_MAX)
  }
}
