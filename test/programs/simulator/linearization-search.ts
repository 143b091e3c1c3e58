/**
 * The search for an order of one part of a history [Wing and Gong 1993, Lowe 2017].
 *
 * Owns: the list of calls and answers that are left, the way back, and the configurations already visited.
 * Knows nothing of: parts, the meaning of operations.
 * Rule: a branch is left out only when another one that was or will be searched ends at least as well:
 * - the same answered operations in the same state, with a subset of the unanswered ones, leaves more possible;
 * - a read that fits now can always be moved to here from wherever a full order has it;
 * - an unanswered operation can be dropped or put off unless the very next one needs it.
 */
import { EntryList } from './entry-list.ts'
import type { Model, Operation } from './linearizability.ts'

export interface Bounds {
  readonly configurationsMax: number
  readonly isOver: () => boolean
}

/** A move: an answered operation by the entry of its call, or an unanswered one by its number. */
interface Move<State, Input> {
  readonly entry: number
  readonly unanswered: number
  readonly state: State
  /** A read: there is no need to try anything else instead. */
  readonly forced: boolean
  readonly used: UnansweredSet
  readonly last: Unanswered<State, Input> | null
}

/** An unanswered operation that was the last move: the next one must need it. */
interface Unanswered<State, Input> {
  readonly before: State
  readonly input: Input
  readonly after: State
}

interface Numbered<Input, Output> {
  readonly operation: Operation<Input, Output>
  readonly number: number
}

/** Which unanswered operations took effect. Never changed in place. */
type UnansweredSet = Uint32Array

const NONE = -1
/** How many configurations go by between two questions to `isOver`. */
const OVER_EVERY = 1024

export class LinearizationSearch<State, Input, Output> {
  configurations = 0
  /** Until the time of this answer, and no longer, all that is known now can be explained. */
  furthestAnswer = Number.NEGATIVE_INFINITY
  readonly #model: Model<State, Input, Output>
  readonly #answered: readonly Operation<Input, Output>[]
  readonly #unanswered: readonly Operation<Input, Output>[]
  /** The unanswered ones whose effect depends on the earlier state. */
  readonly #conditional: readonly Numbered<Input, Output>[]
  readonly #list: EntryList
  readonly #visited = new Map<string, UnansweredSet[]>()
  /** The moves made, each with the state, the set and the last move from before it. */
  readonly #path: Move<State, Input>[] = []
  #state: State
  #used: UnansweredSet
  #last: Unanswered<State, Input> | null = null

  constructor(model: Model<State, Input, Output>, operations: readonly Operation<Input, Output>[]) {
    this.#model = model
    this.#answered = operations.filter(({ answer }) => answer !== null).sort((a, b) => a.call - b.call)
    this.#unanswered = operations
      .filter(({ answer, input }) => answer === null && !model.readsOnly(input))
      .sort((a, b) => a.call - b.call)
    this.#conditional = this.#unanswered
      .map((operation, number) => ({ operation, number }))
      .filter(({ operation }) => !model.overwrites(operation.input))
    this.#list = new EntryList(this.#answered.map(({ call, answer }) => ({ call, at: answer?.at ?? call })))
    this.#state = model.init
    this.#used = new Uint32Array(Math.ceil(this.#unanswered.length / 32))
  }

  run({ configurationsMax, isOver }: Bounds): 'linearizable' | 'violation' | 'unknown' {
    let move = this.#firstMove()
    while (this.#list.left > 0) {
      if (move !== null) {
        this.#make(move)
        if (this.configurations > configurationsMax) return 'unknown'
        if (this.configurations % OVER_EVERY === 0 && isOver()) return 'unknown'
        move = this.#firstMove()
        continue
      }
      this.furthestAnswer = Math.max(this.furthestAnswer, this.#list.firstAnswerTime())
      const last = this.#takeBack()
      if (last === null) return 'violation'
      move = this.#moveAfter(last)
    }
    return 'linearizable'
  }

  /** The operations in the order found; after another outcome, in the one that was being tried. */
  order(): Operation<Input, Output>[] {
    return this.#path.map(({ entry, unanswered }) =>
      entry === NONE ? known(this.#unanswered[unanswered]) : this.#answeredAt(entry),
    )
  }

  /** The text of the state after `order()`. */
  stateKey(): string {
    return this.#model.key(this.#state)
  }

  #firstMove(): Move<State, Input> | null {
    const entry = this.#fittingRead()
    if (entry !== NONE) return this.#answeredStep(entry, { state: this.#state, forced: true })
    return this.#answeredMove(this.#list.first) ?? this.#unansweredMove(0)
  }

  #moveAfter(last: Move<State, Input>): Move<State, Input> | null {
    if (last.entry === NONE) return this.#unansweredMove(last.unanswered + 1)
    return this.#answeredMove(this.#list.next(last.entry)) ?? this.#unansweredMove(0)
  }

  #fittingRead(): number {
    for (let entry = this.#list.first; this.#list.isCall(entry); entry = this.#list.next(entry)) {
      const { input, answer } = this.#answeredAt(entry)
      if (this.#model.readsOnly(input) && this.#model.step(this.#state, input, answer?.output).ok)
        return entry
    }
    return NONE
  }

  /** The first possible one from `entry` on, before the first answer that is left: that one must be passed in time. */
  #answeredMove(from: number): Move<State, Input> | null {
    for (let entry = from; this.#list.isCall(entry); entry = this.#list.next(entry)) {
      const operation = this.#answeredAt(entry)
      const { input, answer } = operation
      // A read that fitted would have been made at once.
      if (this.#model.readsOnly(input) || !this.#needsTheLast(operation)) continue
      const { ok, state } = this.#model.step(this.#state, input, answer?.output)
      const move = ok ? this.#answeredStep(entry, { state, forced: false }) : null
      if (move !== null) return move
    }
    return null
  }

  /** Null when it leads to nothing new. */
  #answeredStep(
    entry: number,
    { state, forced }: Pick<Move<State, Input>, 'state' | 'forced'>,
  ): Move<State, Input> | null {
    this.#list.lift(entry)
    const isNew = this.#visit(state, this.#used)
    this.#list.unlift(entry)
    return isNew ? { entry, unanswered: NONE, state, forced, used: this.#used, last: null } : null
  }

  #unansweredMove(from: number): Move<State, Input> | null {
    const until = this.#list.firstAnswerTime()
    const before = this.#model.key(this.#state)
    for (let number = from; number < this.#unanswered.length; number += 1) {
      const operation = this.#unanswered[number]
      if (operation === undefined || operation.call > until) return null
      if (has(this.#used, number) || !this.#needsTheLast(operation)) continue
      const { ok, state } = this.#model.step(this.#state, operation.input, undefined)
      // An operation without effect may as well never have happened.
      if (!ok || this.#model.key(state) === before) continue
      const used = withOne(this.#used, number)
      const last: Unanswered<State, Input> = { before: this.#state, input: operation.input, after: state }
      if (!this.#isNeeded(last, used) || !this.#visit(state, used)) continue
      return { entry: NONE, unanswered: number, state, forced: false, used, last }
    }
    return null
  }

  /** Whether something that could come directly after it is different because of it. */
  #isNeeded(last: Unanswered<State, Input>, used: UnansweredSet): boolean {
    for (let entry = this.#list.first; this.#list.isCall(entry); entry = this.#list.next(entry))
      if (this.#needs(this.#answeredAt(entry), last)) return true
    const until = this.#list.firstAnswerTime()
    return this.#conditional.some(
      ({ number, operation }) =>
        operation.call <= until && !has(used, number) && this.#needs(operation, last),
    )
  }

  #needsTheLast(operation: Operation<Input, Output>): boolean {
    return this.#last === null || this.#needs(operation, this.#last)
  }

  /** False when it does not fit, or when `last` can as well come after it or never. */
  #needs({ input, answer }: Operation<Input, Output>, last: Unanswered<State, Input>): boolean {
    const model = this.#model
    const here = model.step(last.after, input, answer?.output)
    if (!here.ok) return false
    const without = model.step(last.before, input, answer?.output)
    if (!without.ok) return true
    if (model.key(without.state) === model.key(here.state)) return false
    const later = model.step(without.state, last.input, undefined)
    return !later.ok || model.key(later.state) !== model.key(here.state)
  }

  /** False when an earlier configuration reaches everything that this one does. */
  #visit(state: State, used: UnansweredSet): boolean {
    const name = `${this.#list.liftedKey()}|${this.#model.key(state)}`
    const others = this.#visited.get(name)
    if (others === undefined) this.#visited.set(name, [used])
    else {
      if (others.some((other) => isSubset(other, used))) return false
      others.push(used)
    }
    this.configurations += 1
    return true
  }

  #make(move: Move<State, Input>): void {
    this.#path.push({ ...move, state: this.#state, used: this.#used, last: this.#last })
    if (move.entry !== NONE) this.#list.lift(move.entry)
    this.#state = move.state
    this.#used = move.used
    this.#last = move.last
  }

  /** Back to the last move that has an alternative; null when there is none left. */
  #takeBack(): Move<State, Input> | null {
    for (let move = this.#path.pop(); move !== undefined; move = this.#path.pop()) {
      if (move.entry !== NONE) this.#list.unlift(move.entry)
      this.#state = move.state
      this.#used = move.used
      this.#last = move.last
      if (!move.forced) return move
    }
    return null
  }

  #answeredAt(entry: number): Operation<Input, Output> {
    return known(this.#answered[this.#list.idOf(entry)])
  }
}

function known<T>(value: T | undefined): T {
  if (value === undefined) throw new RangeError('There is no such operation')
  return value
}

function has(set: UnansweredSet, number: number): boolean {
  return ((set[number >>> 5] ?? 0) & (1 << (number & 31))) !== 0
}

function withOne(set: UnansweredSet, number: number): UnansweredSet {
  const wider = set.slice()
  wider[number >>> 5] = (wider[number >>> 5] ?? 0) | (1 << (number & 31))
  return wider
}

function isSubset(inner: UnansweredSet, outer: UnansweredSet): boolean {
  return inner.every((word, at) => (word & ~(outer[at] ?? 0)) === 0)
}
