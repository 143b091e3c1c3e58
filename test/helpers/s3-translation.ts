/**
 * Requests on buckets and objects, as the native API has them, sent through the S3 API; and the answers, as the native API would have given them.
 *
 * Owns: one form of every request in S3. Knows nothing of: what is expected. Rule: what S3 cannot say is not translated, and what its answer does not
 * show is not made up.
 */
import assert from 'node:assert/strict'
import { s3Table } from '../../src/api/s3/routes.ts'
import { readXml, type ReadElement } from '../../src/api/s3/xml/read-xml.ts'
import { payloadHash, signedHeaders, type SigningSecret } from '../api/s3/s3-signer.ts'
import type { ApiAnswer, Json, ObjectAsk, Translate } from './object-client.ts'
import type { Answer } from './process-cluster.ts'
import type { S3Form } from './s3-forms/form.ts'
import { s3FormOf } from './s3-forms/s3-form-of.ts'

export interface S3Sent {
  readonly method: string
  /** Of the request line. */
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: Buffer | null
}

export interface S3Server {
  /** Of the data listener. */
  authority(nodeId: string): string
  send(nodeId: string, sent: S3Sent): Promise<Answer>
}

/** What refusals of the native API are there. `InvalidRequest` is several. */
const CODES: Readonly<Record<string, string>> = {
  AccessDenied: 'object_locked',
  BucketAlreadyOwnedByYou: 'bucket_already_exists',
  BucketNotEmpty: 'bucket_not_empty',
  EntityTooSmall: 'entity_too_small',
  IdempotencyParameterMismatch: 'idempotency_conflict',
  InvalidArgument: 'invalid_request',
  InvalidBucketState: 'invalid_bucket_state',
  InvalidPart: 'invalid_part',
  InvalidPartOrder: 'invalid_part_order',
  MalformedXML: 'invalid_request',
  MethodNotAllowed: 'method_not_allowed',
  NoSuchBucket: 'not_found',
  NoSuchKey: 'not_found',
  NoSuchUpload: 'not_found',
  NoSuchVersion: 'not_found',
  PreconditionFailed: 'precondition_failed',
  QuotaExceeded: 'quota_exceeded',
}
const BOUNDS = { bytesMax: 2 ** 26, elementsMax: 1e5, depthMax: 16 }

/** How often each action was asked for. */
export type ActionCounts = Map<string, number>

export class S3Translation {
  readonly actions: ActionCounts = new Map()
  readonly #server: S3Server
  readonly #secret: SigningSecret
  readonly #now: () => Date
  readonly #isWanted: () => boolean

  /** `isWanted`: whether a request goes through S3. */
  constructor(
    server: S3Server,
    about: { readonly secret: SigningSecret; readonly now: () => Date; readonly isWanted: () => boolean },
  ) {
    this.#server = server
    this.#secret = about.secret
    this.#now = about.now
    this.#isWanted = about.isWanted
  }

  readonly translate: Translate = (ask, nodeId) => {
    if (!this.#isWanted()) return null
    const form = s3FormOf(ask)
    return form === null ? null : this.#asked(ask, form, nodeId)
  }

  async #asked(ask: ObjectAsk, form: S3Form, nodeId: string): Promise<ApiAnswer> {
    assert(
      s3Table.routes.some(({ action }) => action === form.action),
      `${form.action} is an action of the S3 API`,
    )
    this.actions.set(form.action, (this.actions.get(form.action) ?? 0) + 1)
    const answer = await this.#send(form, nodeId)
    const xml = await documentOf(answer)
    const { headers, body: bytes } = answer
    const code = xml?.name === 'Error' || answer.status >= 400 ? codeOf(ask, answer.status, xml) : null
    const about = { headers: nativeHeaders(headers), bytes, api: 's3' } as const
    if (code === 'nothing to abort') return { ...about, status: 204, code: null, json: {} }
    if (code !== null) {
      // A slow answer has left with its status before it failed.
      const status = Math.max(answer.status, 400)
      return { ...about, status, code, json: { message: xml?.textOf('Message') ?? '' } }
    }
    if (form.next !== undefined) {
      const next = await this.#asked(ask, form.next, nodeId)
      if (next.code !== null) return next
    }
    const json: Json = form.read({ xml, headers })
    const etag = typeof json['etag'] === 'string' ? { etag: `"${json['etag']}"` } : {}
    return { ...about, headers: { ...about.headers, ...etag }, status: answer.status, code: null, json }
  }

  #send({ method, path, headers, body }: S3Form, nodeId: string): Promise<Answer> {
    const bytes = body === undefined ? null : Buffer.from(body)
    const signed = signedHeaders(this.#secret, {
      method,
      path,
      host: this.#server.authority(nodeId),
      headers: headers ?? {},
      payload: payloadHash(bytes ?? Buffer.alloc(0)),
      at: this.#now(),
    })
    return this.#server.send(nodeId, { method, path, headers: signed, body: bytes })
  }
}

async function documentOf({ headers, body }: Answer): Promise<ReadElement | null> {
  const isXml = headers['content-type'] === 'application/xml' && body.length > 0
  return isXml ? readXml([body], BOUNDS) : null
}

/** Null is no code; the code of a HEAD or of what is not XML is that of its status. */
function codeOf({ method, path }: ObjectAsk, status: number, xml: ReadElement | null): string {
  const code = xml?.textOf('Code') ?? `status ${status}`
  const message = xml?.textOf('Message') ?? ''
  const isAbort = method === 'DELETE' && path.includes('/multipart/')
  // The native API does not say whether there was one. [S3 AbortMultipartUpload]
  if (isAbort && code === 'NoSuchUpload') return 'nothing to abort'
  if (code === 'InvalidRequest')
    return /object lock/i.test(message) ? 'object_lock_not_enabled' : 'invalid_request'
  // What an If-Match names is missing. [S3 PutObject]
  if (code === 'NoSuchKey' && message.includes('does not match')) return 'precondition_failed'
  // Nothing is done by a read.
  if (status === 503) return method === 'GET' ? 'no_leader' : 'unknown'
  return CODES[code] ?? code
}

const NATIVE_NAMES: Readonly<Record<string, string>> = {
  'x-amz-version-id': 'x-service-version-id',
  'x-amz-delete-marker': 'x-service-delete-marker',
  'x-amz-tagging-count': 'x-service-tag-count',
  'x-amz-object-lock-mode': 'x-service-retention-mode',
  'x-amz-object-lock-retain-until-date': 'x-service-retain-until',
  'x-amz-object-lock-legal-hold': 'x-service-legal-hold',
}

function nativeHeaders(headers: Answer['headers']): ApiAnswer['headers'] {
  return Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [NATIVE_NAMES[name] ?? name, value]),
  )
}
