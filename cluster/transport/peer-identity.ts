/**
 * The identities of sender and receiver: the headers on every request between nodes and the reasons to refuse it.
 *
 * Owns: names of the headers, refusal codes with their status (docs/formats/peer-protocol.md).
 * Knows nothing of: sockets, bodies. Rule: no part of a request is read before its identity was checked; the order of the checks is
 * the order of `checkIdentity`. A refusal quotes what the sender claims and never what this node is called: a prober learns no name.
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

/** The status that a node reports beside its name. The numbers only rise during the lifetime of a data directory. */
export interface PeerStatus {
  /** The number of the process on its data directory; rises from one process to the next. */
  readonly boot: number
  /** The earlier processes, starting with the last registered one; null or absent: not known. */
  readonly before?: readonly number[] | null
  /** Rises when the group was recovered without its majority: a node with a lower epoch did not take part. */
  readonly recoveryEpoch: number
  /** The highest feature level that its code knows. */
  readonly featureLevel: number
  /** The feature level of its state. */
  readonly stateLevel: number
  /** The last entry in its state; null or absent: not reported, or none. */
  readonly appliedIndex?: number | null
  /** Its clock at the time of the request; null or absent: not reported. */
  readonly clock?: ReportedClock | null
}

/** ms since 1970 UTC, whole. */
export interface ReportedClock {
  /** The sender's own clock. */
  readonly wall: number
  /** The time that the clocks of a majority have reached, as far as the sender knows; null: it does not know. */
  readonly majority: number | null
}

/** The status of a node without a peerStatus. */
export const FIRST_STATUS: PeerStatus = { boot: 1, recoveryEpoch: 0, featureLevel: 1, stateLevel: 1 }

export interface PeerClaims extends PeerStatus {
  readonly nodeId: NodeId
  readonly incarnation: string
}

/** Why a request is refused although the identity of its sender is proved. `expelled`: the receiver itself was removed. */
export interface PeerObjection {
  readonly code:
    | 'member_removed'
    | 'member_tombstoned'
    | 'member_rolled_back'
    | 'stale_epoch'
    | 'feature_level_too_high'
    | 'expelled'
    | 'shutting_down'
  readonly message: string
}

/** The node's own rules for accepting requests. Without `judge`, requests of every known node are accepted. */
export interface PeerPolicy {
  /** The status of this node; read for every request, so it may change. */
  peerStatus?(): PeerStatus
  /** Whether a node counts as known; by default every node whose address is known. */
  knows?(nodeId: NodeId): boolean
  /** Null: the request is accepted. */
  judge?(claims: PeerClaims): PeerObjection | null
}

export const REFUSAL_STATUS = {
  malformed_request: 400,
  malformed_frame: 400,
  unknown_member: 403,
  wrong_certificate: 403,
  unknown_method: 404,
  member_removed: 410,
  member_tombstoned: 410,
  member_rolled_back: 410,
  stale_epoch: 410,
  foreign_cluster: 412,
  frame_too_large: 413,
  wrong_node: 421,
  handler_refused: 422,
  unsupported_protocol: 426,
  feature_level_too_high: 426,
  internal: 500,
  expelled: 503,
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

export function identityHeaders(
  self: PeerIdentity,
  peerStatus: PeerStatus,
  to: NodeId,
): Record<string, string> {
  return {
    'content-type': 'application/x-holdfast-peer',
    'x-holdfast-protocol': PROTOCOL_VERSION,
    'x-holdfast-cluster': self.clusterId,
    'x-holdfast-from': self.nodeId,
    'x-holdfast-to': to,
    'x-holdfast-incarnation': self.incarnation,
    'x-holdfast-boot': String(peerStatus.boot),
    ...(peerStatus.before ? { 'x-holdfast-boots-before': peerStatus.before.join(' ') } : {}),
    'x-holdfast-recovery-epoch': String(peerStatus.recoveryEpoch),
    'x-holdfast-feature-level': String(peerStatus.featureLevel),
    'x-holdfast-state-level': String(peerStatus.stateLevel),
    ...(peerStatus.appliedIndex ? { 'x-holdfast-applied-index': String(peerStatus.appliedIndex) } : {}),
    ...(peerStatus.clock ? { 'x-holdfast-clock': clockText(peerStatus.clock) } : {}),
  }
}

function clockText({ wall, majority }: ReportedClock): string {
  return majority === null ? String(wall) : `${wall} ${majority}`
}

export interface IdentityRules {
  readonly self: PeerIdentity
  isMember(nodeId: NodeId): boolean
  /** Whether the connection proves the identity of this node. */
  certifies(nodeId: NodeId): boolean
  judge(claims: PeerClaims): PeerObjection | null
}

/** What the sender claims, once it is accepted, or the refusal of the request. */
export function checkIdentity(headers: IncomingHttpHeaders, rules: IdentityRules): PeerClaims | Refusal {
  const { self } = rules
  const protocol = single(headers, 'x-holdfast-protocol')
  if (protocol !== PROTOCOL_VERSION) {
    return refusal(
      'unsupported_protocol',
      `Protocol '${protocol}' is not supported, this node uses ${PROTOCOL_VERSION}`,
    )
  }
  const cluster = single(headers, 'x-holdfast-cluster')
  if (cluster !== self.clusterId)
    return refusal('foreign_cluster', `This node does not belong to cluster '${cluster}'`)
  const to = single(headers, 'x-holdfast-to')
  if (to !== self.nodeId) return refusal('wrong_node', `This node is not '${to}'`)
  const from = single(headers, 'x-holdfast-from')
  if (from === self.nodeId) return refusal('unknown_member', `Two nodes have the id ${from}`)
  if (!rules.isMember(from))
    return refusal('unknown_member', `Node '${from}' is not a member of this cluster`)
  if (!rules.certifies(from))
    return refusal(
      'wrong_certificate',
      `The certificate of the connection does not name node ${from} of this cluster: issue one that does, or correct node.id there`,
    )
  const claims = claimsOf(headers, from)
  if ('status' in claims) return claims
  const objection = rules.judge(claims)
  return objection === null ? claims : refusal(objection.code, objection.message)
}

/** The same for a later request of a connection whose sender was accepted: only what can have changed. Null: it is still accepted. */
export function checkAgain(claims: PeerClaims, rules: Omit<IdentityRules, 'certifies'>): Refusal | null {
  if (!rules.isMember(claims.nodeId))
    return refusal('unknown_member', `Node '${claims.nodeId}' is not a member of this cluster`)
  const changed = rules.judge(claims)
  return changed === null ? null : refusal(changed.code, changed.message)
}

function claimsOf(headers: IncomingHttpHeaders, nodeId: NodeId): PeerClaims | Refusal {
  const incarnation = single(headers, 'x-holdfast-incarnation')
  if (incarnation === '') return refusal('malformed_request', 'The incarnation is missing')
  const [boot, recoveryEpoch, featureLevel, stateLevel] = STATUS_HEADERS.map((name) => countIn(headers, name))
  if (
    boot === undefined ||
    recoveryEpoch === undefined ||
    featureLevel === undefined ||
    stateLevel === undefined
  )
    return refusal('malformed_request', `Each of ${STATUS_HEADERS.join(', ')} must be a count`)
  const before = bootsBefore(headers)
  if (before === undefined) return refusal('malformed_request', 'x-holdfast-boots-before must be counts')
  const clock = clockIn(headers)
  if (clock === undefined) return refusal('malformed_request', 'x-holdfast-clock must be one or two times')
  const appliedIndex = headers['x-holdfast-applied-index']
    ? countIn(headers, 'x-holdfast-applied-index')
    : null
  if (appliedIndex === undefined)
    return refusal('malformed_request', 'x-holdfast-applied-index must be a count')
  return {
    nodeId,
    incarnation,
    boot,
    before,
    recoveryEpoch,
    featureLevel,
    stateLevel,
    appliedIndex,
    clock,
  }
}

/** Null: not reported. Undefined: unreadable. */
function clockIn(headers: IncomingHttpHeaders): ReportedClock | null | undefined {
  const value = headers['x-holdfast-clock']
  if (value === undefined) return null
  if (typeof value !== 'string' || !/^\d{1,15}( \d{1,15})?$/.test(value)) return undefined
  const [wall = 0, majority = null] = value.split(' ').map(Number)
  return { wall, majority }
}

/** Null: not reported. Undefined: unreadable. */
function bootsBefore(headers: IncomingHttpHeaders): readonly number[] | null | undefined {
  const value = headers['x-holdfast-boots-before']
  if (value === undefined) return null
  if (typeof value !== 'string' || !/^(\d{1,16}( \d{1,16}){0,63})?$/.test(value)) return undefined
  return value === '' ? [] : value.split(' ').map(Number)
}

const STATUS_HEADERS = [
  'x-holdfast-boot',
  'x-holdfast-recovery-epoch',
  'x-holdfast-feature-level',
  'x-holdfast-state-level',
] as const

function countIn(headers: IncomingHttpHeaders, name: string): number | undefined {
  const text = single(headers, name)
  const count = /^\d{1,16}$/.test(text) ? Number(text) : NaN
  return Number.isSafeInteger(count) ? count : undefined
}

/** The name of the method, or the refusal of the request. */
export function checkMethod(
  httpMethod: string | undefined,
  url: string | undefined,
): { readonly method: string } | Refusal {
  const method = /^\/peer\/v1\/([a-z0-9._-]{1,64})$/.exec(url ?? '')?.[1]
  if (httpMethod === 'POST' && method !== undefined) return { method }
  return refusal('malformed_request', `Only POST ${PATH_PREFIX}<method> is supported`)
}

function single(headers: IncomingHttpHeaders, name: string): string {
  const value = headers[name]
  return typeof value === 'string' && value.length <= NODE_ID_LENGTH_MAX * 2 ? value : ''
}
