/**
 * Cuts a history without an order down to its shortest beginning that has none.
 *
 * Owns: the history known at a time. A beginning of a linearizable history is linearizable, so halving finds the cut.
 * Rule: only a finished search moves the cut; one that hits its limit leaves it where it was proved.
 */
import type { Model, Operation, Violation } from './linearizability.ts'
import { type Bounds, LinearizationSearch } from './linearization-search.ts'

/** `hint`: a time before which no cut can lie. */
export function shortestViolation<State, Input, Output>(
  model: Model<State, Input, Output>,
  operations: readonly Operation<Input, Output>[],
  { hint, bounds }: { readonly hint: number; readonly bounds: Bounds },
): Omit<Violation<Input, Output>, 'part'> {
  const answered = operations
    .filter(({ answer }) => answer !== null)
    .sort((a, b) => answerTime(a) - answerTime(b))
  let low = answered.findIndex((operation) => answerTime(operation) >= hint)
  let high = answered.length - 1
  // The hint is mostly right.
  for (let probe = low; low < high; probe = (low + high) >>> 1) {
    const known = beginning(operations, answered.slice(0, probe + 1))
    if (new LinearizationSearch(model, [...known.keys()]).run(bounds) === 'violation') high = probe
    else low = probe + 1
  }
  const culprit = answered[high]
  if (culprit === undefined) throw new RangeError('A history without answers always has an order')
  const before = beginning(operations, answered.slice(0, high), answerTime(culprit))
  const search = new LinearizationSearch(model, [...before.keys()])
  search.run(bounds)
  const prefix = search.order()
  for (const fitted of prefix) before.delete(fitted)
  const pending = [...before].filter(([, original]) => original !== culprit).map(([known]) => known)
  return { prefix, state: search.stateKey(), culprit, pending }
}

/** The operations as they were known when the last of these answers was given, or at `time`; with the originals. */
function beginning<Input, Output>(
  operations: readonly Operation<Input, Output>[],
  answers: readonly Operation<Input, Output>[],
  time = answers.at(-1)?.answer?.at ?? 0,
): Map<Operation<Input, Output>, Operation<Input, Output>> {
  const given = new Set(answers)
  const called = operations.filter(({ call }) => call <= time)
  return new Map(called.map((one) => [given.has(one) ? one : { ...one, answer: null }, one]))
}

function answerTime<Input, Output>({ answer }: Operation<Input, Output>): number {
  return answer?.at ?? Number.POSITIVE_INFINITY
}
