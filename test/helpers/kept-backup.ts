/**
 * A finished backup of one tenant with one empty bucket, as files of a directory target: for tests of what lists backups and begins to restore them.
 */
import { createCipheriv, hash, hkdfSync } from 'node:crypto'
import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { gzipSync } from 'node:zlib'
import type { MasterKey } from '../../src/access/master-key.ts'
import { tenantDataKey, tenantDedupKey } from '../../src/access/sealing-contexts.ts'
import { ACME, BACKUP, PHOTOS } from '../../src/api/examples/names.ts'
import { backupKeyContext, encodeManifest, type Manifest } from '../../src/backup/format/manifest.ts'
import { backupFolder, manifestName } from '../../src/backup/format/names.ts'
import type { Config } from '../../src/config/types.ts'
import { underMasterKey } from '../../src/service/backup-services.ts'
import { bucketKeys } from '../../src/state-machine/buckets/keys.ts'
import { tenantKeys } from '../../src/state-machine/tenants/keys.ts'
import { frameRow } from '../../src/store/rows/row-block.ts'
import { encodeRow, keyBytes } from '../../src/store/rows/row-codec.ts'

/** As src/backup/format/sealed-file.ts seals it, at once. */
function sealedFile(backupKey: Uint8Array, name: string, plain: Uint8Array): Buffer {
  const salt = Buffer.alloc(32, 9)
  const key = new Uint8Array(hkdfSync('sha256', backupKey, salt, 'holdfast/backup/1/file', 32))
  const cipher = createCipheriv('aes-256-gcm', key, Buffer.alloc(12)).setAAD(Buffer.from(name))
  const text = [cipher.update(gzipSync(plain)), cipher.final()]
  return Buffer.concat([Buffer.from('HFBK\u0001'), salt, ...text, cipher.getAuthTag()])
}

function rowsOf(masterKey: Pick<MasterKey, 'seal'>): Buffer {
  const { id } = ACME
  const name = PHOTOS.bucket
  const about = {
    versioning: 'Enabled',
    objectLockEnabled: false,
    createdAt: 1,
    objectCount: 0,
    versionCount: 0,
  }
  const counts = { deleteMarkerCount: 0, logicalBytes: 0, uploadCount: 0, uploadBytes: 0 }
  const tenant = {
    id,
    name: 'Acme Inc.',
    status: 'active',
    createdAt: 1,
    disabledAt: null,
    disabledReason: null,
    dataKey: masterKey.seal(Buffer.alloc(32, 3), tenantDataKey(id)),
    dedupKey: masterKey.seal(Buffer.alloc(32, 4), tenantDedupKey(id)),
    masterKeyId: 'mk-1',
    bucketCount: 1,
  }
  const rows = [
    [bucketKeys.bucket(id, name), { id: '0', tenantId: id, name, ...about, ...counts }],
    [tenantKeys.tenant(id), tenant],
  ] as const
  return Buffer.concat(
    rows.map(([key, row]) => {
      const bytes = keyBytes(key)
      return frameRow(bytes, encodeRow(bytes, row))
    }),
  )
}

export function keepBackup(
  directory: string,
  {
    masterKey,
    clusterId,
    backupId,
    folder = 'weekly',
    featureLevel = 7,
  }: {
    readonly masterKey: Pick<MasterKey, 'seal'>
    readonly clusterId: string
    readonly backupId: string
    readonly folder?: string
    readonly featureLevel?: number
  },
): void {
  const key = Buffer.alloc(32, 7)
  const base = backupFolder(clusterId, backupId)
  const stateName = 'a/state-000000'
  const rows = sealedFile(key, base + stateName, rowsOf(masterKey))
  const manifest: Manifest = {
    format: 1,
    backupId,
    clusterId,
    version: '0.0.0',
    cutAt: 1_000,
    index: 7,
    term: 1,
    featureLevel,
    checksum: '0'.repeat(64),
    rows: 2,
    chunks: 0,
    chunkBytes: 0,
    attempt: 'a',
    state: [{ name: stateName, size: rows.length, sha256: hash('sha256', rows, 'hex') }],
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
  const stateFile = join(directory, folder, base + stateName)
  mkdirSync(dirname(stateFile), { recursive: true })
  writeFileSync(stateFile, rows)
}

/** `backup.directory` of services that keep their state in this directory. */
export const backupsIn = (dir: string): string => join(dir, 'backups')

/** Services of backups in which that backup lies. */
export function keptBackups(
  dir: string,
  parts: Parameters<typeof underMasterKey>[0] & { readonly config: Config },
): ReturnType<typeof underMasterKey> {
  const { config, masterKey } = parts
  keepBackup(backupsIn(dir), { masterKey, clusterId: config.cluster.id, backupId: BACKUP.backupId })
  return underMasterKey(parts)
}
