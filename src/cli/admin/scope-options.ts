/**
 * What a key may do, as options: the text that the API takes, or a bucket and a prefix for each verb.
 *
 * Owns: the short spelling. Rule: the two are never mixed.
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

/** Null: nothing was said. Throws CommandError. */
export function scopesOf(options: ScopeOptions): string | null {
  const entries = VERBS.flatMap((verb) => (options[verb] ?? []).map((place) => entryOf(verb, place)))
  if (entries.length === 0) return options.scopes ?? null
  if (options.scopes === undefined) return entries.join(',')
  throw usage(
    '--scopes says everything by itself',
    'Leave --read, --write, --delete and --admin away, or --scopes.',
  )
}

function entryOf(verb: string, place: string): string {
  const at = place.indexOf('/')
  const [bucket, prefix] = at === -1 ? [place, ''] : [place.slice(0, at), place.slice(at + 1)]
  if (bucket !== '' && !bucket.includes(':') && !place.includes(','))
    return `op=${verb}:bucket=${bucket}:prefix=${prefix}`
  throw usage(
    `'${place}' cannot be what a key is limited to`,
    'Write bucket, bucket/prefix or *; a prefix of a scope has no comma.',
  )
}

function usage(message: string, hint: string): CommandError {
  return new CommandError(message, { code: 'invalid_argument', hint, exitCode: EXIT.usage })
}
