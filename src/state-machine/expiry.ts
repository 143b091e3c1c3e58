/**
 * What ends by itself when its time has come: kept answers, unfinished uploads.
 *
 * Owns: what the end of each kind is. Knows nothing of: clocks; time is that of the log.
 * Rule: anybody may ask, any number of times; what is not due yet stays, what is gone already is skipped.
 */
import type { Command } from './commands.ts'
import { tooMany } from './copies.ts'
import type { Draft } from './draft.ts'
import { keys } from './keys.ts'
import { endUpload } from './multipart.ts'
import type { ExpiryRecord } from './records.ts'
import { type Accepted, accept, type Refused } from './reply.ts'
import type { ApplyContext } from './view.ts'

export function expire(
  draft: Draft,
  command: Extract<Command, { type: 'expire' }>,
  context: ApplyContext,
): Accepted<{ readonly expired: number }> | Refused {
  const fault = tooMany('expire', command.items.length)
  if (fault !== null) return fault
  let expired = 0
  for (const { at, id } of command.items) {
    const due = at <= context.time ? draft.get(keys.expiry(at, id)) : undefined
    if (due === undefined) continue
    end(draft, due)
    draft.remove(keys.expiry(at, id))
    expired++
  }
  return accept({ expired })
}

function end(draft: Draft, { at, what }: ExpiryRecord): void {
  const { bucketId, key } = what
  switch (what.kind) {
    case 'idempotency': {
      const row = keys.idempotency(bucketId, key, what.name)
      if (draft.get(row)?.expiresAt === at) draft.remove(row)
      return
    }
    case 'completed': {
      const row = keys.completed(bucketId, key, what.uploadId)
      if (draft.get(row) !== undefined) draft.remove(row)
      return
    }
    case 'upload':
      endUpload(draft, what)
      return
  }
}
