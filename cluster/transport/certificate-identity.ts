/**
 * Whom a certificate speaks for.
 *
 * Owns: the URI that holds cluster and node, and the older way without one (docs/formats/peer-protocol.md).
 * Knows nothing of: files, sockets.
 * Rule: a certificate with such a URI speaks for that node of that cluster and for nobody else, whatever its other names
 * are; they are for clients, and one of them may be the id of another member.
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
  /** As OpenSSL writes them: `DNS`, `IP Address`, `URI`. */
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

/** The certificate is good, and of somebody else. */
export class CertificateNameError extends Error {
  readonly code: 'foreign_cluster' | 'certificate_of_another'
  constructor(code: CertificateNameError['code'], message: string) {
    super(message)
    this.name = 'CertificateNameError'
    this.code = code
  }
}

/** Undefined: it is the certificate of this node. */
export function nameFault(
  certificate: X509Certificate,
  claimed: ClaimedIdentity,
): CertificateNameError | undefined {
  if (certificateNames(certificate, claimed)) return undefined
  const { clusterId, nodeId } = claimed
  const found = identityOf(certificate)
  const there = `The certificate at the address of node ${nodeId}`
  if (found === null) return new CertificateNameError('certificate_of_another', `${there} does not name it`)
  if (found.clusterId !== clusterId)
    return new CertificateNameError('foreign_cluster', `${there} is of another cluster, ${found.clusterId}`)
  return new CertificateNameError('certificate_of_another', `${there} names node ${found.nodeId ?? 'none'}`)
}

/** null: there is no URI of ours in it, or more than one. */
export function identityOf(certificate: X509Certificate): CertifiedIdentity | null {
  const [uri, ...others] = (alternativeNames(certificate) ?? []).filter(isIdentity)
  const parts = others.length === 0 ? IDENTITY.exec(uri?.value ?? '') : null
  return parts === null ? null : { clusterId: parts[1] ?? '', nodeId: parts[2] ?? null }
}

/** null: the list is written in a way that could be read in two; who has such a certificate is nobody. */
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
  // A leading dot would ask OpenSSL for any subdomain.
  if (nodeId.startsWith('.')) return false
  return certificate.checkHost(nodeId, { subject: 'always', wildcards: false }) !== undefined
}
