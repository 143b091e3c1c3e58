/**
 * The RateLimit header fields, as the draft of the IETF names them: what a caller may still ask for. [decisions 1]
 *
 * Knows nothing of: who counts. Rule: every limit of requests that holds is a policy; the status is that of the one which leaves least.
 */
import type { CallerUse } from './caller-use.ts'

export type RateFields = Partial<Readonly<Record<'ratelimit' | 'ratelimit-policy', string>>>

const NONE: RateFields = {}

export function rateFields(uses: readonly CallerUse[], nowMs: number): RateFields {
  let policies = ''
  let least: { readonly scope: string; readonly left: number; readonly nextMs: number } | null = null
  for (const use of uses) {
    const { requestsPerSecond, burstSeconds } = use.limits
    if (requestsPerSecond === 0) continue
    const policy = `"${use.scope}";q=${requestsPerSecond};w=1;burst=${requestsPerSecond * burstSeconds}`
    policies = policies === '' ? policy : `${policies}, ${policy}`
    const status = use.requestStatus(nowMs)
    if (least === null || status.left < least.left) least = { scope: use.scope, ...status }
  }
  if (least === null) return NONE
  const { scope, left, nextMs } = least
  return { 'ratelimit-policy': policies, ratelimit: `"${scope}";r=${left};t=${Math.ceil(nextMs / 1000)}` }
}
