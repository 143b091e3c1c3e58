/**
 * A client for tests of signed URLs: creates them with a bearer token and uses them without one.
 *
 * Rule: the URL is used as it came, byte for byte; only the authority in front of it is cut off.
 */
import assert from 'node:assert/strict'
import http, { type IncomingMessage, type OutgoingHttpHeaders } from 'node:http'
import { once } from 'node:events'
import type { MasterKey } from '../../src/access/master-key.ts'
import type { SignedUrlKeys } from '../../src/access/signed-url-token.ts'
import type { Ask, ApiWorld, ApiAnswer } from './api-world.ts'
import { BucketClient } from './bucket-client.ts'

type Teardown = Parameters<typeof ApiWorld.start>[0]
type Options = Parameters<typeof ApiWorld.start>[1]

/** An upload that the server has started to read. */
export interface Running {
  /** Sends the last bytes; resolves with the status and the problem code. */
  finish(bytes: Buffer | string): Promise<{ readonly status: number; readonly code: unknown }>
}

export class SignedClient {
  readonly films: BucketClient
  readonly world: ApiWorld

  static async start(t: Teardown, bucket: object = {}, options: Options = {}): Promise<SignedClient> {
    return new SignedClient(await BucketClient.start(t, bucket, options))
  }

  constructor(films: BucketClient) {
    this.films = films
    this.world = films.world
  }

  /** By the token of a key with everything, unless another one is given. */
  mint(body: object, more: Partial<Ask> = {}): Promise<ApiAnswer> {
    return this.films.ask({
      method: 'POST',
      path: '/api/v1/sign-url',
      body: { bucket: 'films', ...body },
      ...more,
    })
  }

  /** Path and query of a URL that was made; throws unless it was. */
  async link(body: object, more: Partial<Ask> = {}): Promise<string> {
    const made = await this.mint(body, more)
    assert.equal(made.status, 200, made.bytes.toString())
    return pathOf(made)
  }

  get(path: string, headers: OutgoingHttpHeaders = {}): Promise<ApiAnswer> {
    return this.world.call({ path, headers })
  }

  put(path: string, body: string | Buffer = 'hello', headers: OutgoingHttpHeaders = {}): Promise<ApiAnswer> {
    return this.world.call({ method: 'PUT', path, body, headers })
  }

  /** The body comes in pieces and without a length. */
  async streamed(path: string, pieces: readonly Buffer[]): Promise<{ status: number; code: unknown }> {
    const running = await this.begin(path, pieces.slice(0, -1))
    return running.finish(pieces.at(-1) ?? Buffer.alloc(0))
  }

  /** Resolves when the server requests the body: all checks at the start of a request are done by then. */
  async begin(path: string, pieces: readonly Buffer[]): Promise<Running> {
    const headers = { expect: '100-continue', 'transfer-encoding': 'chunked' }
    const options = { host: '127.0.0.1', port: this.world.dataPort, method: 'PUT', path, headers }
    const request = http.request({ ...options, agent: false })
    // A refused body is cut off; only the answer counts.
    request.on('error', () => undefined)
    const answered = once(request, 'response') as Promise<[IncomingMessage]>
    request.flushHeaders()
    await once(request, 'continue')
    for (const piece of pieces) request.write(piece)
    return {
      finish: async (bytes) => {
        request.end(bytes)
        const [response] = await answered
        const answer = Buffer.concat((await response.toArray()) as Buffer[])
        const { code } = JSON.parse(answer.toString()) as { code?: unknown }
        return { status: response.statusCode ?? 0, code }
      },
    }
  }
}

export const pathOf = ({ json }: ApiAnswer): string => String(json['url']).replace(/^https?:\/\/[^/]+/, '')

/** What the current master key signs and encrypts URLs with. */
export const urlKeys = (masterKey: Pick<MasterKey, 'signingKey'>): SignedUrlKeys => ({
  signing: masterKey.signingKey('signed-url'),
  holder: masterKey.signingKey('signed-url-holder'),
})
