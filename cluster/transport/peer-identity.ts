/**
 * Who speaks to whom: the headers on every request between nodes and the reasons to refuse it.
 *
 * Owns: names of the headers, refusal codes with their status (docs/formats/peer-protocol.md).
 * Knows nothing of: sockets, bodies. Rule: nothing of a request is looked at before its identity fits; the order of the
 * checks is the order of `checkIdentity`.
 */
import type { IncomingHttpHeaders } from 'node:http'
import type { NodeId } from '../raft/types.ts'
import { NODE_ID_LENGTH_MAX } from './tuple-reader.ts'

export const PROTOCOL_VERSION = '1'
export const PATH_PREFIX = '/peer/v1/'
/** The method of the Raft lane; calls have other names. */
export const RAFT_METHOD = 'raft'

export interface PeerIdentity {
  readonly clusterId: string
  readonly nodeId: NodeId
  readonly incarnation: string
}

export const REFUSAL_STATUS = {
  malformed_request: 400,
  malformed_frame: 400,
  unknown_member: 403,
  wrong_certificate: 403,
  unknown_method: 404,
  member_tombstoned: 410,
  foreign_cluster: 412,
  frame_too_large: 413,
  wrong_node: 421,
  handler_refused: 422,
  unsupported_protocol: 426,
  internal: 500,
  shutting_down: 503,
} as const

export interface Refusal {
  readonly status: number
  readonly code: string
  readonly message: string
}

export function refusal(code: keyof typeof REFUSAL_STATUS, message: string): Refusal {
  return { status: REFUSAL_STATUS[code], code, message }
}

export function identityHeaders(self: PeerIdentity, to: NodeId): Record<string, string> {
  return {
    'content-type': 'application/x-holdfast-peer',
    'x-holdfast-protocol': PROTOCOL_VERSION,
    'x-holdfast-cluster': self.clusterId,
    'x-holdfast-from': self.nodeId,
    'x-holdfast-to': to,
    'x-holdfast-incarnation': self.incarnation,
  }
}

export interface IdentityRules {
  readonly self: PeerIdentity
  isMember(nodeId: NodeId): boolean
  /** The connection proves that it belongs to this node. */
  certifies(nodeId: NodeId): boolean
  acceptIncarnation(from: NodeId, incarnation: string): boolean
}

/** The sender, or why it is turned away. */
export function checkIdentity(headers: IncomingHttpHeaders, rules: IdentityRules): NodeId | Refusal {
  const { self } = rules
  const protocol = single(headers, 'x-holdfast-protocol')
  if (protocol !== PROTOCOL_VERSION) {
    return refusal(
      'unsupported_protocol',
      `Protocol '${protocol}' is not spoken here, ${PROTOCOL_VERSION} is`,
    )
  }
  const cluster = single(headers, 'x-holdfast-cluster')
  if (cluster !== self.clusterId)
    return refusal('foreign_cluster', `This node belongs to cluster ${self.clusterId}, not to '${cluster}'`)
  const to = single(headers, 'x-holdfast-to')
  if (to !== self.nodeId) return refusal('wrong_node', `This is node ${self.nodeId}, not '${to}'`)
  const from = single(headers, 'x-holdfast-from')
  if (from === self.nodeId) return refusal('unknown_member', `Two nodes call themselves ${from}`)
  if (!rules.isMember(from)) return refusal('unknown_member', `Node '${from}' is no member of this cluster`)
  if (!rules.certifies(from))
    return refusal('wrong_certificate', `The certificate of the connection does not name node ${from}`)
  const incarnation = single(headers, 'x-holdfast-incarnation')
  if (incarnation === '') return refusal('malformed_request', 'The incarnation is missing')
  if (!rules.acceptIncarnation(from, incarnation)) {
    return refusal('member_tombstoned', `Incarnation ${incarnation} of node ${from} was removed for good`)
  }
  return from
}

/** The name of the method, or why there is none. */
export function checkMethod(
  httpMethod: string | undefined,
  url: string | undefined,
): { readonly method: string } | Refusal {
  const method = /^\/peer\/v1\/([a-z0-9._-]{1,64})$/.exec(url ?? '')?.[1]
  if (httpMethod === 'POST' && method !== undefined) return { method }
  return refusal('malformed_request', `Only POST ${PATH_PREFIX}<method> is answered here`)
}

function single(headers: IncomingHttpHeaders, name: string): string {
  const value = headers[name]
  return typeof value === 'string' && value.length <= NODE_ID_LENGTH_MAX * 2 ? value : ''
}
