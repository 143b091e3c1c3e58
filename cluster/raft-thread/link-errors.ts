/**
 * Errors as they cross between threads, and how they are made again of the same class.
 *
 * Owns: which fields each class needs. Knows nothing of: who throws them. Rule: who catches an error on the other thread finds the
 * class, the code and the cause that it would find on its own.
 */
import {
  Condition,
  type ConditionCode,
  EntryFailedError,
  MembershipRefusedError,
  StartError,
  StateDamagedError,
} from '../base/types.ts'
import { PeerRefusedError, PeerUnreachableError } from '../transport/transport.ts'

export interface SerializedError {
  readonly kind: string
  readonly name: string
  readonly message: string
  readonly stack: string | undefined
  /** The fields that its class needs, and the code of any other error. */
  readonly fields: Readonly<Record<string, unknown>>
  readonly cause: SerializedError | null
}

/** Deeper causes are left out. Count */
const CAUSES_MAX = 8

type Fields = Readonly<Record<string, unknown>>

interface Kind {
  readonly kind: string
  readonly is: (error: Error) => boolean
  readonly fields: readonly string[]
  readonly make: (message: string, fields: Fields, options: ErrorOptions) => Error
}

const KINDS: readonly Kind[] = [
  {
    kind: 'condition',
    is: (error) => error instanceof Condition,
    fields: ['code', 'retryAfterMs'],
    make: (message, { code, retryAfterMs }, options) =>
      new Condition(code as ConditionCode, message, { ...options, retryAfterMs: Number(retryAfterMs) }),
  },
  {
    kind: 'start',
    is: (error) => error instanceof StartError,
    fields: ['code', 'hint'],
    make: (message, { code, hint }, options) =>
      new StartError(String(code), message, { ...options, hint: String(hint) }),
  },
  {
    kind: 'membershipRefused',
    is: (error) => error instanceof MembershipRefusedError,
    fields: ['reason'],
    make: (message, { reason }) =>
      new MembershipRefusedError(reason as MembershipRefusedError['reason'], message),
  },
  {
    kind: 'entryFailed',
    is: (error) => error instanceof EntryFailedError,
    fields: ['index'],
    make: (_message, { index }, { cause }) => new EntryFailedError(Number(index), cause),
  },
  {
    kind: 'stateDamaged',
    is: (error) => error instanceof StateDamagedError,
    fields: [],
    make: (message, _fields, options) => new StateDamagedError(message, options),
  },
  {
    kind: 'peerRefused',
    is: (error) => error instanceof PeerRefusedError,
    fields: ['code'],
    make: (message, { code }, options) => new PeerRefusedError(String(code), message, options),
  },
  {
    kind: 'peerUnreachable',
    is: (error) => error instanceof PeerUnreachableError,
    fields: ['peer'],
    make: (message, { peer }, options) => new PeerUnreachableError(String(peer), message, options),
  },
]

const OTHER = { kind: 'other', fields: ['code'] }

export function serializeError(error: unknown, depth = 0): SerializedError {
  const one = error instanceof Error ? error : new Error(String(error))
  const { kind, fields } = KINDS.find((candidate) => candidate.is(one)) ?? OTHER
  const values = new Map<string, unknown>(Object.entries(one))
  const kept = fields.flatMap((field) => (values.has(field) ? [[field, values.get(field)] as const] : []))
  const { name, message, stack, cause } = one
  const hasCause = cause !== undefined && depth < CAUSES_MAX
  const crossed = hasCause ? serializeError(cause, depth + 1) : null
  return { kind, name, message, stack, fields: Object.fromEntries(kept), cause: crossed }
}

export function deserializeError({ kind, name, message, stack, fields, cause }: SerializedError): Error {
  const options = cause === null ? {} : { cause: deserializeError(cause) }
  const known = KINDS.find((candidate) => candidate.kind === kind)
  const error = known?.make(message, fields, options) ?? Object.assign(new Error(message, options), fields)
  if (error.name !== name) Object.defineProperty(error, 'name', { value: name, configurable: true })
  if (stack !== undefined) error.stack = stack
  return error
}
