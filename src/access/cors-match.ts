/**
 * Which CORS rule, if any, speaks for a request of a page.
 *
 * Owns: the decision, as pure functions. Knows nothing of: whether the caller may have what it asks for; a rule never
 * grants that. [native: Authorization 3]
 * Rule: the first rule decides that fits origin, method and every header asked for; others are not looked at.
 */
import type { CorsRule } from '../state-machine/buckets/records.ts'

/** What the browser says of the request. */
export interface CorsQuestion {
  readonly origin: string
  readonly method: string
  /** Those that a preflight asks for. Empty for the request itself, whose headers were settled before it was sent. */
  readonly headers: readonly string[]
}

export interface CorsGrant {
  readonly rule: CorsRule
  /** `*` where the rule says so; else the origin itself, which is all that a browser takes beside it. */
  readonly allowOrigin: string
}

/** One origin, or "null". Two in one header are no origin, however a pattern would like them. */
const ORIGIN = /^[\x21-\x2b\x2d-\x7e]+$/

export function matchCors(rules: readonly CorsRule[], question: CorsQuestion): CorsGrant | null {
  const { origin } = question
  if (!ORIGIN.test(origin)) return null
  for (const rule of rules) {
    const pattern = rule.allowedOrigins.find((allowed) => fits(allowed, origin))
    if (pattern !== undefined && allows(rule, question))
      return { rule, allowOrigin: pattern === '*' ? '*' : origin }
  }
  return null
}

function allows({ allowedMethods, allowedHeaders }: CorsRule, { method, headers }: CorsQuestion): boolean {
  if (!allowedMethods.some((allowed) => allowed === method)) return false
  return headers.every((header) => (allowedHeaders ?? []).some((pattern) => fits(pattern, header)))
}

/** Without regard to case: neither scheme, host nor the name of a header has one. */
function fits(pattern: string, text: string): boolean {
  const [before = '', after] = pattern.toLowerCase().split('*')
  const given = text.toLowerCase()
  if (after === undefined) return given === before
  return given.length >= before.length + after.length && given.startsWith(before) && given.endsWith(after)
}
