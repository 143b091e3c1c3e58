/**
 * The disks that a node had at its last look: `disks.json` in the data directory.
 *
 * Layout: JSON { format: 1, disks: [{ directory, diskId, isOut }] }, mode 0600. docs/formats/disks.md
 * Rule: it is durable before the first copy is written to a disk that it names, so a disk that goes missing is known to be missing.
 */
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { errorCode, type FileOps, systemFileOps } from '../../base/file-ops.ts'
import { replaceFile } from '../../base/replace-file.ts'

export interface KnownDisk {
  /** Absolute. */
  readonly directory: string
  readonly diskId: string
  /** The node did without it: what lies on it is not what was written and not removed since. */
  readonly isOut: boolean
}

const FORMAT = 1
const FILE = 'disks.json'

/** Empty: the node has one disk, as it always had. Throws an Error when the file is not readable or is no such record. */
export async function readDiskRecord(dataDir: string): Promise<readonly KnownDisk[]> {
  const path = join(dataDir, FILE)
  let text: string
  try {
    text = await readFile(path, 'utf8')
  } catch (cause) {
    if (errorCode(cause) === 'ENOENT') return []
    throw cause
  }
  const { format, disks } = JSON.parse(text) as { readonly format?: unknown; readonly disks?: unknown }
  if (format !== FORMAT || !Array.isArray(disks) || !disks.every(isKnownDisk))
    throw new Error(`${path} is not a record of disks`)
  return disks
}

/** Durable when it resolves. One call at a time. */
export function writeDiskRecord(
  dataDir: string,
  disks: readonly KnownDisk[],
  ops: FileOps = systemFileOps,
): Promise<void> {
  return replaceFile(join(dataDir, FILE), `${JSON.stringify({ format: FORMAT, disks })}\n`, ops)
}

function isKnownDisk(value: unknown): value is KnownDisk {
  if (typeof value !== 'object' || value === null) return false
  const { directory, diskId, isOut }: { directory?: unknown; diskId?: unknown; isOut?: unknown } = value
  return typeof directory === 'string' && typeof diskId === 'string' && typeof isOut === 'boolean'
}
