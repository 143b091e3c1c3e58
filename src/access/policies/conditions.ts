/**
 * The conditions of bucket policies: which keys and operators there are, and when one holds.
 *
 * Owns: both tables. Knows nothing of: statements. Rules: an operator, key or value that is not known here is refused and never
 * passed over; a key that the request does not have makes a condition false, one with Not or IfExists true.
 */
import { addressRange } from '../../base/network-address.ts'
import { hintAt, listAt, malformed, objectAt, shown } from './policy-json.ts'
import type { KnownAction } from './s3-actions.ts'
import { matchesWildcards, repeatedChars } from './wildcards.ts'

type Kind = 'text' | 'address' | 'flag' | 'time' | 'number'

interface KeyFacts {
  readonly kind: Kind
  /** Requests that can have it. */
  readonly isFor: (action: KnownAction) => boolean
}

const always = (): boolean => true
const CONDITION_KEYS = {
  'aws:SourceIp': { kind: 'address', isFor: always },
  /** The access key id: it is what a principal is called here. */
  'aws:username': { kind: 'text', isFor: always },
  'aws:SecureTransport': { kind: 'flag', isFor: always },
  'aws:CurrentTime': { kind: 'time', isFor: always },
  's3:prefix': { kind: 'text', isFor: ({ isListing }) => isListing },
  's3:delimiter': { kind: 'text', isFor: ({ isListing }) => isListing },
  's3:VersionId': { kind: 'text', isFor: ({ takesVersion }) => takesVersion },
  's3:object-lock-remaining-retention-days': { kind: 'number', isFor: ({ setsRetention }) => setsRetention },
} as const satisfies Record<string, KeyFacts>

type ConditionKey = keyof typeof CONDITION_KEYS

/** What a request has, as texts; a time as milliseconds since 1970, a number in decimal. */
export type Attributes = { readonly [Key in ConditionKey]?: string | undefined }

type Test = (given: string) => boolean

interface Operator {
  readonly kind: Kind
  readonly isNegated: boolean
  /** Null: the value is none of its kind. */
  readonly testFor: (value: string) => Test | null
  readonly hasWildcards?: true
}

const OPERATORS: Readonly<Record<string, Operator>> = {
  StringEquals: textOperator(false, (value) => (given) => given === value),
  StringNotEquals: textOperator(true, (value) => (given) => given === value),
  StringLike: { ...textOperator(false, wildcardTest), hasWildcards: true },
  StringNotLike: { ...textOperator(true, wildcardTest), hasWildcards: true },
  IpAddress: { kind: 'address', isNegated: false, testFor: addressRange },
  NotIpAddress: { kind: 'address', isNegated: true, testFor: addressRange },
  Bool: { kind: 'flag', isNegated: false, testFor: flagTest },
  DateLessThan: timeOperator((given, value) => given < value),
  DateLessThanEquals: timeOperator((given, value) => given <= value),
  DateGreaterThan: timeOperator((given, value) => given > value),
  DateGreaterThanEquals: timeOperator((given, value) => given >= value),
  NumericEquals: numberOperator((given, value) => given === value),
  NumericNotEquals: { ...numberOperator((given, value) => given === value), isNegated: true },
  NumericLessThan: numberOperator((given, value) => given < value),
  NumericLessThanEquals: numberOperator((given, value) => given <= value),
  NumericGreaterThan: numberOperator((given, value) => given > value),
  NumericGreaterThanEquals: numberOperator((given, value) => given >= value),
}
const NUMBER = /^-?\d{1,9}(?:\.\d{1,6})?$/
const IF_EXISTS = 'IfExists'
const NULL = 'Null'

/** As a policy writes them. */
export const CONDITION_OPERATORS: readonly string[] = [
  ...Object.keys(OPERATORS).flatMap((name) => [name, name + IF_EXISTS]),
  NULL,
]

const TAKES: Readonly<Record<Kind, string>> = {
  text: 'a text without "${"',
  address: 'an address or a range such as 203.0.113.0/24 or 2001:db8::/32',
  flag: 'true or false',
  time: 'a time in UTC such as 2027-01-31T00:00:00Z',
  number: 'a number such as 30',
}

export interface Condition {
  readonly key: ConditionKey
  readonly isNegated: boolean
  readonly isIfExists: boolean
  /** It holds when one of them does. */
  readonly tests: readonly Test[]
  /** Of its patterns. */
  readonly repeatedChars: number
  /** Of the operator Null: whether the key must be absent. */
  readonly mustBeAbsent: boolean | null
}

/** `actions`: those that the statement speaks of. Throws Refusal invalid_request. */
export function readConditions(
  value: unknown,
  where: string,
  actions: readonly KnownAction[],
): readonly Condition[] {
  return Object.entries(objectAt(value, where)).flatMap(([operator, pairs]) => {
    const place = `${where}.${operator}`
    const compared = operatorNamed(operator, place)
    return Object.entries(objectAt(pairs, place)).map(([name, values]) => {
      const key = keyNamed(name, place)
      if (!actions.some(CONDITION_KEYS[key].isFor))
        malformed(`${place}.${name}`, 'is asked for by none of the actions of the statement')
      return conditionOf(compared, key, { value: values, where: `${place}.${name}` })
    })
  })
}

/** A listing without a prefix and one with an empty prefix are one listing: what holds for either holds. */
export function holds(condition: Condition, attributes: Attributes): boolean {
  const given = attributes[condition.key]
  return holdsFor(condition, given) || (given === '' && holdsFor(condition, undefined))
}

function holdsFor(condition: Condition, given: string | undefined): boolean {
  const { mustBeAbsent, isIfExists, isNegated, tests } = condition
  if (mustBeAbsent !== null) return mustBeAbsent === (given === undefined)
  if (given === undefined) return isIfExists || isNegated
  return tests.some((test) => test(given)) !== isNegated
}

interface NamedOperator {
  readonly name: string
  /** Null: the operator Null, which compares nothing. */
  readonly operator: Operator | null
}

function conditionOf(
  { name, operator }: NamedOperator,
  key: ConditionKey,
  given: { readonly value: unknown; readonly where: string },
): Condition {
  const values = listAt(given.value, given.where)
  if (operator === null) {
    const [only] = values
    const mustBeAbsent = values.length === 1 ? flagOf(only) : null
    if (mustBeAbsent === null) malformed(given.where, `takes ${TAKES.flag}`)
    return { key, isNegated: false, isIfExists: false, tests: [], repeatedChars: 0, mustBeAbsent }
  }
  if (operator.kind !== CONDITION_KEYS[key].kind)
    malformed(
      given.where,
      `cannot be compared by ${shown(name)}: it takes ${TAKES[CONDITION_KEYS[key].kind]}`,
    )
  const tests = values.map((value) => {
    const isPlain = typeof value === 'boolean' || (typeof value === 'number' && operator.kind === 'number')
    const text = isPlain ? `${value}` : value
    const test = typeof text === 'string' ? operator.testFor(text) : null
    return (
      test ?? malformed(given.where, `takes ${TAKES[operator.kind]}, not ${shown(JSON.stringify(value))}`)
    )
  })
  const patterns = operator.hasWildcards === true ? values.map(String) : []
  const repeated = patterns.reduce((sum, pattern) => sum + repeatedChars(pattern), 0)
  const { isNegated } = operator
  const isIfExists = name.endsWith(IF_EXISTS)
  return { key, isNegated, isIfExists, tests, repeatedChars: repeated, mustBeAbsent: null }
}

/** Names of keys are the same in any case of letters. */
function keyNamed(name: string, where: string): ConditionKey {
  const keys = Object.keys(CONDITION_KEYS) as ConditionKey[]
  const key = keys.find((known) => known.toLowerCase() === name.toLowerCase())
  return (
    key ?? malformed(where, `names the key ${shown(name)}, which is not supported: ${hintAt(name, keys)}`)
  )
}

function operatorNamed(name: string, where: string): NamedOperator {
  if (name === NULL) return { name, operator: null }
  const plain = name.endsWith(IF_EXISTS) ? name.slice(0, -IF_EXISTS.length) : name
  const operator = Object.hasOwn(OPERATORS, plain) ? OPERATORS[plain] : undefined
  if (operator !== undefined) return { name, operator }
  const known = [...Object.keys(OPERATORS), NULL]
  return malformed(
    where,
    `uses the operator ${shown(plain)}, which is not supported: ${hintAt(plain, known)}`,
  )
}

function textOperator(isNegated: boolean, testFor: (value: string) => Test): Operator {
  // A variable that is not filled in would be compared as it is, and match no caller.
  return { kind: 'text', isNegated, testFor: (value) => (value.includes('${') ? null : testFor(value)) }
}

function wildcardTest(value: string): Test {
  return (given) => matchesWildcards(value, given)
}

function timeOperator(compare: (given: number, value: number) => boolean): Operator {
  return {
    kind: 'time',
    isNegated: false,
    testFor: (value) => {
      const time = timeOf(value)
      return time === null ? null : (given) => compare(Number(given), time)
    },
  }
}

function numberOperator(compare: (given: number, value: number) => boolean): Operator {
  return {
    kind: 'number',
    isNegated: false,
    testFor: (value) => (NUMBER.test(value) ? (given) => compare(Number(given), Number(value)) : null),
  }
}

function timeOf(text: string): number | null {
  if (!/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/.test(text)) return null
  const time = Date.parse(text)
  // Date.parse lets the 31st of a short month roll over into the next one.
  return Number.isNaN(time) || !new Date(time).toISOString().startsWith(text.slice(0, -1)) ? null : time
}

function flagTest(value: string): Test | null {
  const flag = flagOf(value)
  return flag === null ? null : (given) => given === `${flag}`
}

function flagOf(value: unknown): boolean | null {
  if (value === true || value === 'true') return true
  return value === false || value === 'false' ? false : null
}
