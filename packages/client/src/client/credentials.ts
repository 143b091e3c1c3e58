/**
 * How a client proves who it is: an access key that is exchanged for tokens, or a token.
 */
import { ApiClient, type ClientParts } from '../call/api-client.ts'
import { ArgumentError } from '../call/errors.ts'
import {
  FixedToken,
  type Minted,
  MintedToken,
  type TokenSource,
  type TokenStore,
} from '../call/token-source.ts'
import { DATA_ROUTES, type DataOperations } from '../generated/data-operations.ts'

export interface AccessKeyCredentials {
  readonly accessKeyId: string
  readonly secretKey: string
}
export interface TokenCredentials {
  /** Of createToken or createTemporaryToken. */
  readonly token: string
}
export type DataCredentials = AccessKeyCredentials | TokenCredentials

/** A token is replaced this long before it expires, or when a tenth of its lifetime is left if that is less. */
const RENEW_MS = 60_000

/** Null: no credentials, which suffices for signed URLs. Throws ArgumentError when half of them is missing. */
export function tokensOf<B>(
  parts: ClientParts<B>,
  credentials: Partial<AccessKeyCredentials & TokenCredentials>,
): TokenSource | null {
  const { token, accessKeyId, secretKey } = credentials
  if (token !== undefined && accessKeyId !== undefined)
    throw new ArgumentError("A client has either a 'token' or an 'accessKeyId', not both")
  if (token !== undefined) return new FixedToken(texted('token', token))
  if (accessKeyId === undefined && secretKey === undefined) return null
  return mintedFor(parts, {
    accessKeyId: texted('accessKeyId', accessKeyId),
    secretKey: texted('secretKey', secretKey),
  })
}

export function texted(name: string, value: unknown): string {
  if (typeof value === 'string' && /^[\x21-\x7e]+$/.test(value)) return value
  throw new ArgumentError(`'${name}' is a text without blanks, and must be given`)
}

/** Without a token: to get the first one. */
export function mintedFor<B>(
  parts: ClientParts<B>,
  credentials: AccessKeyCredentials,
  store: TokenStore | null = null,
): MintedToken {
  const open = new ApiClient<DataOperations, B>(DATA_ROUTES, parts, null)
  const mint = async (): Promise<Minted> => {
    const requestedAt = parts.clock.now()
    const { accessKeyId, secretKey } = credentials
    const { answer } = await open.call('createToken', {
      body: { accessKeyId, secretKey },
      isRepeatable: true,
    })
    // Computed from the lifetime: the clocks of the node and of this machine may differ.
    const lifeMs = answer.expiresIn * 1000
    return { token: answer.token, renewAt: requestedAt + lifeMs - Math.min(RENEW_MS, lifeMs / 10) }
  }
  return new MintedToken(mint, () => parts.clock.now(), store)
}
