/**
 * Commits when keys and tokens were last used at this node.
 *
 * Owns: how much at once. Knows nothing of: which uses are worth a commit; src/access/last-used.ts decides.
 * Rule: a round is one entry at most, and uses that were not committed are proposed again in the next.
 */
import type { Logger } from '../../cluster/index.ts'
import type { LastUsed } from '../access/last-used.ts'
import { USES_PER_ENTRY_MAX } from '../state-machine/tenants/records.ts'
import type { Propose } from '../commands/propose.ts'

export interface LastUsedRecorderParts {
  readonly uses: LastUsed
  readonly propose: Propose
  readonly logger: Logger
}

/** One round; resolves with false: the remaining uses can wait. Throws Condition. */
export async function recordLastUsed({ uses, propose, logger }: LastUsedRecorderParts): Promise<boolean> {
  const due = uses.oldest(USES_PER_ENTRY_MAX)
  if (due.accessKeys.length + due.adminTokens.length === 0) return false
  const reply = await propose({ type: 'noteUses', ...due })
  uses.forget(due)
  if (reply.ok) logger.debug({ noted: reply.value.noted }, 'uses of keys noted')
  else logger.warn({ reason: reply.message }, 'uses of keys not noted')
  return false
}
