/**
 * The worker that delivers the audit log outside, with the real state, real segments and real receivers: what arrives, and after which faults.
 */
import { createHmac } from 'node:crypto'
import type { IncomingHttpHeaders } from 'node:http'
import t, { type Test } from 'tap'
import { Condition } from '../../../cluster/index.ts'
import type { Propose } from '../../../src/commands/propose.ts'
import { auditHead } from '../../../src/state-machine/audit/append.ts'
import { AuditExporting } from '../../../src/workers/audit-export/audit-exporting.ts'
import type { ExportTarget } from '../../../src/workers/audit-export/export-target.ts'
import { HttpTarget, otlpForm, webhookForm } from '../../../src/workers/audit-export/http-target.ts'
import { SyslogTarget } from '../../../src/workers/audit-export/syslog-target.ts'
import { SILENT } from '../../helpers/loggers.ts'
import { SealingWorld } from '../sealing-world.ts'
import { HttpsCollector, SyslogServer } from './collectors.ts'

const NOW = 1_700_000_000_000

interface Node {
  readonly exporting: AuditExporting
  /** Replaced by a test to lose the entry that records a delivery. */
  propose: Propose
  isJobRunner: boolean
  /** Monotonic ms. */
  now: number
}

async function worldAtLevel4(t: Test): Promise<SealingWorld> {
  const world = await SealingWorld.start(t, { links: 4 })
  world.memory.featureLevel = 4
  world.stateLevel = 4
  return world
}

/** One of the nodes of a cluster, which share the state and nothing else. */
function node(world: SealingWorld, target: ExportTarget): Node {
  const self = { propose: world.memory.services.propose, isJobRunner: true, now: 0 }
  const exporting = new AuditExporting({
    cluster: { clusterId: 'c1', isJobRunner: () => self.isJobRunner },
    state: world.memory.reader,
    segments: world.fresh(),
    target,
    propose: ((command: never) => self.propose(command)) as Propose,
    now: () => NOW,
    monotonic: () => self.now,
    logger: SILENT,
  })
  return Object.assign(self, { exporting })
}

async function exportAll(one: Node): Promise<void> {
  for (let round = 0; round < 100; round++) {
    one.now += 60_000
    await one.exporting.round().catch((error: unknown) => {
      if (!(error instanceof Condition)) throw error
    })
  }
}

const ids = (count: number): readonly string[] => Array.from({ length: count }, (_, n) => `r${n}`)

/** In the order of arrival; what came again is left out. */
const once = (found: readonly string[]): readonly string[] => [...new Set(found)]

interface Delivered {
  readonly requestId?: string
  readonly anchor?: {
    readonly next: number
    readonly hash: string
    readonly before: string
    readonly first: number
  }
}

const isRow = ({ requestId }: Delivered): boolean => requestId !== undefined
const requestsIn = (all: readonly Delivered[]): readonly string[] =>
  all.filter(isRow).map(({ requestId }) => String(requestId))

function syslogRows({ messages }: SyslogServer): readonly Delivered[] {
  return messages.map((message) => JSON.parse(message.replace(/^<\d+>1 (\S+ ){6}/, '')) as Delivered)
}

function otlpRows({ received }: HttpsCollector): readonly Delivered[] {
  return received.flatMap(({ body }) => {
    const { resourceLogs } = JSON.parse(body)
    const records = resourceLogs[0].scopeLogs[0].logRecords as { body: { stringValue: string } }[]
    return records.map((record) => JSON.parse(record.body.stringValue) as Delivered)
  })
}

t.test('rows and segments arrive in the order of the chain, as syslog [RFC 5424] [RFC 5425]', async (t) => {
  const world = await worldAtLevel4(t)
  await world.log(10)
  await world.sealAll()
  await world.ship([{ code: 'unauthorized', status: 401 }, { code: 'internal_error' }, { reason: 'ü\n"x"' }])
  const server = await SyslogServer.start(t)
  const one = node(world, new SyslogTarget(server.url, { ca: server.ca }))
  await exportAll(one)
  const rows = syslogRows(server)
  t.strictSame(requestsIn(rows), ids(13))
  t.match(
    server.messages[0],
    /^<110>1 2023-11-14T22:13:20\.000Z n1 holdfast - getObject - \{"id":"au_0-0","time"/,
  )
  t.match(server.messages[10], /^<108>1 /, 'a denial is a warning')
  t.match(server.messages[11], /^<107>1 /, 'a failure is an error')
  t.match(rows[12], { reason: 'ü\n"x"' })
  t.match(rows.at(-1)?.anchor, {
    clusterId: 'c1',
    next: auditHead(world.memory.reader).next,
    hash: auditHead(world.memory.reader).hash,
  })
  const lag = one.exporting.samples().find(({ name }) => name === 'holdfast_audit_export_lag_links')
  t.equal(lag?.value, 0)
  await exportAll(one)
  t.equal(syslogRows(server).length, rows.length, 'nothing is sent twice without a fault')
})

t.test('anchors join without a gap, and name links of the chain', async (t) => {
  const world = await worldAtLevel4(t)
  const server = await SyslogServer.start(t)
  const one = node(world, new SyslogTarget(server.url, { ca: server.ca }))
  for (let n = 0; n < 3; n++) {
    await world.log(3)
    await exportAll(one)
  }
  const anchors = syslogRows(server).flatMap(({ anchor }) => anchor ?? [])
  t.equal(anchors.length, 3)
  let [next, hash] = [0, '0'.repeat(64)]
  for (const anchor of anchors) {
    t.match(anchor, { first: next, before: hash })
    t.strictSame((await world.verifyHead(anchor)).faults, [])
    next = anchor.next
    hash = anchor.hash
  }
})

t.test('a crash, a lost answer and another leader repeat rows and lose none', async (t) => {
  const world = await worldAtLevel4(t)
  const server = await SyslogServer.start(t)
  const collector = await HttpsCollector.start(t)
  const targets = [
    () => new SyslogTarget(server.url, { ca: server.ca }),
    () => new HttpTarget(otlpForm(collector.url, null), { ca: collector.ca }, () => NOW),
  ]
  for (const [n, target] of targets.entries()) {
    const from = 40 * n
    const first = node(world, target())
    await world.log(10)
    server.faults.push('drop')
    collector.faults.push('drop', 503)
    await exportAll(first)
    await world.log(10)
    // Killed between the answer of the receiver and the entry that records it.
    first.propose = async () => {
      throw new Condition('commit_unknown', 'The node died')
    }
    await first.exporting.round().catch(() => undefined)
    first.isJobRunner = false
    const second = node(world, target())
    await world.log(10)
    await world.sealAll()
    await exportAll(second)
    // It wakes up, believes that it still leads, and has another view of the place until it looks.
    first.isJobRunner = true
    first.propose = world.memory.services.propose
    await world.log(10)
    await Promise.all([exportAll(first), exportAll(second)])
    const found = requestsIn(n === 0 ? syslogRows(server) : otlpRows(collector))
    t.strictSame(once(found), ids(from + 40).slice(from))
    t.ok(found.length > 40, 'some came again')
    await first.exporting.close()
    await second.exporting.close()
  }
})

t.test('a webhook is signed, and the same batch has the same id [Standard Webhooks]', async (t) => {
  const world = await worldAtLevel4(t)
  await world.log(3)
  const collector = await HttpsCollector.start(t)
  collector.faults.push('drop')
  const secret = Buffer.alloc(32, 7)
  const one = node(world, new HttpTarget(webhookForm(collector.url, secret), { ca: collector.ca }, () => NOW))
  await exportAll(one)
  const [before, after] = collector.received
  t.equal(collector.received.length, 2)
  t.equal(before?.headers['webhook-id'], after?.headers['webhook-id'])
  const body = after?.body ?? ''
  const headers: IncomingHttpHeaders = after?.headers ?? {}
  const signed = [headers['webhook-id'], headers['webhook-timestamp'], body].join('.')
  t.equal(headers['webhook-signature'], `v1,${createHmac('sha256', secret).update(signed).digest('base64')}`)
  const { type, data } = JSON.parse(body)
  t.equal(type, 'audit.rows')
  t.match(data, {
    anchor: { first: 0, next: 3, clusterId: 'c1' },
    rows: [{ id: 'au_0-0', requestId: 'r0' }, {}, {}],
  })
})

t.test('a collector gets logs of OpenTelemetry, and what it refuses is counted [OTLP]', async (t) => {
  const world = await worldAtLevel4(t)
  await world.log(2)
  const collector = await HttpsCollector.start(t)
  collector.answer = '{"partialSuccess":{"rejectedLogRecords":"1"}}'
  const form = otlpForm(collector.url, 'Bearer of-the-collector')
  const one = node(world, new HttpTarget(form, { ca: collector.ca }, () => NOW))
  await exportAll(one)
  t.equal(collector.received[0]?.headers.authorization, 'Bearer of-the-collector')
  const { resourceLogs } = JSON.parse(collector.received[0]?.body ?? '')
  t.match(resourceLogs[0].scopeLogs[0].logRecords[0], {
    timeUnixNano: '1700000000000000000',
    severityNumber: 9,
    severityText: 'INFO',
    body: { stringValue: /^\{"id":"au_0-0"/ },
  })
  t.equal(
    one.exporting.samples().find(({ name }) => name === 'holdfast_audit_export_refused_rows_total')?.value,
    1,
  )
})

t.test('no row goes to a receiver whose certificate is not trusted', async (t) => {
  const world = await worldAtLevel4(t)
  await world.log(1)
  const server = await SyslogServer.start(t)
  const collector = await HttpsCollector.start(t)
  for (const target of [
    new SyslogTarget(server.url, {}),
    new SyslogTarget(server.url, { ca: collector.ca }),
    new HttpTarget(otlpForm(collector.url, null), {}, () => NOW),
    new HttpTarget(webhookForm(collector.url, Buffer.alloc(24)), { ca: server.ca }, () => NOW),
  ]) {
    const one = node(world, target)
    t.equal(await one.exporting.round(), false)
    t.equal(
      one.exporting.samples().find(({ name }) => name === 'holdfast_audit_export_failures_total')?.value,
      1,
    )
    await one.exporting.close()
  }
  t.strictSame([server.messages, collector.received], [[], []])
})

t.test('what was trimmed before it was delivered is counted, and the rest arrives', async (t) => {
  const world = await worldAtLevel4(t)
  const server = await SyslogServer.start(t)
  const one = node(world, new SyslogTarget(server.url, { ca: server.ca }))
  await world.log(2)
  await exportAll(one)
  await world.log(6)
  await world.sealAll()
  const [, second] = await world.segments()
  await world.memory.change({ type: 'trimAudit', before: second?.lastTime ?? 0 })
  await exportAll(one)
  const { first } = auditHead(world.memory.reader)
  t.ok(first > 2)
  t.strictSame(requestsIn(syslogRows(server)), [...ids(2), ...ids(8).slice(first)])
  const skipped = one.exporting
    .samples()
    .find(({ name }) => name === 'holdfast_audit_export_skipped_links_total')
  t.equal(skipped?.value, first - 2)
})

t.test('a node below the level of the command delivers, and repeats rather than loses', async (t) => {
  const world = await worldAtLevel4(t)
  world.memory.featureLevel = 3
  await world.log(2)
  const server = await SyslogServer.start(t)
  const one = node(world, new SyslogTarget(server.url, { ca: server.ca }))
  await one.exporting.round().catch(() => undefined)
  world.memory.featureLevel = 4
  await exportAll(one)
  t.strictSame(once(requestsIn(syslogRows(server))), ids(2))
})
