/**
 * Which disk lies at a directory of blobs: the file `disk.json` in it.
 *
 * Layout: JSON { format: 1, clusterId, nodeId, diskId }, mode 0600; `diskId` is 32 random hex digits. docs/formats/disks.md
 * Knows nothing of: which disks a node expects. Rule: an empty mount point has no such file, so it is never taken for an empty disk.
 */
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { errorCode, type FileOps, systemFileOps } from '../../base/file-ops.ts'
import { replaceFile } from '../../base/replace-file.ts'

export interface DiskOwner {
  readonly clusterId: string
  readonly nodeId: string
}

export interface DiskIdentity extends DiskOwner {
  readonly diskId: string
}

/** What lies at a directory. */
export interface DirectoryFound {
  readonly isThere: boolean
  /** Nothing is in it but what file systems make at their root. */
  readonly isEmpty: boolean
  /** Null: there is none. */
  readonly identity: DiskIdentity | null
}

export const DISK_FILE = 'disk.json'
/** In a directory that is to be emptied. */
const DRAIN_FILE = 'draining'
const FORMAT = 1
const DISK_ID = /^[0-9a-f]{32}$/
const HARMLESS: readonly string[] = ['lost+found', `${DISK_FILE}.tmp`]

/** Throws the errors of the disk that do not answer what lies there, and an Error for a file that is no identity. */
export async function lookAtDirectory(directory: string): Promise<DirectoryFound> {
  const identity = await readDiskIdentity(directory)
  if (identity !== null) return { isThere: true, isEmpty: false, identity }
  const names = await orNull(() => readdir(directory))
  if (names === null) return { isThere: false, isEmpty: true, identity: null }
  return { isThere: true, isEmpty: names.every((name) => HARMLESS.includes(name)), identity: null }
}

/** Null: there is none, or no such directory. */
export async function readDiskIdentity(directory: string): Promise<DiskIdentity | null> {
  const text = await orNull(() => readFile(join(directory, DISK_FILE), 'utf8'))
  return text === null ? null : parse(text, join(directory, DISK_FILE))
}

/** Whether the directory is marked as one to be emptied. */
export async function isMarkedDraining(directory: string): Promise<boolean> {
  return (await orNull(() => readFile(join(directory, DRAIN_FILE)))) !== null
}

/** Durable when it resolves. */
export async function markDraining(directory: string, isDraining: boolean): Promise<void> {
  const path = join(directory, DRAIN_FILE)
  if (isDraining) return replaceFile(path, '', systemFileOps)
  await orNull(() => systemFileOps.unlink(path))
  await systemFileOps.syncDirectory(directory)
}

/** Durable when it resolves. */
export function writeDiskIdentity(
  directory: string,
  { clusterId, nodeId, diskId }: DiskIdentity,
  ops: FileOps = systemFileOps,
): Promise<void> {
  const text = `${JSON.stringify({ format: FORMAT, clusterId, nodeId, diskId })}\n`
  return replaceFile(join(directory, DISK_FILE), text, ops)
}

function parse(text: string, path: string): DiskIdentity {
  const { format, clusterId, nodeId, diskId } = fieldsOf(text)
  if (format !== FORMAT || typeof clusterId !== 'string' || typeof nodeId !== 'string')
    throw new Error(`${path} is not the identity of a disk`)
  if (typeof diskId !== 'string' || !DISK_ID.test(diskId)) throw new Error(`${path} has no id of a disk`)
  return { clusterId, nodeId, diskId }
}

function fieldsOf(text: string): Readonly<Record<string, unknown>> {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null ? { ...value } : {}
  } catch {
    return {}
  }
}

async function orNull<T>(read: () => Promise<T>): Promise<T | null> {
  try {
    return await read()
  } catch (cause) {
    if (errorCode(cause) === 'ENOENT' || errorCode(cause) === 'ENOTDIR') return null
    throw cause
  }
}
