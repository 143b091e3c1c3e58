/** The limits of proved callers of the data plane. 0: no limit, in each of them. */
import type { Setting } from './setting.ts'
import { SECOND } from './units.ts'

const COUNT_MAX = 1_000_000_000
const RATE_MAX = 2 ** 40

interface Defaults {
  readonly requests: string
  readonly running: string
  readonly uploads: string
}

/** The limits of one kind of caller. */
const settingsOf = <const S extends string>(scope: S, whose: string, defaults: Defaults) =>
  [
    {
      name: `limits.${scope}_requests_per_second`,
      kind: 'integer',
      fallback: defaults.requests,
      min: 0,
      max: COUNT_MAX,
      meaning: `the most data requests of ${whose} per second, over all nodes; 0: no limit`,
      advice: `Set limits.${scope}_requests_per_second to a number of requests, or to 0 for no limit, for example limits.${scope}_requests_per_second: 500.`,
    },
    {
      name: `limits.${scope}_bytes_in_per_second`,
      kind: 'bytes',
      fallback: '0',
      min: 0,
      max: RATE_MAX,
      meaning: `the most bytes of bodies that ${whose} sends per second, over all nodes; 0: no limit`,
      advice: `Set limits.${scope}_bytes_in_per_second to a size, or to 0 for no limit, for example limits.${scope}_bytes_in_per_second: 100MiB.`,
    },
    {
      name: `limits.${scope}_bytes_out_per_second`,
      kind: 'bytes',
      fallback: '0',
      min: 0,
      max: RATE_MAX,
      meaning: `the most bytes of bodies that ${whose} gets per second, over all nodes; 0: no limit`,
      advice: `Set limits.${scope}_bytes_out_per_second to a size, or to 0 for no limit, for example limits.${scope}_bytes_out_per_second: 100MiB.`,
    },
    {
      name: `limits.${scope}_requests_at_once`,
      kind: 'integer',
      fallback: defaults.running,
      min: 0,
      max: COUNT_MAX,
      meaning: `the most data requests of ${whose} that run at the same time, over all nodes; 0: no limit`,
      advice: `Set limits.${scope}_requests_at_once to a number of requests, or to 0 for no limit, for example limits.${scope}_requests_at_once: 100.`,
    },
    {
      name: `limits.${scope}_uploads_at_once`,
      kind: 'integer',
      fallback: defaults.uploads,
      min: 0,
      max: COUNT_MAX,
      meaning: `the most of them that are uploads of objects and parts; 0: no limit`,
      advice: `Set limits.${scope}_uploads_at_once to a number of uploads, or to 0 for no limit, for example limits.${scope}_uploads_at_once: 50.`,
    },
  ] as const satisfies readonly Setting[]

export const CALLER_SETTINGS = [
  ...settingsOf('tenant', 'a tenant', { requests: '10000', running: '1000', uploads: '500' }),
  ...settingsOf('key', 'an access key', { requests: '10000', running: '1000', uploads: '500' }),
  // Each tenant apart: one address may be a proxy with several tenants behind it.
  ...settingsOf('address', 'a tenant from one address', {
    requests: '20000',
    running: '2000',
    uploads: '1000',
  }),
  {
    name: 'limits.burst',
    kind: 'duration',
    fallback: '10s',
    min: SECOND,
    max: 3600 * SECOND,
    meaning: 'the time of each of these rates that may come at once after a quiet time',
    advice: 'Set limits.burst to a duration, for example limits.burst: 10s.',
  },
  {
    name: 'limits.work_at_once',
    kind: 'integer',
    fallback: '64',
    min: 4,
    max: 100_000,
    meaning:
      'the number of data requests that a node works on at the same time; those that wait for their client do not count, others wait in turns of tenants',
    advice: 'Set limits.work_at_once to a number of requests, for example limits.work_at_once: 64.',
  },
  {
    name: 'limits.queue_wait',
    kind: 'duration',
    fallback: '2s',
    min: 10,
    max: 60 * SECOND,
    meaning: 'the longest that a data request waits for its turn before it is refused',
    advice: 'Set limits.queue_wait to a duration, for example limits.queue_wait: 2s.',
  },
] as const satisfies readonly Setting[]
