/** listOperations: long operations page by page, oldest first; those that ended long ago are forgotten. [decisions 12] */
import { authorize } from '../../access/authorize.ts'
import type { AdminTokenPrincipal } from '../../access/base/principal.ts'
import type { OperationRecord } from '../../state-machine/operations/records.ts'
import { openContinuationToken, sealContinuationToken } from '../base/continuation-token.ts'
import { clampPageSize } from '../base/page-size.ts'
import type { Services } from '../base/services.ts'

const CONTEXT = ['listOperations']

export interface OperationListing {
  readonly operations: readonly OperationRecord[]
  readonly nextContinuationToken: string | null
}

export async function listOperations(
  services: Services,
  principal: AdminTokenPrincipal,
  input: { readonly limit: number | undefined; readonly continuationToken: string | undefined },
): Promise<OperationListing> {
  authorize(principal, 'listOperations', {})
  const { continuationToken } = input
  const after =
    continuationToken === undefined ? '' : openContinuationToken(services, CONTEXT, continuationToken)
  const { items, next } = await services.state.operations(after, clampPageSize(input.limit))
  const nextContinuationToken = next === null ? null : sealContinuationToken(services, CONTEXT, next)
  return { operations: items, nextContinuationToken }
}
