/**
 * Makes a backup of a backup, whose key material is sealed under another master key. [docs/adr/0095-parts-of-backups.md]
 *
 * Owns: the order: rows, lists, chunks, manifest. Knows nothing of: the command line, clusters that run.
 * Rules: it has a key and an id of its own, so the former master key opens none of its files; chunks are copied as they lie, since they are
 * sealed under keys of tenants; the rows that were read must add up to what the backup says; nothing of the first backup changes; the manifest is
 * written last, says what the target has, and everything but the chunks is read back behind it.
 */
import { randomBytes } from 'node:crypto'
import { VERSION } from '../../base/version.ts'
import type { MasterKey } from '../../access/master-key.ts'
import { kindOf, type RowKey } from '../../state-machine/base/row-key.ts'
import { frameRow, rowsOf } from '../../store/rows/row-block.ts'
import { decodeRow, encodeRow, keyText } from '../../store/rows/row-codec.ts'
import { rowHash, RowSum } from '../../store/rows/row-sum.ts'
import { encodeChunks } from '../format/chunk-list.ts'
import {
  type BackupCut,
  type BackupFile,
  backupKeyContext,
  type ChunkFile,
  type Manifest,
} from '../format/manifest.ts'
import { backupFolder, chunkName, newAttempt, otherBackupId } from '../format/names.ts'
import { BackupReader, damageOf } from '../read/backup-reader.ts'
import { endBackup } from '../run/backup-end.ts'
import { heldIn } from '../run/chunk-copier.ts'
import { once, SealedFiles } from '../run/sealed-files.ts'
import { type BackupTarget, TargetCorrupt } from '../targets/target.ts'
import { resealer, type TwoKeys } from './resealed-rows.ts'

export interface Resealing {
  readonly reader: BackupReader
  readonly from: Pick<MasterKey, 'open'>
  readonly to: Pick<MasterKey, 'open' | 'seal' | 'id' | 'fingerprint'>
  readonly target: BackupTarget
  /** ms since 1970 */
  readonly now: () => number
}

/** Each holds one chunk in memory. */
const AT_ONCE = 4

/** Throws TargetError. */
export async function resealBackup(resealing: Resealing): Promise<Manifest> {
  const { reader, target, to, now } = resealing
  const startedAt = now()
  const { startedAt: _, finishedAt: _end, sentChunks: _sent, sentBytes: _bytes, ...first } = reader.manifest
  const { missing: _missing, missingCount: _count, ...facts } = first
  const [attempt, backupKey, backupId] = [newAttempt(), randomBytes(32), otherBackupId(facts.backupId)]
  const files = new SealedFiles({ target, folder: backupFolder(facts.clusterId, backupId), backupKey })
  const record = await files.write(`${attempt}/record`, await reader.record())
  const { state, checksum } = await writeRows(resealing, files, attempt)
  const { chunkFiles, sentChunks, sentBytes } = await writeChunks(resealing, files, attempt)
  const cut: BackupCut = {
    ...facts,
    backupId,
    version: VERSION,
    attempt,
    record,
    state,
    checksum,
    chunkFiles,
    key: Buffer.from(to.seal(backupKey, backupKeyContext(backupId))).toString('base64'),
  }
  const run = { startedAt, finishedAt: now(), sentChunks, sentBytes }
  const manifest = await endBackup({ target, files, cut, backupKey, run, check: () => undefined })
  await readBack(resealing, manifest)
  return manifest
}

/** A prune that ran meanwhile may have removed what no manifest named yet. */
async function readBack({ target, to }: Resealing, manifest: Manifest): Promise<void> {
  const { clusterId: cluster, backupId } = manifest
  const reader = await BackupReader.open(target, { cluster, backupId }, to)
  await reader.record()
  const sum = new RowSum()
  for await (const block of reader.rowBlocks())
    for (const { key, value } of rowsOf(block)) sum.add(rowHash(key, value))
  for (const file of manifest.chunkFiles) await reader.chunksOf(file)
  if (sum.bytes().toString('hex') !== manifest.checksum)
    throw new TargetCorrupt(`The rows of backup ${backupId} do not add up when they are read back`)
}

async function writeRows(
  { reader, from, to }: Resealing,
  files: SealedFiles,
  attempt: string,
): Promise<{ readonly state: readonly BackupFile[]; readonly checksum: string }> {
  const [read, written] = [new RowSum(), new RowSum()]
  const state: BackupFile[] = []
  for await (const block of reader.rowBlocks()) {
    const frames: Buffer[] = []
    for (const { key, value } of rowsOf(block)) {
      read.add(rowHash(key, value))
      const made = resealed(key, value, { from, to })
      written.add(rowHash(key, made))
      frames.push(frameRow(key, made))
    }
    const name = `${attempt}/state-${String(state.length).padStart(6, '0')}`
    state.push(await files.write(name, Buffer.concat(frames)))
  }
  if (read.bytes().toString('hex') !== reader.manifest.checksum)
    throw new TargetCorrupt('The rows of the backup do not add up to the checksum of its cut')
  return { state, checksum: written.bytes().toString('hex') }
}

function resealed(key: Buffer, value: Buffer, keys: TwoKeys): Buffer {
  const name = keyText(key)
  const change = resealer(kindOf(name), keys)
  return change === null ? value : encodeRow(key, change(decodeRow(name as RowKey, value)))
}

async function writeChunks(
  { reader, target }: Resealing,
  files: SealedFiles,
  attempt: string,
): Promise<Pick<Manifest, 'chunkFiles' | 'sentChunks' | 'sentBytes'>> {
  const chunkFiles: ChunkFile[] = []
  let [sentChunks, sentBytes] = [0, 0]
  for (const file of reader.manifest.chunkFiles) {
    const { shard, chunks, bytes } = file
    const entries = await reader.chunksOf(file)
    const held = await heldIn(target, reader.manifest.clusterId, shard)
    const left = [...entries]
    const work = async (): Promise<void> => {
      for (let entry = left.shift(); entry !== undefined; entry = left.shift()) {
        const name = chunkName(reader.manifest.clusterId, entry)
        if (held.get(name) === entry.sealedSize) continue
        const sealed = await reader.chunk(entry).catch(missing)
        if (sealed === null) continue
        await target.put(name, once(sealed), sealed.length)
        sentChunks++
        sentBytes += sealed.length
      }
    }
    const ended = await Promise.allSettled(Array.from({ length: AT_ONCE }, work))
    for (const one of ended) if (one.status === 'rejected') throw one.reason
    const list = await files.write(`${attempt}/chunks-${shard}`, encodeChunks(entries))
    chunkFiles.push({ ...list, shard, chunks, bytes })
  }
  return { chunkFiles, sentChunks, sentBytes }
}

/** What the first backup does not have is missing in this one too, which its manifest says. */
function missing(error: unknown): null {
  if (damageOf(error) === null) throw error
  return null
}
