/**
 * Known and unproved callers beside each other: whose rows take whose space, what ships first, and that each request leaves its trace.
 */
import t from 'tap'
import { CountingTrail } from '../../src/audit/counting-trail.ts'
import type { RowClass } from '../../src/audit/audit-trail.ts'
import type { Propose } from '../../src/commands/propose.ts'
import type { AuditRow } from '../../src/state-machine/audit/records.ts'
import type { Command } from '../../src/state-machine/commands.ts'
import { AuditShipping } from '../../src/workers/audit-shipping.ts'
import { auditRow, SPOOL_DIR, spoolFilesOn } from '../helpers/audit-disk.ts'
import { recordingLogger } from '../helpers/loggers.ts'
import { MapWorld } from '../state-machine/map-world.ts'
import { MemoryFiles } from '../wal/memory-files.ts'

const UNPROVED: RowClass = { caller: 'unproved', kept: 'first', by: '192.0.2.1' }
const DENIED = { code: 'unauthorized', status: 401 }
const UNPROVED_BYTES_MAX = 2 ** 20
const KIB = 'x'.repeat(1_024)

interface Started {
  readonly trail: CountingTrail
  readonly world: MapWorld
  readonly shipping: AuditShipping
  /** ms */
  now: number
}

async function start(): Promise<Started> {
  const world = new MapWorld()
  const logger = recordingLogger([])
  const started = { now: 0 }
  const trail = await CountingTrail.open({
    dir: SPOOL_DIR,
    strict: false,
    spoolBytesMax: 2 ** 22,
    unprovedSpoolBytesMax: UNPROVED_BYTES_MAX,
    logger,
    files: spoolFilesOn(new MemoryFiles()),
    later: () => {},
    now: () => started.now,
  })
  const propose = async (command: Command) => world.run(command)
  const shipping = new AuditShipping({
    node: 'n1',
    spools: trail.spools,
    state: world,
    propose: propose as Propose,
    logger,
  })
  return Object.assign(started, { trail, world, shipping })
}

async function durable({ trail }: Started): Promise<void> {
  await trail.durable('known')
  await trail.durable('unproved')
}

/** All rows that wait in both spools; they are taken. */
async function drained({ trail }: Started): Promise<readonly AuditRow[]> {
  const rows: AuditRow[] = []
  for (const spool of trail.spools)
    for (let batch = await spool.oldest(); batch !== null; batch = await spool.oldest()) {
      rows.push(...batch.rows.map((text) => JSON.parse(text) as AuditRow))
      await spool.taken(batch)
    }
  return rows
}

const requestsIn = (rows: readonly AuditRow[]): number =>
  rows.reduce((sum, { repeated }) => sum + (repeated?.count ?? 1), 0)

t.test('CountingTrail', async (t) => {
  t.test('makes a few rows of a flood, and none of its requests is without a trace', async (t) => {
    const started = await start()
    for (let n = 0; n < 50_000; n++) started.trail.append(auditRow(`r${n}`, DENIED), UNPROVED)
    started.now = 60_000
    started.trail.sweep()
    await durable(started)
    const rows = await drained(started)
    t.equal(rows.length, 11)
    t.equal(requestsIn(rows), 50_000)
  })

  t.test('an unproved caller takes no space from a known one', async (t) => {
    const started = await start()
    const { trail } = started
    let sent = 0
    for (let by = 0; by < 3_000; by++)
      for (let n = 0; n < 3; n++, sent++) {
        // Not yet in the time of one window, so that own rows are allowed again.
        if (sent % 600 === 0) started.now += 60_000
        trail.append(auditRow('r', { ...DENIED, path: KIB }), { ...UNPROVED, by: `${by}` })
        if (sent % 100 === 0) await durable(started)
      }
    const [, unproved] = trail.spools
    t.equal(unproved?.hasSpace, false, 'the spool of unproved callers is full')
    trail.admit()
    trail.append(auditRow('known'))
    await durable(started)
    const bytes = trail
      .samples(0)
      .find(({ name, labels }) => name === 'holdfast_audit_spool_bytes' && labels?.['callers'] === 'unproved')
    t.ok((bytes?.value ?? Infinity) < UNPROVED_BYTES_MAX + 2 ** 17, `${bytes?.value} bytes of disk`)
    let found = requestsIn(await drained(started))
    for (let round = 0; round < 4; round++) {
      started.now += 60_000
      trail.sweep()
      await durable(started)
      found += requestsIn(await drained(started))
    }
    t.equal(found, sent + 1, 'and what was counted meanwhile is written when there is space again')
  })

  t.test('rows of known callers are shipped first', async (t) => {
    const started = await start()
    const { trail, shipping, world } = started
    for (let n = 0; n < 300; n++) {
      trail.append(auditRow('unproved', { ...DENIED, path: KIB }), { ...UNPROVED, by: `${n}` })
      for (let k = 0; k < 5; k++) trail.append(auditRow('known', { path: KIB }))
    }
    await durable(started)
    const [known, unproved] = trail.spools
    const waiting = await unproved?.oldest()
    for (;;) {
      t.strictSame(await unproved?.oldest(), waiting, 'nothing of the other spool has left')
      const isMore = await shipping.round()
      if (known?.hasFullBatch !== true) break
      t.equal(isMore, true)
    }
    await shipping.round()
    t.equal(await known?.oldest(), null)
    t.equal(await unproved?.oldest(), null)
    t.ok(world.rows.size > 0)
  })

  t.test(
    'refusals of a known caller are counted beyond the first of a minute, its reads never',
    async (t) => {
      const started = await start()
      const refused: RowClass = { caller: 'known', kept: 'first', by: 'AK1' }
      for (let n = 0; n < 1_000; n++) {
        started.trail.append(auditRow('r', { code: 'access_denied', status: 403 }), refused)
        started.trail.append(auditRow('r'))
      }
      await started.trail.close()
      const rows = await drained(started)
      t.equal(rows.length, 1_101)
      t.equal(requestsIn(rows), 2_000, 'what is still being counted is written at the end')
    },
  )
})
