/**
 * `holdfast approvals`: changes that wait for a second owner, and the answers to them.
 */
import type { Approval } from '../../client/generated/admin-operations.ts'
import { askAdmin } from '../base/asking.ts'
import type { AdminAccessOptions } from '../base/cluster-access.ts'
import { EXIT } from '../base/exit.ts'
import { note, printable, printFacts, printJson, printTable } from '../base/printing.ts'
import { type ChangeOptions, rehearsal, reportChange } from './outcome.ts'
import type { ReadOptions } from './tenant-commands.ts'

export interface DecideOptions extends AdminAccessOptions, ChangeOptions {
  readonly reason: string
}

export function listApprovals(options: ReadOptions): Promise<number> {
  return askAdmin(options, async (client) => {
    const { approvals } = (await client.call('listApprovals', {})).answer
    if (options.json) for (const approval of approvals) printJson(approval)
    else
      printTable(
        approvals.map(({ approvalId, status, operation, tenantId, requestedBy, expiresAt }) => [
          approvalId,
          status,
          operation,
          tenantId ?? '',
          `asked by ${requestedBy.id}`,
          `until ${expiresAt}`,
        ]),
      )
    return EXIT.done
  })
}

export function showApproval(id: string, options: ReadOptions): Promise<number> {
  return askAdmin(options, async (client) => {
    const { answer } = await client.call('getApproval', { params: { id } })
    if (options.json) printJson(answer)
    else {
      const { change, requestedBy, ...facts } = answer
      printFacts({ ...facts, requestedBy: requestedBy.id, change: printable(JSON.stringify(change)) })
    }
    return EXIT.done
  })
}

export function approve(id: string, options: DecideOptions): Promise<number> {
  const call = { params: { id }, body: { reason: options.reason }, query: rehearsal(options) }
  return askAdmin(options, async (client) => {
    const { answer } = await client.call('approveChange', call)
    return reportChange<Approval>(answer, options, ({ requestedBy, expiresAt }) =>
      note(`${id} is approved; ${requestedBy.id} can make the change until ${expiresAt}`),
    )
  })
}

export function reject(id: string, options: DecideOptions): Promise<number> {
  const call = { params: { id }, body: { reason: options.reason }, query: rehearsal(options) }
  return askAdmin(options, async (client) => {
    const { answer } = await client.call('rejectChange', call)
    return reportChange<Approval>(answer, options, () => note(`${id} is rejected`))
  })
}
