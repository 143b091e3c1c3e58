/**
 * `holdfast deliveries`: what was sent to webhooks, what waits, what was given up, and one of them once more.
 */
import type { DataClient } from '../../client/clients.ts'
import type { DataOperations } from '../../client/generated/data-operations.ts'
import { askData, pagesOf } from '../base/asking.ts'
import type { DataAccessOptions } from '../base/cluster-access.ts'
import { CommandError, EXIT } from '../base/exit.ts'
import { note, printable, printFacts, printJson, printTable } from '../base/printing.ts'

export interface DeliveryOptions extends DataAccessOptions {
  readonly json?: boolean
}

export interface ListDeliveriesOptions extends DeliveryOptions {
  readonly config?: string
  readonly status?: 'pending' | 'delivered' | 'dead'
  readonly limit?: number
}

export type Delivery = DataOperations['redeliverNotification']['answer']

export function listDeliveries(bucket: string, options: ListDeliveriesOptions): Promise<number> {
  const { limit = Infinity, json = false } = options
  return askData(options, async (client) => {
    let left = limit
    for await (const deliveries of pages(client, bucket, options)) {
      const shown = deliveries.slice(0, left)
      if (json) for (const delivery of shown) printJson(delivery)
      else printTable(shown.map(deliveryRow))
      left -= shown.length
      if (left <= 0) break
    }
    return EXIT.done
  })
}

async function* pages(
  client: DataClient,
  bucket: string,
  { config, status }: Pick<ListDeliveriesOptions, 'config' | 'status'>,
): AsyncGenerator<readonly Delivery[]> {
  const filter = {
    ...(config === undefined ? {} : { configId: config }),
    ...(status === undefined ? {} : { status }),
  }
  for await (const { deliveries } of pagesOf((from) =>
    client.call('listNotificationDeliveries', { params: { bucket }, query: { ...filter, ...from } }),
  ))
    yield deliveries
}

/** The API has no look-up, so the log is searched; it is bounded for each bucket. */
export function showDelivery(bucket: string, id: string, options: DeliveryOptions): Promise<number> {
  return askData(options, async (client) => {
    for await (const deliveries of pages(client, bucket, {})) {
      const found = deliveries.find(({ deliveryId }) => deliveryId === id)
      if (found === undefined) continue
      if (options.json) printJson(found)
      else printFacts({ ...found, ...found.lastAttempt })
      return EXIT.done
    }
    throw new CommandError(`The delivery "${id.slice(0, 80)}" does not exist`, {
      code: 'not_found',
      advice: `those that the log still has are listed with: holdfast deliveries list ${bucket}`,
      hint: '',
    })
  })
}

export function redeliver(bucket: string, deliveryId: string, options: DeliveryOptions): Promise<number> {
  return askData(options, async (client) => {
    const { answer } = await client.call('redeliverNotification', { params: { bucket, deliveryId } })
    if (options.json) printJson(answer)
    else note(`${answer.deliveryId} is sent once more to ${answer.configId}`)
    return EXIT.done
  })
}

export function deliveryRow(delivery: Delivery): readonly string[] {
  const { deliveryId, configId, type, key, status, attempts, lastAttempt, eventTime } = delivery
  const last = lastAttempt === null ? '' : `${lastAttempt.error ?? lastAttempt.status ?? ''}`
  const what = key === null ? '' : printable(key)
  return [
    eventTime,
    deliveryId,
    configId,
    status.padEnd(9),
    `${attempts}`,
    printable(last || '-'),
    type,
    what,
  ]
}
