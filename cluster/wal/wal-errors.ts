/**
 * What can go wrong with the log on disk, in words an operator can act upon.
 *
 * Owns: the errors of this room. Rule: none of them is ever answered by a retry on the same file; after a
 * failed fsync nobody knows what the disk holds [reliability: fsyncgate].
 */
import { AssertionError } from 'node:assert/strict'
import { StartError } from '../base/types.ts'
import type { LogIdentity } from './segment-format.ts'

/** Damage of which nobody can say what was lost by it. The file is left exactly as it was found. */
export class WalCorruptError extends StartError {
  readonly file: string
  /** Byte in `file` at which reading stopped making sense. */
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
        'Keep a copy of the directory. Restore these very bytes if you have them: an older state of the file would lose ' +
        'what this node promised. Never shorten or delete the file by hand; the other nodes go on without this one',
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
 * Entries that are durable cannot be read back while the log is in use. Others have them, so this node ends: what it holds is no
 * longer what it acknowledged, and its next start mends a log as far as others can tell what was in it. A bug stays a bug.
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
      'Start this node again: it asks the others for what its disk does not give back, and says so if that is too much. ' +
      'Then look at the disk, see deploy/runbooks/unreadable-disk.md',
  })
}

/** Null when the file belongs to this very node. */
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

/** Puts an I/O error into one sentence that says what the operator has to do. A bug stays a bug. */
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

/** What ends a node whose log has failed: in its own words where it says what to do. */
export function distrustOfLog(cause: Error): Error {
  if (cause instanceof StartError) return cause
  return new Error(`Cannot trust the log any more: ${cause.message}`, { cause })
}
