/** resumeCollection: authorize -> reason -> commit. Resuming what is not halted changes nothing. */
import { authorize } from '../../access/authorize.ts'
import type { AdminTokenPrincipal } from '../../access/base/principal.ts'
import type { SettingsRecord } from '../../state-machine/chunks/records.ts'
import { givenReason } from '../base/reason.ts'
import type { Services } from '../base/services.ts'
import { settle } from '../../commands/settle.ts'

export async function resumeCollection(
  services: Services,
  principal: AdminTokenPrincipal,
  input: { readonly reason: string },
): Promise<SettingsRecord> {
  authorize(principal, 'resumeCollection', {})
  const reason = givenReason(input.reason, 'resume the collection')
  settle(await services.propose({ type: 'resumeCollection', requestedBy: principal.tokenId, reason }))
  return services.state.settings()
}
