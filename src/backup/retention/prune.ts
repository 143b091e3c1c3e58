/**
 * Removes backups of one cluster from a target, and then the chunks that none of the others names.
 *
 * Owns: the order of removals, what makes them unsafe. Knows nothing of: operations, cursors, when it is allowed to run. Rules: a manifest goes before the files of
 * its backup, and both before any chunk, so that what is left after a break is whole or does not count; a backup that cannot be read stays, and while
 * there is one no chunk goes, because its chunks are not known; the same holds for a shard whose lists cannot be read.
 */
import type { MasterKey } from '../../access/master-key.ts'
import type { TenantId } from '../../state-machine/base/record-ids.ts'
import type { KeepRules } from '../../state-machine/long-operations/records.ts'
import { scopeOf } from '../format/manifest.ts'
import { backupsFolder, isBackupId, manifestName, SHARDS, shardFolder } from '../format/names.ts'
import { BackupReader, listBackups } from '../read/backup-reader.ts'
import { type BackupTarget, TargetError } from '../targets/target.ts'
import { decideKeep, type KeepReason, type StoredBackup } from './keep.ts'

export interface PruneParts {
  readonly target: BackupTarget
  readonly clusterId: string
  readonly masterKey: Pick<MasterKey, 'open'>
}

/** Each is open while chunks are removed. */
const BACKUPS_MAX = 1_000

interface OpenedBackup extends StoredBackup {
  /** Null: of the whole cluster. */
  readonly scope: TenantId | null
  readonly reader: BackupReader
}

export interface PruneRules {
  readonly keep: KeepRules
  /** The tenant whose backups the rules are about; null: those of the whole cluster. */
  readonly tenantId: TenantId | null
}

export interface PrunePlan {
  /** Newest first; those of other scopes behind the others. */
  readonly kept: readonly { readonly backup: OpenedBackup; readonly reasons: readonly KeepReason[] }[]
  /** Oldest first. */
  readonly removed: readonly OpenedBackup[]
  /** Backups that cannot be read, and why. */
  readonly unreadable: readonly { readonly id: string; readonly problem: string }[]
}

/** Backups of other scopes stay, whatever the rules. Throws TargetError. */
export async function planPrune(parts: PruneParts, { keep, tenantId }: PruneRules): Promise<PrunePlan> {
  const backups: OpenedBackup[] = []
  const unreadable: { readonly id: string; readonly problem: string }[] = []
  for await (const listed of listBackups(parts.target, parts.clusterId)) {
    if (backups.length + unreadable.length === BACKUPS_MAX)
      throw new PruneRefused(
        `More than ${BACKUPS_MAX} backups lie in ${parts.target.description}: remove some by hand first`,
      )
    try {
      const reader = await BackupReader.open(parts.target, listed, parts.masterKey)
      const { cutAt, missingCount } = reader.manifest
      const scope = scopeOf(reader.manifest)
      backups.push({ id: listed.backupId, at: cutAt, isGood: missingCount === 0, scope, reader })
    } catch (error) {
      if (!(error instanceof TargetError) || error.isRetryable) throw error
      unreadable.push({ id: listed.backupId, problem: error.message })
    }
  }
  const { kept, removed } = decideKeep(
    backups.filter(({ scope }) => scope === tenantId),
    keep,
  )
  const others = backups.filter(({ scope }) => scope !== tenantId).toReversed()
  return { kept: [...kept, ...others.map(ofOtherScope)], removed, unreadable }
}

const ofOtherScope = (backup: OpenedBackup): PrunePlan['kept'][number] => ({
  backup,
  reasons: ['otherScope'],
})

/** There is too much to be pruned. */
export class PruneRefused extends TargetError {
  readonly isRetryable = false
  override readonly name = 'PruneRefused'
}

/** Removes the backups of the plan, and what interrupted ones left; `check` throws when the work is not wanted any more. */
export async function removeBackups(
  { target, clusterId }: PruneParts,
  { kept, removed, unreadable }: PrunePlan,
  check: () => Promise<void>,
): Promise<number> {
  for (const { id } of removed) {
    await check()
    await target.remove(manifestName(clusterId, id))
  }
  const stays = new Set([...kept.map(({ backup }) => backup.id), ...unreadable.map(({ id }) => id)])
  const folder = backupsFolder(clusterId)
  for (;;) {
    const found = await firstBatch(target, folder, (name) => {
      const [id = ''] = name.slice(folder.length).split('/')
      return isBackupId(id) && !stays.has(id)
    })
    if (found.length === 0) return removed.length
    await check()
    for (const { name } of found) await target.remove(name)
  }
}

const BATCH = 256

interface Entry {
  readonly name: string
  readonly size: number
}

/** At most BATCH of them. */
async function firstBatch(
  target: BackupTarget,
  prefix: string,
  isWanted: (name: string) => boolean,
): Promise<readonly Entry[]> {
  const found: Entry[] = []
  for await (const entry of target.list(prefix)) {
    if (isWanted(entry.name)) found.push(entry)
    if (found.length === BATCH) break
  }
  return found
}

export interface Swept {
  readonly chunks: number
  readonly bytes: number
  /** Why nothing was removed; null: what could go is gone. */
  readonly problem: string | null
}

/**
 * Every backup that the target lists and that could be read. What the rules do not keep belongs to them as long as it is listed: one whose manifest could not be
 * read while the others were removed is in the target still.
 */
export function listedIn({ kept, removed }: PrunePlan): readonly BackupReader[] {
  return [...kept.map(({ backup }) => backup.reader), ...removed.map(({ reader }) => reader)]
}

/** `stays`: all backups that stay; each was read. Throws TargetError of a target that is away. */
export async function sweepShard(
  { target, clusterId }: PruneParts,
  { stays, shard }: { readonly stays: readonly BackupReader[]; readonly shard: string },
  check: () => Promise<void>,
): Promise<Swept> {
  const named = await namesOf(stays, shard)
  if (typeof named === 'string') return { chunks: 0, bytes: 0, problem: named }
  let [chunks, bytes] = [0, 0]
  for (;;) {
    const found = await firstBatch(target, shardFolder(clusterId, shard), (name) => !named.has(name))
    if (found.length === 0) return { chunks, bytes, problem: null }
    await check()
    for (const { name, size } of found) {
      await target.remove(name)
      chunks++
      bytes += size
    }
  }
}

/** Names in the target; a text: why they are not known. */
async function namesOf(stays: readonly BackupReader[], shard: string): Promise<ReadonlySet<string> | string> {
  const names = new Set<string>()
  for (const reader of stays) {
    try {
      for (const file of reader.manifest.chunkFiles)
        if (file.shard === shard)
          for (const entry of await reader.chunksOf(file)) names.add(reader.nameOf(entry))
    } catch (error) {
      if (!(error instanceof TargetError) || error.isRetryable) throw error
      return error.message
    }
  }
  return names
}

export interface Freed {
  readonly chunks: number
  readonly bytes: number
  /** Of 256: fewer where the figures are estimated from a part, which chunk ids make a fair sample. */
  readonly shardsRead: number
}

/** Lists of chunks that an estimate reads at most. */
const ESTIMATE_READS_MAX = 2_048

/** What a prune would free, by the lists of the backups; nothing is removed. Throws TargetError. */
export async function estimateFreed({ kept, removed, unreadable }: PrunePlan): Promise<Freed> {
  if (removed.length === 0 || unreadable.length > 0) return { chunks: 0, bytes: 0, shardsRead: SHARDS.length }
  const readers = kept.length + removed.length
  const shards = SHARDS.slice(0, Math.max(1, Math.floor(ESTIMATE_READS_MAX / readers)))
  let [chunks, bytes] = [0, 0]
  for (const shard of shards) {
    const stays = await namesOf(
      kept.map(({ backup }) => backup.reader),
      shard,
    )
    if (typeof stays === 'string') continue
    const going = new Map<string, number>()
    for (const { reader } of removed)
      for (const file of reader.manifest.chunkFiles)
        if (file.shard === shard)
          for (const entry of await reader.chunksOf(file)) going.set(reader.nameOf(entry), entry.sealedSize)
    for (const [name, size] of going) {
      if (stays.has(name)) continue
      chunks++
      bytes += size
    }
  }
  const scale = SHARDS.length / shards.length
  return { chunks: Math.round(chunks * scale), bytes: Math.round(bytes * scale), shardsRead: shards.length }
}
