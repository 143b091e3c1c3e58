/**
 * The metrics of the certificate of one listener.
 */
import type { MetricSample } from '../base/types.ts'

const EXPIRY = {
  name: 'holdfast_tls_certificate_expiry_timestamp_seconds',
  help: 'When the certificate that a listener presents, or the authority that it requires, expires; seconds since 1970.',
  kind: 'gauge',
} as const

const STALE = {
  name: 'holdfast_tls_certificate_stale',
  help: '1 when the certificate files of a listener changed and cannot be used, so that it still presents the previous pair.',
  kind: 'gauge',
} as const

/** The state of the files of one listener. Times in ms since 1970. */
export interface CertificateState {
  readonly validity: { readonly certificateEndsAt: number; readonly authorityEndsAt: number | null }
  readonly isStale: boolean
}

export function certificateSamples(
  listener: 'data' | 'admin' | 'peer',
  { validity, isStale }: CertificateState,
): readonly MetricSample[] {
  const { certificateEndsAt, authorityEndsAt } = validity
  const expiry = (certificate: string, endsAt: number): MetricSample => ({
    ...EXPIRY,
    labels: { listener, certificate },
    value: Math.floor(endsAt / 1000),
  })
  return [
    expiry('own', certificateEndsAt),
    ...(authorityEndsAt === null ? [] : [expiry('authority', authorityEndsAt)]),
    { ...STALE, labels: { listener }, value: isStale ? 1 : 0 },
  ]
}
