/**
 * A finished backup whose rows hold the keys that its chunks are sealed with: of a tenant in the middle of an exchange, and of a client.
 */
import { createSecretKey, hash, randomBytes } from 'node:crypto'
import { tenantDataKey, tenantDedupKey } from '../../src/access/sealing-contexts.ts'
import { encodeChunks, type ChunkEntry } from '../../src/backup/format/chunk-list.ts'
import { backupKeyContext, encodeManifest, type Manifest } from '../../src/backup/format/manifest.ts'
import { backupFolder, chunkName, manifestName } from '../../src/backup/format/names.ts'
import { BackupReader } from '../../src/backup/read/backup-reader.ts'
import { once, SealedFiles } from '../../src/backup/run/sealed-files.ts'
import type { BackupTarget } from '../../src/backup/targets/target.ts'
import { newCustomerKeys } from '../../src/content/customer-keys.ts'
import { sealPlain } from '../../src/content/sealing.ts'
import { TenantKeys } from '../../src/content/tenant-keys.ts'
import { frameRow } from '../../src/store/rows/row-block.ts'
import { encodeRow, keyBytes } from '../../src/store/rows/row-codec.ts'
import { rowHash, RowSum } from '../../src/store/rows/row-sum.ts'
import { testMasterKey } from '../helpers/content-world.ts'

export const CLUSTER = 'c1'
export const BACKUP_ID = '20261127t120000z-0123abcd'
const ATTEMPT = 'a'

/** Versions of the data key of the tenant; 0: the key of a client. */
export type KeyVersion = 0 | 1 | 2 | 3

export interface SealedBackup {
  /** One object, one chunk: by key of the object. */
  readonly objects: Readonly<Record<string, KeyVersion>>
  /** Versions that seal small bodies. Absent: none. */
  readonly small?: readonly KeyVersion[]
}

const [FIRST, SECOND, STRANGE] = [randomBytes(32), randomBytes(32), randomBytes(32)]
const DEDUP = randomBytes(32)
const DATA: Readonly<Record<1 | 2 | 3, Buffer>> = { 1: FIRST, 2: SECOND, 3: STRANGE }
const CLIENT = newCustomerKeys(TenantKeys.fromBytes(SECOND, DEDUP), createSecretKey(randomBytes(32)))

const keysOf = (version: KeyVersion): TenantKeys =>
  version === 0 ? CLIENT.keys : TenantKeys.fromBytes(DATA[version], DEDUP)

/** The tenant holds version 2, and version 1 as its former key. Returns the names of the chunks in the target, by key of the object. */
export async function makeSealedBackup(
  target: BackupTarget,
  { objects, small = [] }: SealedBackup,
): Promise<Readonly<Record<string, string>>> {
  const rows = new Map<string, object>()
  const entries: ChunkEntry[] = []
  const names: Record<string, string> = {}
  const join = (...parts: readonly string[]): string => parts.join('\u0000')
  rows.set(join('bucket', 'acme', 'photos'), { id: 'b1', tenantId: 'acme', name: 'photos' })
  for (const [key, version] of Object.entries(objects)) {
    const plain = Buffer.from(`bytes of ${key}`)
    const keys = keysOf(version)
    const id = keys.chunkIdOf(plain)
    const sealed = sealPlain(keys, id, plain)
    const checksum = hash('sha256', sealed, 'hex')
    const entry = {
      id,
      checksum,
      sealedSize: sealed.length,
      size: plain.length,
      tenantId: 'acme',
      birth: `s-${key}`,
    }
    entries.push(entry)
    names[key] = chunkName(CLUSTER, entry)
    await target.put(names[key], once(sealed), sealed.length)
    rows.set(join('chunk', 'acme', id), {
      ...entry,
      references: 1,
      ...(version === 1 ? {} : { keyVersion: version }),
    })
    rows.set(join('in', 'b1', 'manifestPage', `v-${key}`, '00000000'), {
      links: [{ id, size: plain.length }],
    })
    rows.set(join('in', 'b1', 'object', key), { kind: 'object', key, versionId: `v-${key}`, isNull: false })
  }
  for (const [n, keyVersion] of small.entries())
    rows.set(join('in', 'b1', 'inlineBody', `small-${n}`), { sealed: new Uint8Array(20), keyVersion })
  rows.set(join('tenant', 'acme'), {
    id: 'acme',
    dataKeyVersion: 2,
    dataKey: testMasterKey.seal(SECOND, tenantDataKey('acme', 2)),
    dedupKey: testMasterKey.seal(DEDUP, tenantDedupKey('acme')),
    formerKey: { version: 1, dataKey: testMasterKey.seal(FIRST, tenantDataKey('acme', 1)), operation: 'op' },
  })
  await writeBackup(target, rows, entries)
  return names
}

async function writeBackup(
  target: BackupTarget,
  rows: ReadonlyMap<string, object>,
  entries: readonly ChunkEntry[],
): Promise<void> {
  const backupKey = randomBytes(32)
  const files = new SealedFiles({ target, folder: backupFolder(CLUSTER, BACKUP_ID), backupKey })
  const sum = new RowSum()
  const frames: Buffer[] = []
  const sorted = [...rows].sort(([one], [other]) => Buffer.compare(keyBytes(one), keyBytes(other)))
  for (const [key, row] of sorted) {
    const value = encodeRow(keyBytes(key), row)
    sum.add(rowHash(keyBytes(key), value))
    frames.push(frameRow(keyBytes(key), value))
  }
  const byShard = new Map<string, ChunkEntry[]>()
  for (const entry of entries) {
    const shard = entry.id.slice(0, 2)
    byShard.set(shard, [...(byShard.get(shard) ?? []), entry])
  }
  const chunkFiles: Manifest['chunkFiles'][number][] = []
  for (const [shard, list] of [...byShard].sort(([one], [other]) => (one < other ? -1 : 1))) {
    const file = await files.write(`${ATTEMPT}/chunks-${shard}`, encodeChunks(list))
    chunkFiles.push({ ...file, shard, chunks: list.length, bytes: 1 })
  }
  const manifest: Manifest = {
    format: 1,
    backupId: BACKUP_ID,
    clusterId: CLUSTER,
    version: '0',
    cutAt: 1_000,
    index: 1,
    term: 1,
    featureLevel: 7,
    checksum: sum.bytes().toString('hex'),
    rows: rows.size,
    chunks: entries.length,
    chunkBytes: entries.reduce((total, { sealedSize }) => total + sealedSize, 0),
    attempt: ATTEMPT,
    record: await files.write(`${ATTEMPT}/record`, Buffer.from('record')),
    state: [await files.write(`${ATTEMPT}/state-000000`, Buffer.concat(frames))],
    chunkFiles,
    key: Buffer.from(testMasterKey.seal(backupKey, backupKeyContext(BACKUP_ID))).toString('base64'),
    startedAt: 1_000,
    finishedAt: 2_000,
    sentChunks: entries.length,
    sentBytes: 0,
    missing: [],
    missingCount: 0,
  }
  const text = encodeManifest(manifest, backupKey)
  await target.put(manifestName(CLUSTER, BACKUP_ID), once(text), text.length)
}

export function readerOf(target: BackupTarget): Promise<BackupReader> {
  return BackupReader.open(target, { cluster: CLUSTER, backupId: BACKUP_ID }, testMasterKey)
}
