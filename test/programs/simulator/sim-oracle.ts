/**
 * The reference history: the effects, their order and their replies.
 *
 * Owns: effects by position, states by applied index. Knows nothing of: logs, terms, nodes' beliefs.
 * Rule: the first node that applies an index defines its effect; every other node, and every restart, must agree.
 */
import { crc32c } from '@node-rs/crc32'
import type { Configuration } from '../../../cluster/raft/types.ts'
import { decodeMachineRecord } from '../../../cluster/node/base/machine-record.ts'
import type { MachineRules } from './machine-rules.ts'
import { textHash } from './rolling-hash.ts'
import type { AppliedBatch, SimState } from './sim-machine.ts'
import type { CheckedEntry } from './sim-wall-clocks.ts'
import type { ApplyObserver } from './apply-observer.ts'

interface Effect {
  /** 1 for the first effect of all. */
  readonly position: number
  readonly reply: string
}

export interface OracleParts {
  readonly committedIndex: () => number
  readonly idOf: MachineRules['idOf']
  readonly observer: ApplyObserver | null
  readonly violate: (broken: string) => void
  /** Holds the time of an entry against true time. */
  readonly judgeTime?: (
    entry: Pick<CheckedEntry, 'index' | 'time'> & { readonly configuration: Configuration },
  ) => void
  /** Until then the record of this node names other members: it started later, and has not applied that entry yet. */
  readonly beganElsewhere?: (nodeId: string, index: number) => boolean
}

export class SimOracle {
  readonly #violate: (broken: string) => void
  readonly #committedIndex: () => number
  readonly #idOf: MachineRules['idOf']
  readonly #observer: ApplyObserver | null
  readonly #effects = new Map<string, Effect>()
  readonly #entries = new Map<number, number>()
  readonly #states = new Map<number, { readonly digest: number; readonly record: number }>()
  readonly #impossible = new Set<string>()
  readonly #beganElsewhere: NonNullable<OracleParts['beganElsewhere']>
  readonly #judgeTime: NonNullable<OracleParts['judgeTime']>
  #lastIndex = 0
  #lastTime = 0

  constructor(parts: OracleParts) {
    const { committedIndex, idOf, observer, violate, beganElsewhere = () => false } = parts
    this.#judgeTime = parts.judgeTime ?? (() => undefined)
    this.#beganElsewhere = beganElsewhere
    this.#observer = observer
    this.#committedIndex = committedIndex
    this.#idOf = idOf
    this.#violate = violate
  }

  get effectCount(): number {
    return this.#effects.size
  }

  effect(id: string): Effect | null {
    return this.#effects.get(id) ?? null
  }

  /** The caller was answered that it certainly does not take effect. */
  refused(id: string, why: string): void {
    this.#impossible.add(id)
    if (this.#effects.has(id)) this.#violate(`${id} was refused (${why}) and took effect`)
  }

  /** A batch became durable at a node. Returns the applied index. */
  applied(nodeId: string, { batch, replies, changes }: AppliedBatch, state: SimState): number {
    let isNew = false
    for (const [i, entry] of batch.entries.entries()) {
      const given = replies[i] ?? []
      const ids = entry.commands.map((command) => this.#idOf(command))
      const hash = textHash(`${entry.time} ${entry.confirmedTime} ${ids.join()} ${given.join()}`)
      const known = this.#entries.get(entry.index)
      if (known === undefined) {
        this.#entries.set(entry.index, hash)
        isNew = true
        const { configuration } = decodeMachineRecord(batch.record)
        this.#judgeTime({ ...entry, configuration })
        this.#observer?.took(entry, given)
        this.#take(
          entry,
          ids.map((id, at) => ({ id, reply: given[at] ?? '' })),
        )
      } else if (known !== hash)
        this.#violate(`${nodeId} applies another entry ${entry.index} than others did`)
    }
    if (isNew) this.#observer?.settled(changes)
    return this.stateAt(nodeId, state)
  }

  /** Equal applied index means equal state and equal record. Returns the index. */
  stateAt(nodeId: string, { rows, record }: SimState): number {
    if (record === null) return 0
    const { appliedIndex } = decodeMachineRecord(record)
    if (appliedIndex > this.#committedIndex())
      this.#violate(`${nodeId} has applied ${appliedIndex}, committed is ${this.#committedIndex()}`)
    const found = { digest: rows.digest, record: crc32c(record) }
    if (this.#beganElsewhere(nodeId, appliedIndex)) {
      const digest = this.#states.get(appliedIndex)?.digest ?? found.digest
      if (digest !== found.digest)
        this.#violate(`${nodeId} has another state at ${appliedIndex} than others had`)
      return appliedIndex
    }
    const known = this.#states.get(appliedIndex)
    if (known === undefined) this.#states.set(appliedIndex, found)
    else if (known.digest !== found.digest)
      this.#violate(`${nodeId} has another state at ${appliedIndex} than others had`)
    else if (known.record !== found.record)
      this.#violate(`${nodeId} has another record at ${appliedIndex} than others had`)
    return appliedIndex
  }

  #take(
    { index, time }: { readonly index: number; readonly time: number },
    commands: readonly { readonly id: string; readonly reply: string }[],
  ): void {
    if (index < this.#lastIndex) this.#violate(`entry ${index} takes effect after entry ${this.#lastIndex}`)
    if (time < this.#lastTime) this.#violate(`the time of entry ${index} falls`)
    this.#lastIndex = index
    this.#lastTime = time
    for (const { id, reply } of commands) {
      if (this.#effects.has(id)) this.#violate(`${id} took effect twice, again in entry ${index}`)
      if (this.#impossible.has(id)) this.#violate(`${id} was refused and takes effect in entry ${index}`)
      this.#effects.set(id, { position: this.#effects.size + 1, reply })
    }
  }
}
