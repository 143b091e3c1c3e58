/**
 * Logs that Raft could have left: elections, replication to some members, commits, and then some members die.
 *
 * Owns: the rules of the thesis in their shortest form. Rule: every entry in `committed` was acknowledged by a majority in the term of its
 * leader; no other entry is known to be committed.
 */
import fc from 'fast-check'

export interface History {
  readonly voters: readonly string[]
  /** By node: the term of each entry, the first at index 1. */
  readonly logs: ReadonlyMap<string, readonly number[]>
  readonly applied: ReadonlyMap<string, number>
  /** The term of each committed entry. */
  readonly committed: readonly number[]
  readonly dead: readonly string[]
}

const step = fc.record({
  candidate: fc.nat(),
  electorate: fc.nat(),
  entries: fc.integer({ min: 0, max: 3 }),
  hearers: fc.nat(),
  /** The members that learn of the commit. */
  reported: fc.nat(),
})

export const randomHistory: fc.Arbitrary<History> = fc
  .record({
    count: fc.integer({ min: 2, max: 5 }),
    steps: fc.array(step, { minLength: 1, maxLength: 8 }),
    dying: fc.nat(),
  })
  .map(({ count, steps, dying }) => {
    const voters = Array.from({ length: count }, (_, n) => `n${n + 1}`)
    const group = new Group(voters)
    for (const one of steps) group.run(one)
    const dead = chosen(voters, dying)
    // At least one member survives.
    const { logs, applied, committed } = group
    return { voters, logs, applied, committed, dead: dead.length === count ? dead.slice(1) : dead }
  })

/** Each bit of the number includes or excludes one of them. */
function chosen(nodes: readonly string[], bits: number): readonly string[] {
  return nodes.filter((_, n) => ((bits >>> n) & 1) === 1)
}

class Group {
  readonly logs: Map<string, readonly number[]>
  readonly applied: Map<string, number>
  committed: readonly number[] = []
  readonly #voters: readonly string[]
  #term = 0

  constructor(voters: readonly string[]) {
    this.#voters = voters
    this.logs = new Map(voters.map((voter) => [voter, []]))
    this.applied = new Map(voters.map((voter) => [voter, 0]))
  }

  run(asked: {
    candidate: number
    electorate: number
    entries: number
    hearers: number
    reported: number
  }): void {
    const leader = this.#voters[asked.candidate % this.#voters.length] ?? ''
    this.#term++
    const granting = [...new Set([leader, ...chosen(this.#voters, asked.electorate)])].filter((voter) =>
      this.#isUpToDate(leader, voter),
    )
    if (!this.#isMajority(granting)) return
    const log = [...(this.logs.get(leader) ?? []), ...Array.from({ length: asked.entries }, () => this.#term)]
    this.logs.set(leader, log)
    const hearers = [...new Set([leader, ...chosen(this.#voters, asked.hearers)])]
    for (const hearer of hearers) this.logs.set(hearer, log)
    const isOwn = asked.entries > 0
    if (!isOwn || !this.#isMajority(hearers)) return
    this.committed = log
    for (const hearer of [leader, ...chosen(hearers, asked.reported)]) this.applied.set(hearer, log.length)
  }

  #isUpToDate(candidate: string, voter: string): boolean {
    const [one, other] = [this.logs.get(candidate) ?? [], this.logs.get(voter) ?? []]
    const [mine, its] = [one.at(-1) ?? 0, other.at(-1) ?? 0]
    return mine > its || (mine === its && one.length >= other.length)
  }

  #isMajority(nodes: readonly string[]): boolean {
    return nodes.length > this.#voters.length / 2
  }
}
