/**
 * Query parameters that admin routes share.
 *
 * Rule: a dry run that is asked for is never answered by the real thing; until plans exist it is refused.
 */
import Type, { type Static } from 'typebox'
import { Refusal } from '../../refusal.ts'

export const PageQuery = Type.Object(
  { limit: Type.Optional(Type.Integer()), continuationToken: Type.Optional(Type.String()) },
  { additionalProperties: false },
)

export const DRY_RUN = Type.Object({ dryRun: Type.Optional(Type.Boolean()) }, { additionalProperties: false })

/** The member of bodies that say why. */
export const REASON = { reason: Type.String({ maxLength: 1024 }) }

export function refuseDryRun(query: Static<typeof DRY_RUN>): void {
  if (query.dryRun !== true) return
  throw new Refusal(
    'not_implemented',
    'The query parameter dryRun is not supported here yet; nothing was changed',
  )
}
