/**
 * The scopes of a key as options: the text of the API (--scopes), or a bucket and a prefix for each verb (--read and so on).
 *
 * Owns: the short spelling. Rule: the two spellings are never mixed.
 */
import { CommandError, EXIT } from '../base/exit.ts'

export interface ScopeOptions {
  readonly scopes?: string
  /** `bucket`, `bucket/prefix`, or `*`. */
  readonly read?: readonly string[]
  readonly write?: readonly string[]
  readonly delete?: readonly string[]
  readonly admin?: readonly string[]
}

const VERBS = ['read', 'write', 'delete', 'admin'] as const

/** Null: no scope option was given. Throws CommandError. */
export function scopesOf(options: ScopeOptions): string | null {
  const entries = VERBS.flatMap((verb) => (options[verb] ?? []).map((place) => entryOf(verb, place)))
  if (entries.length === 0) return options.scopes ?? null
  if (options.scopes === undefined) return entries.join(',')
  throw usage(
    '--scopes cannot be combined with --read, --write, --delete or --admin',
    'Give either --scopes or the other options.',
  )
}

function entryOf(verb: string, place: string): string {
  const at = place.indexOf('/')
  const [bucket, prefix] = at === -1 ? [place, ''] : [place.slice(0, at), place.slice(at + 1)]
  if (bucket !== '' && !bucket.includes(':') && !place.includes(','))
    return `op=${verb}:bucket=${bucket}:prefix=${prefix}`
  throw usage(
    `A key cannot be limited to '${place}'`,
    'Give bucket, bucket/prefix or *; the prefix of a scope cannot contain a comma.',
  )
}

function usage(message: string, hint: string): CommandError {
  return new CommandError(message, { code: 'invalid_argument', hint, exitCode: EXIT.usage })
}
