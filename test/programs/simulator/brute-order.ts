/**
 * Every order of a small history, one after the other: the reference for the checker.
 *
 * Rule: as simple as possible. No memo, no lists, no shortcuts: it must be evidently correct.
 */
import type { Model, Operation } from './linearizability.ts'

/** The first answer that makes the history impossible; null when the whole history has an order. */
export function bruteCulprit<State, Input, Output>(
  model: Model<State, Input, Output>,
  operations: readonly Operation<Input, Output>[],
): Operation<Input, Output> | null {
  const answered = operations.filter(({ answer }) => answer !== null)
  answered.sort((a, b) => (a.answer?.at ?? 0) - (b.answer?.at ?? 0))
  return answered.find(({ answer }) => !hasOrder(model, beginning(operations, answer?.at ?? 0))) ?? null
}

/** The history as known at a time: later calls are absent, unanswered calls are open. */
function beginning<Input, Output>(
  operations: readonly Operation<Input, Output>[],
  time: number,
): Operation<Input, Output>[] {
  const called = operations.filter(({ call }) => call <= time)
  return called.map((one) => (one.answer !== null && one.answer.at > time ? { ...one, answer: null } : one))
}

function hasOrder<State, Input, Output>(
  { init, step }: Pick<Model<State, Input, Output>, 'init' | 'step'>,
  operations: readonly Operation<Input, Output>[],
): boolean {
  const fits = (state: State, left: readonly Operation<Input, Output>[]): boolean => {
    if (left.every(({ answer }) => answer === null)) return true
    return left.some((next) => {
      const others = left.filter((other) => other !== next)
      if (others.some(({ answer }) => answer !== null && answer.at < next.call)) return false
      const after = step(state, next.input, next.answer?.output)
      return after.ok && fits(after.state, others)
    })
  }
  return fits(init, operations)
}
