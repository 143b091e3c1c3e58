/**
 * A client of multipart uploads in the bucket `photos`: creates, sends parts, completes, over HTTP.
 */
import assert from 'node:assert/strict'
import type http from 'node:http'
import { patternBytes } from '../helpers/content-world.ts'
import { ApiWorld, type ApiAnswer } from './api-world.ts'
import { usageOf } from '../../src/state-machine/usage/usage.ts'

export const MIB = 1024 * 1024
/** The smallest part that need not be the last. */
export const PART_MIN = 5 * MIB
export const UPLOADS = '/api/v1/buckets/photos/multipart'

export interface Named {
  readonly partNumber: number
  readonly etag: string
}

export class MultipartClient {
  readonly world: ApiWorld
  readonly token: string

  static async start(...parameters: Parameters<typeof ApiWorld.withBucket>): Promise<MultipartClient> {
    return new MultipartClient(await ApiWorld.withBucket(...parameters))
  }

  constructor({ world, token }: { readonly world: ApiWorld; readonly token: string }) {
    this.world = world
    this.token = token
  }

  /** As it stands behind `multipart/`. */
  ask(method: string, rest: string, body?: string | Buffer | object, headers = {}): Promise<ApiAnswer> {
    const path = `${UPLOADS}${rest === '' || rest.startsWith('?') ? '' : '/'}${rest}`
    const { token } = this
    return this.world.call({ method, path, token, headers, ...(body === undefined ? {} : { body }) })
  }

  async begin(key: string, body: object = {}): Promise<string> {
    const started = await this.ask('POST', key, body)
    assert.equal(started.status, 201, started.bytes.toString())
    return String(started.json['uploadId'])
  }

  put(
    upload: { readonly key: string; readonly id: string },
    partNumber: number | string,
    bytes: Buffer | string,
    headers: http.OutgoingHttpHeaders = {},
  ): Promise<ApiAnswer> {
    return this.ask('PUT', `${upload.id}/parts/${partNumber}/${upload.key}`, bytes, headers)
  }

  /** Uploads, and asserts that the part is stored. */
  async part(
    upload: { readonly key: string; readonly id: string },
    partNumber: number,
    bytes: Buffer | string,
  ): Promise<Named> {
    const stored = await this.put(upload, partNumber, bytes)
    assert.equal(stored.status, 200, stored.bytes.toString())
    return { partNumber, etag: String(stored.json['etag']) }
  }

  complete(
    upload: { readonly key: string; readonly id: string },
    parts: readonly Named[],
    headers: http.OutgoingHttpHeaders = {},
  ): Promise<ApiAnswer> {
    return this.ask('POST', `${upload.id}/complete/${upload.key}`, { parts }, headers)
  }

  abort(upload: { readonly key: string; readonly id: string }): Promise<ApiAnswer> {
    return this.ask('DELETE', `${upload.id}/${upload.key}`)
  }

  get(key: string, headers: http.OutgoingHttpHeaders = {}): Promise<ApiAnswer> {
    return this.world.call({ path: `/api/v1/buckets/photos/objects/${key}`, token: this.token, headers })
  }

  head(key: string): Promise<ApiAnswer> {
    const path = `/api/v1/buckets/photos/objects/${key}`
    return this.world.call({ method: 'HEAD', path, token: this.token })
  }

  get usage() {
    return usageOf(this.world.memory.services.state, 'acme')
  }
}

/** Bytes of a part that no other part of the tests has. */
export function partBytes(partNumber: number, size: number): Buffer {
  return patternBytes(size, 1000 + partNumber)
}
