/**
 * The one place where the Raft core is stepped.
 *
 * Owns: the order. Inputs are taken one at a time; all effects of one are started, in order, before the next is taken, regardless of
 * inputs submitted meanwhile. Knows nothing of: what an effect does. Rule: after `mute` it takes no input and gives no effect.
 */
import type { Raft } from '../../raft/raft.ts'
import type {
  Configuration,
  Effect,
  Entry,
  Input,
  LogIndex,
  NodeId,
  RaftStatus,
  Term,
} from '../../raft/types.ts'

export interface CoreLoopEvents {
  readonly begin: (effect: Effect) => void
  /** An invariant of the core or of the driver is broken. The loop is mute already. */
  readonly onBug: (error: Error) => void
}

export class CoreLoop {
  readonly #raft: Raft
  readonly #events: CoreLoopEvents
  readonly #inputs: Input[] = []
  #running = false
  #isMute = false

  constructor(raft: Raft, events: CoreLoopEvents) {
    this.#raft = raft
    this.#events = events
  }

  get isMute(): boolean {
    return this.#isMute
  }

  /** Never throws; runs to completion unless called from inside an effect, which then comes after its siblings. */
  submit(input: Input): void {
    if (this.#isMute) return
    this.#inputs.push(input)
    if (this.#running) return
    this.#running = true
    try {
      this.#drain()
    } catch (error) {
      this.mute()
      this.#events.onBug(error instanceof Error ? error : new Error(String(error)))
    } finally {
      this.#running = false
    }
  }

  status(): RaftStatus {
    return this.#raft.status()
  }

  get configuration(): Configuration {
    return this.#raft.configuration
  }

  /** Null: not known here. */
  silentTicksOf(peer: NodeId): number | null {
    return this.#raft.silentTicksOf(peer)
  }

  /** Null: not in memory. */
  entry(index: LogIndex): Entry | null {
    return this.#raft.entry(index)
  }

  /** Null: not in the log here, or not any more. */
  termAt(index: LogIndex): Term | null {
    return this.#raft.termAt(index)
  }

  /** It may be ahead of the entries handed out, which must be durable here as well. */
  get commitIndex(): LogIndex {
    return this.#raft.commitIndex
  }

  /** Count and bytes of the committed entries after this index. */
  unapplied(applied: LogIndex): { readonly entries: number; readonly bytes: number } {
    return this.#raft.unapplied(applied)
  }

  mute(): void {
    this.#isMute = true
    this.#inputs.length = 0
  }

  #drain(): void {
    for (let input = this.#inputs.shift(); input; input = this.#inputs.shift()) {
      for (const effect of this.#raft.step(input)) {
        if (this.#isMute) return
        this.#events.begin(effect)
      }
    }
  }
}
