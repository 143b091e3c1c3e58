/**
 * An operator's word on the time of the log: what was withheld is true, or the log has run ahead.
 *
 * Owns: what the row of the audit log and the answer tell of it. Knows nothing of: how the time is corrected; the machine does that
 * with the entry of the command. Rule: no row changes: a retention that is stored keeps its date, nothing is deleted by it.
 */
import type { ApplyContext } from '../base/view.ts'
import { type Accepted, accept, type Refused, refuse } from '../base/reply.ts'
import type { Draft } from '../base/draft.ts'

/** The same as in the entry that carries the command. */
export type CorrectionRequest =
  | { readonly kind: 'confirm'; readonly withheldMs: number }
  | { readonly kind: 'setBack'; readonly seenTime: number }

export interface CorrectTimeCommand {
  readonly type: 'correctTime'
  readonly requestedBy: string
  readonly reason: string
  readonly correction: CorrectionRequest
}

/** ms since 1970 */
export interface TimePair {
  readonly time: number
  readonly confirmedTime: number
}

export interface TimeCorrected {
  readonly before: TimePair
  readonly after: TimePair
}

/** In a rehearsal nothing has been corrected, and nothing is refused. */
export function correctTime(
  _draft: Draft,
  { correction }: CorrectTimeCommand,
  { time, confirmedTime, before }: ApplyContext,
): Accepted<TimeCorrected> | Refused {
  const after = { time, confirmedTime }
  if (before?.time !== time || before.confirmedTime !== confirmedTime)
    return accept({ before: before ?? after, after })
  const why =
    correction.kind === 'confirm'
      ? 'nothing of the time is withheld any more'
      : 'the time of the log is not ahead of the clocks of the majority, or they changed since they were looked at'
  return refuse('precondition_failed', `Cannot correct the time: ${why}; look at it again`)
}

export interface TimeReplies {
  correctTime: TimeCorrected
}
