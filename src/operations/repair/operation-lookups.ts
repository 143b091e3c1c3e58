/**
 * Long operations, one or a page of them: authorize -> find. [decisions 12]
 */
import { adminToken } from '../../access/rights.ts'
import { Refusal } from '../../base/refusal.ts'
import type { LongOperation } from '../../state-machine/long-operations/records.ts'
import { continuedPage, type PageInput } from '../base/continued-page.ts'
import { adminOperation } from '../base/operation.ts'
import type { Services } from '../base/services.ts'
import { noTarget } from '../base/targets.ts'
import { longOperationKeys, longOperationRanges } from '../../state-machine/long-operations/keys.ts'

export const getOperation = adminOperation(
  {
    id: 'getOperation',
    requires: adminToken('owner', 'cluster'),
    refuses: [],
    target: noTarget,
  },
  async (services, principal, input: { readonly id: string }): Promise<LongOperation> => {
    return findOperation(services, input.id)
  },
)

export function findOperation({ state }: Pick<Services, 'state'>, id: string): LongOperation {
  const operation = state.get(longOperationKeys.operation(id))
  if (operation === undefined) throw new Refusal('not_found', `Operation "${id.slice(0, 64)}" does not exist`)
  return operation
}

const CONTEXT = ['listOperations']

export interface LongOperationListing {
  readonly operations: readonly LongOperation[]
  readonly nextContinuationToken: string | null
}

/** Oldest first; those that ended long ago are forgotten. */
export const listOperations = adminOperation(
  {
    id: 'listOperations',
    requires: adminToken('owner', 'cluster'),
    refuses: [],
    target: noTarget,
  },
  async (services, principal, input: PageInput): Promise<LongOperationListing> => {
    const { items: operations, nextContinuationToken } = await continuedPage(
      services,
      CONTEXT,
      input,
      (asked) => services.state.page(longOperationRanges.operations(), asked),
    )
    return { operations, nextContinuationToken }
  },
)
