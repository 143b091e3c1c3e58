/**
 * A client for tests of notifications: the configs of the bucket `films`, and its outbox.
 */
import type { DeliveryRecord } from '../../src/state-machine/events/records.ts'
import { BucketClient } from './bucket-client.ts'
import { bucketKeys } from '../../src/state-machine/buckets/keys.ts'
import { eventRanges } from '../../src/state-machine/events/keys.ts'

export const PATH = '/api/v1/buckets/films/notifications'
export const EVENTS = ['object-created', 'object-removed']
export const HOOK = { url: 'https://app.example/hook', events: EVENTS }

export type Config = Record<string, unknown>

export class HookClient {
  readonly films: BucketClient

  constructor(films: BucketClient) {
    this.films = films
  }

  static async start(...args: Parameters<typeof BucketClient.start>): Promise<HookClient> {
    return new HookClient(await BucketClient.start(...args))
  }

  get() {
    return this.films.ask({ path: PATH })
  }

  set(...configs: readonly object[]) {
    return this.films.ask({ method: 'PUT', path: PATH, body: { configs } })
  }

  clear() {
    return this.films.ask({ method: 'DELETE', path: PATH })
  }

  async configs(): Promise<readonly Config[]> {
    return (await this.get()).json['configs'] as readonly Config[]
  }

  log(query = '') {
    return this.films.ask({ path: `${PATH}/deliveries${query}` })
  }

  post(what: string) {
    return this.films.ask({ method: 'POST', path: `${PATH}/${what}` })
  }

  get view() {
    return this.films.world.memory.services.state
  }

  /** The outbox of the bucket, newest first. */
  async outbox(): Promise<readonly DeliveryRecord[]> {
    const { state } = this.films.world.memory.services
    const id = state.get(bucketKeys.bucket('acme', 'films'))?.id ?? ''
    return (await state.page(eventRanges.deliveries(id), { limit: 1000 })).items
  }

  /** The result as a deliverer reports it. */
  async tell(delivery: DeliveryRecord, status: number): Promise<void> {
    const { services } = this.films.world.memory
    const bucketId = services.state.get(bucketKeys.bucket('acme', 'films'))?.id ?? ''
    const { hookId, eventId, attempts } = delivery
    const verdict = status < 300 ? 'taken' : status === 410 ? 'gone' : 'failed'
    const error = status < 300 ? null : `status ${status}`
    const about = { bucketId, hookId, eventId, attempts, verdict, status, error } as const
    const result = { ...about, durationMs: 5, retryAfterMs: null, jitter: 0 }
    await services.propose({ type: 'recordAttempts', results: [result] })
  }
}
