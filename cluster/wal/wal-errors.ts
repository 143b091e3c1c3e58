/**
 * Faults of the log on disk, in words that an operator can act on.
 *
 * Owns: the errors of cluster/wal. Rule: none of them leads to a retry on the same file; after a failed fsync the
 * content of the disk is unknown [reliability: fsyncgate].
 */
import { AssertionError } from 'node:assert/strict'
import { StartError } from '../base/types.ts'
import type { LogIdentity } from './segment-format.ts'

/** Damage by which it is unknown what was lost. The file is left exactly as it was found. */
export class WalCorruptError extends StartError {
  readonly file: string
  /** Byte in `file` from which it cannot be decoded. */
  readonly offset: number
  readonly what: string
  constructor(
    place: { readonly file: string; readonly offset: number },
    what: string,
    options?: ErrorOptions,
  ) {
    super('log_damaged', `Cannot read the Raft log: '${place.file}' at byte ${place.offset}: ${what}`, {
      ...options,
      hint:
        'Keep a copy of the directory. Restore exactly these bytes if you have them: an older state of the file would lose ' +
        'what this node promised. Never shorten or delete the file manually; the other nodes continue without this one',
    })
    this.name = 'WalCorruptError'
    this.file = place.file
    this.offset = place.offset
    this.what = what
  }
}

/** The disk refused a write or a flush. The log is dead until the process has been started again. */
export class WalWriteError extends Error {
  override readonly name = 'WalWriteError'
}

/**
 * Durable entries cannot be read back while the log is in use. Other nodes have them, so this node ends: it no longer holds what it
 * acknowledged, and its next start repairs the log as far as other nodes can supply the entries. An assertion error is returned as is.
 */
export function readBackErrorOf(dir: string, cause: unknown): Error {
  if (cause instanceof AssertionError) return cause
  const text = cause instanceof Error ? cause.message : String(cause)
  const place =
    cause instanceof WalCorruptError
      ? `'${cause.file}' at byte ${cause.offset}: ${cause.what}`
      : `'${dir}': ${text}`
  return new StartError('log_unreadable', `Cannot read entries back from the Raft log: ${place}`, {
    cause,
    hint:
      'Start this node again: it asks the other nodes for the entries that its disk cannot read, and reports it if they cannot ' +
      'supply them. Then check the disk, see deploy/runbooks/unreadable-disk.md',
  })
}

/** Null when the file belongs to this node. */
export function foreignLogError(file: string, found: LogIdentity, expected: LogIdentity): StartError | null {
  const field = (['clusterId', 'nodeId', 'incarnation'] as const).find(
    (name) => found[name] !== expected[name],
  )
  if (field === undefined) return null
  return new StartError(
    'log_foreign',
    `Cannot open the Raft log: '${file}' belongs to ${field} '${found[field]}', this is '${expected[field]}'`,
    { hint: 'Start this node with the data directory that was formatted for it' },
  )
}

const FULL_DISK_CODES: readonly unknown[] = ['ENOSPC', 'EDQUOT']

export function isDiskFull(error: unknown): boolean {
  return error instanceof Error && 'code' in error && FULL_DISK_CODES.includes(error.code)
}

/** Puts an I/O error into one sentence with the action for the operator. An assertion error is returned as is. */
export function writeErrorOf(dir: string, cause: unknown): Error {
  if (cause instanceof WalWriteError || cause instanceof AssertionError) return cause
  const text = cause instanceof Error ? cause.message : String(cause)
  return isDiskFull(cause)
    ? new WalWriteError(
        `Cannot write the Raft log in '${dir}': the disk is full; free space, then start the node again`,
        { cause },
      )
    : new WalWriteError(
        `Cannot write the Raft log in '${dir}': ${text}; check the disk, then start the node again`,
        { cause },
      )
}

/** The error that ends a node whose log has failed: the cause itself where it has a hint. */
export function unreadableLogError(cause: Error): Error {
  if (cause instanceof StartError) return cause
  return new Error(`Cannot trust the log any more: ${cause.message}`, { cause })
}
