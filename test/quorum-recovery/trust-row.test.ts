/** The audit row about a trusted disk, written next to the data of a stopped node. */
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { AuditSpool } from '../../src/audit/audit-spool.ts'
import { leaveRow, trustRow } from '../../src/quorum-recovery/trust-row.ts'
import { SILENT } from '../helpers/loggers.ts'
import { temporaryFolder } from '../helpers/process-cluster.ts'

const ROW = trustRow({ nodeId: 'n2', incarnation: 'i', before: 'suspect', reason: null }, 7)

t.test('the next process finds the row of each statement, in their order', async (t) => {
  const dataDir = temporaryFolder(t)
  const second = trustRow({ nodeId: 'n2', incarnation: 'i', before: 'stopped', reason: 'power cut' }, 8)
  for (const row of [ROW, second]) await leaveRow(dataDir, row, { logger: SILENT, metadataKey: null })
  const options = { dir: join(dataDir, 'audit'), isStrict: false, bytesMax: 1, logger: SILENT }
  const spool = await AuditSpool.open(options)
  const seen: unknown[] = []
  for (let batch = await spool.oldest(); batch !== null; batch = await spool.oldest()) {
    seen.push(...batch.rows.map((text) => JSON.parse(text) as unknown))
    await spool.taken(batch)
  }
  t.same(seen, [ROW, second])
  t.match(ROW, {
    time: 7,
    requestId: /^td_/,
    operation: 'trustDisk',
    nodeId: 'n2',
    status: 200,
    details: { incarnation: 'i', before: 'suspect' },
  })
  t.not(ROW.requestId, second.requestId)
  await spool.close()
})

t.test('[audit_unwritable] reports that nothing was changed, and what to do', async (t) => {
  const dataDir = temporaryFolder(t)
  mkdirSync(dataDir, { recursive: true })
  writeFileSync(join(dataDir, 'audit'), '')
  await t.rejects(leaveRow(dataDir, ROW, { logger: SILENT, metadataKey: null }), {
    code: 'audit_unwritable',
    message: /audit row about the disk of n2/,
    hint: /Nothing was changed\. Free space/,
  })
})
