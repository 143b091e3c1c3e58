/**
 * Is there one order of the operations of a history that a single copy of the data could have given?
 *
 * Owns: the types of histories, models and verdicts, and the split by key: an order exists when each key has one of its own
 * [Herlihy and Wing 1990, locality]. Knows nothing of: how an order is searched for (linearization-search.ts), clocks.
 * Rule: 'linearizable' and 'violation' are proofs; a search that did not end is 'unknown'.
 */
import { LinearizationSearch } from './linearization-search.ts'
import { shortestViolation } from './shortest-violation.ts'

/** A recorded call. Times are any numbers that rise; an event counter will do. */
export interface Operation<Input, Output> {
  readonly client: string
  readonly input: Input
  readonly call: number
  /**
   * Null when it may or may not have happened: timed out, connection lost, commit_unknown. It may then take effect at any
   * time after the call, or never. A call that certainly did not take effect does not belong in a history.
   */
  readonly answer: { readonly at: number; readonly output: Output } | null
}

/** The data as one copy that applies one operation after the other. Pure: `step` changes none of its arguments. */
export interface Model<State, Input, Output> {
  /** Which operations touch the same data; operations of different parts must never influence each other. */
  part(input: Input): string
  readonly init: State
  /** `output` undefined: the outcome is not known, so any is fine, and `state` is the one after it took effect. */
  step(state: State, input: Input, output: Output | undefined): Step<State>
  /** Two states with the same text must be the same state. */
  key(state: State): string
  /** True only for an operation that changes no state. Spares most of the search. */
  readsOnly(input: Input): boolean
  /** True only for an operation that leaves the same state from any state. Spares most of the rest. */
  overwrites(input: Input): boolean
  /** For people: `put a=1`, `get a -> 2`. */
  describe(input: Input, output: Output | undefined): string
}

export interface Step<State> {
  readonly ok: boolean
  readonly state: State
}

export interface Limits {
  /** Bounds memory and time: the configurations visited for each part. */
  readonly configurationsMax?: number
  /** Asked now and then; true ends the search. For callers that have a clock. */
  readonly isOver?: () => boolean
}

export type Verdict<Input, Output> =
  | { readonly outcome: 'linearizable'; readonly configurations: number }
  | {
      readonly outcome: 'violation'
      readonly configurations: number
      readonly violation: Violation<Input, Output>
    }
  /** No violation was found, and these parts were not searched to the end. */
  | { readonly outcome: 'unknown'; readonly configurations: number; readonly parts: readonly string[] }

/** About the shortest beginning of the history that has no order; answers after it are left out as not yet known. */
export interface Violation<Input, Output> {
  readonly part: string
  /** The answer that ends this beginning: without it there is an order. */
  readonly culprit: Operation<Input, Output>
  /** That order, with the operations not answered by then where they help. */
  readonly prefix: readonly Operation<Input, Output>[]
  /** The text of the state after it. */
  readonly state: string
  /** The other calls by then. */
  readonly pending: readonly Operation<Input, Output>[]
}

export const CONFIGURATIONS_MAX = 2_000_000

export function checkHistory<State, Input, Output>(
  model: Model<State, Input, Output>,
  operations: readonly Operation<Input, Output>[],
  { configurationsMax = CONFIGURATIONS_MAX, isOver = () => false }: Limits = {},
): Verdict<Input, Output> {
  let configurations = 0
  const unknown: string[] = []
  for (const [part, own] of byPart(model, operations)) {
    const search = new LinearizationSearch(model, own)
    const outcome = search.run({ configurationsMax, isOver })
    configurations += search.configurations
    if (outcome === 'violation') {
      const shortest = shortestViolation(model, own, {
        hint: search.furthestAnswer,
        bounds: { configurationsMax, isOver },
      })
      return { outcome, configurations, violation: { part, ...shortest } }
    }
    if (outcome === 'unknown') unknown.push(part)
  }
  if (unknown.length > 0) return { outcome: 'unknown', configurations, parts: unknown }
  return { outcome: 'linearizable', configurations }
}

function byPart<State, Input, Output>(
  model: Model<State, Input, Output>,
  operations: readonly Operation<Input, Output>[],
): Map<string, Operation<Input, Output>[]> {
  const parts = new Map<string, Operation<Input, Output>[]>()
  for (const operation of operations) {
    if (operation.answer !== null && !(operation.answer.at >= operation.call))
      throw new RangeError(
        `Client ${operation.client} got an answer at ${operation.answer.at} to a later call`,
      )
    const part = model.part(operation.input)
    const own = parts.get(part)
    if (own === undefined) parts.set(part, [operation])
    else own.push(operation)
  }
  return parts
}
