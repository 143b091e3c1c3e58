/**
 * A verdict for people: the key, the end of the order that still worked, and the answer that does not fit after it.
 *
 * Rule: short. Much earlier answers cannot be the reason, so only the last steps are shown.
 */
import type { Model, Operation, Verdict } from './linearizability.ts'

const STEPS_SHOWN = 12

type Describe<Input, Output> = Pick<Model<unknown, Input, Output>, 'describe'>

export function explainVerdict<Input, Output>(
  { describe }: Describe<Input, Output>,
  verdict: Verdict<Input, Output>,
): string {
  if (verdict.outcome === 'linearizable') return `linearizable (${verdict.configurations} configurations)`
  if (verdict.outcome === 'unknown')
    return `unknown: ended after ${verdict.configurations} configurations, not settled: ${verdict.parts.join(', ')}`
  const line = (operation: Operation<Input, Output>): string => `  ${lineOf(describe, operation)}`
  const { part, prefix, state, culprit, pending } = verdict.violation
  const shown = prefix.slice(-STEPS_SHOWN)
  const earlier = prefix.length - shown.length
  return [
    `not linearizable: key ${part}`,
    `An order that explains all answers before the culprit${earlier > 0 ? `, its last ${STEPS_SHOWN} of ${prefix.length}` : ''}:`,
    ...shown.map(line),
    `State then: ${state}`,
    'The culprit, an answer that no order explains:',
    line(culprit),
    ...(pending.length > 0 ? ['Called by then and not in this order:'] : []),
    ...pending.map(line),
  ].join('\n')
}

function lineOf<Input, Output>(
  describe: Describe<Input, Output>['describe'],
  { client, input, call, answer }: Operation<Input, Output>,
): string {
  return `[${call}, ${answer === null ? 'open' : answer.at}] ${client}: ${describe(input, answer?.output)}`
}
