/**
 * The identity that a certificate proves.
 *
 * Owns: the URI with cluster and node, and the older form without it (docs/formats/peer-protocol.md).
 * Knows nothing of: files, sockets.
 * Rule: a certificate with such a URI proves the identity of that node of that cluster and no other. Its other names do not count:
 * they are for clients, and one of them may be the id of another member.
 */
import type { X509Certificate } from 'node:crypto'
import type { NodeId } from '../raft/types.ts'

export interface CertifiedIdentity {
  readonly clusterId: string
  /** null: the authority of the cluster. */
  readonly nodeId: NodeId | null
}

export interface ClaimedIdentity {
  readonly clusterId: string
  readonly nodeId: NodeId
}

export interface AlternativeName {
  /** In the format of OpenSSL: `DNS`, `IP Address`, `URI`. */
  readonly kind: string
  readonly value: string
}

const SCHEME = 'holdfast:'
const IDENTITY = /^holdfast:\/\/([A-Za-z0-9-]{1,128})(?:\/([a-z0-9-]{1,64}))?$/

export const clusterUri = (clusterId: string): string => `${SCHEME}//${clusterId}`

export const nodeUri = ({ clusterId, nodeId }: ClaimedIdentity): string => `${SCHEME}//${clusterId}/${nodeId}`

export function certificateNames(certificate: X509Certificate, claimed: ClaimedIdentity): boolean {
  const names = alternativeNames(certificate)
  if (names === null) return false
  const uris = names.filter(isIdentity)
  if (uris.length > 0) return uris.length === 1 && uris[0]?.value === nodeUri(claimed)
  return hasName(certificate, claimed.nodeId)
}

/** The certificate is valid, but belongs to another node. */
export class CertificateNameError extends Error {
  readonly code: 'foreign_cluster' | 'certificate_of_another'
  constructor(code: CertificateNameError['code'], message: string) {
    super(message)
    this.name = 'CertificateNameError'
    this.code = code
  }
}

/** Undefined: the certificate names `claimed`. */
export function nameFault(
  certificate: X509Certificate,
  claimed: ClaimedIdentity,
): CertificateNameError | undefined {
  if (certificateNames(certificate, claimed)) return undefined
  const { clusterId, nodeId } = claimed
  const found = identityOf(certificate)
  const subject = `The certificate at the address of node ${nodeId}`
  if (found === null)
    return new CertificateNameError('certificate_of_another', `${subject} does not name that node`)
  if (found.clusterId !== clusterId)
    return new CertificateNameError(
      'foreign_cluster',
      `${subject} belongs to another cluster, ${found.clusterId}`,
    )
  return new CertificateNameError('certificate_of_another', `${subject} names node ${found.nodeId ?? 'none'}`)
}

/** null: the certificate has no Holdfast URI, or more than one. */
export function identityOf(certificate: X509Certificate): CertifiedIdentity | null {
  const [uri, ...others] = (alternativeNames(certificate) ?? []).filter(isIdentity)
  const parts = others.length === 0 ? IDENTITY.exec(uri?.value ?? '') : null
  return parts === null ? null : { clusterId: parts[1] ?? '', nodeId: parts[2] ?? null }
}

/** null: the list is ambiguous; such a certificate proves no identity. */
export function alternativeNames({
  subjectAltName: text,
}: Pick<X509Certificate, 'subjectAltName'>): readonly AlternativeName[] | null {
  if (text === undefined) return []
  const names: AlternativeName[] = []
  // Node quotes a value that holds a comma, a quote or a control character.
  const name = /([A-Za-z0-9 ]+):("(?:[^"\\]|\\.)*"|[^,"]*)(?:, |$)/y
  while (name.lastIndex < text.length) {
    const found = name.exec(text)
    if (found === null) return null
    names.push({ kind: found[1] ?? '', value: found[2] ?? '' })
  }
  return names
}

const isIdentity = ({ kind, value }: AlternativeName): boolean =>
  kind === 'URI' && /^"?holdfast:/i.test(value)

/** A DNS entry or the common name equals the node id. No wildcards: a name that fits many nodes is no identity. */
function hasName(certificate: X509Certificate, nodeId: NodeId): boolean {
  // With a leading dot, OpenSSL would accept any subdomain.
  if (nodeId.startsWith('.')) return false
  return certificate.checkHost(nodeId, { subject: 'always', wildcards: false }) !== undefined
}
