/**
 * A log as the checks need it: terms and a chained hash for each index.
 *
 * Owns: the log after a sequence of WAL writes. Knows nothing of: bytes, disks. Rule: equal chain values at an index mean equal
 * logs up to there.
 */
import type { HardState, LogBase, NodeId } from '../../../cluster/raft/types.ts'

export interface ChainedBase extends LogBase {
  readonly chain: number
}

/** One WAL batch without its bytes. */
export interface MirrorWrite {
  readonly hardState: HardState | null
  readonly base: ChainedBase | null
  readonly first: number
  readonly terms: readonly number[]
  readonly chains: readonly number[]
}

export class LogMirror {
  base: ChainedBase = { index: 0, term: 0, chain: 0 }
  currentTerm = 0
  votedFor: NodeId | null = null
  #terms: number[] = []
  #chains: number[] = []

  get lastIndex(): number {
    return this.base.index + this.#terms.length
  }

  /** Null: not in this log. */
  chainAt(index: number): number | null {
    if (index === this.base.index) return this.base.chain
    return this.#chains[index - this.base.index - 1] ?? null
  }

  termAt(index: number): number | null {
    if (index === this.base.index) return this.base.term
    return this.#terms[index - this.base.index - 1] ?? null
  }

  /** Holds the log that has this chain value at this index. Entries below the base are committed and need no check. */
  holds(index: number, chain: number): boolean {
    return index < this.base.index || this.chainAt(index) === chain
  }

  apply({ hardState, base, first, terms, chains }: MirrorWrite): void {
    if (hardState !== null) {
      this.currentTerm = hardState.currentTerm
      this.votedFor = hardState.votedFor
    }
    if (base !== null) {
      this.base = base
      this.#terms = []
      this.#chains = []
    }
    if (terms.length === 0) return
    const keep = first - this.base.index - 1
    this.#terms.length = keep
    this.#chains.length = keep
    for (const term of terms) this.#terms.push(term)
    for (const chain of chains) this.#chains.push(chain)
  }

  forget({ index, term }: LogBase): void {
    if (index <= this.base.index) return
    const chain = this.chainAt(index)
    if (chain === null)
      throw new Error(`a log that ends at ${this.lastIndex} cannot be compacted to ${index}`)
    const gone = index - this.base.index
    this.#terms.splice(0, gone)
    this.#chains.splice(0, gone)
    this.base = { index, term, chain }
  }

  copy(): LogMirror {
    const copy = new LogMirror()
    copy.base = this.base
    copy.currentTerm = this.currentTerm
    copy.votedFor = this.votedFor
    copy.#terms = [...this.#terms]
    copy.#chains = [...this.#chains]
    return copy
  }

  isSame(other: LogMirror): boolean {
    return (
      this.currentTerm === other.currentTerm &&
      this.votedFor === other.votedFor &&
      this.base.index === other.base.index &&
      this.lastIndex === other.lastIndex &&
      this.chainAt(this.lastIndex) === other.chainAt(this.lastIndex)
    )
  }

  /**
   * What a write that was cut off between two flushes leaves: everything that both logs have, and then a beginning of the later
   * one. The hard state is that of either.
   */
  isBetween(before: LogMirror, after: LogMirror): boolean {
    let common = Math.min(before.lastIndex, after.lastIndex)
    while (common > after.base.index && before.chainAt(common) !== after.chainAt(common)) common -= 1
    const hasHardStateOf = (log: LogMirror): boolean =>
      this.currentTerm === log.currentTerm && this.votedFor === log.votedFor
    const last = this.lastIndex
    return (
      (hasHardStateOf(before) || hasHardStateOf(after)) &&
      last >= common &&
      (this.isSame(after) ||
        before.chainAt(last) === this.chainAt(last) ||
        after.chainAt(last) === this.chainAt(last))
    )
  }

  toString(): string {
    const { index, term } = this.base
    const last = `${this.lastIndex}@${this.termAt(this.lastIndex) ?? '?'}`
    return `term ${this.currentTerm} vote ${this.votedFor ?? '-'} base ${index}@${term} last ${last}`
  }
}
