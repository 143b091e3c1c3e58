/**
 * Upload sessions: which uploads may still commit.
 *
 * Owns: open, advance, close. Knows nothing of: which gateways are alive; closing the session of a live gateway is safe,
 * its uploads in progress only have to be sent again.
 * Rules: the low-water mark never decreases and a closed session never opens, so "this birth cannot commit any more" stays
 * true once it is true; a session without a row is unknown, never closed.
 */
import { chunkKeys } from './keys.ts'
import type { View } from '../base/view.ts'
import { isKeyPart } from '../base/row-key.ts'
import type { ChunkCommand } from './commands.ts'
import { parseBirth } from './births.ts'
import type { Draft } from '../base/draft.ts'
import { type Accepted, accept, type Refused, refuse } from '../base/reply.ts'

/** Open sessions of one node at most: the present one, and those that wait for uploads whose outcome is unknown. */
const OPEN_SESSIONS_MAX = 8

/** Whether an upload under this birth may commit; `unknown`: in this view the session was not opened yet. */
export type BirthState = 'open' | 'ended' | 'unknown'

export function stateOfBirth(view: View, birth: string): BirthState {
  const parsed = parseBirth(birth)
  const session = parsed === null ? undefined : view.get(chunkKeys.session(parsed.session))
  if (parsed === null || session === undefined) return 'unknown'
  return session.closed || parsed.sequence < session.lowWater ? 'ended' : 'open'
}

/**
 * Closes the node's other open sessions except those in `keep`. Refuses a session id that was used before, open or not: a
 * second run under it, from an older copy of a data directory, would reuse births.
 */
export function openSession(
  draft: Draft,
  command: Extract<ChunkCommand, { type: 'openSession' }>,
): Accepted<null> | Refused {
  const { session, node, keep } = command
  if (!isKeyPart(session) || !isKeyPart(node)) {
    return refuse('invalid_argument', 'Cannot open session: its name or its node is empty or malformed')
  }
  if (draft.get(chunkKeys.session(session)) !== undefined) {
    return refuse('precondition_failed', `Cannot open session: "${session}" was opened before`)
  }
  const open = draft.get(chunkKeys.nodeUploadSessions(node))?.open ?? []
  const kept = open.filter((other) => keep.includes(other))
  if (kept.length >= OPEN_SESSIONS_MAX) {
    return refuse('precondition_failed', `Cannot open session: "${node}" has ${kept.length} open ones`)
  }
  for (const other of open) if (!kept.includes(other)) markClosed(draft, other)
  draft.put(chunkKeys.session(session), { node, lowWater: 0, closed: false })
  draft.put(chunkKeys.nodeUploadSessions(node), { node, open: [...kept, session] })
  return accept(null)
}

/** All uploads below `lowWater` have ended. A mark that is not higher than the present one changes nothing. */
export function advanceSession(
  draft: Draft,
  command: Extract<ChunkCommand, { type: 'advanceSession' }>,
): Accepted<null> | Refused {
  const { session, lowWater } = command
  if (!Number.isSafeInteger(lowWater) || lowWater < 0) {
    return refuse('invalid_argument', `Cannot advance session: ${lowWater} is not a sequence number`)
  }
  const present = draft.get(chunkKeys.session(session))
  if (present === undefined) return refuse('not_found', `Cannot advance session: "${session}" is unknown`)
  if (lowWater > present.lowWater) draft.put(chunkKeys.session(session), { ...present, lowWater })
  return accept(null)
}

/** Idempotent. */
export function closeSession(
  draft: Draft,
  command: Extract<ChunkCommand, { type: 'closeSession' }>,
): Accepted<null> | Refused {
  const { session } = command
  const present = draft.get(chunkKeys.session(session))
  if (present === undefined) return refuse('not_found', `Cannot close session: "${session}" is unknown`)
  if (present.closed) return accept(null)
  markClosed(draft, session)
  const rest = (draft.get(chunkKeys.nodeUploadSessions(present.node))?.open ?? []).filter(
    (other) => other !== session,
  )
  if (rest.length === 0) draft.remove(chunkKeys.nodeUploadSessions(present.node))
  else draft.put(chunkKeys.nodeUploadSessions(present.node), { node: present.node, open: rest })
  return accept(null)
}

function markClosed(draft: Draft, session: string): void {
  const present = draft.get(chunkKeys.session(session))
  if (present !== undefined) draft.put(chunkKeys.session(session), { ...present, closed: true })
}
