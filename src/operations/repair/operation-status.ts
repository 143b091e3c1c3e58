/**
 * The orders to a long operation: authorize -> commit. Repeating an order changes nothing. [decisions 12]
 */
import { adminToken } from '../../access/rights.ts'
import { settle } from '../../commands/settle.ts'
import type { LongOperation } from '../../state-machine/long-operations/records.ts'
import { adminOperation } from '../base/operation.ts'
import { noTarget } from '../base/targets.ts'

/** Nothing more is planned; copies that are not made yet are taken back. */
export const cancelOperation = adminOperation(
  {
    id: 'cancelOperation',
    requires: adminToken('owner', 'cluster'),
    refuses: ['precondition_failed'],
    target: noTarget,
  },
  async (services, principal, input: { readonly id: string }): Promise<LongOperation> => {
    const action = { type: 'setOperationStatus', action: 'cancel', error: null } as const
    return settle(await services.propose({ ...action, operationId: input.id }))
  },
)

/** Nothing more is planned; copies that were granted are still made. */
export const pauseOperation = adminOperation(
  {
    id: 'pauseOperation',
    requires: adminToken('owner', 'cluster'),
    refuses: ['precondition_failed'],
    target: noTarget,
  },
  async (services, principal, input: { readonly id: string }): Promise<LongOperation> => {
    const action = { type: 'setOperationStatus', action: 'pause', error: null } as const
    return settle(await services.propose({ ...action, operationId: input.id }))
  },
)

/** The walk continues where it was. */
export const resumeOperation = adminOperation(
  {
    id: 'resumeOperation',
    requires: adminToken('owner', 'cluster'),
    refuses: ['precondition_failed'],
    target: noTarget,
  },
  async (services, principal, input: { readonly id: string }): Promise<LongOperation> => {
    const action = { type: 'setOperationStatus', action: 'resume', error: null } as const
    return settle(await services.propose({ ...action, operationId: input.id }))
  },
)
