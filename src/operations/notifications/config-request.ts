/**
 * What a caller may ask of a notification config: fields, defaults and bounds. [decisions 9]
 *
 * Owns: the checks that need no stored data. Rule: the first fault is reported, with its place.
 */
import { randomBytes } from 'node:crypto'
import { Refusal } from '../../base/refusal.ts'
import type { ConfigRequest } from '../../state-machine/events/commands.ts'
import {
  EVENT_TYPES,
  type EventType,
  HOOKS_MAX,
  type PayloadFormat,
} from '../../state-machine/events/records.ts'
import { checkTarget, type TargetPolicy } from './target-url.ts'

export const CONFIG_ID = /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/
const FILTER_BYTES_MAX = 1024
const OTHER_KINDS: readonly string[] = ['sns', 'sqs', 'lambda']
const PAYLOAD_FORMATS: readonly string[] = ['native', 's3'] satisfies PayloadFormat[]

export interface ConfigInput {
  readonly id?: string
  readonly kind?: string
  readonly url: string
  readonly events: readonly string[]
  readonly prefix?: string
  readonly suffix?: string
  readonly enabled?: boolean
  readonly payloadFormat?: string
}

/** Throws Refusal invalid_request, invalid_event_type, unsupported_target. */
export function configRequests(
  inputs: readonly ConfigInput[],
  policy: TargetPolicy,
): readonly Omit<ConfigRequest, 'fresh'>[] {
  if (inputs.length > HOOKS_MAX)
    refuse(`a bucket has at most ${HOOKS_MAX} notification configs, these are ${inputs.length}`)
  const requests = inputs.map((input) => requestOf(input, policy))
  const ids = requests.map(({ id }) => id)
  const twice = ids.find((id, n) => ids.indexOf(id) !== n)
  if (twice !== undefined) refuse(`the id "${twice}" is given to two configs`)
  return requests
}

function requestOf(input: ConfigInput, policy: TargetPolicy): Omit<ConfigRequest, 'fresh'> {
  const { kind = 'webhook', url, prefix = '', suffix = '', enabled = true, payloadFormat = 'native' } = input
  if (OTHER_KINDS.includes(kind.toLowerCase()))
    throw new Refusal('unsupported_target', `Targets of kind "${kind}" are not supported: use "webhook"`)
  if (kind !== 'webhook') refuse(`the kind "${kind.slice(0, 40)}" is unknown: use "webhook"`)
  const id = input.id ?? `cfg-${randomBytes(8).toString('hex')}`
  if (!CONFIG_ID.test(id))
    refuse(
      `the id "${id.slice(0, 80)}" is not one of 1 to 64 letters, digits, dots, underscores and hyphens, the first a letter or digit`,
    )
  checkTarget(url, policy)
  checkFilter('prefix', prefix)
  checkFilter('suffix', suffix)
  if (!isPayloadFormat(payloadFormat))
    refuse(`the payloadFormat "${payloadFormat.slice(0, 40)}" is none of ${PAYLOAD_FORMATS.join(', ')}`)
  return { id, url, events: eventTypes(input.events), prefix, suffix, enabled, payloadFormat }
}

/** In the order of their definition, each once. */
function eventTypes(names: readonly string[]): readonly EventType[] {
  const known = EVENT_TYPES.join(', ')
  if (names.length === 0) throw new Refusal('invalid_event_type', `Name at least one event type: ${known}`)
  const unknown = names.find((name) => !(EVENT_TYPES as readonly string[]).includes(name))
  if (unknown !== undefined)
    throw new Refusal(
      'invalid_event_type',
      `The event type "${unknown.slice(0, 80)}" is unknown, known are ${known}`,
    )
  return EVENT_TYPES.filter((type) => names.includes(type))
}

function isPayloadFormat(text: string): text is PayloadFormat {
  return PAYLOAD_FORMATS.includes(text)
}

function checkFilter(name: string, text: string): void {
  if (Buffer.byteLength(text) > FILTER_BYTES_MAX)
    refuse(`the ${name} has more than ${FILTER_BYTES_MAX} bytes`)
}

function refuse(what: string): never {
  throw new Refusal('invalid_request', `The notifications are not accepted: ${what}`)
}
