/**
 * The contents of a certificate, for people and programs.
 *
 * Owns: the shape. Rule: from a file that also contains a key, only the certificates are shown.
 */
import { X509Certificate } from 'node:crypto'
import { alternativeNames, identityOf } from '../../../cluster/index.ts'
import { CommandError } from '../base/exit.ts'

export interface CertificateView {
  readonly subject: string
  readonly issuer: string
  readonly isAuthority: boolean
  /** From the holdfast URI, which peers check; null without one: peers then check the other names. */
  readonly clusterId: string | null
  readonly nodeId: string | null
  readonly names: readonly string[]
  readonly notBefore: string
  readonly notAfter: string
  readonly daysLeft: number
  readonly sha256: string
}

const DAY_MS = 86_400_000
const BLOCKS_MAX = 100

/** All certificates of a PEM text, in their order. Throws CommandError `no_certificate`. */
export function certificateViews(pem: string, file: string, now: number): readonly CertificateView[] {
  const blocks = pem.match(/-----BEGIN CERTIFICATE-----[^-]*-----END CERTIFICATE-----/g) ?? []
  try {
    if (blocks.length > 0 && blocks.length <= BLOCKS_MAX)
      return blocks.map((block) => viewOf(new X509Certificate(block), now))
  } catch (cause) {
    throw noCertificate(file, 'one in it is damaged', cause)
  }
  throw noCertificate(file, `it contains ${blocks.length} PEM certificates, expected 1 to ${BLOCKS_MAX}`)
}

export function viewOf(certificate: X509Certificate, now: number): CertificateView {
  const identity = identityOf(certificate)
  return {
    subject: onOneLine(certificate.subject),
    issuer: onOneLine(certificate.issuer),
    isAuthority: certificate.ca,
    clusterId: identity?.clusterId ?? null,
    nodeId: identity?.nodeId ?? null,
    names: (alternativeNames(certificate) ?? []).map(({ kind, value }) => `${kind}:${value}`),
    notBefore: certificate.validFromDate.toISOString(),
    notAfter: certificate.validToDate.toISOString(),
    daysLeft: Math.floor((certificate.validToDate.getTime() - now) / DAY_MS),
    sha256: certificate.fingerprint256,
  }
}

export function certificateText(view: CertificateView): string {
  const { nodeId, clusterId, names, notBefore, notAfter, daysLeft } = view
  const whom = nodeId === null ? `the CA of cluster ${clusterId}` : `node ${nodeId} of cluster ${clusterId}`
  const left = daysLeft < 0 ? 'expired' : `${daysLeft} days left`
  const rows = {
    subject: view.subject,
    issuer: view.issuer,
    identifies: clusterId === null ? 'the names below; it has no holdfast URI' : whom,
    names: names.length === 0 ? 'none' : names.join(', '),
    'valid from': notBefore,
    until: `${notAfter} (${left})`,
    sha256: view.sha256,
  }
  return Object.entries(rows)
    .map(([name, value]) => `${name.padEnd(12)}${value}\n`)
    .join('')
}

/** Node prints each part of a name on a line of its own. Control characters are replaced: the file may come from an unknown source. */
function onOneLine(name: string | undefined): string {
  return (name ?? '').replaceAll('\n', ', ').replace(/[^\x20-\x7e]/g, '?')
}

function noCertificate(file: string, why: string, cause?: unknown): CommandError {
  return new CommandError(`Cannot show '${file}': ${why}`, {
    code: 'no_certificate',
    hint: 'Name a PEM file such as ca.pem or n1.pem.',
    cause,
  })
}
