/**
 * A client for tests of objects over ApiWorld: one bucket, its routes by name.
 *
 * Rule: nothing is hidden: every call returns the whole answer.
 */
import assert from 'node:assert/strict'
import type { OutgoingHttpHeaders } from 'node:http'
import { type Ask, ApiWorld, type ApiAnswer } from './api-world.ts'

type Teardown = Parameters<typeof ApiWorld.start>[0]
type Options = Parameters<typeof ApiWorld.start>[1]

export class BucketClient {
  readonly world: ApiWorld
  readonly token: string
  readonly name: string

  /** A bucket `films` of the tenant `acme`, beside `photos`, which has no versions. */
  static async start(t: Teardown, bucket: object = {}, options: Options = {}): Promise<BucketClient> {
    const { world, token } = await ApiWorld.withBucket(t, options)
    const client = new BucketClient(world, token, 'films')
    const body = { name: 'films', ...bucket }
    assert.equal((await client.ask({ method: 'POST', path: '/api/v1/buckets', body })).status, 201)
    return client
  }

  constructor(world: ApiWorld, token: string, name: string) {
    this.world = world
    this.token = token
    this.name = name
  }

  /** Another bucket, or the same one by another token. */
  as(change: { readonly name?: string; readonly token?: string }): BucketClient {
    return new BucketClient(this.world, change.token ?? this.token, change.name ?? this.name)
  }

  /** The same by a key of all four verbs, which the usual one has not. */
  async asAdmin(): Promise<BucketClient> {
    return this.as({ token: await this.world.memory.bearer('acme', 'read,write,delete,admin') })
  }

  /** `path`: of the plane. */
  ask(ask: Ask): Promise<ApiAnswer> {
    return this.world.call({ token: this.token, ...ask })
  }

  /** `route`: below the bucket; `key` with its query, as in a path. */
  on(route: string, key: string, more: Partial<Ask> = {}): Promise<ApiAnswer> {
    return this.ask({ path: `/api/v1/buckets/${this.name}/${route}/${key}`, ...more })
  }

  put(key: string, body: string | Buffer = 'hello', headers: OutgoingHttpHeaders = {}): Promise<ApiAnswer> {
    return this.on('objects', key, { method: 'PUT', body, headers })
  }

  get(key: string, headers: OutgoingHttpHeaders = {}): Promise<ApiAnswer> {
    return this.on('objects', key, { headers })
  }

  head(key: string): Promise<ApiAnswer> {
    return this.on('objects', key, { method: 'HEAD' })
  }

  remove(key: string, headers: OutgoingHttpHeaders = {}): Promise<ApiAnswer> {
    return this.on('objects', key, { method: 'DELETE', headers })
  }

  copy(key: string, body: object): Promise<ApiAnswer> {
    return this.on('object-copy', key, { method: 'POST', body: { sourceBucket: this.name, ...body } })
  }

  batchDelete(body: object): Promise<ApiAnswer> {
    const path = `/api/v1/buckets/${this.name}/objects:batchDelete`
    return this.ask({ method: 'POST', path, body })
  }

  versioning(status: string): Promise<ApiAnswer> {
    const path = `/api/v1/buckets/${this.name}/versioning`
    return this.ask({ method: 'PUT', path, body: { status } })
  }

  list(query: Record<string, string> = {}): Promise<ApiAnswer> {
    return this.ask({ path: `/api/v1/buckets/${this.name}/objects?${new URLSearchParams(query).toString()}` })
  }

  versions(query: Record<string, string> = {}): Promise<ApiAnswer> {
    return this.ask({
      path: `/api/v1/buckets/${this.name}/versions?${new URLSearchParams(query).toString()}`,
    })
  }

  /** `key@versionId`, a delete marker as `key-versionId`, the latest with a star; newest first. */
  async shown(query: Record<string, string> = {}): Promise<readonly string[]> {
    const { versions } = (await this.versions(query)).json as { versions: readonly ShownVersion[] }
    return versions.map(
      ({ key, versionId, isLatest, isDeleteMarker }) =>
        `${key}${isDeleteMarker ? '-' : '@'}${versionId}${isLatest ? '*' : ''}`,
    )
  }
}

interface ShownVersion {
  readonly key: string
  readonly versionId: string
  readonly isLatest: boolean
  readonly isDeleteMarker: boolean
}

export const idOf = ({ headers }: ApiAnswer): string => String(headers['x-service-version-id'])
export const etagOf = ({ json }: ApiAnswer): string => String(json['etag'])
