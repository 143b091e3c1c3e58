/** Who is to be taken in, as an operator names it and as it answers. */
import type { MembershipPort } from '../../../cluster/index.ts'
import { Refusal } from '../../base/refusal.ts'
import type { NewMember } from '../../state-machine/members/records.ts'
import type { Operation } from '../base/operation.ts'
import { askNewcomer, gate } from './member-statuses.ts'

/** Codes that operations answer which take a node in. */
export const NEWCOMER_REFUSALS: Operation['refuses'] = [
  'member_exists',
  'address_in_use',
  'member_tombstoned',
  'foreign_cluster',
  'data_not_empty',
]

export interface NewcomerRequest {
  readonly nodeId: string
  /** host:port */
  readonly peerAddress: string
  readonly dataAddress?: string
  readonly adminAddress?: string
  readonly zone?: string
  readonly weight?: number
  /** Of the certificate that the operator read at the node: it must be the one that the node shows here. */
  readonly fingerprint?: string
}

/** Who answered at that address. */
export interface SeenNewcomer {
  readonly nodeId: string
  readonly incarnation: string
  readonly peerAddress: string
  readonly version: string
  /** SHA-256 of the certificate that it showed to the asked node, as openssl writes it; null: nodes speak without TLS. */
  readonly fingerprint: string | null
}

export interface Newcomer {
  readonly member: NewMember
  readonly seen: SeenNewcomer
}

export const NODE_ID = /^[A-Za-z0-9][A-Za-z0-9._-]{0,62}$/
/** host:port, the port from 1 to 65535. */
export const NODE_ADDRESS =
  /^(\[[0-9A-Fa-f:.]+\]|[A-Za-z0-9.-]+):([1-9][0-9]{0,3}|[1-5][0-9]{4}|6[0-4][0-9]{3}|65[0-4][0-9]{2}|655[0-2][0-9]|6553[0-5])$/

/** Throws Refusal invalid_request when name or address cannot be those of a node. */
export function requireForm({ nodeId, peerAddress }: NewcomerRequest): void {
  if (!NODE_ID.test(nodeId))
    throw new Refusal(
      'invalid_request',
      '"nodeId" has 1 to 63 letters, digits, dots, hyphens and underscores',
    )
  if (!NODE_ADDRESS.test(peerAddress))
    throw new Refusal('invalid_request', '"peerAddress" is host:port, such as 10.0.0.4:9002')
}

/** Throws Refusal. */
export async function newcomerOf(membership: MembershipPort, requested: NewcomerRequest): Promise<Newcomer> {
  const {
    nodeId,
    peerAddress,
    dataAddress = null,
    adminAddress = null,
    zone = 'default',
    weight = 1,
  } = requested
  const { incarnation, version, fingerprint = null } = await askNewcomer(membership, requested)
  requireFingerprint(requested, fingerprint)
  const member = { nodeId, peerAddress, dataAddress, adminAddress, zone, weight, incarnation, version }
  return { member, seen: { nodeId, incarnation, peerAddress, version, fingerprint } }
}

/** Of a node that was taken in already. Throws Refusal when it shows another certificate now than the operator expects. */
export async function requireCertificate(
  membership: MembershipPort,
  requested: NewcomerRequest,
): Promise<void> {
  if (requested.fingerprint === undefined) return
  const said = await membership.newcomer(requested.nodeId, requested.peerAddress, false)
  if (typeof said !== 'string') requireFingerprint(requested, said.fingerprint ?? null)
}

/** In a few words, for the audit log. */
export function seenText({ nodeId, fingerprint }: SeenNewcomer): string {
  return fingerprint === null ? `${nodeId} waits` : `${nodeId} waits with certificate ${fingerprint}`
}

/** Throws Refusal when another certificate was shown than the operator expects. */
function requireFingerprint(
  { nodeId, peerAddress, fingerprint }: NewcomerRequest,
  shown: string | null,
): void {
  if (fingerprint === undefined || hexOf(fingerprint) === hexOf(shown ?? '')) return
  const cannot = `Cannot take in "${nodeId}" at ${peerAddress}`
  const instead = shown === null ? 'none' : `that with fingerprint ${shown}`
  throw gate(
    'certificate_mismatch',
    `${cannot}: it should show the certificate with fingerprint ${fingerprint}, and shows ${instead}; look at both machines before you take it in`,
  )
}

/** With and without colons, in large and small letters: they are read and typed by people. */
const hexOf = (fingerprint: string): string => fingerprint.replaceAll(':', '').toLowerCase()
