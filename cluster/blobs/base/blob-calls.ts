/**
 * The blob calls between nodes, as data: methods, headers, refusal codes.
 *
 * Rule: a header comes from another machine; every field of it is checked before it is used.
 */
import { PeerRefusedError } from '../../transport/transport.ts'
import { isTraceparent, type Traceparent } from '../../base/peer-traces.ts'
import type { BlobName } from '../../base/types.ts'
import { assertBlobName, isChecksum } from './blob-name.ts'
import type { ExpectedContent } from './blob-store.ts'
import { type DiskView, isDiskLevel } from '../../base/disk-level.ts'

/**
 * put: name + content, body = bytes -> {}. puts: rows of [id, birth, size, checksum, crc32c], body = the bytes of all blobs, concatenated
 * -> rows of null or [code, message], in the same order. Both: a node of an earlier build sends no CRC-32C. get: name + range -> {}, body. stat: name -> content. report: name ->
 * verdict. disk: {} -> the node's own view of its disk. `trace` of put and `traces` of puts, rows of [number of the blob, traceparent], are there only for a traced
 * request, and a node of an earlier build does not look at them.
 */
export const BLOB_METHODS = {
  put: 'blob.put',
  puts: 'blob.puts',
  get: 'blob.get',
  stat: 'blob.stat',
  report: 'blob.report',
  disk: 'blob.disk',
} as const

/** Limits of one `puts` call: the number of blobs, and the bytes of all of them. */
export const BATCH_BLOBS_MAX = 64
export const BATCH_BYTES_MAX: number = 1024 * 1024

const CRC_MAX = 0xffff_ffff

export type CopyVerdict = 'good' | 'missing' | 'damaged'

/** Refusals that a caller reacts to; the codes of BlobWriteError are sent unchanged. */
export const BLOB_REFUSALS = {
  invalid: 'blob_call_invalid',
  missing: 'blob_missing',
  damaged: 'blob_damaged',
  slowDown: 'slow_down',
} as const

export interface NamedContent extends BlobName, ExpectedContent {}

type Fields = Readonly<Record<string, unknown>>

export function readName(header: unknown): BlobName {
  const fields = asFields(header)
  const name = { id: fields['id'] as string, birth: fields['birth'] as string }
  try {
    assertBlobName(name)
  } catch (cause) {
    throw invalid('the name is not a blob name', cause)
  }
  return name
}

export function readContentOf(header: unknown): ExpectedContent {
  const { size, checksum, crc32c } = asFields(header)
  if (!isLength(size)) throw invalid('the size is not a length')
  if (!isChecksum(checksum)) throw invalid('the checksum is not a SHA-256')
  if (crc32c === undefined) return { size, checksum }
  if (!isLength(crc32c) || crc32c > CRC_MAX) throw invalid('the CRC-32C is not a number of 32 bits')
  return { size, checksum, crc32c }
}

/** The blobs of a `puts` call. */
export function readBatchOf(header: unknown): readonly NamedContent[] {
  const { blobs } = asFields(header)
  if (!Array.isArray(blobs) || blobs.length === 0 || blobs.length > BATCH_BLOBS_MAX)
    throw invalid(`the batch is not a list of 1 to ${BATCH_BLOBS_MAX} blobs`)
  const read = blobs.map((row: unknown) => {
    const [id, birth, size, checksum, crc32c]: unknown[] = Array.isArray(row) ? row : []
    const fields = { id, birth, size, checksum, crc32c }
    if (size === 0) throw invalid('an empty blob cannot be part of a batch')
    return { ...readName(fields), ...readContentOf(fields) }
  })
  const bytes = read.reduce((sum, { size }) => sum + size, 0)
  if (bytes > BATCH_BYTES_MAX) throw invalid(`the batch has ${bytes} bytes, at most ${BATCH_BYTES_MAX} fit`)
  return read
}

/** The span that the copy of a `put` call belongs to; null: it belongs to none. */
export function readTraceOf(header: unknown): Traceparent | null {
  const { trace } = asFields(header)
  return isTraceparent(trace) ? trace : null
}

/** By the number of a blob of a `puts` call. */
export function readTracesOf(header: unknown, count: number): ReadonlyMap<number, Traceparent> {
  const { traces } = asFields(header)
  const found = new Map<number, Traceparent>()
  if (!Array.isArray(traces) || traces.length > count) return found
  for (const row of traces as readonly unknown[]) {
    const [n, trace]: unknown[] = Array.isArray(row) ? row : []
    if (typeof n === 'number' && isTraceparent(trace)) found.set(n, trace)
  }
  return found
}

/** The outcome of each blob of a `puts` call: null means durable. */
export function readOutcomes(header: unknown, count: number): readonly (PeerRefusedError | null)[] {
  const { outcomes } = asFields(header)
  if (!Array.isArray(outcomes) || outcomes.length !== count)
    throw invalid('there is not one outcome for each blob')
  return outcomes.map((row: unknown) => {
    if (row === null) return null
    const [code, message]: unknown[] = Array.isArray(row) ? row : []
    if (typeof code !== 'string' || typeof message !== 'string') throw invalid('an outcome is malformed')
    return new PeerRefusedError(code, message)
  })
}

export function readRangeOf(header: unknown): { readonly start: number; readonly end: number } {
  const { start, end } = asFields(header)
  if (!isLength(start) || !isLength(end) || start > end) throw invalid('the range is malformed')
  return { start, end }
}

export function readVerdict(header: unknown): CopyVerdict {
  const { verdict } = asFields(header)
  if (verdict === 'good' || verdict === 'missing' || verdict === 'damaged') return verdict
  throw invalid('the verdict is unknown')
}

export function readDiskView(header: unknown): DiskView {
  const { level, isSuspect } = asFields(header)
  if (isDiskLevel(level) && typeof isSuspect === 'boolean') return { level, isSuspect }
  throw invalid('the disk view is malformed')
}

function asFields(header: unknown): Fields {
  if (typeof header !== 'object' || header === null) throw invalid('the header is not a map')
  return header as Fields
}

function isLength(value: unknown): value is number {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0
}

function invalid(what: string, cause?: unknown): PeerRefusedError {
  return new PeerRefusedError(BLOB_REFUSALS.invalid, `Cannot read a blob call: ${what}`, { cause })
}
