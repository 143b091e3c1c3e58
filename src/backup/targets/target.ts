/**
 * Where backups lie: the port that the run, the check and the restore use, and its errors.
 *
 * Owns: names, the promises of a target, what its errors mean. Knows nothing of: what is stored.
 * Rule: a target is not trusted: what is read from it is compared with digests that came from elsewhere.
 */

/** Segments of `[a-z0-9._-]` that begin with no dot, joined by `/`; at most NAME_LENGTH_MAX characters. */
export type TargetName = string

export interface TargetEntry {
  readonly name: TargetName
  /** Bytes. */
  readonly size: number
}

/** Bytes `offset` to `offset + length`, the last one excluded. */
export interface TargetRange {
  readonly offset: number
  readonly length: number
}

/** Every method rejects with a TargetError, or with the error of the bytes that it was given. */
export interface BackupTarget {
  /** What it is, for people and for the audit log; names no secret. */
  readonly description: string
  /**
   * Stores `size` bytes whole or not at all, and durably when it resolves; replaces what had the name. Rejects with TargetRefused where
   * `bytes` are not `size` bytes.
   */
  put(name: TargetName, bytes: AsyncIterable<Uint8Array>, size: number): Promise<void>
  /** Throws TargetMissing before the first piece; TargetCorrupt where fewer bytes come than the range or the size says. */
  get(name: TargetName, range?: TargetRange): AsyncIterable<Uint8Array>
  /** Its size in bytes; undefined: there is none. */
  head(name: TargetName): Promise<number | undefined>
  /** All whose names begin with `prefix`, in the order of the bytes of their names; memory holds a bounded page of them. */
  list(prefix: string): AsyncIterable<TargetEntry>
  /** Idempotent. */
  remove(name: TargetName): Promise<void>
  /** Ends its connections. */
  close(): Promise<void>
}

export abstract class TargetError extends Error {
  /** Tried again later, it may work although no operator acts. */
  abstract readonly isRetryable: boolean
}

/** Nothing has this name. */
export class TargetMissing extends TargetError {
  readonly isRetryable = false
  override readonly name = 'TargetMissing'
}

/** The target does not answer, or says that it cannot now. */
export class TargetUnreachable extends TargetError {
  readonly isRetryable = true
  override readonly name = 'TargetUnreachable'
}

/** The target refuses: wrong credentials, no permission, no space. An operator has to act. */
export class TargetRefused extends TargetError {
  readonly isRetryable = false
  override readonly name = 'TargetRefused'
}

/** The target gave other bytes than were stored. */
export class TargetCorrupt extends TargetError {
  readonly isRetryable = false
  override readonly name = 'TargetCorrupt'
}

const NAME_LENGTH_MAX = 512
const SEGMENT = /^[a-z0-9_-][a-z0-9._-]*$/

export const isName = (name: string): boolean =>
  name.length <= NAME_LENGTH_MAX && name.split('/').every((segment) => SEGMENT.test(segment))

/** Throws TargetRefused for a name that is none: no other may become part of a path. */
export function checkName(name: string): void {
  if (isName(name)) return
  throw new TargetRefused(
    `Cannot use ${JSON.stringify(name.slice(0, 80))} in a backup target: a name is segments of a-z, 0-9, ".", "_" and "-", joined by "/"`,
  )
}
