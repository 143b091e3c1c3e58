/**
 * Query parameters that admin routes share.
 */
import Type from 'typebox'
import { documented } from '../documented.ts'
import { CONTINUATION_TOKEN } from '../wire.ts'

export const PageQuery = Type.Object(
  { limit: Type.Optional(Type.Integer()), continuationToken: CONTINUATION_TOKEN },
  { additionalProperties: false },
)

export const DRY_RUN = Type.Object({ dryRun: Type.Optional(Type.Boolean()) }, { additionalProperties: false })

/** The member of bodies that say why. */
export const REASON = { reason: Type.String({ maxLength: 1024, ...documented({ pattern: '\\S' }) }) }
