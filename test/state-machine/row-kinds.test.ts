/**
 * The first part of every row key, as it is on disks and in snapshots of released versions. A renamed kind makes the rows of an
 * older version invisible, and the states of two versions different.
 */
import { readdirSync, readFileSync } from 'node:fs'
import t from 'tap'

const FOLDER = new URL('../../src/state-machine/', import.meta.url)

const RELEASED = [
  'accessKey account accountName adminToken adminTokenHash auditHead auditKeys auditLink auditSegment auditSpool bucket busyHook',
  'chunk clusterKey clusterRecoveries condemned discard discarded drop expiry hook in leavers making members nodeSessions operation',
  'operationList outbox outboxTotal quota repair repairTotal session settings tenant tenantAccess tenantAccessKey usage',
  // Since level 4.
  'approval approvalList auditExport limits originHooks tenantHooks',
  // Since level 6.
  'lifecycleTurn',
  // Since level 7.
  'sealed',
  'adminSessions',
  'backupChecks backupNames backupSchedule backupTarget busySite failedSiteChange site siteChange siteState tenantSite waitingSite',
]

t.test('row keys have the kinds that released versions wrote', async (t) => {
  const files = readdirSync(FOLDER, { recursive: true, encoding: 'utf8' }).filter((path) =>
    /keys\.[jt]s$/.test(path),
  )
  t.ok(files.length > 5)
  const kinds = files.flatMap((path) =>
    [...readFileSync(new URL(path, FOLDER), 'utf8').matchAll(/\b(?:join|rangeOf)\(\s*'([A-Za-z]+)'/g)].map(
      ([, kind]) => kind,
    ),
  )
  t.same(new Set(kinds), new Set(RELEASED.join(' ').split(' ')))
})
