/**
 * The two clients of the command line: those of packages/client over connections of Node.js, with an authority of one's own.
 *
 * The only entry point of this folder. Owns: nothing of a call; packages/client does.
 */
import type { Readable } from 'node:stream'
import { ApiClient, type ClientParts } from '../../packages/client/src/call/api-client.ts'
import { Endpoints } from '../../packages/client/src/call/endpoints.ts'
import { REPEAT_POLICY, type RepeatPolicy } from '../../packages/client/src/call/repeating.ts'
import { FixedToken, type TokenStore } from '../../packages/client/src/call/token-source.ts'
import { type Clock, SYSTEM_CLOCK } from '../../packages/client/src/call/transport.ts'
import { VERSION } from '../../packages/client/src/call/version.ts'
import { type DataCredentials, mintedFor } from '../../packages/client/src/client/credentials.ts'
import { ADMIN_ROUTES, type AdminOperations } from '../../packages/client/src/generated/admin-operations.ts'
import { DATA_ROUTES, type DataOperations } from '../../packages/client/src/generated/data-operations.ts'
import { type ClientCertificateFiles, Connections } from './connections.ts'

export { ApiError, NoAnswerError, WrongListenerError } from '../../packages/client/src/call/errors.ts'
export { delayBefore, isPassing, type RepeatPolicy } from '../../packages/client/src/call/repeating.ts'
export type { Minted, TokenStore } from '../../packages/client/src/call/token-source.ts'
export type { Clock } from '../../packages/client/src/call/transport.ts'
export type { DataCredentials } from '../../packages/client/src/client/credentials.ts'
export type DataClient = ApiClient<DataOperations, Readable>
export type AdminClient = ApiClient<AdminOperations, Readable>

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

const USER_AGENT = `holdfast/${VERSION}`

export function dataClient(options: ClientOptions & DataCredentials): DataClient {
  const parts = partsOf('data', options)
  const tokens =
    'token' in options ? new FixedToken(options.token) : mintedFor(parts, options, options.tokenStore)
  return new ApiClient<DataOperations, Readable>(DATA_ROUTES, parts, tokens)
}

export function adminClient(options: ClientOptions & { readonly token: string }): AdminClient {
  const tokens = new FixedToken(options.token)
  return new ApiClient<AdminOperations, Readable>(ADMIN_ROUTES, partsOf('admin', options), tokens)
}

function partsOf(plane: 'data' | 'admin', options: ClientOptions): ClientParts<Readable> {
  const { connectMs = 5_000, answerMs = 60_000, silenceMs = 60_000 } = options
  return {
    plane,
    transport: new Connections(
      { connectMs, answerMs, silenceMs },
      { ca: options.ca ?? null, certificate: options.clientCertificate ?? null },
      USER_AGENT,
    ),
    endpoints: new Endpoints(options.endpoints),
    policy: { ...REPEAT_POLICY, ...options.repeat },
    clock: options.clock ?? SYSTEM_CLOCK,
    random: options.random ?? Math.random,
  }
}
