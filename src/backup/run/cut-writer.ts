/**
 * Writes the metadata of a backup: the rows of one cut of the state, all of them or those of one tenant, and the list of the chunks that they name.
 *
 * Owns: the parts and their bounds. Knows nothing of: which node runs it, operations. Rules: the rows that were read must add up to the checksum that the
 * state had at that entry of the log, on which nodes agree, also where only some of them are written; nothing here counts before its manifest is written.
 */
import type { StateCut } from '../../../cluster/index.ts'
import { decodeRow, encodeRow, keyText } from '../../store/rows/row-codec.ts'
import { frameRow, rowsOf, type StoredRow } from '../../store/rows/row-block.ts'
import { rowHash, RowSum } from '../../store/rows/row-sum.ts'
import type { ChunkRecord } from '../../state-machine/chunks/records.ts'
import { chunkRanges } from '../../state-machine/chunks/keys.ts'
import type { TenantId } from '../../state-machine/base/record-ids.ts'
import { type KeyRange, rangeOf, type RowKey } from '../../state-machine/base/row-key.ts'
import { byName, type ChunkEntry, encodeChunks } from '../format/chunk-list.ts'
import type { BackupFile, ChunkFile } from '../format/manifest.ts'
import { SHARDS } from '../format/names.ts'
import type { SealedFiles } from './sealed-files.ts'
import { BUCKET_KINDS, bucketIn, TenantRows } from './tenant-rows.ts'

/** Rows of one file. Bytes */
const PART_BYTES = 4 * 1024 * 1024
/** Chunks that are listed in memory at once; a state with more is walked several times. */
const ENTRIES_AT_ONCE = 500_000

export interface WrittenCut {
  readonly record: BackupFile
  readonly state: readonly BackupFile[]
  readonly chunkFiles: readonly ChunkFile[]
  /** Over the rows that were written. Hex */
  readonly checksum: string
  readonly rows: number
  readonly chunks: number
  readonly chunkBytes: number
}

export interface CutWriting {
  readonly cut: Pick<StateCut, 'block' | 'record' | 'checksum'>
  /** Null: of the whole cluster. */
  readonly tenantId: TenantId | null
  readonly files: SealedFiles
  /** Every file name begins with it. */
  readonly attempt: string
  /** Throws when the work is not wanted any more. */
  readonly check: () => void
}

export async function writeCut(writing: CutWriting): Promise<WrittenCut> {
  const { cut, files, attempt } = writing
  const record = await files.write(`${attempt}/record`, cut.record)
  const { state, rows, checksum, perShard } = await writeRows(writing)
  const chunkFiles: ChunkFile[] = []
  for (const group of groupsOf(perShard, ENTRIES_AT_ONCE)) {
    const lists = await listChunks(writing, group)
    for (const [shard, entries] of lists) chunkFiles.push(await writeList(writing, shard, entries))
  }
  const sum = (figure: 'chunks' | 'bytes'): number =>
    chunkFiles.reduce((total, file) => total + file[figure], 0)
  return { record, state, chunkFiles, rows, checksum, chunks: sum('chunks'), chunkBytes: sum('bytes') }
}

async function writeRows(writing: CutWriting): Promise<{
  readonly state: readonly BackupFile[]
  readonly rows: number
  readonly checksum: string
  readonly perShard: ReadonlyMap<string, number>
}> {
  const { cut, tenantId, files, attempt, check } = writing
  const scope = tenantId === null ? null : new TenantRows(tenantId, await bucketsOf(writing, tenantId))
  const [read, written] = [new RowSum(), new RowSum()]
  const state: BackupFile[] = []
  const perShard = new Map<string, number>()
  let [rows, bytes, blocks]: [number, number, Uint8Array[]] = [0, 0, []]
  const flush = async (): Promise<void> => {
    if (blocks.length === 0) return
    const name = `${attempt}/state-${String(state.length).padStart(6, '0')}`
    state.push(await files.write(name, Buffer.concat(blocks)))
    ;[bytes, blocks] = [0, []]
  }
  for await (const block of blocksOf(cut, new Uint8Array())) {
    check()
    const kept = scope === null ? block : keptOf(block, scope, read)
    for (const { key, value } of rowsOf(kept)) {
      written.add(rowHash(key, value))
      rows++
      const entry = entryIn(key, value)
      if (entry !== null) count(perShard, shardOf(entry))
    }
    if (kept.length > 0) blocks.push(kept)
    bytes += kept.length
    if (bytes >= PART_BYTES) await flush()
  }
  await flush()
  const all = scope === null ? written : read
  if (!all.bytes().equals(cut.checksum)) throw new Error('The rows of a cut do not add up to its checksum')
  return { state, rows, checksum: written.bytes().toString('hex'), perShard }
}

/** The rows of a tenant, in the form of a block; `read` learns of all rows. */
function keptOf(block: Uint8Array, scope: TenantRows, read: RowSum): Buffer {
  const frames: Buffer[] = []
  for (const { key, value } of rowsOf(block)) {
    read.add(rowHash(key, value))
    const name = keyText(key)
    const made = scope.take(name, () => decodeRow(name as RowKey, value))
    if (made !== null) frames.push(frameRow(key, made === 'same' ? value : encodeRow(key, made)))
  }
  return Buffer.concat(frames)
}

/** Of the tenant, also those that are gone and have rows left. */
async function bucketsOf({ cut, check }: CutWriting, tenantId: TenantId): Promise<ReadonlySet<string>> {
  const buckets = new Set<string>()
  for (const kind of BUCKET_KINDS) {
    for await (const { key, value } of rowsIn(cut, rangeOf(kind), check)) {
      const bucket = bucketIn(tenantId, decodeRow(keyText(key) as RowKey, value))
      if (bucket !== null) buckets.add(bucket)
    }
  }
  return buckets
}

/** Rows in the form of a block, in the order of their keys. */
async function* blocksOf(cut: Pick<StateCut, 'block'>, from: Uint8Array): AsyncGenerator<Uint8Array> {
  for (let after = from; ; ) {
    const { rows, through, isEnd } = await cut.block({ after, held: null })
    if (rows !== null && rows.length > 0) yield rows
    if (isEnd) return
    after = through
  }
}

async function* rowsIn(
  cut: Pick<StateCut, 'block'>,
  { start, end }: KeyRange,
  check: () => void,
): AsyncGenerator<StoredRow> {
  for await (const block of blocksOf(cut, Buffer.from(start))) {
    check()
    for (const row of rowsOf(block)) {
      if (keyText(row.key) >= end) return
      yield row
    }
  }
}

/** The chunks of these shards by shard, each list in the order of its names. */
async function listChunks(
  { cut, tenantId, check }: CutWriting,
  shards: readonly string[],
): Promise<ReadonlyMap<string, readonly ChunkEntry[]>> {
  const lists = new Map<string, ChunkEntry[]>(shards.map((shard) => [shard, []]))
  const range = tenantId === null ? CHUNKS : chunkRanges.chunksOf(tenantId)
  for await (const { key, value } of rowsIn(cut, range, check)) {
    const entry = entryIn(key, value)
    if (entry !== null) lists.get(shardOf(entry))?.push(entry)
  }
  for (const entries of lists.values()) entries.sort(byName)
  return lists
}

const CHUNKS = chunkRanges.chunks()

async function writeList(
  { files, attempt }: CutWriting,
  shard: string,
  entries: readonly ChunkEntry[],
): Promise<ChunkFile> {
  const file = await files.write(`${attempt}/chunks-${shard}`, encodeChunks(entries))
  const bytes = entries.reduce((total, { sealedSize }) => total + sealedSize, 0)
  return { ...file, shard, chunks: entries.length, bytes }
}

/** Null: another row, or a chunk that nothing refers to. */
function entryIn(key: Buffer, value: Buffer): ChunkEntry | null {
  const name = keyText(key)
  if (!name.startsWith(CHUNKS.start)) return null
  const { id, checksum, sealedSize, size, tenantId, birth, references } = decodeRow<ChunkRecord>(
    name as RowKey<ChunkRecord>,
    value,
  )
  return references === 0 ? null : { id, checksum, sealedSize, size, tenantId, birth }
}

const shardOf = ({ id }: ChunkEntry): string => id.slice(0, 2)

function count(perShard: Map<string, number>, shard: string): void {
  perShard.set(shard, (perShard.get(shard) ?? 0) + 1)
}

/** Neighbouring shards together, as long as their chunks are no more than `most`; a shard alone may have more. Empty ones are left out. */
export function groupsOf(
  perShard: ReadonlyMap<string, number>,
  most: number,
): readonly (readonly string[])[] {
  const groups: string[][] = []
  let held = Number.POSITIVE_INFINITY
  for (const shard of SHARDS) {
    const chunks = perShard.get(shard) ?? 0
    if (chunks === 0) continue
    if (held + chunks > most) {
      groups.push([])
      held = 0
    }
    groups.at(-1)?.push(shard)
    held += chunks
  }
  return groups
}
