/** resumeCollection: authorize -> reason -> commit. Resuming what is not halted changes nothing. */
import { adminToken } from '../../access/rights.ts'
import { settle } from '../../commands/settle.ts'
import type { SettingsRecord } from '../../state-machine/chunks/records.ts'
import { adminOperation } from '../base/operation.ts'
import { givenReason } from '../base/reason.ts'
import { noTarget } from '../base/targets.ts'
import { settingsOf } from '../../state-machine/chunks/collection.ts'

export const resumeCollection = adminOperation(
  {
    id: 'resumeCollection',
    requires: adminToken('owner', 'cluster'),
    refuses: ['precondition_failed'],
    target: noTarget,
  },
  async (services, principal, input: { readonly reason: string }): Promise<SettingsRecord> => {
    const reason = givenReason(input.reason, 'resume the collection')
    settle(await services.propose({ type: 'resumeCollection', requestedBy: principal.tokenId, reason }))
    return settingsOf(services.state)
  },
)
