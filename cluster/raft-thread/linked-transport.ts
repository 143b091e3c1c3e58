/**
 * Calls to peers from the thread that has no sockets.
 *
 * Owns: the handlers of this side. Knows nothing of: connections. Rules: the guarantees are those of PeerCalls; a call of this node to a method
 * of this side never crosses.
 */
import type { Clock } from '../base/clock.ts'
import type { Logger, NodeId } from '../base/types.ts'
import { callSelf } from '../transport/call-self.ts'
import {
  type CallHandler,
  type CallRequest,
  type CallResponse,
  type PeerCalls,
  PeerRefusedError,
  PeerUnreachableError,
} from '../transport/transport.ts'
import { sentBody } from './link-body.ts'
import type { Link } from './link.ts'
import type { RaftCalls } from './raft-calls.ts'

export interface LinkedTransportParts {
  readonly nodeId: NodeId
  readonly link: Link<RaftCalls>
  readonly clock: Clock
  readonly logger: Logger
  readonly handlers: Map<string, CallHandler>
}

const CALL_MS = 10_000

export class LinkedTransport implements PeerCalls {
  readonly #parts: LinkedTransportParts

  constructor(parts: LinkedTransportParts) {
    this.#parts = parts
  }

  get handlers(): Map<string, CallHandler> {
    return this.#parts.handlers
  }

  handle(method: string, handler: CallHandler): void {
    this.#parts.handlers.set(method, handler)
  }

  async call(to: NodeId, method: string, request: CallRequest): Promise<CallResponse> {
    const { nodeId, link, clock, logger, handlers } = this.#parts
    const { header, body, signal, timeoutMs } = request
    const handler = handlers.get(method)
    if (to === nodeId && handler !== undefined) {
      const context = { self: nodeId, method, handler, logger }
      return callSelf(context, { request, clock, timeoutMs: timeoutMs ?? CALL_MS })
    }
    try {
      const call = { to, method, header, body: sentBody(link, body), timeoutMs: timeoutMs ?? null }
      const answer = await link.call('peerCall', call, signal)
      const { stream, certificate } = answer
      return { header: answer.header, body: link.receiveStream(stream), certificate }
    } catch (cause) {
      if (cause instanceof PeerRefusedError || cause instanceof PeerUnreachableError) throw cause
      throw new PeerUnreachableError(to, `Cannot call ${method} on ${to}: this node is stopping`, { cause })
    }
  }
}
