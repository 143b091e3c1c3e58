/**
 * The policy of a bucket as an owner sets it, through the admin listener.
 */
import assert from 'node:assert/strict'
import { BucketClient } from './bucket-client.ts'
import type { Ask, ApiAnswer } from './api-world.ts'

type Teardown = Parameters<typeof BucketClient.start>[0]
type Options = Parameters<typeof BucketClient.start>[2]

export const FILMS = 'arn:aws:s3:::films'
/** The bucket and all its keys. */
export const WHOLE = [FILMS, `${FILMS}/*`]

export interface Statement {
  readonly Effect?: 'Allow' | 'Deny'
  readonly Principal?: unknown
  readonly Action?: unknown
  readonly Resource?: unknown
  readonly Condition?: object
}

/** Denies everything to every principal, with the given changes. */
export function denial(changes: Statement = {}): Statement {
  return { Effect: 'Deny', Principal: '*', Action: 's3:*', Resource: WHOLE, ...changes }
}

export class PolicyClient {
  readonly films: BucketClient
  readonly owner: string

  /** Over the bucket `films`, as BucketClient makes it. */
  static async start(t: Teardown, bucket: object = {}, options: Options = {}): Promise<PolicyClient> {
    const films = await BucketClient.start(t, bucket, options)
    return new PolicyClient(films, await films.world.memory.adminToken('owner'))
  }

  private constructor(films: BucketClient, owner: string) {
    this.films = films
    this.owner = owner
  }

  ask(ask: Partial<Ask> = {}): Promise<ApiAnswer> {
    const path = '/admin/api/v1/tenants/acme/buckets/films/policy'
    return this.films.world.call({ admin: true, token: this.owner, path, ...ask })
  }

  put(policy: object, query = ''): Promise<ApiAnswer> {
    const path = `/admin/api/v1/tenants/acme/buckets/films/policy${query}`
    return this.ask({ method: 'PUT', path, body: policy })
  }

  async set(...Statement: readonly Statement[]): Promise<void> {
    const { status, json } = await this.put({ Version: '2012-10-17', Statement })
    assert.equal(status, 200, JSON.stringify(json))
  }

  async clear(): Promise<void> {
    assert.equal((await this.ask({ method: 'DELETE' })).status, 204)
  }
}
