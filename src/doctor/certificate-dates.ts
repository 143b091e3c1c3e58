/**
 * Judges the dates of one certificate.
 *
 * Owns: the days of warning. Knows nothing of: files, what the certificate is for.
 */
import type { Term } from '../operations/doctor/self-report.ts'
import { error, type Finding, warning } from './finding.ts'

export interface CertificateFacts {
  /** The setting that names the file. */
  readonly setting: string
  readonly path: string
  /** ms since 1970. */
  readonly validFrom: number
  readonly validTo: number
}

const DAY_MS = 86_400_000
const WARN_DAYS = 30

export function termOf(
  { validFrom, validTo }: Pick<CertificateFacts, 'validFrom' | 'validTo'>,
  now: number,
): Term {
  if (now >= validTo) return 'expired'
  if (now < validFrom) return 'notYetValid'
  return validTo - now < WARN_DAYS * DAY_MS ? 'endsSoon' : 'valid'
}

export const day = (ms: number): string => new Date(ms).toISOString().replace('.000Z', 'Z')

export function checkDates(
  check: 'peer_tls' | 'listener_tls',
  certificate: CertificateFacts,
  now: number,
): Finding[] {
  const { setting, path, validFrom, validTo } = certificate
  const term = termOf(certificate, now)
  const name = `${setting} (${path})`
  const action = 'Issue it again under the same path (deploy/runbooks/rotate-certificates.md).'
  if (term === 'expired')
    return [
      error(check, {
        found: `${name} expired at ${day(validTo)}`,
        expected: 'a certificate that is valid today',
        action,
      }),
    ]
  if (term === 'notYetValid')
    return [
      error(check, {
        found: `${name} is not valid before ${day(validFrom)}`,
        expected: 'a certificate that is valid today',
        action: 'Check the clock of this machine, or wait until then.',
      }),
    ]
  if (term === 'valid') return []
  const days = Math.floor((validTo - now) / DAY_MS)
  return [
    warning(check, {
      found: `${name} expires in ${days} days, at ${day(validTo)}`,
      expected: `at least ${WARN_DAYS} days`,
      action,
    }),
  ]
}
