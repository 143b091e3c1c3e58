/** A tenant with bodies of every kind over one node in memory, and the workers that an exchange of its key needs, at a time that the test sets. */
import assert from 'node:assert/strict'
import { chunkRanges } from '../../src/state-machine/chunks/keys.ts'
import type { ChunkRecord } from '../../src/state-machine/chunks/records.ts'
import { longOperationKeys } from '../../src/state-machine/long-operations/keys.ts'
import type { LongOperation } from '../../src/state-machine/long-operations/records.ts'
import { tenantKeys } from '../../src/state-machine/tenants/keys.ts'
import type { TenantRecord } from '../../src/state-machine/tenants/records.ts'
import {
  FIRST_INLINE,
  inlinePage,
  type InlinePage,
  type InlinePlace,
} from '../../src/store/reads/inline-walk.ts'
import { KeyExchange } from '../../src/workers/key-exchange.ts'
import { patternBytes } from '../helpers/content-world.ts'
import { SILENT } from '../helpers/loggers.ts'
import type { ApiAnswer } from './api-world.ts'
import { BucketClient } from './bucket-client.ts'
import { MultipartClient } from './multipart-client.ts'
import { DELAY_MS, Workers } from './removal-workers.ts'

export const PATH = '/admin/api/v1/tenants/acme/encryption'
const ROUNDS_MAX = 5_000

export class ExchangeWorld {
  readonly films: BucketClient
  readonly operator: string
  readonly removal: Workers
  driver: KeyExchange
  isJobRunner = true
  /** Called before each proposal of the driver. */
  onPropose: () => void = () => undefined
  /** What each key must answer. */
  readonly bodies = new Map<string, Buffer>()

  static async start(
    t: Parameters<typeof BucketClient.start>[0],
    bucket: object = {},
  ): Promise<ExchangeWorld> {
    const films = await BucketClient.start(t, { versioning: 'Enabled', ...bucket })
    return new ExchangeWorld(films, await films.world.memory.adminToken('operator'))
  }

  private constructor(films: BucketClient, operator: string) {
    this.films = films
    this.operator = operator
    this.removal = new Workers(films.world.memory)
    this.driver = this.nextDriver()
  }

  /** Of another node, or of this one after a restart. */
  nextDriver(): KeyExchange {
    const { memory } = this.films.world
    const { reader: state, content, uploads, services } = memory
    const propose = (async (command: Parameters<typeof services.propose>[0]) => {
      this.onPropose()
      return services.propose(command)
    }) as typeof services.propose
    const cluster = { isJobRunner: () => this.isJobRunner, blobs: memory.blobs }
    this.driver = new KeyExchange({
      cluster,
      state,
      propose,
      content,
      uploads,
      confirmedTime: () => 0,
      now: () => this.removal.now,
      wait: async (ms) => void (this.removal.now += ms),
      logger: SILENT,
    })
    return this.driver
  }

  ask(method: string, path: string, body?: object, token = this.operator): Promise<ApiAnswer> {
    return this.films.world.call({
      admin: true,
      method,
      path,
      token,
      ...(body === undefined ? {} : { body }),
    })
  }

  show(): Promise<ApiAnswer> {
    return this.ask('GET', PATH)
  }

  async rotate(more: object = {}): Promise<string> {
    const answer = await this.ask('POST', `${PATH}/rotate`, { reason: 'yearly', ...more })
    assert.equal(answer.status, 202, answer.bytes.toString())
    return String(answer.json['operationId'])
  }

  operation(id: string): LongOperation {
    const operation = this.films.world.memory.reader.get(longOperationKeys.operation(id))
    assert.ok(operation !== undefined)
    return operation
  }

  async put(key: string, body: Buffer): Promise<void> {
    assert.equal((await this.films.put(key, body)).status, 200)
    this.bodies.set(key, body)
  }

  /** Small, of one chunk, of several, compressed, shared, copied, of parts. */
  async fill(): Promise<void> {
    await this.put('empty', Buffer.alloc(0))
    await this.put('small', patternBytes(900, 3))
    await this.put('chunk', patternBytes(10_000, 4))
    await this.put('shared', patternBytes(10_000, 4))
    await this.put('compressed', Buffer.alloc(300_000, 'abcdefgh'))
    await this.put('large', patternBytes(4 * 1024 * 1024 + 70_000, 5))
    assert.equal((await this.films.copy('copy', { sourceKey: 'small' })).status, 200)
    this.bodies.set('copy', patternBytes(900, 3))
    await this.films.put('versions', patternBytes(500, 6))
    await this.put('versions', patternBytes(600, 7))
    const { world, token } = this.films
    const multipart = new MultipartClient({ world, token })
    const upload = { key: 'parts', id: await multipart.begin('parts') }
    const part = await multipart.part(upload, 1, patternBytes(700, 8))
    assert.equal((await multipart.complete(upload, [part])).status, 200)
    this.unfinished = { key: 'later', id: await multipart.begin('later') }
    this.#part = await multipart.part(this.unfinished, 1, patternBytes(800, 9))
  }

  unfinished: { readonly key: string; readonly id: string } = { key: '', id: '' }
  #part: Awaited<ReturnType<MultipartClient['part']>> | null = null

  /** Completes the upload that was unfinished, and reads its object. */
  async complete(): Promise<void> {
    const { world, token } = this.films
    const multipart = new MultipartClient({ world, token })
    assert.ok(this.#part !== null)
    assert.equal((await multipart.complete(this.unfinished, [this.#part])).status, 200)
    assert.ok((await multipart.get('later')).bytes.equals(patternBytes(800, 9)))
  }

  /** Every key answers what it did. */
  async check(): Promise<void> {
    for (const [key, body] of this.bodies)
      assert.ok((await this.films.get(key)).bytes.equals(body), `${key} reads as it was stored`)
    if (this.unfinished.id === '') return
    const { world, token } = this.films
    assert.ok((await new MultipartClient({ world, token }).get('parts')).bytes.equals(patternBytes(700, 8)))
  }

  /** One round of the driver. */
  round(): Promise<boolean> {
    return this.driver.round()
  }

  /** Rounds of the driver and of the workers that remove, until the operation has ended. */
  async untilEnded(operation: string): Promise<void> {
    for (let n = 0; n < ROUNDS_MAX; n++) {
      await this.driver.round()
      if (this.tenant.formerKey === undefined)
        return assert.equal(this.operation(operation).status, 'succeeded')
      if (n % 50 === 49) {
        this.removal.now += DELAY_MS
        await this.removal.run()
      }
    }
    assert.fail('the exchange comes to an end')
  }

  get tenant(): TenantRecord {
    const tenant = this.films.world.memory.reader.get(tenantKeys.tenant('acme'))
    assert.ok(tenant !== undefined)
    return tenant
  }

  async chunks(): Promise<readonly ChunkRecord[]> {
    return (await this.films.world.memory.reader.page(chunkRanges.chunksOf('acme'), { limit: 1000 })).items
  }

  /** What says another version than this: kinds and names. */
  async otherVersions(version: number): Promise<readonly string[]> {
    const found: string[] = []
    for (const { id, keyVersion = 1 } of await this.chunks())
      if (keyVersion !== version) found.push(`chunk ${id}`)
    for (let place: InlinePlace | null = FIRST_INLINE; place !== null; ) {
      const page: InlinePage = await inlinePage(this.films.world.memory.reader, 'acme', place, 100)
      for (const { bodyId, row } of page.bodies)
        if ((row.keyVersion ?? 1) !== version) found.push(`body ${bodyId}`)
      place = page.next
    }
    return found
  }
}
