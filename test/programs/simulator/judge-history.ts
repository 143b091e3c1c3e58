/**
 * Passes the calls of the clients of a run to the checker of histories, which knows nothing of positions or of the log.
 *
 * Owns: the translation. Rule: a call that certainly did not take effect is left out; one that may have stays open.
 */
import { type RegisterInput, type RegisterOutput, registerModel } from './history-models.ts'
import { checkHistory, type Operation, type Verdict } from './linearizability.ts'
import { NONE } from './sim-commands.ts'
import type { Call } from './sim-clients.ts'

type RegisterCall = Operation<RegisterInput, RegisterOutput>

/** Of the registers: a list answers with its length, which the oracle judges. */
export function judgeHistory(
  history: readonly Call[],
  refused: ReadonlySet<Call>,
  configurationsMax: number,
): Verdict<RegisterInput, RegisterOutput> {
  const operations = history
    .filter((call) => call.key.startsWith('r') && !refused.has(call))
    .map((call): RegisterCall => {
      const { client, answer } = call
      const output = answer === null ? null : { at: answer.at, output: outputOf(call, answer.output) }
      return { client, input: inputOf(call), call: call.call, answer: output }
    })
  return checkHistory(registerModel, operations, { configurationsMax })
}

function inputOf({ kind, key, id, expected }: Call): RegisterInput {
  switch (kind) {
    case 'put':
      return { type: 'put', key, value: id }
    case 'cas':
      return { type: 'cas', key, from: valueOf(expected), to: id }
    case 'delete':
      return { type: 'delete', key }
    case 'create':
      return { type: 'cas', key, from: null, to: expected }
    case 'remove':
      return { type: 'cas', key, from: valueOf(expected), to: null }
    case 'other':
    case 'append':
    case 'get':
    case 'read':
      return { type: 'get', key }
  }
}

function outputOf({ kind }: Call, text: string): RegisterOutput {
  if (kind === 'get' || kind === 'read') return { type: 'value', value: valueOf(text) }
  return text === 'ok' ? { type: 'done' } : { type: 'mismatch' }
}

function valueOf(text: string): string | null {
  return text === NONE ? null : text
}
