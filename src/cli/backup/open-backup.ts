/**
 * Opens a backup from the command line: with the key file of a configuration, without any node.
 *
 * Owns: which backup is meant. Rules: without --backup the newest of the whole cluster, with --tenant the newest of that tenant, of the only cluster in the target;
 * where that is not clear the command says what there is. A newer one that does not open is never passed over.
 */
import type { MasterKey } from '../../access/master-key.ts'
import { loadMasterKeyOnce } from '../../access/provided-keys.ts'
import { BackupReader, type ListedBackup, listBackups } from '../../backup/read/backup-reader.ts'
import { scopeOf } from '../../backup/format/manifest.ts'
import {
  type BackupTarget,
  TargetError,
  TargetMissing,
  TargetUnreachable,
} from '../../backup/targets/target.ts'
import { loadConfig } from '../../config/load-config.ts'
import type { Config } from '../../config/types.ts'
import { CommandError, EXIT } from '../base/exit.ts'
import { openLocalTarget } from './local-target.ts'

export interface OpenBackupOptions {
  readonly config: string
  readonly from: string
  readonly backup?: string
  readonly tenant?: string
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
  options: OpenBackupOptions,
  work: (opened: OpenedBackup) => Promise<T>,
): Promise<T> {
  const { config: file, from } = options
  const config = loadConfig(file, process.env)
  const masterKey = await loadMasterKeyOnce(config.security)
  try {
    const target = openLocalTarget(from)
    try {
      const reader = await chosen(target, options, masterKey)
      return await work({ reader, config, masterKey })
    } finally {
      await target.close()
    }
  } catch (cause) {
    throw cause instanceof TargetError ? commandError(cause) : cause
  }
}

async function chosen(
  target: BackupTarget,
  options: OpenBackupOptions,
  masterKey: MasterKey,
): Promise<BackupReader> {
  const { from, backup } = options
  const all: ListedBackup[] = []
  for await (const listed of listBackups(target, null)) all.push(listed)
  const meant = backup === undefined ? all : all.filter(({ backupId }) => backupId === backup)
  const newestFirst = meant.toSorted((one, other) => (one.backupId < other.backupId ? 1 : -1))
  if (backup === undefined && new Set(all.map(({ cluster }) => cluster)).size > 1)
    throw new CommandError(`${from} has backups of several clusters`, {
      code: 'invalid_argument',
      hint: `Say which backup with --backup: ${namesOf(all)}`,
      exitCode: EXIT.usage,
    })
  for (const listed of newestFirst) {
    const reader = await BackupReader.open(target, listed, masterKey)
    if (isMeant(reader, options)) return reader
  }
  throw new CommandError(`There is no finished backup${whichOf(options)} in ${from}`, {
    code: 'not_found',
    hint: `Finished backups there: ${namesOf(all)}`,
    exitCode: EXIT.refused,
  })
}

/** A backup that is named is meant whatever it holds, unless another tenant is named as well. */
function isMeant({ manifest }: BackupReader, { backup, tenant }: OpenBackupOptions): boolean {
  const scope = scopeOf(manifest)
  return tenant === undefined ? backup !== undefined || scope === null : scope === tenant
}

function whichOf({ backup, tenant }: OpenBackupOptions): string {
  const named = backup === undefined ? '' : ` "${backup}"`
  return tenant === undefined ? named || ' of a whole cluster' : `${named} of tenant "${tenant}"`
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
