/**
 * The identity provider: the authorization code flow of OpenID Connect with PKCE, state and nonce. [OpenID Connect Core 1.0] [RFC 7636] [RFC 9207]
 *
 * Owns: what of an answer is believed, what is kept of the provider (its metadata, for some minutes). Knows nothing of: roles, cookies, HTTP servers.
 * Rules: the package oauth4webapi does the protocol, and nothing is decided from claims before their signature holds; only three algorithms count, so that
 * neither `none` nor a shared secret signs; keys that are unknown are looked up once more, because providers exchange them.
 */
import * as oauth from 'oauth4webapi'
import type { OidcSettings } from '../../config/types.ts'
import { BoundedFetch, ProviderFault, requireSheltered } from './bounded-fetch.ts'
import { type Claims, claimAt } from './person.ts'

/** What a log-in has to come back with. */
export interface PendingLogIn {
  readonly state: string
  readonly nonce: string
  readonly verifier: string
}

interface Parts {
  readonly settings: Pick<OidcSettings, 'issuer' | 'clientId' | 'scopes' | 'groupsClaim'>
  /** Where the provider sends people back to. */
  readonly redirectUri: string
  /** null: a public client. Throws where it cannot be read. */
  readonly secret: () => Promise<string | null>
  readonly fetching: BoundedFetch
  /** Milliseconds since 1970 UTC. */
  readonly now: () => number
}

type Metadata = oauth.AuthorizationServer

const METADATA_MS_MAX = 10 * 60_000
const CLOCK_TOLERANCE_SECONDS = 60
const ALGORITHMS: readonly string[] = ['RS256', 'ES256', 'EdDSA', 'Ed25519']
const MESSAGE_CHARACTERS_MAX = 300

export class OidcProvider {
  readonly #parts: Parts
  readonly #client: oauth.Client
  #known: { readonly metadata: Promise<Metadata>; readonly atMs: number } | null = null

  constructor(parts: Parts) {
    const { settings } = parts
    this.#parts = parts
    this.#client = { client_id: settings.clientId, [oauth.clockTolerance]: CLOCK_TOLERANCE_SECONDS }
  }

  /** Where to send a browser. Throws ProviderFault. */
  async begin(): Promise<{ readonly location: string; readonly pending: PendingLogIn }> {
    const { settings, redirectUri } = this.#parts
    const { authorization_endpoint: endpoint } = await this.#metadata()
    if (endpoint === undefined)
      throw new ProviderFault('The identity provider names no authorization endpoint')
    requireSheltered(endpoint)
    const pending = {
      state: oauth.generateRandomState(),
      nonce: oauth.generateRandomNonce(),
      verifier: oauth.generateRandomCodeVerifier(),
    }
    const location = new URL(endpoint)
    const asked = {
      client_id: settings.clientId,
      response_type: 'code',
      scope: settings.scopes.join(' '),
      redirect_uri: redirectUri,
      state: pending.state,
      nonce: pending.nonce,
      code_challenge: await oauth.calculatePKCECodeChallenge(pending.verifier),
      code_challenge_method: 'S256',
    }
    for (const [name, value] of Object.entries(asked)) location.searchParams.set(name, value)
    return { location: location.href, pending }
  }

  /**
   * Where a browser ends its session at the provider, which then sends it to `backTo`; null: the provider names no such place. Without a hint, because no
   * ID token is kept. [OpenID Connect RP-Initiated Logout 1.0, 2] Throws ProviderFault.
   */
  async end(backTo: string): Promise<string | null> {
    const { end_session_endpoint: endpoint } = await this.#metadata()
    if (endpoint === undefined) return null
    requireSheltered(endpoint)
    const location = new URL(endpoint)
    location.searchParams.set('client_id', this.#parts.settings.clientId)
    location.searchParams.set('post_logout_redirect_uri', backTo)
    return location.href
  }

  /** `answer`: the query with which the browser came back. What the provider says of the person. Throws ProviderFault. */
  async finish(answer: URLSearchParams, pending: PendingLogIn): Promise<Claims> {
    try {
      return await this.#finish(answer, pending)
    } catch (cause) {
      if (cause instanceof ProviderFault) throw cause
      throw new ProviderFault(`The log-in cannot be trusted: ${saidBy(cause)}`)
    }
  }

  async #finish(answer: URLSearchParams, { state, nonce, verifier }: PendingLogIn): Promise<Claims> {
    const metadata = await this.#metadata()
    const parameters = oauth.validateAuthResponse(metadata, this.#client, answer, state)
    const { redirectUri, secret } = this.#parts
    const proof = proofOf(metadata, await secret())
    const response = await oauth.authorizationCodeGrantRequest(
      metadata,
      this.#clientNow(),
      proof,
      parameters,
      redirectUri,
      verifier,
      this.#options(),
    )
    const tokens = await oauth.processAuthorizationCodeResponse(metadata, this.#clientNow(), response, {
      expectedNonce: nonce,
      requireIdToken: true,
    })
    await this.#requireSignature(metadata, response)
    const claims = oauth.getValidatedIdTokenClaims(tokens)
    if (claims === undefined) throw new ProviderFault('The identity provider sent no ID token')
    this.#requireMeant(claims)
    return this.#withUserInfo(metadata, tokens.access_token, claims)
  }

  /** What the package leaves to its caller. [OpenID Connect Core 1.0, 3.1.3.7] */
  #requireMeant({ azp, iat }: oauth.IDToken): void {
    if (azp !== undefined && azp !== this.#parts.settings.clientId)
      throw new ProviderFault('The ID token was made for another client (azp)')
    if (iat * 1000 > this.#parts.now() + CLOCK_TOLERANCE_SECONDS * 1000)
      throw new ProviderFault('The ID token is from the future (iat): compare the clocks')
  }

  /** Another attempt forgets the keys, as providers exchange them at any time. */
  async #requireSignature(metadata: Metadata, response: Response): Promise<void> {
    try {
      await oauth.validateApplicationLevelSignature(metadata, response, this.#options())
    } catch (error) {
      if (!(error instanceof Error) || !('code' in error) || error.code !== oauth.KEY_SELECTION) throw error
      await oauth.validateApplicationLevelSignature({ ...metadata }, response, this.#options())
      this.#known = null
    }
  }

  /** Some providers tell groups only there. What the ID token says wins, because it is signed. */
  async #withUserInfo(metadata: Metadata, accessToken: string, claims: oauth.IDToken): Promise<Claims> {
    const isWhole = claimAt(claims, this.#parts.settings.groupsClaim) !== undefined
    if (isWhole || metadata.userinfo_endpoint === undefined) return claims
    const response = await oauth.userInfoRequest(metadata, this.#clientNow(), accessToken, this.#options())
    const more = await oauth.processUserInfoResponse(metadata, this.#clientNow(), claims.sub, response)
    return { ...more, ...claims }
  }

  /** One request for all that ask at once. A failure is not kept. */
  async #metadata(): Promise<Metadata> {
    const atMs = this.#parts.now()
    if (this.#known === null || atMs - this.#known.atMs >= METADATA_MS_MAX) {
      const metadata = this.#discover()
      this.#known = { metadata, atMs }
      metadata.catch(() => {
        if (this.#known?.metadata === metadata) this.#known = null
      })
    }
    return this.#known.metadata
  }

  async #discover(): Promise<Metadata> {
    const issuer = new URL(this.#parts.settings.issuer)
    try {
      const response = await oauth.discoveryRequest(issuer, this.#options())
      const found = await oauth.processDiscoveryResponse(issuer, response)
      const offered = found.id_token_signing_alg_values_supported ?? ['RS256']
      const usable = offered.filter((name) => ALGORITHMS.includes(name))
      if (usable.length === 0)
        throw new ProviderFault(`The identity provider signs with none of ${ALGORITHMS.join(', ')}`)
      return { ...found, id_token_signing_alg_values_supported: usable }
    } catch (cause) {
      if (cause instanceof ProviderFault) throw cause
      throw new ProviderFault(`The discovery document cannot be used: ${saidBy(cause)}`)
    }
  }

  /** By the clock of the cluster. */
  #clientNow(): oauth.Client {
    const skewSeconds = Math.round((this.#parts.now() - Date.now()) / 1000)
    return { ...this.#client, [oauth.clockSkew]: skewSeconds }
  }

  /** Where plain HTTP may lead is decided by `fetching`. */
  #options() {
    return { [oauth.customFetch]: this.#parts.fetching.fetch, [oauth.allowInsecureRequests]: true }
  }
}

/** As the provider wants it; Basic unless it names the body alone. */
function proofOf(metadata: Metadata, secret: string | null): oauth.ClientAuth {
  if (secret === null) return oauth.None()
  const taken = metadata.token_endpoint_auth_methods_supported
  const isPostOnly = taken?.includes('client_secret_basic') === false && taken.includes('client_secret_post')
  return isPostOnly ? oauth.ClientSecretPost(secret) : oauth.ClientSecretBasic(secret)
}

/** Errors of the package name no token in their message; what the provider wrote is in their cause and stays there. */
function saidBy(cause: unknown): string {
  if (cause instanceof oauth.AuthorizationResponseError || cause instanceof oauth.ResponseBodyError)
    return `the provider answered '${cause.error.slice(0, 64).replace(/[^\x20-\x7e]/g, '?')}'`
  return cause instanceof Error ? cause.message.slice(0, MESSAGE_CHARACTERS_MAX) : 'unknown'
}
