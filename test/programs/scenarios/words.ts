/**
 * The words of one command line, taken one after the other.
 *
 * Owns: splitting and reading words, and the error for each word that fits nowhere. Knows nothing of: what commands do.
 * Rule: every word is read, or the line is refused: a mistyped option must not be ignored silently.
 */
import type { Configuration, LogIndex, NodeId } from '../../../cluster/raft/types.ts'

export class Words {
  readonly #plain: string[]
  readonly #options = new Map<string, string>()

  constructor(words: readonly string[]) {
    this.#plain = words.filter((word) => !/^\w+=/.test(word))
    for (const word of words) {
      const match = /^(\w+)=(.*)$/.exec(word)
      if (match !== null) this.#options.set(match[1] ?? '', match[2] ?? '')
    }
  }

  /** The next word without `=`; null when none is left. */
  next(): string | null {
    return this.#plain.shift() ?? null
  }

  need(what: string): string {
    const word = this.next()
    if (word === null) throw new Error(`${what} is missing`)
    return word
  }

  /** The next word if it matches. */
  take(pattern: RegExp): string | null {
    return pattern.test(this.#plain[0] ?? '') ? this.next() : null
  }

  number(what: string, otherwise?: number): number {
    const word = this.take(/^\d+$/)
    if (word === null && otherwise !== undefined) return otherwise
    if (word === null) throw new Error(`${what} must be a number, not ${this.#plain[0] ?? 'nothing'}`)
    return Number(word)
  }

  lastNumber(otherwise: number): number {
    return /^\d+$/.test(this.#plain.at(-1) ?? '') ? Number(this.#plain.pop()) : otherwise
  }

  rest(): readonly string[] {
    return this.#plain.splice(0)
  }

  option(name: string): string | null {
    const value = this.#options.get(name) ?? null
    this.#options.delete(name)
    return value
  }

  optionNumber(name: string): number | null {
    const value = this.option(name)
    if (value === null) return null
    if (!/^\d+$/.test(value)) throw new Error(`${name}= must be a number, not ${value}`)
    return Number(value)
  }

  optionList(name: string): readonly string[] {
    return listOf(this.option(name) ?? '')
  }

  /** Everything must have been read. */
  end(): void {
    const left = [...this.#plain, ...[...this.#options].map(([name, value]) => `${name}=${value}`)]
    if (left.length > 0) throw new Error(`nothing here understands ${left.join(' ')}`)
  }
}

export function listOf(text: string): readonly string[] {
  return text === '' ? [] : text.split(',')
}

/** `a,b,c`, while joint `a,b,d/a,b,c`, learners after a plus: `a,b,c+l`. */
export function configurationFrom(text: string): Configuration {
  const [halves = '', learners = ''] = text.split('+')
  const [voters = '', outgoing = ''] = halves.split('/')
  return { voters: listOf(voters), learners: listOf(learners), outgoing: listOf(outgoing) }
}

/** `index:text` */
export function indexed(text: string): { readonly index: LogIndex; readonly text: string } {
  const match = /^(\d+):(.*)$/.exec(text)
  if (match === null) throw new Error(`expected index:text, not ${text}`)
  return { index: Number(match[1]), text: match[2] ?? '' }
}

/** `a>b` */
export function routeFrom(text: string): { readonly from: NodeId; readonly to: NodeId } {
  const match = /^(\w+)>(\w+)$/.exec(text)
  if (match === null) throw new Error(`expected from>to, not ${text}`)
  return { from: match[1] ?? '', to: match[2] ?? '' }
}
