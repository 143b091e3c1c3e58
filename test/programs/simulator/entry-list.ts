/**
 * The calls and answers of a history in order of time, as a list from which operations are lifted and put back.
 *
 * Owns: the links, and a short text for the set of lifted operations: all before some operation, and a few after it.
 * Rule: operations are put back in the opposite order of lifting; a call sorts before an answer of the same time, since
 * a clock that stood still proves no order.
 */
export interface Span {
  readonly call: number
  readonly at: number
}

const HEAD = 0

export class EntryList {
  /** Operations that are not lifted. */
  left: number
  /** Entry 0 is the head; the links make a ring. */
  readonly #next: Int32Array
  readonly #previous: Int32Array
  /** By entry: its operation; and by operation: its two entries. */
  readonly #ids: Int32Array
  readonly #callOf: Int32Array
  readonly #answerOf: Int32Array
  readonly #times: Float64Array
  /** The set of lifted operations: all below `#whole`, and bits up to `#top`. */
  readonly #lifted: Uint32Array
  readonly #tops: number[] = []
  #whole = 0
  #top = -1

  /** `spans` in order of their calls. */
  constructor(spans: readonly Span[]) {
    const entries = 2 * spans.length + 1
    this.left = spans.length
    this.#next = new Int32Array(entries)
    this.#previous = new Int32Array(entries)
    this.#ids = new Int32Array(entries).fill(-1)
    this.#times = new Float64Array(entries)
    this.#callOf = new Int32Array(spans.length)
    this.#answerOf = new Int32Array(spans.length)
    this.#lifted = new Uint32Array(Math.ceil(spans.length / 32))
    this.#fill(spans)
  }

  get first(): number {
    return this.next(HEAD)
  }

  next(entry: number): number {
    return this.#next[entry] ?? HEAD
  }

  isCall(entry: number): boolean {
    return entry !== HEAD && this.#callOf[this.idOf(entry)] === entry
  }

  idOf(entry: number): number {
    return this.#ids[entry] ?? -1
  }

  time(entry: number): number {
    return this.#times[entry] ?? 0
  }

  /** The entry of the answer before which something must still take effect. */
  firstAnswer(): number {
    let entry = this.first
    while (this.isCall(entry)) entry = this.next(entry)
    return entry
  }

  firstAnswerTime(): number {
    return this.time(this.firstAnswer())
  }

  lift(call: number): void {
    const id = this.idOf(call)
    this.#unlink(call)
    this.#unlink(this.#answerOf[id] ?? HEAD)
    this.left -= 1
    this.#lifted[id >>> 5] = (this.#lifted[id >>> 5] ?? 0) | (1 << (id & 31))
    this.#tops.push(this.#top)
    this.#top = Math.max(this.#top, id)
    while (this.#isLifted(this.#whole)) this.#whole += 1
  }

  unlift(call: number): void {
    const id = this.idOf(call)
    this.#link(this.#answerOf[id] ?? HEAD)
    this.#link(call)
    this.left += 1
    this.#lifted[id >>> 5] = (this.#lifted[id >>> 5] ?? 0) & ~(1 << (id & 31))
    this.#top = this.#tops.pop() ?? -1
    this.#whole = Math.min(this.#whole, id)
  }

  /** The same text for the same set only. */
  liftedKey(): string {
    let key = `${this.#whole}`
    for (let word = this.#whole >>> 5; word <= this.#top >>> 5 && this.#whole <= this.#top; word += 1)
      key += `,${(this.#lifted[word] ?? 0).toString(36)}`
    return key
  }

  #isLifted(id: number): boolean {
    return ((this.#lifted[id >>> 5] ?? 0) & (1 << (id & 31))) !== 0
  }

  #unlink(entry: number): void {
    const before = this.#previous[entry] ?? HEAD
    const after = this.#next[entry] ?? HEAD
    this.#next[before] = after
    this.#previous[after] = before
  }

  #link(entry: number): void {
    this.#next[this.#previous[entry] ?? HEAD] = entry
    this.#previous[this.#next[entry] ?? HEAD] = entry
  }

  #fill(spans: readonly Span[]): void {
    const events = spans.flatMap(({ call, at }, id) => [
      { id, time: call, order: 0 },
      { id, time: at, order: 1 },
    ])
    events.sort((a, b) => a.time - b.time || a.order - b.order || a.id - b.id)
    for (const [index, { id, time, order }] of events.entries()) {
      const entry = index + 1
      this.#ids[entry] = id
      this.#times[entry] = time
      if (order === 0) this.#callOf[id] = entry
      else this.#answerOf[id] = entry
      this.#next[index] = entry
      this.#previous[entry] = index
    }
    this.#next[events.length] = HEAD
    this.#previous[HEAD] = events.length
  }
}
