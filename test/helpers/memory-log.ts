/**
 * The log of a cluster of one, and of one node that is behind.
 *
 * Rule: one command at a time, in the order of the calls, applied at once; those of other nodes only before the next one of its own, or when
 * a barrier asks for it.
 */
import { decodeReply, encodeCommand } from '../../src/commands/command-codec.ts'
import type { Command } from '../../src/state-machine/commands.ts'
import type { Store } from '../../src/store/open-store.ts'
import { timesAt } from './entry-time.ts'

export interface MemoryLogParts {
  readonly store: Store
  /** Milliseconds since 1970. */
  readonly now: () => number
  readonly featureLevel: () => number
}

export class MemoryLog {
  readonly #parts: MemoryLogParts
  readonly #unapplied: Uint8Array[] = []
  #index = 0
  #turn: Promise<unknown> = Promise.resolve()

  constructor(parts: MemoryLogParts) {
    this.#parts = parts
  }

  /** Another node has acknowledged it, and this one has not applied it. */
  appendElsewhere(command: Command): void {
    this.#unapplied.push(encodeCommand(command))
  }

  /** `before` is awaited in turn and may throw. */
  propose(command: Uint8Array, before: () => Promise<void>): Promise<Uint8Array> {
    return this.#inTurn(async () => {
      await before()
      await this.#applyOthers()
      return this.#apply(command)
    })
  }

  async catchUp(): Promise<void> {
    if (this.#unapplied.length > 0) await this.#inTurn(() => this.#applyOthers())
  }

  async #applyOthers(): Promise<void> {
    for (let next = this.#unapplied.shift(); next !== undefined; next = this.#unapplied.shift()) {
      const reply = decodeReply(await this.#apply(next))
      if (!reply.ok) throw new Error(`a change at another node was refused: ${reply.code} ${reply.message}`)
    }
  }

  #inTurn<T>(work: () => Promise<T>): Promise<T> {
    const done = this.#turn.then(work)
    this.#turn = done.catch(() => undefined)
    return done
  }

  async #apply(command: Uint8Array): Promise<Uint8Array> {
    const { store, now, featureLevel } = this.#parts
    this.#index += 1
    const entry = {
      index: this.#index,
      ...timesAt(now() + this.#index),
      featureLevel: featureLevel(),
      commands: [command],
    }
    const record = Buffer.from(`${this.#index}`)
    const replies = await store.stateMachine.apply({ entries: [entry], record })
    const reply = replies[0]?.[0]
    if (reply === undefined) throw new Error('apply answers every command')
    return reply
  }
}
