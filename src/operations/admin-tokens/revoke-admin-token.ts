/**
 * Revokes an admin token for good; repeating it changes nothing.
 */
import type { AdminTokenRecord } from '../../state-machine/tenants/records.ts'
import type { Services } from '../base/services.ts'
import { settle } from '../../commands/settle.ts'

export async function revokeAdminToken(services: Services, tokenId: string): Promise<AdminTokenRecord> {
  return settle(await services.propose({ type: 'revokeAdminToken', tokenId }))
}
