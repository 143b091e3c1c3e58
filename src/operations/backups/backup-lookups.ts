/** Finished backups in a target, one or a page of them: authorize -> open the target -> read manifests. */
import { adminToken } from '../../access/rights.ts'
import type { Manifest } from '../../backup/format/manifest.ts'
import { isBackupId } from '../../backup/format/names.ts'
import { BackupReader, listBackups } from '../../backup/read/backup-reader.ts'
import { type CheckReport, readReport } from '../../backup/checks/check-report.ts'
import type { BackupTarget } from '../../backup/targets/target.ts'
import { TargetError } from '../../backup/targets/target.ts'
import { Refusal } from '../../base/refusal.ts'
import { continuedPage, type PageInput } from '../base/continued-page.ts'
import { adminOperation } from '../base/operation.ts'
import type { Services } from '../base/services.ts'
import { noTarget } from '../base/targets.ts'
import { withTarget } from './target-refusals.ts'

/** What its manifest says. */
export type FinishedBackup = Manifest

export interface ShownBackup {
  readonly manifest: Manifest
  /** What the last verification by a node has found; null: there was none. */
  readonly report: CheckReport | null
}

export interface FoundBackup {
  readonly backupId: string
  /** Null: it cannot be read, and `problem` says why. */
  readonly manifest: Manifest | null
  readonly problem: string | null
}

export interface BackupListing {
  readonly backups: readonly FoundBackup[]
  readonly nextContinuationToken: string | null
}

export const listClusterBackups = adminOperation(
  {
    id: 'listClusterBackups',
    requires: adminToken('operator', 'cluster'),
    refuses: ['precondition_failed', 'invalid_argument'],
    target: noTarget,
  },
  async (
    services,
    principal,
    { target: text, ...page }: PageInput & { readonly target: string },
  ): Promise<BackupListing> => {
    const context = ['listClusterBackups', text]
    const { items: backups, nextContinuationToken } = await continuedPage(services, context, page, (asked) =>
      withTarget(services, text, (target) => pageOf(services, target, asked)),
    )
    return { backups, nextContinuationToken }
  },
)

export const getClusterBackup = adminOperation(
  {
    id: 'getClusterBackup',
    requires: adminToken('operator', 'cluster'),
    refuses: ['precondition_failed', 'invalid_argument', 'not_found'],
    target: noTarget,
  },
  async (services, principal, input: Named): Promise<ShownBackup> =>
    inBackup(services, input, async (reader) => ({
      manifest: reader.manifest,
      report: await readReport(reader),
    })),
)

/** Throws Refusal. */
export function manifestIn(services: Services, input: Named): Promise<Manifest> {
  return inBackup(services, input, async ({ manifest }) => manifest)
}

interface Named {
  readonly backupId: string
  readonly target: string
}

async function inBackup<T>(
  services: Services,
  { backupId, target: text }: Named,
  work: (reader: BackupReader) => Promise<T>,
): Promise<T> {
  if (!isBackupId(backupId)) throw new Refusal('not_found', `There is no backup "${backupId.slice(0, 64)}"`)
  return withTarget(services, text, async (target) => work(await readerOf(services, target, backupId)))
}

async function pageOf(
  services: Services,
  target: BackupTarget,
  { after, limit }: { readonly after: string; readonly limit: number },
): Promise<{ readonly items: readonly FoundBackup[]; readonly next: string | null }> {
  const items: FoundBackup[] = []
  for await (const { backupId } of listBackups(target, services.cluster.clusterId)) {
    if (backupId <= after) continue
    if (items.length === limit) return { items, next: items.at(-1)?.backupId ?? null }
    items.push(await found(services, target, backupId))
  }
  return { items, next: null }
}

async function found(services: Services, target: BackupTarget, backupId: string): Promise<FoundBackup> {
  try {
    return { backupId, manifest: (await readerOf(services, target, backupId)).manifest, problem: null }
  } catch (error) {
    if (!(error instanceof TargetError) || error.isRetryable) throw error
    return { backupId, manifest: null, problem: error.message }
  }
}

function readerOf(
  { backups, cluster }: Services,
  target: BackupTarget,
  backupId: string,
): Promise<BackupReader> {
  const at = { cluster: cluster.clusterId, backupId }
  return BackupReader.open(target, at, backups.masterKey)
}
