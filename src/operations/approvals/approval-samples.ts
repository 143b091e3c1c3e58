/**
 * The metrics of second approvals: how many changes wait for a second owner, and for how long.
 *
 * Knows nothing of: how they are served. Rule: every node counts the same rows, so an alert takes the maximum of them.
 */
import { Condition, type MetricSample } from '../../../cluster/index.ts'
import { listOf } from '../../state-machine/approvals/approvals.ts'
import { approvalKeys } from '../../state-machine/approvals/keys.ts'
import type { View } from '../../state-machine/base/view.ts'

/** `now`: ms since 1970. */
export function approvalSamples(state: View, now: number): readonly MetricSample[] {
  try {
    const waiting = listOf(state)
      .filter(({ expiresAt }) => now < expiresAt)
      .flatMap(({ approvalId }) => state.get(approvalKeys.approval(approvalId)) ?? [])
      .filter(({ approvedBy }) => approvedBy === null)
    const oldest = Math.min(now, ...waiting.map(({ requestedAt }) => requestedAt))
    return [
      {
        name: 'holdfast_approvals_waiting',
        kind: 'gauge',
        help: 'Changes that wait for the approval of a second owner.',
        value: waiting.length,
      },
      {
        name: 'holdfast_approvals_waiting_oldest_seconds',
        kind: 'gauge',
        help: 'How long the oldest of them has waited.',
        value: (now - oldest) / 1000,
      },
    ]
  } catch (cause) {
    // The state is being replaced.
    if (cause instanceof Condition) return []
    throw cause
  }
}
