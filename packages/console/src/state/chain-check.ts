/**
 * The check of the chain of the audit log: its parts one after the other, to the end or until it is cancelled.
 *
 * Rules: the first fault is kept, and the check continues after it; a check that ended early says how far it came; it belongs to one session.
 */
import { effect, signal } from '@preact/signals'
import type { HoldfastAdmin, VerifiedAuditLog } from '../../../client/src/admin.ts'
import { type Fault, faultOf } from './resource.ts'
import { client, noticeRefusal } from './session.ts'

/** Segments of a part. */
const PART = 32

/** The sum of the parts so far. */
export const checked = signal<VerifiedAuditLog | null>(null)
export const isChecking = signal(false)
/** Why no further part came. */
export const checkFault = signal<Fault | null>(null)

let running = new AbortController()

export function cancelCheck(): void {
  running.abort()
}

/** `from`: where the part begins; nothing: at the oldest segment. */
export const partOf = (
  api: HoldfastAdmin,
  from: { readonly continuationToken?: string } = {},
  signal?: AbortSignal,
): Promise<VerifiedAuditLog> =>
  api.verifyAuditChain({ limit: PART, ...from }, signal === undefined ? {} : { signal })

/** `checked` grows with each part. */
export async function checkChain(): Promise<void> {
  const api = client.peek()
  if (api === null || isChecking.peek()) return
  running = new AbortController()
  const { signal: cancelled } = running
  isChecking.value = true
  checked.value = checkFault.value = null
  try {
    for (let from = {}, isMore = true; isMore; ) {
      const part = await partOf(api, from, cancelled)
      if (cancelled.aborted) break
      checked.value = sum(checked.peek(), part)
      isMore = part.isTruncated
      from = { continuationToken: part.nextContinuationToken }
    }
  } catch (error) {
    if (!cancelled.aborted) {
      noticeRefusal(error)
      checkFault.value = faultOf(error)
    }
  }
  isChecking.value = false
}

function sum(before: VerifiedAuditLog | null, part: VerifiedAuditLog): VerifiedAuditLog {
  if (before === null) return part
  return {
    ...part,
    first: before.first,
    from: before.from,
    segments: before.segments + part.segments,
    links: before.links + part.links,
    rows: before.rows + part.rows,
    isWhole: before.isWhole && part.isWhole,
    firstFault: before.firstFault ?? part.firstFault,
  }
}

effect(() => {
  if (client.value !== null) return
  cancelCheck()
  checked.value = checkFault.value = null
})
