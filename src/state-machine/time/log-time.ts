/**
 * An operator's correction of the log time: the withheld time is confirmed, or a log time that runs ahead is set back.
 *
 * Owns: what the audit row and the reply say about a correction. Knows nothing of: how the time is corrected; the cluster does that
 * with the entry of the command. Rule: a correction changes no row: a stored retention keeps its date, and nothing is deleted.
 */
import type { ApplyContext } from '../base/view.ts'
import { type Accepted, accept, type Refused, refuse } from '../base/reply.ts'
import type { Draft } from '../base/draft.ts'

/** The same correction as in the entry that carries the command. */
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

/** In a rehearsal no correction has happened, and the command is not refused. */
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
      ? 'no time is withheld any more'
      : 'the log time is not ahead of the clocks of the majority, or they have changed since they were read'
  return refuse('precondition_failed', `Cannot correct the time: ${why}; look at it again`)
}

export interface TimeReplies {
  correctTime: TimeCorrected
}
