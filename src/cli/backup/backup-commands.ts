/**
 * `holdfast backup create|list|show`: over the admin API.
 */
import type { ShownBackup } from '../../client/generated/admin-operations.ts'
import { askAdmin, pagesOf } from '../base/asking.ts'
import type { AdminAccessOptions } from '../base/cluster-access.ts'
import { EXIT } from '../base/exit.ts'
import { note, printFacts, printJson, printTable, sizeText } from '../base/printing.ts'
import { type OperationOptions, reportStarted } from '../admin/operation-commands.ts'
import { rehearsal } from '../admin/outcome.ts'

export interface CreateBackupOptions extends OperationOptions {
  readonly to: string
  readonly tenant?: string
  readonly reason: string
  readonly maxRate?: number
}

export interface LookOptions extends AdminAccessOptions {
  readonly from: string
  readonly json?: boolean
}

export function createBackup(options: CreateBackupOptions): Promise<number> {
  const { to: target, tenant, reason, maxRate } = options
  const limit = {
    ...(tenant === undefined ? {} : { tenantId: tenant }),
    ...(maxRate === undefined ? {} : { maxBytesPerSecond: maxRate }),
  }
  return askAdmin(options, async (client) => {
    const call = { body: { target, reason, ...limit }, query: rehearsal(options) }
    return reportStarted(client, (await client.call('createBackup', call)).answer, options)
  })
}

export interface VerifyOnlineOptions extends OperationOptions {
  readonly from: string
  readonly reason: string
  readonly maxRate?: number
}

export function verifyOnline(backupId: string, options: VerifyOnlineOptions): Promise<number> {
  const { from: target, reason, maxRate } = options
  const limit = maxRate === undefined ? {} : { maxBytesPerSecond: maxRate }
  return askAdmin(options, async (client) => {
    const call = { params: { backupId }, body: { target, reason, ...limit }, query: rehearsal(options) }
    return reportStarted(client, (await client.call('verifyClusterBackup', call)).answer, options)
  })
}

export function listBackups(options: LookOptions): Promise<number> {
  const { from: target, json = false } = options
  return askAdmin(options, async (client) => {
    const pages = pagesOf((from) => client.call('listClusterBackups', { query: { ...from, target } }))
    for await (const { backups } of pages)
      if (json) for (const backup of backups) printJson(backup)
      else
        printTable(
          backups.map(({ backupId, backup, problem }) =>
            backup === null
              ? [backupId, '', '', '', problem ?? '']
              : [
                  backupId,
                  backup.tenantId ?? 'cluster',
                  backup.cutAt,
                  sizeText(backup.chunkBytes),
                  backup.missingCount === 0 ? 'whole' : `${backup.missingCount} chunks missing`,
                ],
          ),
        )
    return EXIT.done
  })
}

export function showBackup(backupId: string, options: LookOptions): Promise<number> {
  const { from: target, json = false } = options
  return askAdmin(options, async (client) => {
    const { answer } = await client.call('getClusterBackup', { params: { backupId }, query: { target } })
    if (json) printJson(answer)
    else
      printFacts({
        ...answer,
        tenantId: answer.tenantId ?? 'all: the whole cluster',
        missing: answer.missing.join(' '),
        verification: verificationText(answer.verification),
      })
    if (!json) noteDamages(answer.verification)
    const isWhole = answer.missingCount === 0 && (answer.verification?.damageCount ?? 0) === 0
    return isWhole ? EXIT.done : EXIT.failed
  })
}

type Verification = ShownBackup['verification']

const SHOWN_MAX = 20

function verificationText(verification: Verification): string {
  if (verification === null) return 'by no node so far'
  const { finishedAt, damageCount } = verification
  return `${damageCount === 0 ? 'whole' : `${damageCount} parts are damaged`} at ${finishedAt}`
}

function noteDamages(verification: Verification): void {
  if (verification === null) return
  const { damages, versions, versionCount } = verification
  for (const { name, what, why } of damages.slice(0, SHOWN_MAX)) note(`${what}  ${name}  ${why}`)
  for (const { tenantId, bucket, key, versionId } of versions.slice(0, SHOWN_MAX))
    note(`needed by  ${tenantId}/${bucket}/${key}  version ${versionId}`)
  if ((versionCount ?? 0) > 0) note(`${versionCount} versions need what is damaged; --json has more names`)
}
