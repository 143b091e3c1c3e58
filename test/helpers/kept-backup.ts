/**
 * A finished backup of nothing, as files of a directory target: for tests of what lists backups.
 */
import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { MasterKey } from '../../src/access/master-key.ts'
import { BACKUP } from '../../src/api/examples/names.ts'
import { backupKeyContext, encodeManifest, type Manifest } from '../../src/backup/format/manifest.ts'
import { manifestName } from '../../src/backup/format/names.ts'
import type { Config } from '../../src/config/types.ts'
import type { Services } from '../../src/operations/base/services.ts'
import { underMasterKey } from '../../src/service/backup-services.ts'

export function keepBackup(
  directory: string,
  {
    masterKey,
    clusterId,
    backupId,
    folder = 'weekly',
  }: {
    readonly masterKey: Pick<MasterKey, 'seal'>
    readonly clusterId: string
    readonly backupId: string
    readonly folder?: string
  },
): void {
  const key = Buffer.alloc(32, 7)
  const manifest: Manifest = {
    format: 1,
    backupId,
    clusterId,
    version: '0.0.0',
    cutAt: 1_000,
    index: 7,
    term: 1,
    featureLevel: 7,
    checksum: '0'.repeat(64),
    rows: 0,
    chunks: 0,
    chunkBytes: 0,
    attempt: 'a',
    state: [],
    chunkFiles: [],
    record: { name: 'a/record', size: 0, sha256: '0'.repeat(64) },
    key: Buffer.from(masterKey.seal(key, backupKeyContext(backupId))).toString('base64'),
    startedAt: 500,
    finishedAt: 2_000,
    sentChunks: 0,
    sentBytes: 0,
    missing: [],
    missingCount: 0,
  }
  const file = join(directory, folder, manifestName(clusterId, backupId))
  mkdirSync(dirname(file), { recursive: true })
  writeFileSync(file, encodeManifest(manifest, key))
}

/** `backup.directory` of services that keep their state in this directory. */
export const backupsIn = (dir: string): string => join(dir, 'backups')

/** Services of backups in which that backup lies. */
export function keptBackups(
  dir: string,
  parts: Parameters<typeof underMasterKey>[0] & { readonly config: Config },
): Pick<Services, 'signing' | 'backups'> {
  const { config, masterKey } = parts
  keepBackup(backupsIn(dir), { masterKey, clusterId: config.cluster.id, backupId: BACKUP.backupId })
  return underMasterKey(parts)
}
