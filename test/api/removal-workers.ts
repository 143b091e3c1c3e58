/** The workers that remove deleted objects, over one store, at a time that the test sets. */
import assert from 'node:assert/strict'
import { Collection } from '../../src/workers/collection.ts'
import { Discarding } from '../../src/workers/discarding.ts'
import { SILENT } from '../helpers/loggers.ts'
import type { BucketClient } from './bucket-client.ts'

export const DELAY_MS = 30_000

export class Workers {
  now = 0
  readonly #discarding: Discarding
  readonly #collection: Collection

  constructor({ reader: state, services: { propose } }: BucketClient['world']['memory']) {
    const now = (): number => this.now
    const parts = { state, propose, delayMs: DELAY_MS, now, logger: SILENT }
    const cluster = { isJobRunner: () => true }
    this.#discarding = new Discarding({ ...parts, cluster })
    this.#collection = new Collection({ confirmedTime: () => 0, ...parts, cluster, members: () => ['n1'] })
  }

  async run(): Promise<void> {
    for (let round = 0; (await this.#discarding.round()) || (await this.#collection.round()); round++)
      assert.ok(round < 1_000, 'they come to an end')
  }
}
