/**
 * The outbox over the current state of this node.
 *
 * Owns: following an index row to its record. Rule: an index page and the records are read one after the other, so what went
 * or moved in between is left out; nobody is told of it twice.
 */
import { eventKeys, eventRanges } from '../../state-machine/events/keys.ts'
import type { View } from '../../state-machine/base/view.ts'
import type { KeyRange } from '../../state-machine/base/row-key.ts'
import { isBusy, NO_OUTBOX } from '../../state-machine/events/hooks.ts'
import type { BucketId } from '../../state-machine/base/record-ids.ts'
import type {
  DeliveryName,
  DeliveryRecord,
  DeliveryStatus,
  HookRecord,
  OutboxTotalRecord,
} from '../../state-machine/events/records.ts'
import type { HookName, OutboxReader } from './outbox-reader.ts'
import type { PageQuery, RowPage } from './row-page.ts'
import type { Page } from './state-reader.ts'

type ReadPage = <R extends object>(query: PageQuery<R>) => Promise<RowPage<R>>

export class LevelOutboxReader implements OutboxReader {
  readonly #view: View
  readonly #page: ReadPage

  constructor(view: View, page: ReadPage) {
    this.#view = view
    this.#page = page
  }

  hooks(after: string, limit: number): Promise<Page<HookRecord>> {
    return this.#page({ all: eventRanges.hooks(), after, limit })
  }

  async busyHooks(after: string, limit: number): Promise<Page<HookRecord>> {
    const { items, next } = await this.#page({ all: eventRanges.busyHooks(), after, limit })
    const hooks = items.map(({ bucketId, hookId }) => this.#view.get(eventKeys.hook(bucketId, hookId)))
    return { items: hooks.filter((hook) => hook !== undefined).filter(isBusy), next }
  }

  due({ bucketId, hookId }: HookName, before: number, limit: number): Promise<readonly DeliveryRecord[]> {
    return this.#indexed(eventRanges.due(bucketId, hookId, before), 'pending', limit)
  }

  settled(
    { bucketId, hookId }: HookName,
    status: 'delivered' | 'dead',
    limit: number,
  ): Promise<readonly DeliveryRecord[]> {
    return this.#indexed(eventRanges.settled(bucketId, hookId, status), status, limit)
  }

  delivery(name: DeliveryName): DeliveryRecord | undefined {
    return this.#view.get(eventKeys.delivery(name))
  }

  deliveries(bucket: BucketId, after: string, limit: number): Promise<Page<DeliveryRecord>> {
    return this.#page({ all: eventRanges.deliveries(bucket), after, limit })
  }

  total(): OutboxTotalRecord {
    return this.#view.get(eventKeys.outboxTotal()) ?? NO_OUTBOX
  }

  async #indexed(
    all: KeyRange<DeliveryName>,
    status: DeliveryStatus,
    limit: number,
  ): Promise<readonly DeliveryRecord[]> {
    const { items } = await this.#page({ all, limit })
    return items
      .map((name) => this.delivery(name))
      .filter((delivery) => delivery?.status === status) as readonly DeliveryRecord[]
  }
}
