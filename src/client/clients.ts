/**
 * The two clients of the service: for the data plane with an access key, for the admin plane with an admin token.
 *
 * The only entry point of this folder.
 */
import { setTimeout as wait } from 'node:timers/promises'
import { ApiClient, type ClientParts, type Clock } from './api-client.ts'
import { type ClientCertificateFiles, Connections } from './attempt.ts'
import { Endpoints } from './endpoints.ts'
import { ADMIN_ROUTES, type AdminOperations } from './generated/admin-operations.ts'
import { DATA_ROUTES, type DataOperations } from './generated/data-operations.ts'
import { REPEAT_POLICY, type RepeatPolicy } from './repeating.ts'
import { FixedToken, type Minted, MintedToken, type TokenStore } from './token-source.ts'

export { ApiError, NoAnswerError } from './api-error.ts'
export type { Minted, TokenStore } from './token-source.ts'
export type DataClient = ApiClient<DataOperations>
export type AdminClient = ApiClient<AdminOperations>

export interface ClientOptions {
  /** URLs of nodes; the first is used until it fails. */
  readonly endpoints: readonly string[]
  /** PEM of the authority for https; without it the authorities that Node.js knows. */
  readonly ca?: string
  /** Shown to nodes that ask for one. */
  readonly clientCertificate?: ClientCertificateFiles
  readonly connectMs?: number
  readonly answerMs?: number
  readonly silenceMs?: number
  readonly repeat?: Partial<RepeatPolicy>
  /** Where the token of an access key outlives this client. */
  readonly tokenStore?: TokenStore
  readonly clock?: Clock
  readonly random?: () => number
}

export type DataCredentials =
  | { readonly accessKeyId: string; readonly secretKey: string }
  | { readonly token: string }

/** A token is replaced this long before it expires, or when a tenth of its lifetime is left if that is less. */
const RENEW_MS = 60_000

const SYSTEM_CLOCK: Clock = {
  now: () => Date.now(),
  wait: (ms, signal) => wait(ms, undefined, signal === undefined ? {} : { signal }),
}

export function dataClient(options: ClientOptions & DataCredentials): DataClient {
  const parts = partsOf(options)
  const tokens =
    'token' in options ? new FixedToken(options.token) : mintedFor(parts, options, options.tokenStore)
  return new ApiClient<DataOperations>(DATA_ROUTES, parts, tokens)
}

export function adminClient(options: ClientOptions & { readonly token: string }): AdminClient {
  return new ApiClient<AdminOperations>(ADMIN_ROUTES, partsOf(options), new FixedToken(options.token))
}

function mintedFor(
  parts: ClientParts,
  { accessKeyId, secretKey }: { readonly accessKeyId: string; readonly secretKey: string },
  store?: TokenStore,
): MintedToken {
  const open = new ApiClient<DataOperations>(DATA_ROUTES, parts, null)
  const mint = async (): Promise<Minted> => {
    const requestedAt = parts.clock.now()
    const body = { accessKeyId, secretKey }
    const { answer } = await open.call('createToken', { body, isRepeatable: true })
    // Computed from the lifetime: the clocks of the node and of this machine may differ.
    const lifeMs = answer.expiresIn * 1000
    return { token: answer.token, renewAt: requestedAt + lifeMs - Math.min(RENEW_MS, lifeMs / 10) }
  }
  return new MintedToken(mint, () => parts.clock.now(), store ?? null)
}

function partsOf(options: ClientOptions): ClientParts {
  const { connectMs = 5_000, answerMs = 60_000, silenceMs = 60_000 } = options
  return {
    connections: new Connections(
      { connectMs, answerMs, silenceMs },
      { ca: options.ca ?? null, certificate: options.clientCertificate ?? null },
    ),
    endpoints: new Endpoints(options.endpoints),
    policy: { ...REPEAT_POLICY, ...options.repeat },
    clock: options.clock ?? SYSTEM_CLOCK,
    random: options.random ?? Math.random,
  }
}
