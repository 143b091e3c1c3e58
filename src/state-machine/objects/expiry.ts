/**
 * Expiry of kept answers and unfinished uploads.
 *
 * Owns: how each kind ends. Knows nothing of: clocks; it uses the confirmed log time.
 * Rule: any node may propose it any number of times; items that are not due yet stay, items that are gone are skipped.
 */
import { objectKeys } from './keys.ts'
import type { ApplyContext } from '../base/view.ts'
import type { ObjectCommand } from './commands.ts'
import { tooMany } from '../base/batch-bound.ts'
import type { ExpiryRecord } from './records.ts'
import type { Draft } from '../base/draft.ts'
import { endUpload } from './multipart.ts'
import { type Accepted, accept, type Refused } from '../base/reply.ts'

export function expire(
  draft: Draft,
  command: Extract<ObjectCommand, { type: 'expire' }>,
  context: ApplyContext,
): Accepted<{ readonly expired: number }> | Refused {
  const fault = tooMany('expire', command.items.length)
  if (fault !== null) return fault
  let expired = 0
  for (const { at, id } of command.items) {
    const due = at <= context.confirmedTime ? draft.get(objectKeys.expiry(at, id)) : undefined
    if (due === undefined) continue
    end(draft, due)
    draft.remove(objectKeys.expiry(at, id))
    expired++
  }
  return accept({ expired })
}

function end(draft: Draft, { at, what }: ExpiryRecord): void {
  const { bucketId, key } = what
  switch (what.kind) {
    case 'idempotency': {
      const row = objectKeys.idempotency(bucketId, key, what.name)
      if (draft.get(row)?.expiresAt === at) draft.remove(row)
      return
    }
    case 'completed': {
      const row = objectKeys.completed(bucketId, key, what.uploadId)
      if (draft.get(row) !== undefined) draft.remove(row)
      return
    }
    case 'upload':
      endUpload(draft, what)
      return
  }
}
