/**
 * The outbox over the current state of this node.
 *
 * Owns: following an index row to its record. Rule: an index page and the records are read one after the other, so what went
 * or moved in between is left out; nobody is told of it twice.
 */
import { isBusy, NO_OUTBOX } from '../state-machine/hooks.ts'
import { type KeyRange, keys, ranges } from '../state-machine/keys.ts'
import type {
  BucketId,
  DeliveryName,
  DeliveryRecord,
  DeliveryStatus,
  HookRecord,
  OutboxTotalRecord,
} from '../state-machine/records.ts'
import type { RowKind, View } from '../state-machine/view.ts'
import type { HookName, OutboxReader } from './outbox-reader.ts'
import type { PageQuery, RowPage } from './row-page.ts'
import type { Page } from './state-reader.ts'

type ReadPage = <K extends RowKind>(query: PageQuery) => Promise<RowPage<K>>

export class LevelOutboxReader implements OutboxReader {
  readonly #view: View
  readonly #page: ReadPage

  constructor(view: View, page: ReadPage) {
    this.#view = view
    this.#page = page
  }

  hooks(after: string, limit: number): Promise<Page<HookRecord>> {
    return this.#page<'hook'>({ all: ranges.hooks(), after, limit })
  }

  async busyHooks(after: string, limit: number): Promise<Page<HookRecord>> {
    const { items, next } = await this.#page<'busyHook'>({ all: ranges.busyHooks(), after, limit })
    const hooks = items.map(({ bucketId, hookId }) => this.#view.get(keys.hook(bucketId, hookId)))
    return { items: hooks.filter((hook) => hook !== undefined).filter(isBusy), next }
  }

  due({ bucketId, hookId }: HookName, before: number, limit: number): Promise<readonly DeliveryRecord[]> {
    return this.#indexed<'due'>(ranges.due(bucketId, hookId, before), 'pending', limit)
  }

  settled(
    { bucketId, hookId }: HookName,
    status: 'delivered' | 'dead',
    limit: number,
  ): Promise<readonly DeliveryRecord[]> {
    return this.#indexed<'settled'>(ranges.settled(bucketId, hookId, status), status, limit)
  }

  delivery(name: DeliveryName): DeliveryRecord | undefined {
    return this.#view.get(keys.delivery(name))
  }

  deliveries(bucket: BucketId, after: string, limit: number): Promise<Page<DeliveryRecord>> {
    return this.#page<'delivery'>({ all: ranges.deliveries(bucket), after, limit })
  }

  total(): OutboxTotalRecord {
    return this.#view.get(keys.outboxTotal()) ?? NO_OUTBOX
  }

  async #indexed<K extends 'due' | 'settled'>(
    all: KeyRange,
    status: DeliveryStatus,
    limit: number,
  ): Promise<readonly DeliveryRecord[]> {
    const { items } = await this.#page<K>({ all, limit })
    return items
      .map((name) => this.delivery(name))
      .filter((delivery) => delivery?.status === status) as readonly DeliveryRecord[]
  }
}
