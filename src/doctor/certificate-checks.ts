/**
 * Judges certificates: their names, their dates, and whether certificate, key and authority belong together.
 *
 * Owns: the judgement. Knows nothing of: files; their contents are passed in.
 */
import { type PlainListener, plainListenerHint } from '../config/plain-listeners.ts'
import { type CertificateFacts, checkDates, day } from './certificate-dates.ts'
import { checkClientAuthorities, type ClientAuthorityFacts } from './client-authority-checks.ts'
import { error, type Finding, warning, well } from './finding.ts'

export interface PeerTlsFacts {
  /** Plain TCP is allowed: every address is loopback. */
  readonly isLoopbackOnly: boolean
  /** Null: no peer_tls is configured. */
  readonly files: {
    /** One sentence for each file that cannot be used. */
    readonly unusable: readonly string[]
    readonly certificates: readonly CertificateFacts[]
    readonly namesNode: boolean
    readonly isSignedByCa: boolean
    readonly keyFits: boolean
    /** Permission bits of the private key. */
    readonly keyMode: number
    readonly keyPath: string
  } | null
}

export interface ListenerTlsFacts {
  readonly listener: 'data' | 'admin'
  /** One sentence for each file that cannot be used. */
  readonly unusable: readonly string[]
  readonly certificates: readonly CertificateFacts[]
  readonly keyFits: boolean
  /** Null: clients are asked for no certificate, or the file cannot be used. */
  readonly clients: ClientAuthorityFacts | null
}

export function checkPeerTls(
  { isLoopbackOnly, files }: PeerTlsFacts,
  nodeId: string,
  now: number,
): readonly Finding[] {
  if (files === null) return [withoutTls(isLoopbackOnly)]
  const problem = (found: string, expected: string, action: string): Finding =>
    error('peer_tls', { found, expected, action })
  const reissue =
    'Issue the certificate of this node again (README, "Three machines"); a running node loads it by itself.'
  if (files.unusable.length > 0)
    return files.unusable.map((found) =>
      problem(
        found,
        'three PEM files that the user of the node may read',
        'Check the paths in peer_tls and the permissions of the files.',
      ),
    )
  const findings = files.certificates.flatMap((certificate) => checkDates('peer_tls', certificate, now))
  if (!files.namesNode)
    findings.push(
      problem(
        'peer_tls.cert does not name this node (peer_certificate_wrong_name)',
        `a certificate from \`holdfast certs issue --node ${nodeId}\` for this cluster, or DNS:${nodeId} among its names`,
        reissue,
      ),
    )
  if (!files.isSignedByCa)
    findings.push(
      problem(
        'peer_tls.cert was not signed by the authority in peer_tls.ca',
        'a certificate of the authority of this cluster',
        reissue,
      ),
    )
  if (!files.keyFits)
    findings.push(
      problem(
        'peer_tls.key does not belong to peer_tls.cert',
        'the private key of this certificate',
        'Use the certificate and the key of the same pair.',
      ),
    )
  if ((files.keyMode & 0o077) !== 0)
    findings.push(
      warning('peer_tls', {
        found: `${files.keyPath} has mode ${files.keyMode.toString(8)}: other users can read the private key`,
        expected: 'mode 600',
        action: `Run: chmod 600 ${files.keyPath}`,
      }),
    )
  if (findings.length > 0) return findings
  const first = Math.min(...files.certificates.map(({ validTo }) => validTo))
  return [
    well(
      'peer_tls',
      `certificate and key of ${nodeId} match; the first certificate expires at ${day(first)}`,
    ),
  ]
}

/** `listeners`: those with TLS. `plain`: those that serve other machines without it. */
export function checkListenerTls(
  listeners: readonly ListenerTlsFacts[],
  plain: readonly PlainListener[],
  now: number,
): readonly Finding[] {
  const findings = [
    ...plain.map(withoutListenerTls),
    ...listeners.flatMap((listener) => checkOneListener(listener, now)),
  ]
  if (findings.length > 0) return findings
  return [
    well('listener_tls', 'the data and admin listeners use plain HTTP, and only this machine reaches them'),
  ]
}

function withoutListenerTls({ listener, address, isAllowed }: PlainListener): Finding {
  const found = `listeners.${listener} (${address}) serves other machines over plain HTTP`
  const expected = `${listener}_tls, or an address that only this machine reaches`
  if (!isAllowed)
    return error('listener_tls', {
      found: `${found} (listener_tls_required)`,
      expected,
      action: plainListenerHint(listener),
    })
  return warning('listener_tls', {
    found: `${found}, as listeners.${listener}_plain allows: tokens and contents can be read and changed on the way`,
    expected,
    action: `Keep it behind a proxy that ends TLS, or in a private network; or set ${listener}_tls.cert and ${listener}_tls.key.`,
  })
}

function checkOneListener(
  { listener, unusable, certificates, keyFits, clients }: ListenerTlsFacts,
  now: number,
): readonly Finding[] {
  const problem = (found: string, expected: string, action: string): Finding =>
    error('listener_tls', { found, expected, action })
  const paths = `Check the paths in ${listener}_tls and the permissions of the files.`
  if (unusable.length > 0)
    return unusable.map((found) => problem(found, 'PEM files that the user of the node may read', paths))
  const findings = certificates.flatMap((certificate) => checkDates('listener_tls', certificate, now))
  if (!keyFits)
    findings.push(
      problem(
        `${listener}_tls.key does not belong to ${listener}_tls.cert`,
        'the private key of this certificate',
        'Use the certificate and the key of the same pair.',
      ),
    )
  if (clients !== null) findings.push(...checkClientAuthorities(clients, now))
  const [first] = certificates
  if (findings.length > 0 || first === undefined) return findings
  return [
    well(
      'listener_tls',
      `certificate and key of the ${listener} listener match; valid until ${day(first.validTo)}`,
    ),
    ...(clients === null ? [] : [well('listener_tls', authoritiesOf(clients))]),
  ]
}

function authoritiesOf({ setting, certificates }: ClientAuthorityFacts): string {
  const first = Math.min(...certificates.map(({ validTo }) => validTo))
  return `authorities of clients in ${setting}: ${certificates.length}; the first expires at ${day(first)}`
}

function withoutTls(isLoopbackOnly: boolean): Finding {
  if (isLoopbackOnly)
    return well('peer_tls', 'not configured and not needed: all peer addresses are loopback')
  return error('peer_tls', {
    found: 'peer_tls is not configured, but other machines can reach the peer addresses (peer_tls_required)',
    expected: 'certificates for the traffic between nodes',
    action: 'Create them (README, "Three machines") and set peer_tls.ca, peer_tls.cert and peer_tls.key.',
  })
}
