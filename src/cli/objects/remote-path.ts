/**
 * `bucket/key` as it is typed. A bucket name has no slash, so the first slash ends it; all others belong to the key.
 *
 * Owns: the spelling. Rule: a text that begins with `.` or `/` is a path on this machine; no bucket name begins so.
 */
import { CommandError, EXIT } from '../base/exit.ts'

export interface RemotePath {
  readonly bucket: string
  /** Key or prefix; may be empty. */
  readonly key: string
}

export function isLocalPath(text: string): boolean {
  return text.startsWith('/') || /^\.{1,2}(\/|$)/.test(text)
}

/** Throws CommandError. */
export function remotePath(text: string): RemotePath {
  const [, bucket, key = ''] = /^([^/]+)(?:\/(.*))?$/s.exec(text) ?? []
  if (bucket !== undefined && !isLocalPath(text)) return { bucket, key }
  throw usage(`'${text}' is not a path in the store`, 'Write bucket/key, such as photos/2026/cat.jpg.')
}

/** Throws CommandError when there is no key. */
export function objectPath(text: string): RemotePath {
  const path = remotePath(text)
  if (path.key !== '') return path
  throw usage(`'${text}' names a bucket, not an object`, `Add a key: ${path.bucket}/…`)
}

function usage(message: string, hint: string): CommandError {
  return new CommandError(message, { code: 'invalid_argument', hint, exitCode: EXIT.usage })
}
