/**
 * The metrics of limits: what was refused and held back, what waits, and on demand the use of single tenants.
 *
 * Knows nothing of: how they are served. Rule: labels are bounded. Tenants are named only where the setting asks for it, at most
 * TENANTS_NAMED_MAX of them; what the others used is counted as one.
 */
import { counter, gauge, histogram, type LatencyHistogram, type MetricSample } from '../../cluster/index.ts'
import type { CallerUse } from './caller-use.ts'
import type { Limits } from './limits.ts'
import { type MemoryGate, severityOf } from './memory-gate.ts'

const TENANTS_NAMED_MAX = 200
const OTHERS = 'other'
/** A tenant counts as limited for so long after a request of it was refused or held back. */
const LIMITED_MS = 60_000

type Sampled = Pick<Limits, 'refused' | 'delays' | 'turns' | 'reads' | 'proposals' | 'tenants' | 'memory'>

export function limitSamples(
  limits: Sampled,
  { isPerTenant, nowMs }: { readonly isPerTenant: boolean; readonly nowMs: number },
): readonly MetricSample[] {
  const { refused, delays, turns, reads, proposals, tenants, memory } = limits
  const limited = [...tenants.all()].filter(({ limitedAtMs }) => nowMs - limitedAtMs < LIMITED_MS)
  const refusals = refused.size === 0 ? [NOTHING_REFUSED] : [...refused.values()]
  return [
    ...refusals.map(({ limit, scope, count }) =>
      counter(
        'holdfast_limits_refused_total',
        'Requests of the data plane that a limit refused, by the limit and whose it is.',
        count,
        { limit, scope },
      ),
    ),
    held('in', delays.inSeconds),
    held('out', delays.outSeconds),
    gauge(
      'holdfast_limits_limited_tenants',
      'Tenants with a request that was refused or held back within a minute.',
      limited.length,
    ),
    gauge(
      'holdfast_limits_working_requests',
      'Requests of the data plane that this node works on.',
      turns.working,
    ),
    gauge(
      'holdfast_limits_waiting_requests',
      'Requests of the data plane that wait for their turn: to be worked on, to read a piece of their answer, or to propose a change.',
      turns.waiting + reads.waiting + proposals.waiting,
    ),
    counter(
      'holdfast_limits_waited_seconds_total',
      'Time that requests of the data plane have waited for their turn.',
      turns.waitedSeconds,
    ),
    waits('request', turns.waits),
    waits('answer', reads.waits),
    waits('proposal', proposals.waits),
    ...(memory === null ? [] : memorySamples(memory)),
    ...(isPerTenant ? perTenant([...tenants.all()]) : []),
  ]
}

const waits = (queue: 'request' | 'answer' | 'proposal', times: LatencyHistogram): MetricSample =>
  histogram(
    'holdfast_limits_wait_duration_seconds',
    'How long requests of the data plane waited for one turn; those that did not wait are not counted.',
    times.figures(),
    { queue },
  )

function memorySamples(memory: MemoryGate): readonly MetricSample[] {
  return [
    gauge(
      'holdfast_limits_memory_max_bytes',
      'What heap and buffers of this node may take together before it refuses requests.',
      memory.bytesMax,
    ),
    gauge(
      'holdfast_limits_memory_level',
      '0 serves all requests, 1 refuses uploads and listings of the busiest tenants, 2 all of them, 3 every request of the data plane.',
      severityOf(memory.level()),
    ),
  ]
}

const NOTHING_REFUSED = { limit: 'requests_per_second', scope: 'tenant', count: 0 }

const held = (direction: 'in' | 'out', seconds: number): MetricSample =>
  counter(
    'holdfast_limits_held_back_seconds_total',
    'Time that bytes of bodies were held back so that they fit into a rate.',
    seconds,
    { direction },
  )

const PER_TENANT = [
  ['holdfast_tenant_requests_total', 'Requests of a tenant on the data plane.', 'requests'],
  ['holdfast_tenant_received_bytes_total', 'Bytes of bodies that a tenant sent.', 'bytesIn'],
  ['holdfast_tenant_sent_bytes_total', 'Bytes of bodies that a tenant got.', 'bytesOut'],
  [
    'holdfast_tenant_refused_total',
    'Requests of a tenant that a limit of it, its keys or addresses refused.',
    'refused',
  ],
] as const

/** Those known longest have a name, so that no series ends while there are fewer. */
function perTenant(uses: readonly CallerUse[]): readonly MetricSample[] {
  return PER_TENANT.flatMap(([name, help, member]) => {
    const sample = (tenant: string, value: number): MetricSample => counter(name, help, value, { tenant })
    const named = uses.slice(0, TENANTS_NAMED_MAX).map((use) => sample(use.name, use.total[member]))
    const others = uses.slice(TENANTS_NAMED_MAX)
    if (others.length === 0) return named
    return [
      ...named,
      sample(
        OTHERS,
        others.reduce((sum, use) => sum + use.total[member], 0),
      ),
    ]
  })
}
