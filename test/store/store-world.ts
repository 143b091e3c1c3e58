/**
 * A store in a directory of its own under the system's temporary one, with a log that only counts.
 *
 * The record of each batch is the index of its last entry as text, so that a test knows which batch it sees.
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { FEATURE_LEVEL } from '../../cluster/node/base/feature-level.ts'
import { SILENT } from '../helpers/loggers.ts'
import { testMetadataKey } from '../helpers/sealed-metadata.ts'
import type { StateBlock, StateDamagedError, StateSource } from '../../cluster/index.ts'
import type { Command, Reply, ReplyValues } from '../../src/state-machine/commands.ts'
import type { BucketRecord } from '../../src/state-machine/buckets/records.ts'
import { decodeReply, encodeCommand } from '../../src/commands/command-codec.ts'
import { openStore, type Store } from '../../src/store/open-store.ts'
import { createPropose, type Propose } from '../../src/commands/propose.ts'
import { createTenant, OPEN_SESSION } from '../state-machine/map-world.ts'
import { timesAt } from '../helpers/entry-time.ts'
import { bucketKeys } from '../../src/state-machine/buckets/keys.ts'
import type { Database } from '../../src/store/rows/state-rows.ts'

export interface Teardown {
  teardown(handler: () => void | Promise<void>): void
}

export function temporaryDirectory(t: Teardown): string {
  const dir = mkdtempSync(join(tmpdir(), 'holdfast-store-'))
  t.teardown(() => rmSync(dir, { recursive: true, force: true }))
  return dir
}

export class StoreWorld {
  readonly dir: string
  readonly store: Store
  readonly propose: Propose
  index = 0
  featureLevel = FEATURE_LEVEL
  readonly levels = { reachesLevel: async (level: number) => this.featureLevel >= level }
  /** Damage reported to the machine. */
  readonly damages: StateDamagedError[] = []
  #laterMs = 0

  private constructor(dir: string) {
    this.dir = dir
    this.store = openStore({ dir, logger: SILENT, metadataKey: testMetadataKey() })
    this.propose = createPropose({ propose: (command) => this.#one(command) })
  }

  /** Opens what is in `dir`, or a fresh directory. */
  static async open(t: Teardown, dir: string = temporaryDirectory(t)): Promise<StoreWorld> {
    const world = new StoreWorld(dir)
    t.teardown(() => world.store.stateMachine.close())
    const { record, fault } = await world.store.stateMachine.open((error) => world.damages.push(error))
    if (fault !== null) throw new Error(`the state has a fault: ${fault}`)
    world.index = indexIn(record)
    return world
  }

  /** With the tenant `acme` and its bucket `photos`. */
  static async withBucket(t: Teardown): Promise<StoreWorld> {
    const world = await StoreWorld.open(t)
    await world.apply([
      createTenant('acme'),
      {
        type: 'createBucket',
        tenantId: 'acme',
        name: 'photos',
        bucketsMax: 10,
        versioning: 'Unversioned',
        objectLockEnabled: false,
      },
      OPEN_SESSION,
    ])
    return world
  }

  get photos(): BucketRecord {
    const bucket = this.store.reader.get(bucketKeys.bucket('acme', 'photos'))
    if (bucket === undefined) throw new Error('there is no bucket "photos"')
    return bucket
  }

  /** Of the last entry. */
  get time(): number {
    return 1_700_000_000_000 + this.index + this.#laterMs
  }

  later(ms: number): void {
    this.#laterMs += ms
  }

  async do<C extends Command>(command: C): Promise<ReplyValues[C['type']]> {
    const [reply] = await this.apply([command])
    if (reply?.ok !== true) throw new Error(`${command.type} was refused: ${reply?.message}`)
    return reply.value as ReplyValues[C['type']]
  }

  /** All commands in one entry. */
  async apply(commands: readonly Command[]): Promise<readonly Reply[]> {
    return (await this.#entry(commands.map(encodeCommand))).map(decodeReply)
  }

  async #one(command: Uint8Array): Promise<Uint8Array> {
    const [reply] = await this.#entry([command])
    if (reply === undefined) throw new Error('no reply came back')
    return reply
  }

  async #entry(commands: readonly Uint8Array[]): Promise<readonly Uint8Array[]> {
    const index = ++this.index
    const entry = { index, ...timesAt(this.time), featureLevel: this.featureLevel, commands }
    const [replies] = await this.store.stateMachine.apply({ entries: [entry], record: recordOf(index) })
    return replies ?? []
  }
}

export function recordOf(index: number): Uint8Array {
  return Buffer.from(`applied ${index}`)
}

export function indexIn(record: Uint8Array | null): number {
  return record === null ? 0 : Number(Buffer.from(record).toString().slice('applied '.length))
}

/** Every block, pulled by a receiver that holds nothing. */
export async function blocksOf(source: StateSource): Promise<StateBlock[]> {
  const blocks: StateBlock[] = []
  for (let after: Uint8Array = new Uint8Array(); ; ) {
    const block = await source.block({ after, held: null })
    blocks.push(block)
    if (block.isEnd) return blocks
    after = block.through
  }
}

/** In the place of a batch of LevelDB: its write fails. */
export function failingBatch(error: Error): object {
  return { put: () => undefined, del: () => undefined, write: async () => await Promise.reject(error) }
}

/** What makes batches of LevelDB, for the place of `db.batch`: each write goes through `hold`. */
export function heldBatches(db: Database, hold: (write: () => Promise<void>) => Promise<void>): () => object {
  const batch = db.batch.bind(db)
  return () => {
    const held = batch()
    const write = held.write.bind(held)
    return Object.assign(held, { write: () => hold(() => write({ sync: true })) })
  }
}
