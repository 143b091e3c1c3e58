/**
 * Finished backups in a target, with chunks of a few bytes, as the driver of backups leaves them.
 */
import { hash } from 'node:crypto'
import { backupKeyContext, encodeManifest, type Manifest } from '../../src/backup/format/manifest.ts'
import { encodeChunks, type ChunkEntry } from '../../src/backup/format/chunk-list.ts'
import { backupFolder, chunkName, manifestName } from '../../src/backup/format/names.ts'
import { BackupReader, listBackups } from '../../src/backup/read/backup-reader.ts'
import { once, SealedFiles } from '../../src/backup/run/sealed-files.ts'
import type { BackupTarget } from '../../src/backup/targets/target.ts'
import { testMasterKey } from '../helpers/content-world.ts'

export const CLUSTER = 'c1'
const ATTEMPT = 'a'

/** Of day `n`, at 02:00. */
export const idOf = (day: number): string =>
  `202611${day.toString().padStart(2, '0')}t020000z-0000000${day % 10}`
const timeOf = (day: number): number => Date.UTC(2026, 10, day, 2)

/** Its name decides its shard and its bytes. */
export function chunkOf(name: string): { readonly entry: ChunkEntry; readonly bytes: Buffer } {
  const bytes = Buffer.from(`sealed ${name}`)
  const id = hash('sha256', name, 'hex')
  const checksum = hash('sha256', bytes, 'hex')
  return { entry: { id, checksum, sealedSize: bytes.length, size: 1, tenantId: 'acme', birth: 'b' }, bytes }
}

export async function makeBackup(
  target: BackupTarget,
  {
    day,
    chunks,
    missingCount = 0,
    tenantId,
  }: {
    readonly day: number
    readonly chunks: readonly string[]
    readonly missingCount?: number
    readonly tenantId?: string
  },
): Promise<string> {
  const backupId = idOf(day)
  const backupKey = Buffer.alloc(32, day)
  const files = new SealedFiles({ target, folder: backupFolder(CLUSTER, backupId), backupKey })
  const record = await files.write(`${ATTEMPT}/record`, Buffer.from('record'))
  const byShard = new Map<string, ChunkEntry[]>()
  for (const { entry, bytes } of chunks.map(chunkOf)) {
    const shard = entry.id.slice(0, 2)
    byShard.set(shard, [...(byShard.get(shard) ?? []), entry])
    await target.put(chunkName(CLUSTER, entry), once(bytes), bytes.length)
  }
  const chunkFiles: Manifest['chunkFiles'][number][] = []
  for (const [shard, entries] of byShard) {
    const file = await files.write(`${ATTEMPT}/chunks-${shard}`, encodeChunks(entries))
    chunkFiles.push({ ...file, shard, chunks: entries.length, bytes: 1 })
  }
  const times = { cutAt: timeOf(day), startedAt: timeOf(day), finishedAt: timeOf(day) + 1 }
  const counts = { rows: 0, chunks: chunks.length, chunkBytes: 1, sentChunks: 0, sentBytes: 0 }
  const manifest: Manifest = {
    format: 1,
    backupId,
    clusterId: CLUSTER,
    ...(tenantId === undefined ? {} : { tenantId }),
    version: '0',
    index: 1,
    term: 1,
    featureLevel: 7,
    checksum: '0'.repeat(64),
    attempt: ATTEMPT,
    state: [],
    missing: [],
    missingCount,
    ...times,
    ...counts,
    record,
    chunkFiles,
    key: Buffer.from(testMasterKey.seal(backupKey, backupKeyContext(backupId))).toString('base64'),
  }
  const text = encodeManifest(manifest, backupKey)
  await target.put(manifestName(CLUSTER, backupId), once(text), text.length)
  return backupId
}

/** Reads every chunk of every backup in the target; throws where one is not whole. */
export async function readAllBackups(target: BackupTarget): Promise<readonly string[]> {
  const ids: string[] = []
  for await (const listed of listBackups(target, CLUSTER)) {
    const reader = await BackupReader.open(target, listed, testMasterKey)
    await reader.record()
    for (const file of reader.manifest.chunkFiles)
      for (const entry of await reader.chunksOf(file)) await reader.chunk(entry)
    ids.push(listed.backupId)
  }
  return ids
}
