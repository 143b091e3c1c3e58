/**
 * `node test/programs/floods/audit-flood.ts [--hours 24] [--rate 1285] [--addresses 1]`: what a flood of requests without a token leaves behind, in
 * virtual time: on the disk of the spools, in memory, and in the replicated audit log.
 *
 * Owns: the measurement, with the real trail, spools on disk, shipping, state and sealing; copies are in memory. One known caller sends a
 * request a second beside it. Rule: counts and bytes depend only on the code; processor time is printed with the load of the machine.
 */
import { loadavg } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { CountingTrail } from '../../../src/audit/counting-trail.ts'
import type { Propose } from '../../../src/commands/propose.ts'
import type { AuditRow } from '../../../src/state-machine/audit/records.ts'
import { AuditShipping } from '../../../src/workers/audit-shipping.ts'
import { auditRow } from '../../helpers/audit-disk.ts'
import { SILENT } from '../../helpers/loggers.ts'
import { SealingWorld } from '../../workers/sealing-world.ts'
import { temporaryFolder } from '../../helpers/process-cluster.ts'

const SECONDS_PER_STEP = 15
const { values } = parseArgs({
  options: {
    hours: { type: 'string', default: '24' },
    rate: { type: 'string', default: '1285' },
    addresses: { type: 'string', default: '1' },
  },
})
const [hours, rate, addresses] = [Number(values.hours), Number(values.rate), Number(values.addresses)]

const undo: (() => unknown)[] = []
const scope = { teardown: (step: () => unknown) => void undo.push(step) }
const PATH = `/api/v1/buckets/${'x'.repeat(240)}`.slice(0, 256)
const DENIED: Partial<AuditRow> = {
  operation: 'getBucket',
  path: PATH,
  tenantId: null,
  actor: { type: 'anonymous', id: null, role: null },
  key: null,
  status: 401,
  code: 'unauthorized',
}

const world = await SealingWorld.start(scope)
let now = 0
let spoolBytesMost = 0
let sent = 0
const trail = await CountingTrail.open({
  dir: join(temporaryFolder(scope), 'audit'),
  strict: false,
  spoolBytesMax: 256 * 2 ** 20,
  unprovedSpoolBytesMax: 16 * 2 ** 20,
  logger: SILENT,
  later: () => {},
  now: () => now,
})
const propose: Propose = world.memory.services.propose
const shipping = new AuditShipping({
  node: 'n1',
  spools: trail.spools,
  state: world.memory.reader,
  propose,
  logger: SILENT,
})
const valueOf = (name: string, callers: string): number =>
  trail.samples(0).find((one) => one.name === name && one.labels?.['callers'] === callers)?.value ??
  Number.NaN

function send(step: number): void {
  for (let n = 0; n < rate * SECONDS_PER_STEP; n++, sent++) {
    const by = `198.51.100.${(sent * 7_919) % addresses}`
    trail.append(auditRow(`r${sent}`, { ...DENIED, sourceIp: by }), { caller: 'unproved', kept: 'first', by })
  }
  for (let n = 0; n < SECONDS_PER_STEP; n++) {
    trail.admit()
    trail.append(auditRow(`known${step}-${n}`))
  }
}

const heapBefore = process.memoryUsage().heapUsed
let heapMost = 0
const cpu = process.cpuUsage()
for (let step = 0; now < hours * 3_600_000; step++) {
  send(step)
  now += SECONDS_PER_STEP * 1_000
  trail.sweep()
  await trail.durable('known')
  await trail.durable('unproved')
  const bytes =
    valueOf('holdfast_audit_spool_bytes', 'known') + valueOf('holdfast_audit_spool_bytes', 'unproved')
  spoolBytesMost = Math.max(spoolBytesMost, bytes)
  while (await shipping.round()) {}
  await world.sealing.round()
  if (step % 240 !== 0) continue
  await world.sealAll()
  // Links have the time of this machine, so an hour of the flood is over when it says so.
  world.now = Date.now()
  heapMost = Math.max(heapMost, process.memoryUsage().heapUsed - heapBefore)
}
await world.sealAll()
const segments = await world.segments()
const sum = (of: (segment: (typeof segments)[number]) => number): number =>
  segments.reduce((total, segment) => total + of(segment), 0)
const mib = (bytes: number): string => `${(bytes / 2 ** 20).toFixed(1)} MiB`
const { user, system } = process.cpuUsage(cpu)
console.log(
  [
    `${sent} requests of ${addresses} addresses in ${hours} h, and ${hours * 3_600} of a known caller`,
    `rows: ${sum(({ rows }) => rows)} in ${segments.length} segments; counted: ${valueOf('holdfast_audit_counted_requests_total', 'unproved')}`,
    `segments: ${mib(sum(({ size }) => size))} a copy, ${mib(sum(({ bytes }) => bytes))} plain; index rows: ${mib(sum(({ index }) => index.names.length))}`,
    `spools at most: ${mib(spoolBytesMost)}; groups at the end: ${valueOf('holdfast_audit_counted_groups', 'unproved')}; heap at most: ${mib(heapMost)} more`,
    `refused: ${valueOf('holdfast_audit_refused_total', 'known')}; processor: ${((user + system) / 1e6).toFixed(0)} s, load ${loadavg()[0]?.toFixed(0)}`,
  ].join('\n'),
)
for (const step of undo.toReversed()) await step()
