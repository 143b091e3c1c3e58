/**
 * When access keys and admin tokens were last used.
 *
 * Owns: noteUses. Rules: a time never decreases and is never later than the entry that reports it, regardless of the clock of the
 * node that saw the use; keys and tokens that are gone are skipped. No decision depends on these times.
 */
import { tenantKeys } from './keys.ts'
import type { ApplyContext } from '../base/view.ts'
import type { TenantCommand, TenantReplies } from './commands.ts'
import type { Draft } from '../base/draft.ts'
import { USES_PER_ENTRY_MAX } from './records.ts'
import { type Accepted, accept, type Refused, refuse } from '../base/reply.ts'

export function noteUses(
  draft: Draft,
  { accessKeys, adminTokens }: Extract<TenantCommand, { type: 'noteUses' }>,
  { time }: ApplyContext,
): Accepted<TenantReplies['noteUses']> | Refused {
  const count = accessKeys.length + adminTokens.length
  if (count > USES_PER_ENTRY_MAX) {
    const message = `Cannot note uses: ${count} are more than the ${USES_PER_ENTRY_MAX} of an entry`
    return refuse('invalid_argument', message)
  }
  let noted = 0
  for (const { accessKeyId, at } of accessKeys) {
    const key = draft.get(tenantKeys.accessKey(accessKeyId))
    const lastUsedAt = Math.min(at, time)
    if (key === undefined || lastUsedAt <= (key.lastUsedAt ?? 0)) continue
    draft.put(tenantKeys.accessKey(accessKeyId), { ...key, lastUsedAt })
    noted += 1
  }
  for (const { tokenId, at } of adminTokens) {
    const token = draft.get(tenantKeys.adminToken(tokenId))
    const lastUsedAt = Math.min(at, time)
    if (token === undefined || lastUsedAt <= (token.lastUsedAt ?? 0)) continue
    draft.put(tenantKeys.adminToken(tokenId), { ...token, lastUsedAt })
    noted += 1
  }
  return accept({ noted })
}
