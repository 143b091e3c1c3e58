/**
 * Metrics, log and traces as one part of the configuration.
 */
import { isPlainHttpElsewhere } from '../base/plain-http.ts'
import { FaultError } from './config-fault.ts'
import type { Reader } from './reader.ts'
import type { Config } from './types.ts'

/** Throws FaultError. */
export function telemetry(read: Reader): Pick<Config, 'metrics' | 'logging' | 'tracing'> {
  return {
    metrics: {
      public: read.get<boolean>('metrics.public'),
      perTenant: read.get<boolean>('metrics.per_tenant'),
      perBucket: read.get<boolean>('metrics.per_bucket'),
      prometheus: read.has('metrics.prometheus_url')
        ? { url: read.text('metrics.prometheus_url'), job: read.text('metrics.prometheus_job') }
        : null,
    },
    logging: {
      level: read.get<Config['logging']['level']>('logging.level'),
      requests: read.text('logging.requests') === 'all' ? 'all' : 'problems',
      format: read.get<Config['logging']['format']>('logging.format'),
    },
    tracing: tracing(read),
  }
}

function tracing(read: Reader): Config['tracing'] {
  if (!read.has('tracing.url')) return null
  const url = read.text('tracing.url')
  if (isPlainHttpElsewhere(new URL(url)))
    throw new FaultError(
      'tracing.url is plain HTTP beyond this machine',
      'Give an https:// URL, or that of a collector on this machine.',
    )
  return { url, sampledShare: read.number('tracing.sample') / 100 }
}
