/**
 * Clients of registers and lists: they write, compare, delete, append and read.
 *
 * Owns: the distribution. Rule: a comparison names the value last seen, so that it succeeds about as often as it fails.
 */
import type { Random } from './random.ts'
import type { Call } from './sim-clients.ts'
import { encodeCommand, idOf, NONE, type SimCommand } from './sim-commands.ts'
import type { Requested, Workload, Write } from './workload.ts'

export interface RegisterWorkloadOptions {
  readonly keys: number
  readonly readShare: number
  readonly paddingMax: number
}

const KINDS = ['put', 'put', 'put', 'cas', 'cas', 'delete', 'append', 'append', 'get'] as const

export class RegisterWorkload implements Workload {
  readonly #random: Random
  readonly #options: RegisterWorkloadOptions
  /** The value that any client saw last under a key. */
  readonly #lastSeen = new Map<string, string>()

  constructor(random: Random, options: RegisterWorkloadOptions) {
    this.#random = random
    this.#options = options
  }

  next(): Requested {
    if (!this.#random.chance(this.#options.readShare)) return this.#write(this.#random.pick(KINDS))
    const key = this.#key(this.#random.chance(0.2) ? 'l' : 'r')
    return { type: 'look', kind: 'read', key, expected: NONE, see: (rows) => idOf(rows.get(key)) }
  }

  last(): Write {
    return this.#write('put')
  }

  learned({ kind, key, id }: Call, output: string): void {
    if (kind === 'read') this.#lastSeen.set(key, output)
    else if (output === 'ok') this.#lastSeen.set(key, kind === 'delete' ? NONE : id)
    else if (output.startsWith('no ')) this.#lastSeen.set(key, output.slice(3))
  }

  #write(kind: SimCommand['kind']): Write {
    const key = this.#key(kind === 'append' ? 'l' : 'r')
    const expected = kind === 'cas' ? (this.#lastSeen.get(key) ?? NONE) : NONE
    const padding = this.#random.below(this.#options.paddingMax + 1)
    return {
      type: 'write',
      kind,
      key,
      expected,
      command: (id) => encodeCommand({ kind, id, key, expected, padding }),
      reported: (reply) => reply,
    }
  }

  #key(letter: 'l' | 'r'): string {
    return `${letter}${this.#random.below(this.#options.keys)}`
  }
}
