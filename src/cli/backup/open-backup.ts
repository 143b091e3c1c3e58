/**
 * Opens a backup from the command line: with the key file of a configuration, without any node.
 *
 * Owns: which backup is meant. Rule: without --backup the newest whole one of the only cluster in the target; where that is not clear the command says what there is.
 */
import type { MasterKey } from '../../access/master-key.ts'
import { loadMasterKeyOnce } from '../../access/provided-keys.ts'
import { BackupReader, type ListedBackup, listBackups } from '../../backup/read/backup-reader.ts'
import { TargetError, TargetMissing, TargetUnreachable } from '../../backup/targets/target.ts'
import { loadConfig } from '../../config/load-config.ts'
import type { Config } from '../../config/types.ts'
import { CommandError, EXIT } from '../base/exit.ts'
import { openLocalTarget } from './local-target.ts'

export interface OpenBackupOptions {
  readonly config: string
  readonly from: string
  readonly backup?: string
  readonly json?: boolean
}

export interface OpenedBackup {
  readonly reader: BackupReader
  readonly config: Config
  readonly masterKey: MasterKey
}

const NAMED_MAX = 10

/** Throws CommandError. */
export async function withBackup<T>(
  { config: file, from, backup }: OpenBackupOptions,
  work: (opened: OpenedBackup) => Promise<T>,
): Promise<T> {
  const config = loadConfig(file, process.env)
  const masterKey = await loadMasterKeyOnce(config.security)
  try {
    const target = openLocalTarget(from)
    try {
      const reader = await BackupReader.open(target, await chosen(target, from, backup), masterKey)
      return await work({ reader, config, masterKey })
    } finally {
      await target.close()
    }
  } catch (cause) {
    throw cause instanceof TargetError ? commandError(cause) : cause
  }
}

async function chosen(
  target: Parameters<typeof listBackups>[0],
  from: string,
  backup: string | undefined,
): Promise<ListedBackup> {
  const all: ListedBackup[] = []
  for await (const listed of listBackups(target, null)) all.push(listed)
  const clusters = new Set(all.map(({ cluster }) => cluster))
  const meant = backup === undefined ? all : all.filter(({ backupId }) => backupId === backup)
  const newest = meant.toSorted((one, other) => (one.backupId < other.backupId ? -1 : 1)).at(-1)
  if (newest === undefined)
    throw new CommandError(
      `There is no finished backup${backup === undefined ? '' : ` "${backup}"`} in ${from}`,
      {
        code: 'not_found',
        hint: `Finished backups there: ${namesOf(all)}`,
        exitCode: EXIT.refused,
      },
    )
  if (backup === undefined && clusters.size > 1)
    throw new CommandError(`${from} has backups of ${clusters.size} clusters`, {
      code: 'invalid_argument',
      hint: `Say which backup with --backup: ${namesOf(all)}`,
      exitCode: EXIT.usage,
    })
  return newest
}

function namesOf(all: readonly ListedBackup[]): string {
  const names = all.slice(-NAMED_MAX).map(({ cluster, backupId }) => `${backupId} of ${cluster}`)
  return names.length === 0 ? 'none' : names.join(', ')
}

function commandError(error: TargetError): CommandError {
  const code = error instanceof TargetMissing ? 'not_found' : 'precondition_failed'
  const hint =
    error instanceof TargetUnreachable
      ? 'Make the target reachable and repeat the command.'
      : 'holdfast backup verify names everything that is damaged.'
  return new CommandError(error.message, { code, hint, exitCode: EXIT.failed, cause: error })
}
