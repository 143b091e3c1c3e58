/**
 * One call of an operation that works, as the documents show it, the tests make it and the fuzzer starts from it.
 *
 * Rule: `{example.member}` in a text represents that member of an earlier answer to that example. The documents take it from
 * the recorded answers, the tests from those that they received.
 */
export interface Example {
  readonly params?: Readonly<Record<string, string>>
  readonly query?: Readonly<Record<string, string>>
  readonly headers?: Readonly<Record<string, string>>
  /** A text: the bytes themselves; anything else is sent as JSON. */
  readonly body?: string | object
}

export type Answers = Readonly<Record<string, unknown>>

const STAND_IN = /\{([a-zA-Z]+)\.(\w+)\}/g

/** The same with every stand-in replaced whose answer is known. */
export function filled<T>(value: T, answers: Answers): T {
  return fill(value, answers) as T
}

function fill(value: unknown, answers: Answers): unknown {
  if (typeof value === 'string')
    return value.replace(STAND_IN, (standIn, example: string, member: string) => {
      const found = memberOf(answers[example], member)
      return typeof found === 'string' ? found : standIn
    })
  if (Array.isArray(value)) return value.map((item) => fill(item, answers))
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([name, item]) => [name, fill(item, answers)]))
}

const memberOf = (answer: unknown, member: string): unknown =>
  typeof answer === 'object' && answer !== null ? Reflect.get(answer, member) : undefined
