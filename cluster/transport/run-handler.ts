/**
 * Runs the handler of a call and converts its errors.
 *
 * Owns: the rule by which an error of a handler reaches the caller, the same for sockets, loopback and calls to oneself.
 * Rule: a PeerRefusedError is sent unchanged; any other error is logged here, where its stack is known, and sent as `internal`.
 */
import type { NodeId } from '../raft/types.ts'
import type { Logger } from '../base/types.ts'
import {
  type CallHandler,
  type IncomingCall,
  type OutgoingAnswer,
  PeerRefusedError,
  PeerUnreachableError,
} from './transport.ts'

export interface HandlerContext {
  readonly self: NodeId
  readonly method: string
  readonly handler: CallHandler | undefined
  readonly logger: Logger
}

export async function runHandler(context: HandlerContext, call: IncomingCall): Promise<OutgoingAnswer> {
  const { self, method, handler, logger } = context
  if (handler === undefined)
    throw new PeerRefusedError('unknown_method', `Node ${self} does not answer '${method}'`)
  try {
    return await handler(call)
  } catch (err) {
    if (err instanceof PeerRefusedError) throw err
    const fields = { method, peer: call.from, err }
    if (err instanceof PeerUnreachableError) logger.warn(fields, 'call handler lost a peer')
    else logger.error(fields, 'call handler failed')
    throw new PeerRefusedError('internal', `Node ${self} failed to answer '${method}'; see its log`, {
      cause: err,
    })
  }
}
