/**
 * Judges the authorities that sign certificates of clients, `data_tls.client_ca` and `admin_tls.client_ca`.
 *
 * Owns: the judgement. Knows nothing of: files; their contents are passed in.
 * Rule: it is an error where no certificate of a client can count; what a file holds beside a good authority is a warning.
 */
import { type CertificateFacts, checkDates } from './certificate-dates.ts'
import { error, type Finding, warning } from './finding.ts'

export interface ClientAuthorityFacts {
  /** The setting that names the file. */
  readonly setting: string
  readonly path: string
  readonly certificates: readonly (CertificateFacts & {
    readonly subject: string
    readonly isAuthority: boolean
    /** It is in peer_tls.ca too. */
    readonly signsNodes: boolean
  })[]
}

export function checkClientAuthorities(
  { setting, path, certificates }: ClientAuthorityFacts,
  now: number,
): readonly Finding[] {
  const isGood = ({ isAuthority, validFrom, validTo }: (typeof certificates)[number]): boolean =>
    isAuthority && now >= validFrom && now < validTo
  const problem = certificates.some(isGood) ? warning : error
  const name = `${setting} (${path})`
  if (certificates.length === 0)
    return [
      problem('listener_tls', {
        found: `${name} holds no certificate, so no certificate of a client counts`,
        expected: 'the authorities that sign certificates of clients, as PEM',
        action: `Put them there, or take ${setting} out of the configuration: then clients are asked for none.`,
      }),
    ]
  return certificates.flatMap((certificate) => {
    const findings: Finding[] = []
    if (!certificate.isAuthority)
      findings.push(
        problem('listener_tls', {
          found: `${name} holds a certificate that is no authority (${certificate.subject}): it makes no certificate of a client count, nor itself`,
          expected: 'certificates with CA:TRUE',
          action:
            'Give the authority that signed it. Which of its certificates may use a key is said by the key: sha256: and the fingerprint.',
        }),
      )
    if (certificate.signsNodes)
      findings.push(
        warning('listener_tls', {
          found: `${name} is the authority of the nodes (peer_tls.ca): a certificate of a node counts as one of a client, and who signs for clients can make nodes`,
          expected: 'an authority for clients alone',
          action: `Let another authority sign the certificates of clients, and name it in ${setting}.`,
        }),
      )
    const dates = checkDates('listener_tls', certificate, now)
    return [
      ...findings,
      ...dates.map((one) => (problem === warning ? { ...one, severity: 'warning' as const } : one)),
    ]
  })
}
