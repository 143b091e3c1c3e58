import t from 'tap'
import { AuditSpool, type AuditSpoolOptions } from '../../src/audit/audit-spool.ts'
import type { SpoolBatch } from '../../src/audit/spool-reader.ts'
import { auditRow, SPOOL_DIR, spoolFilesOn } from '../helpers/audit-disk.ts'
import { type LogLine, recordingLogger } from '../helpers/loggers.ts'
import { MemoryFiles } from '../wal/memory-files.ts'

interface Opened {
  readonly spool: AuditSpool
  readonly lines: LogLine[]
  /** Runs the scheduled work. */
  readonly tick: () => void
}

async function openOn(disk: MemoryFiles, more: Partial<AuditSpoolOptions> = {}): Promise<Opened> {
  const lines: LogLine[] = []
  const waiting: (() => void)[] = []
  const spool = await AuditSpool.open({
    dir: SPOOL_DIR,
    isStrict: false,
    bytesMax: 2 ** 28,
    logger: recordingLogger(lines),
    files: spoolFilesOn(disk),
    later: (work) => void waiting.push(work),
    ...more,
  })
  const tick = (): void => {
    for (const work of waiting.splice(0)) work()
  }
  return { spool, lines, tick }
}

async function drain(spool: AuditSpool): Promise<string[]> {
  const ids: string[] = []
  for (let batch = await spool.oldest(); batch !== null; batch = await spool.oldest()) {
    ids.push(...idsOf(batch))
    await spool.taken(batch)
  }
  return ids
}

const idsOf = ({ rows }: SpoolBatch): string[] => rows.map((row) => JSON.parse(row).requestId)

t.test('AuditSpool', async (t) => {
  t.test('returns durable rows, in order, and again until they are taken', async (t) => {
    const { spool } = await openOn(new MemoryFiles())
    t.equal(await spool.oldest(), null)
    for (const id of ['a', 'b']) spool.append(auditRow(id))
    t.equal(await spool.oldest(), null, 'nothing is durable yet')
    await spool.durable()
    spool.append(auditRow('c'))
    await spool.durable()
    const first = await spool.oldest()
    t.equal(first?.rows.length, 3, 'two flushes make one batch')
    t.strictSame(await spool.oldest(), first)
    t.strictSame(await drain(spool), ['a', 'b', 'c'])
    t.equal(await spool.oldest(), null)
  })

  t.test('flushes by itself after a delay, and many rows at once', async (t) => {
    const disk = new MemoryFiles()
    const { spool, tick } = await openOn(disk)
    for (let n = 0; n < 100; n++) spool.append(auditRow(`${n}`))
    t.equal(disk.changes, 0)
    tick()
    await spool.durable()
    const syncs = disk.changes
    t.equal(syncs, 4, 'create, write, flush, name')
    t.equal((await drain(spool)).length, 100)
  })

  t.test('cuts rows into groups of bounded size and starts new files', async (t) => {
    const disk = new MemoryFiles()
    const { spool } = await openOn(disk)
    const reason = 'x'.repeat(10_000)
    for (let n = 0; n < 900; n++) {
      spool.append(auditRow(`${n}`, { reason }))
      if (n % 90 === 89) await spool.durable()
    }
    t.ok(disk.paths().length >= 2)
    const batch = await spool.oldest()
    t.ok((batch?.rows.join('\n').length ?? 0) <= 256 * 1024 + 20_000)
    const held = disk.paths().length
    t.strictSame(
      await drain(spool),
      Array.from({ length: 900 }, (_, n) => `${n}`),
    )
    t.ok(disk.paths().length < held, 'files that were taken over are removed')
    t.equal(disk.paths().length, 1, 'except the one that is open')
  })

  t.test(
    'refuses requests while the cluster does not take its rows, and continues when it does',
    async (t) => {
      const { spool } = await openOn(new MemoryFiles(), { bytesMax: 5_000 })
      for (let n = 0; n < 20; n++) spool.append(auditRow(`${n}`))
      spool.admit()
      await spool.durable()
      t.throws(() => spool.admit(), { code: 'slow_down', message: /the cluster does not take it over/ })
      t.match(
        spool.samples(0).find(({ name }) => name === 'holdfast_audit_refused_total'),
        { value: 1 },
      )
      await drain(spool)
      spool.admit()
    },
  )

  t.test('refuses requests while its disk is full, and loses no rows', async (t) => {
    const disk = new MemoryFiles()
    const { spool, tick } = await openOn(disk)
    disk.beforeChange = (operation) => {
      if (operation === 'write') throw Object.assign(new Error('full'), { code: 'ENOSPC' })
    }
    spool.append(auditRow('a'))
    await t.rejects(spool.durable(), { code: 'disk_full' })
    t.throws(() => spool.admit(), { message: /its disk is full/ })
    disk.beforeChange = () => {}
    tick()
    await spool.durable()
    spool.admit()
    t.strictSame(await drain(spool), ['a'])
  })

  t.test('stops the node when a flush fails, and confirms no more rows', async (t) => {
    const disk = new MemoryFiles()
    const { spool } = await openOn(disk)
    disk.beforeChange = (operation) => {
      if (operation === 'fdatasync') throw Object.assign(new Error('dropped'), { code: 'ENOSPC' })
    }
    spool.append(auditRow('a'))
    await t.rejects(spool.durable(), { code: 'disk_full' })
    t.match(await spool.failed, { message: /Cannot flush/ })
    disk.beforeChange = () => {}
    await t.rejects(spool.durable(), { code: 'disk_full' })
    t.throws(() => spool.admit(), { message: /its disk failed/ })
    t.equal(await spool.oldest(), null)
  })

  t.test('distinguishes damage from a torn end', async (t) => {
    const disk = new MemoryFiles()
    const { spool } = await openOn(disk)
    for (const id of ['a', 'b', 'c']) {
      spool.append(auditRow(id))
      await spool.durable()
    }
    const [path = ''] = disk.paths()
    const torn = disk.copy()
    torn.put(path, disk.bytesOf(path).subarray(0, disk.bytesOf(path).length - 3))
    const cut = await openOn(torn)
    t.strictSame(await drain(cut.spool), ['a', 'b'])
    t.equal(cut.lines.filter(({ level }) => level === 'error').length, 0)
    const spoiled = disk.copy()
    spoiled.bytesOf(path)[disk.bytesOf(path).indexOf('"b"')]! ^= 1
    const bad = await openOn(spoiled)
    t.strictSame(await drain(bad.spool), ['a', 'c'])
    t.match(bad.lines, [{ level: 'error', fields: { rows: 1 } }])
    t.match(
      bad.spool.samples(0).find(({ name }) => name === 'holdfast_audit_rows_lost_total'),
      { value: 1 },
    )
  })

  t.test('never continues the numbers of an earlier process', async (t) => {
    const disk = new MemoryFiles()
    const before = await openOn(disk)
    before.spool.append(auditRow('a'))
    await before.spool.close()
    const after = await openOn(disk)
    after.spool.append(auditRow('b'))
    await after.spool.durable()
    const old = await after.spool.oldest()
    t.match(old, { first: 0, rows: { length: 1 } })
    if (old !== null) await after.spool.taken(old)
    const own = await after.spool.oldest()
    t.match(own, { first: 0 })
    t.not(own?.spool, old?.spool)
    t.strictSame(await drain(after.spool), ['b'])
  })
})
