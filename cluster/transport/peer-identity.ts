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

/** What a node says of itself beside its name. Numbers only rise in the life of a data directory. */
export interface PeerStanding {
  /** Names the process on its data directory; rises from one to the next. */
  readonly boot: number
  /** The processes before it, from the last one that was registered on; null or absent: not known. */
  readonly before?: readonly number[] | null
  /** Rises when the group was brought back without its majority: whoever stands at a lower one was left behind. */
  readonly recoveryEpoch: number
  /** The highest feature level that its code knows. */
  readonly featureLevel: number
  /** The feature level that its state is at. */
  readonly stateLevel: number
  /** The last entry in its state; null or absent: it does not say, or has none. */
  readonly appliedIndex?: number | null
  /** What its clock shows as it asks; null or absent: it does not say. */
  readonly clock?: ToldClock | null
}

/** ms since 1970 UTC, whole. */
export interface ToldClock {
  /** Of the sender's own clock. */
  readonly wall: number
  /** What a majority's clocks have reached, as far as the sender knows; null: it does not know. */
  readonly majority: number | null
}

/** Of a node that nobody gave a standing. */
export const FIRST_STANDING: PeerStanding = { boot: 1, recoveryEpoch: 0, featureLevel: 1, stateLevel: 1 }

export interface PeerClaims extends PeerStanding {
  readonly nodeId: NodeId
  readonly incarnation: string
}

/** Why a member is not heard although it is who it says. `expelled`: the receiver itself is not heard. */
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

/** The node's own part in who is heard. Everybody is heard without `judge`. */
export interface PeerPolicy {
  /** Of this node; asked for with every request, so it may change. */
  standing?(): PeerStanding
  /** Whose words are looked at at all; without it those whose address is known. */
  knows?(nodeId: NodeId): boolean
  /** Null: the sender is heard. */
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
  standing: PeerStanding,
  to: NodeId,
): Record<string, string> {
  return {
    'content-type': 'application/x-holdfast-peer',
    'x-holdfast-protocol': PROTOCOL_VERSION,
    'x-holdfast-cluster': self.clusterId,
    'x-holdfast-from': self.nodeId,
    'x-holdfast-to': to,
    'x-holdfast-incarnation': self.incarnation,
    'x-holdfast-boot': String(standing.boot),
    ...(standing.before ? { 'x-holdfast-boots-before': standing.before.join(' ') } : {}),
    'x-holdfast-recovery-epoch': String(standing.recoveryEpoch),
    'x-holdfast-feature-level': String(standing.featureLevel),
    'x-holdfast-state-level': String(standing.stateLevel),
    ...(standing.appliedIndex ? { 'x-holdfast-applied-index': String(standing.appliedIndex) } : {}),
    ...(standing.clock ? { 'x-holdfast-clock': clockText(standing.clock) } : {}),
  }
}

function clockText({ wall, majority }: ToldClock): string {
  return majority === null ? String(wall) : `${wall} ${majority}`
}

export interface IdentityRules {
  readonly self: PeerIdentity
  isMember(nodeId: NodeId): boolean
  /** The connection proves that it belongs to this node. */
  certifies(nodeId: NodeId): boolean
  judge(claims: PeerClaims): PeerObjection | null
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
    return refusal(
      'wrong_certificate',
      `The certificate of the connection does not name node ${from} of this cluster: issue one that does, or mend node.id there`,
    )
  const claims = claimsOf(headers, from)
  if ('status' in claims) return claims
  const objection = rules.judge(claims)
  return objection === null ? from : refusal(objection.code, objection.message)
}

function claimsOf(headers: IncomingHttpHeaders, nodeId: NodeId): PeerClaims | Refusal {
  const incarnation = single(headers, 'x-holdfast-incarnation')
  if (incarnation === '') return refusal('malformed_request', 'The incarnation is missing')
  const [boot, recoveryEpoch, featureLevel, stateLevel] = STANDING_HEADERS.map((name) =>
    countIn(headers, name),
  )
  if (
    boot === undefined ||
    recoveryEpoch === undefined ||
    featureLevel === undefined ||
    stateLevel === undefined
  )
    return refusal('malformed_request', `Each of ${STANDING_HEADERS.join(', ')} must be a count`)
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

/** Null: the sender does not say. Undefined: it cannot be read. */
function clockIn(headers: IncomingHttpHeaders): ToldClock | null | undefined {
  const value = headers['x-holdfast-clock']
  if (value === undefined) return null
  if (typeof value !== 'string' || !/^\d{1,15}( \d{1,15})?$/.test(value)) return undefined
  const [wall = 0, majority = null] = value.split(' ').map(Number)
  return { wall, majority }
}

/** Null: the sender does not say. Undefined: it cannot be read. */
function bootsBefore(headers: IncomingHttpHeaders): readonly number[] | null | undefined {
  const value = headers['x-holdfast-boots-before']
  if (value === undefined) return null
  if (typeof value !== 'string' || !/^(\d{1,16}( \d{1,16}){0,63})?$/.test(value)) return undefined
  return value === '' ? [] : value.split(' ').map(Number)
}

const STANDING_HEADERS = [
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
