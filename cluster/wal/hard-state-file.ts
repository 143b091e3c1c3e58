/**
 * A second copy of the record of the newest batch that changed term, vote or base, outside of the segments.
 *
 * Owns: the files `hard-state-0` and `hard-state-1`, written in turn. Knows nothing of: entries, replay.
 * Rule: it is written after the batch itself has been flushed and flushed before that batch is acknowledged. So the
 * record here was certainly in the log, and no vote is forgotten however much of the log's end is lost. One of the two
 * files is always whole, because only one is written at a time.
 *
 *    0  8  magic "HFSTATE1"
 *    8  4  format version
 *   12  4  length up to and including the CRC32C
 *   16  8  number of the segment that holds the batch
 *   24     clusterId, nodeId, incarnation; each 2 bytes of length and UTF-8 bytes
 *          2 bytes of length and the record of the batch (batch-record.ts)
 *   -4  4  CRC32C of everything before
 */
import assert from 'node:assert/strict'
import { join } from 'node:path'
import { crc32c } from '@node-rs/crc32'
import { decodeRecord } from './batch-record.ts'
import type { FileOps } from './file-ops.ts'
import { TEMPORARY_SUFFIX, writeAll } from './file-ops.ts'
import type { LogIdentity } from './segment-format.ts'
import { decodeNames, encodeName } from './segment-format.ts'
import type { ProvenBatch } from './segment-reader.ts'
import { readU64, writeU64 } from './u64.ts'
import { foreignLogError, WalCorruptError } from './wal-errors.ts'

/** The record of the newest batch of a segment, as it was written. */
export interface WrittenRecord {
  readonly bytes: Buffer
  readonly segment: number
}

const NAMES = ['hard-state-0', 'hard-state-1'] as const
const MAGIC = Buffer.from('HFSTATE1', 'latin1')
const FORMAT_VERSION = 1
const FIXED_BYTES = 24
/** The files never grow, so that writing them never needs free space. */
const FILE_BYTES = 2048

/** Null when neither file can be read. */
export function readHardState(files: FileOps, dir: string, identity: LogIdentity): ProvenBatch | null {
  const present = new Set(files.list(dir))
  const found = NAMES.filter((name) => present.has(name)).map((name) => {
    const path = join(dir, name)
    return decode(path, Buffer.from(files.read(path, FILE_BYTES)), identity)
  })
  const [one = null, other = null] = found
  if (one === null || other === null) return one ?? other
  return other.record.number > one.record.number ? other : one
}

export class HardStateFiles {
  readonly #files: FileOps
  readonly #dir: string
  readonly #identity: LogIdentity
  #fds: number[] = []
  #next = 0

  constructor(files: FileOps, dir: string, identity: LogIdentity) {
    this.#files = files
    this.#dir = dir
    this.#identity = identity
  }

  /** Replaces both files, one after the other, regardless of their content. */
  begin(written: WrittenRecord): void {
    this.close()
    for (const name of NAMES) {
      const path = join(this.#dir, name)
      const fd = this.#files.create(path + TEMPORARY_SUFFIX)
      this.#fds.push(fd)
      writeAll(this.#files, fd, { bytes: encode(this.#identity, written), position: 0 })
      this.#files.fsync(fd)
      this.#files.rename(path + TEMPORARY_SUFFIX, path)
      this.#files.syncDir(this.#dir)
    }
  }

  /** Durable when it returns. */
  write(written: WrittenRecord): void {
    const fd = this.#fds[this.#next]
    assert(fd !== undefined, 'the hard state is written after `begin`')
    writeAll(this.#files, fd, { bytes: encode(this.#identity, written), position: 0 })
    this.#files.fdatasync(fd)
    this.#next = 1 - this.#next
  }

  close(): void {
    for (const fd of this.#fds.splice(0)) this.#files.close(fd)
  }
}

function encode(
  { clusterId, nodeId, incarnation }: LogIdentity,
  { bytes: record, segment }: WrittenRecord,
): Buffer {
  const names = Buffer.concat([clusterId, nodeId, incarnation].map(encodeName))
  const recordStart = FIXED_BYTES + names.length + 2
  const length = recordStart + record.length + 4
  const bytes = Buffer.alloc(FILE_BYTES)
  MAGIC.copy(bytes)
  bytes.writeUInt32LE(FORMAT_VERSION, 8)
  bytes.writeUInt32LE(length, 12)
  writeU64(bytes, segment, 16)
  names.copy(bytes, FIXED_BYTES)
  bytes.writeUInt16LE(record.length, recordStart - 2)
  record.copy(bytes, recordStart)
  bytes.writeUInt32LE(crc32c(bytes.subarray(0, length - 4)), length - 4)
  return bytes
}

/** Null when the file is damaged: the other one is whole then. */
function decode(path: string, bytes: Buffer, expected: LogIdentity): ProvenBatch | null {
  if (bytes.length < FILE_BYTES || !bytes.subarray(0, MAGIC.length).equals(MAGIC)) return null
  const length = bytes.readUInt32LE(12)
  if (length < FIXED_BYTES || length > FILE_BYTES) return null
  if (crc32c(bytes.subarray(0, length - 4)) !== bytes.readUInt32LE(length - 4)) return null
  const version = bytes.readUInt32LE(8)
  if (version !== FORMAT_VERSION)
    throw new WalCorruptError(
      { file: path, offset: 8 },
      `format version ${version} is not known to this release`,
    )
  const { names, end } = decodeNames(bytes, FIXED_BYTES, 3)
  const [clusterId = '', nodeId = '', incarnation = ''] = names
  const foreign = foreignLogError(path, { clusterId, nodeId, incarnation }, expected)
  if (foreign !== null) throw foreign
  const record = decodeRecord(bytes.subarray(end + 2, end + 2 + bytes.readUInt16LE(end)))
  return { record, segment: readU64(bytes, 16) }
}
