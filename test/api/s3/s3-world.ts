/**
 * A world with a bucket, and a client that signs requests of the S3 API.
 */
import assert from 'node:assert/strict'
import { ApiWorld, type ApiAnswer, type Ask } from '../api-world.ts'
import { type ReadElement, readXml } from '../../../src/api/s3/xml/read-xml.ts'
import { payloadHash, presignedPath, signedHeaders, type SigningSecret } from './s3-signer.ts'

export interface S3Ask {
  readonly method?: string
  /** Percent-encoded, with the query. */
  readonly path: string
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string | Buffer
  /** In place of the hash of the body. */
  readonly payload?: string
  readonly at?: Date
  readonly secret?: SigningSecret
  /** In place of the address of the listener. */
  readonly host?: string
  readonly region?: string
}

export interface S3Answer extends ApiAnswer {
  /** Null: the answer has no body, or no XML. */
  readonly xml: ReadElement | null
  /** Of an error document. */
  readonly s3Code: string | undefined
}

export class S3World {
  readonly world: ApiWorld
  readonly secret: SigningSecret
  /** A bearer token of the same tenant, for the native API. */
  readonly token: string

  /** With the tenant `acme`, its bucket `photos` and an access key for everything; `scopes`: of the key. */
  static async start(
    t: Parameters<typeof ApiWorld.withBucket>[0],
    {
      scopes = 'read,write,delete,admin',
      ...options
    }: Parameters<typeof ApiWorld.withBucket>[1] & { readonly scopes?: string } = {},
  ): Promise<S3World> {
    const { world, token } = await ApiWorld.withBucket(t, options)
    const secret = await world.memory.accessKey('acme', scopes)
    return new S3World(world, secret, token)
  }

  private constructor(world: ApiWorld, secret: SigningSecret, token: string) {
    this.world = world
    this.secret = secret
    this.token = token
  }

  get host(): string {
    return `127.0.0.1:${this.world.dataPort}`
  }

  get now(): Date {
    return new Date(this.world.memory.now)
  }

  /** Signs in the header. */
  async call(ask: S3Ask): Promise<S3Answer> {
    return this.sent(this.signed(ask))
  }

  /** The request as it would be sent. */
  signed(ask: S3Ask): Ask {
    const { method = 'GET', path, headers = {}, body, at = this.now, secret = this.secret } = ask
    const bytes = Buffer.from(body ?? '')
    const payload = ask.payload ?? payloadHash(bytes)
    const region = ask.region === undefined ? {} : { region: ask.region }
    const request = { method, path, host: ask.host ?? this.host, headers, payload, at, ...region }
    return {
      method,
      path,
      headers: signedHeaders(secret, request),
      ...(body === undefined ? {} : { body: bytes }),
    }
  }

  /** Signs in the query. */
  presigned(ask: S3Ask, expiresSeconds = 900): string {
    const { method = 'GET', path, headers = {}, at = this.now, secret = this.secret } = ask
    const request = { method, path, host: ask.host ?? this.host, headers, payload: 'UNSIGNED-PAYLOAD', at }
    return presignedPath(secret, request, expiresSeconds)
  }

  async sent(ask: Ask): Promise<S3Answer> {
    const answer = await this.world.send(ask)
    assert.match(
      String(answer.headers['x-amz-request-id']),
      /^[0-9a-f-]{36}$/,
      'every answer has a request id',
    )
    const isXml = answer.headers['content-type'] === 'application/xml' && answer.bytes.length > 0
    const xml = isXml
      ? await readXml(pieces(answer.bytes), { bytesMax: 2 ** 26, elementsMax: 1e6, depthMax: 32 })
      : null
    const s3Code = xml?.name === 'Error' ? (xml.textOf('Code') ?? undefined) : undefined
    return { ...answer, xml, s3Code }
  }
}

async function* pieces(bytes: Buffer): AsyncGenerator<Uint8Array> {
  yield bytes
}
