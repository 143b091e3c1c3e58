/**
 * The end of a backup: what the target lists is compared with the cut, then the manifest is written.
 *
 * Owns: when a backup counts. Rules: the manifest says what the target has at that moment, not what was sent to it: a directory that is not the same on all nodes,
 * or files that were removed meanwhile, make the backup incomplete and not silently so; it is written last.
 */
import { decodeChunks } from '../format/chunk-list.ts'
import { type BackupCut, encodeManifest, type Manifest, MISSING_NAMED_MAX } from '../format/manifest.ts'
import { backupFolder, chunkName, manifestName } from '../format/names.ts'
import type { BackupTarget } from '../targets/target.ts'
import { heldIn } from './chunk-copier.ts'
import { once, type SealedFiles } from './sealed-files.ts'

export interface BackupEnd {
  readonly target: BackupTarget
  readonly files: SealedFiles
  readonly cut: BackupCut
  readonly backupKey: Uint8Array
  readonly run: Pick<Manifest, 'startedAt' | 'finishedAt' | 'sentChunks' | 'sentBytes'>
  /** Throws when the work is not wanted any more. */
  readonly check: () => void
}

export async function endBackup(end: BackupEnd): Promise<Manifest> {
  const { target, cut, backupKey, run } = end
  const manifest: Manifest = { ...cut, ...run, ...(await missingOf(end)) }
  await removeOtherAttempts(target, cut)
  end.check()
  const text = encodeManifest(manifest, backupKey)
  await target.put(manifestName(cut.clusterId, cut.backupId), once(text), text.length)
  return manifest
}

async function missingOf({
  target,
  files,
  cut,
  check,
}: BackupEnd): Promise<Pick<Manifest, 'missing' | 'missingCount'>> {
  const missing: string[] = []
  let missingCount = 0
  for (const file of cut.chunkFiles) {
    check()
    const held = await heldIn(target, cut.clusterId, file.shard)
    for (const entry of decodeChunks(file.name, await files.read(file))) {
      const name = chunkName(cut.clusterId, entry)
      if (held.get(name) === entry.sealedSize) continue
      missingCount++
      if (missing.length < MISSING_NAMED_MAX) missing.push(name)
    }
  }
  return { missing, missingCount }
}

/** Of nodes that wrote a cut at the same time, or before this one, and did not win. */
async function removeOtherAttempts(
  target: BackupTarget,
  { clusterId, backupId, attempt }: BackupCut,
): Promise<void> {
  const folder = backupFolder(clusterId, backupId)
  const others: string[] = []
  for await (const { name } of target.list(folder))
    if (!name.startsWith(`${folder}${attempt}/`)) others.push(name)
  for (const name of others) await target.remove(name)
}
