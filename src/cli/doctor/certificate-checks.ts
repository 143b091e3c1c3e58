/**
 * Judges certificates: their names, their dates, and whether certificate, key and authority belong together.
 *
 * Owns: the judgement and the days of warning. Knows nothing of: files; their contents are passed in.
 */
import { type PlainListener, plainListenerHint } from '../../config/plain-listeners.ts'
import { error, type Finding, warning, well } from './finding.ts'

export interface CertificateFacts {
  /** The setting that names the file. */
  readonly setting: string
  readonly path: string
  /** ms since 1970. */
  readonly validFrom: number
  readonly validTo: number
}

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
}

const DAY_MS = 86_400_000
const WARN_DAYS = 30

const day = (ms: number): string => new Date(ms).toISOString().replace('.000Z', 'Z')

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
  { listener, unusable, certificates, keyFits }: ListenerTlsFacts,
  now: number,
): readonly Finding[] {
  const problem = (found: string, expected: string, action: string): Finding =>
    error('listener_tls', { found, expected, action })
  const paths = `Check the paths in ${listener}_tls and the permissions of the files.`
  if (unusable.length > 0)
    return unusable.map((found) => problem(found, 'two PEM files that the user of the node may read', paths))
  const findings = certificates.flatMap((certificate) => checkDates('listener_tls', certificate, now))
  if (!keyFits)
    findings.push(
      problem(
        `${listener}_tls.key does not belong to ${listener}_tls.cert`,
        'the private key of this certificate',
        'Use the certificate and the key of the same pair.',
      ),
    )
  const [first] = certificates
  if (findings.length > 0 || first === undefined) return findings
  return [
    well(
      'listener_tls',
      `certificate and key of the ${listener} listener match; valid until ${day(first.validTo)}`,
    ),
  ]
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

function checkDates(
  check: 'peer_tls' | 'listener_tls',
  { setting, path, validFrom, validTo }: CertificateFacts,
  now: number,
): Finding[] {
  const name = `${setting} (${path})`
  const action = 'Issue it again under the same path (deploy/runbooks/rotate-certificates.md).'
  if (now >= validTo)
    return [
      error(check, {
        found: `${name} expired at ${day(validTo)}`,
        expected: 'a certificate that is valid today',
        action,
      }),
    ]
  if (now < validFrom)
    return [
      error(check, {
        found: `${name} is not valid before ${day(validFrom)}`,
        expected: 'a certificate that is valid today',
        action: 'Check the clock of this machine, or wait until then.',
      }),
    ]
  if (validTo - now >= WARN_DAYS * DAY_MS) return []
  const days = Math.floor((validTo - now) / DAY_MS)
  return [
    warning(check, {
      found: `${name} expires in ${days} days, at ${day(validTo)}`,
      expected: `at least ${WARN_DAYS} days`,
      action,
    }),
  ]
}
