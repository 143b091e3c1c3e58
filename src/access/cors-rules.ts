/**
 * What good CORS rules are. [native: CORS configuration] [decisions 2]
 *
 * Owns: the check of a configuration and its sentences; it has one for every way into a bucket's rules. Knows nothing of:
 * what rules allow; that is cors-match.ts.
 * Rule: a pattern that could never fit what a browser sends is refused, because its author meant something else.
 */
import { UNPRINTABLE } from '../base/printable.ts'
import { Refusal } from '../base/refusal.ts'
import type { CorsMethod, CorsRule } from '../state-machine/buckets/records.ts'

export const CORS_RULES_MAX = 100
export const CORS_METHODS = ['GET', 'HEAD', 'PUT', 'POST', 'DELETE'] as const satisfies readonly CorsMethod[]

export const ID_CHARACTERS_MAX = 255
export const PATTERN_CHARACTERS_MAX = 255
/** A signed 32-bit number of seconds is what clients can be expected to read. */
export const MAX_AGE_SECONDS_MAX = 2 ** 31 - 1
/** No path behind the host: an origin has none. [RFC 6454 6.2] */
const ORIGIN = /^(?:[^/?#@]+:\/\/)?[^/?#@]+$/
const PRINTABLE = /^[\x21-\x7e]+$/
/** A `*` may occur in a token, so a pattern is one too. [RFC 9110 5.6.2] */
const TOKEN = /^[!#$%&'*+.^_`|~0-9a-z-]+$/i

/** What a rule takes, as JSON Schema says it. Of an origin: null, one with a `*`, or one with a scheme; at most one `*`. */
export const CORS_PATTERNS = corsPatterns()

function corsPatterns(): Readonly<Record<'origin' | 'header' | 'exposedHeader', string>> {
  const part = '[!"$-)+-.0->A-~]'
  const star = `${part}*\\*${part}*`
  const token = "[!#$%&'+.^_`|~0-9A-Za-z-]"
  return {
    origin: `^(null|${star}|${part}+://${part}+|${star}://${part}+|${part}+://${star})$`,
    header: `^(${token}+\\*?${token}*|\\*${token}*)$`,
    exposedHeader: `^(${token}+|\\*)$`,
  }
}

export interface CorsRuleInput {
  readonly id?: string
  readonly allowedOrigins: readonly string[]
  readonly allowedMethods: readonly string[]
  readonly allowedHeaders?: readonly string[]
  readonly exposeHeaders?: readonly string[]
  readonly maxAgeSeconds?: number
}

/** Throws Refusal invalid_request that names the field. */
export function checkCorsRules(rules: readonly CorsRuleInput[]): readonly CorsRule[] {
  if (rules.length === 0)
    refuse('rules', 'is empty: give at least one rule, or delete the configuration of the bucket')
  if (rules.length > CORS_RULES_MAX)
    refuse('rules', `has ${rules.length} rules: at most ${CORS_RULES_MAX} are allowed`)
  const ids = new Set<string>()
  return rules.map((rule, n) => {
    const { id = null } = rule
    if (id !== null && ids.has(id)) refuse(`rules.${n}.id`, `is "${id}" like that of an earlier rule`)
    if (id !== null) ids.add(id)
    return checkRule(rule, `rules.${n}`)
  })
}

function checkRule(rule: CorsRuleInput, at: string): CorsRule {
  const { id = null, allowedHeaders = null, exposeHeaders = null, maxAgeSeconds = null } = rule
  if (id !== null) checkId(id, `${at}.id`)
  checkEach(rule.allowedOrigins, `${at}.allowedOrigins`, originFault)
  checkEach(rule.allowedMethods, `${at}.allowedMethods`, methodFault)
  if (rule.allowedOrigins.length === 0) refuse(`${at}.allowedOrigins`, 'is empty: name at least one origin')
  if (rule.allowedMethods.length === 0) refuse(`${at}.allowedMethods`, 'is empty: name at least one method')
  checkEach(allowedHeaders ?? [], `${at}.allowedHeaders`, headerFault)
  checkEach(exposeHeaders ?? [], `${at}.exposeHeaders`, exposedFault)
  if (maxAgeSeconds !== null) checkMaxAge(maxAgeSeconds, `${at}.maxAgeSeconds`)
  const { allowedOrigins } = rule
  const allowedMethods = rule.allowedMethods.filter(isCorsMethod)
  return { id, allowedOrigins, allowedMethods, allowedHeaders, exposeHeaders, maxAgeSeconds }
}

function checkId(id: string, at: string): void {
  if (id !== '' && Array.from(id).length <= ID_CHARACTERS_MAX && !UNPRINTABLE.test(id)) return
  refuse(at, `must have 1 to ${ID_CHARACTERS_MAX} characters, and no control characters`)
}

function checkMaxAge(seconds: number, at: string): void {
  if (Number.isSafeInteger(seconds) && seconds >= 0 && seconds <= MAX_AGE_SECONDS_MAX) return
  refuse(at, `is ${seconds}: give a whole number from 0 to ${MAX_AGE_SECONDS_MAX}`)
}

function checkEach(values: readonly string[], at: string, faultOf: (value: string) => string | null): void {
  for (const [n, value] of values.entries()) {
    const fault = lengthFault(value) ?? faultOf(value)
    if (fault !== null) refuse(`${at}.${n}`, `is ${JSON.stringify(value.slice(0, 80))}: ${fault}`)
  }
}

function lengthFault(value: string): string | null {
  const isGood = value !== '' && value.length <= PATTERN_CHARACTERS_MAX
  return isGood ? null : `it must have 1 to ${PATTERN_CHARACTERS_MAX} characters`
}

function starFault(pattern: string): string | null {
  return pattern.split('*').length > 2 ? 'it may hold one "*" at most' : null
}

function originFault(pattern: string): string | null {
  const star = starFault(pattern)
  if (star !== null) return star
  const hasScheme = pattern.includes('://') || pattern.includes('*') || pattern === 'null'
  if (hasScheme && ORIGIN.test(pattern) && PRINTABLE.test(pattern)) return null
  return 'give "*", "null" or scheme://host[:port] without a path, such as https://app.example.com or https://*.example.com'
}

function methodFault(method: string): string | null {
  return isCorsMethod(method) ? null : `give one of ${CORS_METHODS.join(', ')}`
}

function headerFault(pattern: string): string | null {
  return starFault(pattern) ?? (TOKEN.test(pattern) ? null : 'it is no name of a header')
}

/** To a browser a `*` means all headers, or none. [Fetch 4.10] */
function exposedFault(name: string): string | null {
  if (name !== '*' && name.includes('*')) return 'name the header in full, or give "*" for all'
  return headerFault(name)
}

function isCorsMethod(method: string): method is CorsMethod {
  return CORS_METHODS.some((known) => known === method)
}

function refuse(at: string, fault: string): never {
  throw new Refusal('invalid_request', `The CORS configuration is not accepted: "${at}" ${fault}`)
}
