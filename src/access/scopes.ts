/**
 * The scopes text of an access key, in its two forms. [admin: Access key request body] [decisions 11, 14]
 *
 * Verb list: `read,write` holds for every bucket and key. Resource form: `op=<verb>:bucket=<bucket>:prefix=<prefix>`,
 * separated by commas. The prefix comes last and runs to the next comma, so it may contain ':' and '=', but not ','.
 * Rule: the forms do not mix. Otherwise the prefix `a,read` would read as a prefix and a grant on everything.
 */
import { Refusal } from '../base/refusal.ts'
import type { Scope, Verb } from './base/principal.ts'

export const DEFAULT_SCOPES = 'read,write,delete'

export const SCOPES_CHARS_MAX = 8192
const ENTRY_COUNT_MAX = 100
const PREFIX_BYTES_MAX = 1024
const VERBS: readonly string[] = ['read', 'write', 'delete', 'admin'] satisfies Verb[]
/** Both forms, as JSON Schema can say them: it counts neither entries nor the bytes of a prefix. */
export const SCOPES_PATTERN = scopesPattern()
const RESOURCE_ENTRY = /^op=([^:]*):bucket=([^:]*):prefix=(.*)$/s
const BUCKET = /^(?:\*|[a-z0-9][a-z0-9.-]{1,61}[a-z0-9])$/

function scopesPattern(): string {
  const verb = `(${VERBS.join('|')})`
  const bare = `\\s*${verb}\\s*`
  const resource = `\\s*op=${verb}:bucket=(\\*|[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]):prefix=[^,]*`
  const listOf = (entry: string): string => `${entry}(,${entry})*`
  return `^(${listOf(bare)}|${listOf(resource)})$`
}

/** Throws Refusal invalid_argument that names the entry. */
export function parseScopes(text: string): readonly Scope[] {
  if (text.length > SCOPES_CHARS_MAX) refuse(`Scopes are longer than ${SCOPES_CHARS_MAX} characters`)
  const entries = text.split(',')
  if (entries.length > ENTRY_COUNT_MAX) refuse(`Scopes have more than ${ENTRY_COUNT_MAX} entries`)
  const inResourceForm = entries.some((entry) => entry.trimStart().startsWith('op='))
  return entries.map((entry) => (inResourceForm ? resourceScope(entry.trimStart()) : bareScope(entry.trim())))
}

/** Whether a scope reaches into this bucket at all. */
export function coversBucket(scope: Scope, bucket: string): boolean {
  return scope.bucket === '*' || scope.bucket === bucket
}

function bareScope(entry: string): Scope {
  return { verb: verbOf(entry, entry), bucket: '*', prefix: '' }
}

function resourceScope(entry: string): Scope {
  const match = RESOURCE_ENTRY.exec(entry)
  const [verb, bucket, prefix] = [match?.[1], match?.[2], match?.[3]]
  if (verb === undefined || bucket === undefined || prefix === undefined) {
    refuse(`Scope '${entry}' is not of the form op=<verb>:bucket=<bucket>:prefix=<prefix>`)
  }
  if (!BUCKET.test(bucket))
    refuse(`Scope '${entry}' names '${bucket}', which is neither '*' nor a bucket name`)
  if (Buffer.byteLength(prefix) > PREFIX_BYTES_MAX) {
    refuse(`Scope '${entry}' has a prefix longer than ${PREFIX_BYTES_MAX} bytes`)
  }
  return { verb: verbOf(verb, entry), bucket, prefix }
}

function verbOf(verb: string, entry: string): Verb {
  if (!isVerb(verb)) refuse(`Scope '${entry}' does not name one of ${VERBS.join(', ')}`)
  return verb
}

function isVerb(verb: string): verb is Verb {
  return VERBS.includes(verb)
}

function refuse(message: string): never {
  throw new Refusal('invalid_argument', message)
}
