/**
 * An identity provider on loopback, for tests: discovery, authorization, token, keys, userinfo and log-out of OpenID Connect, as strict as a good one.
 *
 * Owns: people, codes, keys. Every person it knows is logged in at once, so a browser passes through. A test makes it hostile by its public fields; each
 * holds until it is set back.
 */
import { createHash, generateKeyPairSync, type KeyObject, randomBytes, sign } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

export type Algorithm = 'RS256' | 'ES256' | 'EdDSA'
type Claims = Readonly<Record<string, unknown>>
type Document = Readonly<Record<string, unknown>>

interface Code {
  readonly asked: URLSearchParams
  isUsed: boolean
}

interface SigningKey {
  readonly kid: string
  readonly algorithm: Algorithm
  readonly secret: KeyObject
  readonly jwk: Document
}

interface Teardown {
  teardown(handler: () => void | Promise<void>): void
}

export const CLIENT = { id: 'holdfast', secret: 'the-secret-of-the-client' } as const

export class OidcServer {
  readonly issuer: string
  /** Who logs in next. */
  person: Claims = { sub: 'u-alice', preferred_username: 'alice', groups: ['storage-admins'] }
  /** What a hostile provider, or one between, changes. */
  twistDocument: (document: Document) => Document = (document) => document
  twistClaims: (claims: Claims) => Claims = (claims) => claims
  twistHeader: (header: Document) => Document = (header) => header
  /** In the place of the answer at a path. */
  inPlaceOf: Readonly<Record<string, (response: ServerResponse) => void>> = {}
  /** Claims that only userinfo has. */
  userInfo: Claims | null = null
  /** Its client has no secret. */
  isPublic = false
  /** Signs with a key that is not published. */
  isForged = false
  /** By path. */
  readonly asked: string[] = []
  #key: SigningKey
  readonly #codes = new Map<string, Code>()
  readonly #server: Server

  static async start(t: Teardown, algorithm: Algorithm = 'RS256'): Promise<OidcServer> {
    const server = createServer()
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    t.teardown(async () => {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    })
    return new OidcServer(server, algorithm)
  }

  private constructor(server: Server, algorithm: Algorithm) {
    this.#server = server
    this.#key = newKey(algorithm)
    this.issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}/realms/test`
    server.on('request', (request: IncomingMessage, response: ServerResponse) => {
      void this.#answer(request, response).catch((error: unknown) => {
        if (!response.headersSent) response.writeHead(500)
        response.end(String(error))
      })
    })
  }

  /** Another key signs from now on, and the one before is not published any more. */
  exchangeKey(algorithm: Algorithm = 'RS256'): void {
    this.#key = newKey(algorithm)
  }

  get isOpen(): boolean {
    return this.#server.listening
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { pathname, searchParams } = new URL(request.url ?? '/', this.issuer)
    const path = pathname.replace(/^\/realms\/test/, '')
    this.asked.push(path)
    const other = this.inPlaceOf[path]
    if (other !== undefined) return other(response)
    if (path === '/.well-known/openid-configuration') return json(response, 200, this.#document())
    if (path === '/authorize') return this.#authorize(searchParams, response)
    if (path === '/token') return this.#token(request, response)
    if (path === '/end-session') return this.#end(searchParams, response)
    if (path === '/keys') return json(response, 200, { keys: [this.#key.jwk] })
    if (path === '/userinfo') return json(response, 200, { sub: this.person['sub'], ...this.userInfo })
    json(response, 404, {})
  }

  #document(): Document {
    const { issuer } = this
    return this.twistDocument({
      issuer,
      authorization_endpoint: `${issuer}/authorize`,
      token_endpoint: `${issuer}/token`,
      jwks_uri: `${issuer}/keys`,
      end_session_endpoint: `${issuer}/end-session`,
      ...(this.userInfo === null ? {} : { userinfo_endpoint: `${issuer}/userinfo` }),
      id_token_signing_alg_values_supported: ['RS256', 'ES256', 'EdDSA', 'HS256', 'none'],
      authorization_response_iss_parameter_supported: true,
      response_types_supported: ['code'],
    })
  }

  #authorize(asked: URLSearchParams, response: ServerResponse): void {
    const isMeant = asked.get('client_id') === CLIENT.id && asked.get('response_type') === 'code'
    const isSafe = asked.get('code_challenge_method') === 'S256' && (asked.get('nonce') ?? '') !== ''
    if (!isMeant || !isSafe) return json(response, 400, { error: 'invalid_request' })
    const code = randomBytes(16).toString('hex')
    this.#codes.set(code, { asked, isUsed: false })
    const back = new URL(asked.get('redirect_uri') ?? '')
    for (const [name, value] of [
      ['code', code],
      ['state', asked.get('state') ?? ''],
      ['iss', this.issuer],
    ] as const)
      back.searchParams.set(name, value)
    response.writeHead(303, { location: back.href }).end()
  }

  /** Asks for no confirmation, as it knows no sessions. [OpenID Connect RP-Initiated Logout 1.0, 2] */
  #end(asked: URLSearchParams, response: ServerResponse): void {
    const location = asked.get('post_logout_redirect_uri') ?? ''
    const isMeant = asked.get('client_id') === CLIENT.id && location.endsWith('/console/')
    if (!isMeant) return json(response, 400, { error: 'invalid_request' })
    response.writeHead(303, { location }).end()
  }

  async #token(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const form = new URLSearchParams(await textOf(request))
    const basic = credentialOf(request)
    if (
      !this.isPublic &&
      basic !== `${CLIENT.id}:${CLIENT.secret}` &&
      form.get('client_secret') !== CLIENT.secret
    )
      return json(response, 401, { error: 'invalid_client' })
    const code = this.#codes.get(form.get('code') ?? '')
    const challenge = createHash('sha256')
      .update(form.get('code_verifier') ?? '')
      .digest('base64url')
    const isRight =
      code?.isUsed === false &&
      code.asked.get('code_challenge') === challenge &&
      code.asked.get('redirect_uri') === form.get('redirect_uri')
    if (!isRight) return json(response, 400, { error: 'invalid_grant' })
    code.isUsed = true
    json(response, 200, {
      access_token: randomBytes(16).toString('hex'),
      token_type: 'Bearer',
      expires_in: 60,
      id_token: this.#idToken(code.asked.get('nonce') ?? ''),
    })
  }

  #idToken(nonce: string): string {
    const now = Math.floor(Date.now() / 1000)
    const own = { iss: this.issuer, aud: CLIENT.id, iat: now, exp: now + 300, nonce }
    const { kid, algorithm, secret } = this.#key
    const header = encoded(this.twistHeader({ alg: algorithm, kid, typ: 'JWT' }))
    const payload = encoded(this.twistClaims({ ...own, ...this.person }))
    const key = this.isForged ? foreignKey(algorithm) : secret
    return `${header}.${payload}.${signed(`${header}.${payload}`, algorithm, key)}`
  }
}

/** Never published. */
const FOREIGN = new Map<Algorithm, SigningKey>()

function foreignKey(algorithm: Algorithm): KeyObject {
  const key = FOREIGN.get(algorithm) ?? newKey(algorithm)
  FOREIGN.set(algorithm, key)
  return key.secret
}

function newKey(algorithm: Algorithm): SigningKey {
  const { privateKey, publicKey } = pairOf(algorithm)
  const kid = randomBytes(4).toString('hex')
  const jwk = { ...publicKey.export({ format: 'jwk' }), kid, use: 'sig', alg: algorithm }
  return { kid, algorithm, secret: privateKey, jwk }
}

function pairOf(algorithm: Algorithm): { readonly privateKey: KeyObject; readonly publicKey: KeyObject } {
  switch (algorithm) {
    case 'RS256':
      return generateKeyPairSync('rsa', { modulusLength: 2048 })
    case 'ES256':
      return generateKeyPairSync('ec', { namedCurve: 'P-256' })
    case 'EdDSA':
      return generateKeyPairSync('ed25519')
  }
}

function signed(text: string, algorithm: Algorithm, key: KeyObject): string {
  const hash = algorithm === 'EdDSA' ? null : 'sha256'
  return sign(hash, Buffer.from(text), { key, dsaEncoding: 'ieee-p1363' }).toString('base64url')
}

const encoded = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url')

function json(response: ServerResponse, status: number, body: object): void {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body))
}

/** Both parts are encoded as in a form. [RFC 6749 2.3.1] */
function credentialOf({ headers }: IncomingMessage): string {
  const given = Buffer.from((headers.authorization ?? '').replace(/^Basic /, ''), 'base64').toString()
  return given.split(':').map(decodeURIComponent).join(':')
}

async function textOf(request: IncomingMessage): Promise<string> {
  let text = ''
  for await (const piece of request) text += String(piece)
  return text
}
