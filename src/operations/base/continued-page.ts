/**
 * A page of a listing that a token continues.
 *
 * Owns: the way from the token of the caller to that of the next page. Knows nothing of: what is listed.
 */
import type { Page } from '../../store/reads/state-reader.ts'
import { openContinuationToken, sealContinuationToken } from './continuation-token.ts'
import { clampPageSize } from './page-size.ts'
import type { Services } from './services.ts'

export interface PageInput {
  readonly limit: number | undefined
  readonly continuationToken: string | undefined
}

export interface ContinuedPage<T> {
  readonly items: readonly T[]
  /** Null: there are no more. */
  readonly nextContinuationToken: string | null
}

/** `context`: names the listing and everything that shaped it. Throws Refusal invalid_continuation_token. */
export async function continuedPage<T>(
  services: Services,
  context: readonly string[],
  { limit, continuationToken }: PageInput,
  read: (asked: { readonly after: string; readonly limit: number }) => Promise<Page<T>>,
): Promise<ContinuedPage<T>> {
  const after =
    continuationToken === undefined ? '' : openContinuationToken(services, context, continuationToken)
  const { items, next } = await read({ after, limit: clampPageSize(limit) })
  return {
    items,
    nextContinuationToken: next === null ? null : sealContinuationToken(services, context, next),
  }
}
