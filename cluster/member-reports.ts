/**
 * What all members report of themselves, as bytes: this node asks each of them, and answers each that asks.
 *
 * Owns: the calls of one kind of report, their time limit and their bound. Knows nothing of: what the bytes say. Rule: a member that does not answer, or is of a
 * version that does not know the call, costs the time limit at most and does not affect the answers of the others.
 */
import type { Clock } from './base/clock.ts'
import type { NodeReport, ReportKind, Reports } from './base/report-port.ts'
import type { Logger, NodeId } from './base/types.ts'
import { collectBody } from './transport/collect-body.ts'
import { Deadline } from './transport/deadline.ts'
import { PeerRefusedError, type PeerCalls } from './transport/transport.ts'

export interface MemberReportsParts {
  readonly nodeId: NodeId
  readonly members: () => readonly NodeId[]
  readonly transport: PeerCalls
  readonly clock: Clock
  readonly logger: Logger
}

export class MemberReports implements Reports {
  readonly #kind: ReportKind
  readonly #parts: MemberReportsParts
  #own: (() => Uint8Array | Promise<Uint8Array>) | null = null

  /** Before the transport's start. */
  constructor(kind: ReportKind, parts: MemberReportsParts) {
    this.#kind = kind
    this.#parts = parts
    parts.transport.handle(kind.method, async () => ({ header: null, body: await this.#ownReport() }))
  }

  open(own: () => Uint8Array | Promise<Uint8Array>): void {
    this.#own = own
  }

  all(): Promise<readonly NodeReport[]> {
    return Promise.all(this.#parts.members().map((nodeId) => this.#ask(nodeId)))
  }

  async #ask(nodeId: NodeId): Promise<NodeReport> {
    const { clock, logger } = this.#parts
    const { method, askMsMax } = this.#kind
    // The time limit of a call ends with the head of its answer; this one ends with the body.
    const deadline = new Deadline({ clock, timeoutMs: askMsMax })
    try {
      const bytes = await deadline.race(
        nodeId === this.#parts.nodeId ? this.#ownReport() : this.#read(nodeId, deadline.signal),
      )
      return { nodeId, bytes, why: null }
    } catch (err) {
      logger.debug({ err, peer: nodeId, method }, 'no report from this member')
      const isUnknown = err instanceof PeerRefusedError && err.code === 'unknown_method'
      return { nodeId, bytes: null, why: isUnknown ? 'unsupported' : 'unreachable' }
    } finally {
      deadline.release()
    }
  }

  async #ownReport(): Promise<Uint8Array> {
    if (this.#own === null) throw new PeerRefusedError('not_ready', 'This node has no report yet')
    return this.#own()
  }

  async #read(nodeId: NodeId, signal: AbortSignal): Promise<Uint8Array> {
    const { method, bytesMax, askMsMax } = this.#kind
    const { body } = await this.#parts.transport.call(nodeId, method, {
      header: null,
      timeoutMs: askMsMax,
      signal,
    })
    return collectBody(body, bytesMax)
  }
}
