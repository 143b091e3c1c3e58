/**
 * The rules of a replication from a JSON file, as `--rules` names it.
 */
import type { DataOperations } from '../../client/generated/data-operations.ts'
import { jsonInput, listIn } from './json-input.ts'

type Rules = DataOperations['setBucketReplication']['call']['body']['rules']

export interface RuleOptions {
  readonly rules?: string
}

const WHAT = 'replication rules'
const EXAMPLE = '{"rules":[{"filter":{"prefix":"in/"},"deletes":"none"}]}'

/** Undefined: none were given. */
export async function rulesIn({ rules: file }: RuleOptions): Promise<Rules> {
  if (file === undefined) return undefined
  const from = { file, what: WHAT, example: EXAMPLE }
  return listIn(await jsonInput(file, WHAT, EXAMPLE), 'rules', from) as Rules
}
