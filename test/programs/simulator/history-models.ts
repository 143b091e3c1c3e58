/**
 * The answers of a single copy of the data: a register by key, and a list by key.
 *
 * Owns: the meaning of the operations in a history. Knows nothing of: how a history came about or is checked.
 */
import type { Model, Step } from './linearizability.ts'

/** `value` null: there is nothing under the key. */
export type RegisterInput =
  | { readonly type: 'get'; readonly key: string }
  | { readonly type: 'put'; readonly key: string; readonly value: string }
  | { readonly type: 'cas'; readonly key: string; readonly from: string | null; readonly to: string | null }
  | { readonly type: 'delete'; readonly key: string }

export type RegisterOutput =
  | { readonly type: 'done' }
  /** A cas that found another value. */
  | { readonly type: 'mismatch' }
  | { readonly type: 'value'; readonly value: string | null }

export const registerModel: Model<string | null, RegisterInput, RegisterOutput> = {
  part: ({ key }) => key,
  init: null,
  step: stepRegister,
  key: (state) => (state === null ? 'nothing' : `=${state}`),
  readsOnly: ({ type }) => type === 'get',
  overwrites: ({ type }) => type === 'put' || type === 'delete',
  describe: describeRegister,
}

function stepRegister(
  state: string | null,
  input: RegisterInput,
  output: RegisterOutput | undefined,
): Step<string | null> {
  const matches = (type: RegisterOutput['type']): boolean => output === undefined || output.type === type
  switch (input.type) {
    case 'get':
      return { ok: matches('value') && (output?.type !== 'value' || output.value === state), state }
    case 'put':
      return { ok: matches('done'), state: input.value }
    case 'delete':
      return { ok: matches('done'), state: null }
    case 'cas':
      return state === input.from
        ? { ok: matches('done'), state: input.to }
        : { ok: matches('mismatch'), state }
  }
}

function describeRegister(input: RegisterInput, output: RegisterOutput | undefined): string {
  const answer = output === undefined ? '?' : output.type === 'value' ? textOf(output.value) : output.type
  switch (input.type) {
    case 'put':
      return `put ${textOf(input.value)} -> ${answer}`
    case 'cas':
      return `cas ${textOf(input.from)} to ${textOf(input.to)} -> ${answer}`
    case 'get':
    case 'delete':
      return `${input.type} -> ${answer}`
  }
}

const textOf = (value: string | null): string => value ?? 'nothing'

export type ListInput =
  | { readonly type: 'append'; readonly key: string; readonly item: string }
  | { readonly type: 'read'; readonly key: string }

export type ListOutput =
  | { readonly type: 'done' }
  | { readonly type: 'items'; readonly items: readonly string[] }

/** The state is the text of the list, so that a long one is compared and kept cheaply. */
export const listModel: Model<string, ListInput, ListOutput> = {
  part: ({ key }) => key,
  init: '',
  step: stepList,
  key: (state) => state,
  readsOnly: ({ type }) => type === 'read',
  overwrites: () => false,
  describe: (input, output) => {
    const answer =
      output === undefined ? '?' : output.type === 'items' ? `[${output.items.join(' ')}]` : 'done'
    return input.type === 'append' ? `append ${input.item} -> ${answer}` : `read -> ${answer}`
  },
}

function stepList(state: string, input: ListInput, output: ListOutput | undefined): Step<string> {
  if (input.type === 'append')
    return { ok: output?.type !== 'items', state: state + JSON.stringify(input.item) }
  if (output === undefined) return { ok: true, state }
  if (output.type !== 'items') return { ok: false, state }
  return { ok: output.items.map((item) => JSON.stringify(item)).join('') === state, state }
}
