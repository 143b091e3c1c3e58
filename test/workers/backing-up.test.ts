/** The driver of backups, over a real store and a directory whose operations can fail. [docs/adr/0086-backups.md] */
import { createHash } from 'node:crypto'
import t from 'tap'
import { encodeMachineRecord } from '../../cluster/node/base/machine-record.ts'
import { MasterKey } from '../../src/access/master-key.ts'
import { BackupReader, listBackups } from '../../src/backup/read/backup-reader.ts'
import { DirectoryTarget } from '../../src/backup/targets/directory-target.ts'
import {
  type BackupTarget,
  type TargetEntry,
  TargetRefused,
  TargetUnreachable,
} from '../../src/backup/targets/target.ts'
import { longOperationKeys } from '../../src/state-machine/long-operations/keys.ts'
import type { LongOperation } from '../../src/state-machine/long-operations/records.ts'
import { rowsOf } from '../../src/store/rows/row-block.ts'
import { rowHash, RowSum } from '../../src/store/rows/row-sum.ts'
import { BackingUp } from '../../src/workers/backing-up.ts'
import { SILENT } from '../helpers/loggers.ts'
import { MemoryBlobs } from '../helpers/memory-blobs.ts'
import { fresh, putChunks, startOperation } from '../state-machine/map-world.ts'
import { StoreWorld, type Teardown } from '../store/store-world.ts'

const CLUSTER = 'Backed-Up-Cluster'
const masterKey = MasterKey.fromBytes('mk-test', Buffer.alloc(32, 1))
const sha256 = (bytes: Uint8Array): string => createHash('sha256').update(bytes).digest('hex')

class FaultyTarget implements BackupTarget {
  readonly description = 'faulty'
  readonly #inner: DirectoryTarget
  readonly put_: string[] = []
  /** Called before each operation, with its name. */
  fault: (what: string, name: string) => void = () => undefined
  /** Puts of these are confirmed and forgotten. */
  forgets: (name: string) => boolean = () => false

  constructor(inner: DirectoryTarget) {
    this.#inner = inner
  }

  async put(name: string, bytes: AsyncIterable<Uint8Array>, size: number): Promise<void> {
    this.fault('put', name)
    if (this.forgets(name)) return
    await this.#inner.put(name, bytes, size)
    this.put_.push(name)
  }

  async *get(name: string): AsyncIterable<Uint8Array> {
    this.fault('get', name)
    yield* this.#inner.get(name)
  }

  head(name: string): Promise<number | undefined> {
    return this.#inner.head(name)
  }

  async *list(prefix: string): AsyncIterable<TargetEntry> {
    this.fault('list', prefix)
    yield* this.#inner.list(prefix)
  }

  remove(name: string): Promise<void> {
    return this.#inner.remove(name)
  }

  async close(): Promise<void> {}

  /** Chunks that were put, each as often as it was. */
  get chunks(): readonly string[] {
    return this.put_.filter((name) => name.startsWith('chunks/'))
  }
}

class Bench {
  readonly world: StoreWorld
  readonly target: FaultyTarget
  readonly blobs = new MemoryBlobs()
  now = 0
  /** The log takes one entry after the other. */
  #last: Promise<unknown> = Promise.resolve()
  readonly #propose: StoreWorld['propose'] = (command, origin) => {
    const turn = this.#last.then(() => this.world.propose(command, origin))
    this.#last = turn.catch(() => undefined)
    return turn
  }
  #count = 0
  #backups = 0

  constructor(world: StoreWorld, dir: string) {
    this.world = world
    this.target = new FaultyTarget(new DirectoryTarget(dir))
  }

  static async start(t: Teardown & { testdir(): string }): Promise<Bench> {
    const bench = new Bench(await StoreWorld.withBucket(t), t.testdir())
    for (let n = 0; n < 6; n++) await bench.put(`key-${n}`)
    return bench
  }

  driver(isJobRunner: () => boolean = () => true): BackingUp {
    const { world, blobs, target } = this
    const status = () => ({ majorityTime: null, offsetMs: 0, offsets: [], logTime: 0, confirmedTime: 0 })
    const time = { now: () => world.time, status }
    const cluster = {
      isJobRunner,
      clusterId: CLUSTER,
      nodeId: 'n1',
      blobs,
      readBarrier: async () => {},
      time,
    }
    return new BackingUp({
      cluster,
      state: world.store.reader,
      propose: this.#propose,
      snapshot: async () => {
        const cut = await world.store.stateMachine.snapshot()
        return { ...cut, record: recordAt(world.index) }
      },
      masterKey,
      openTarget: () => target,
      now: () => this.now,
      logger: SILENT,
    })
  }

  /** An object of one chunk of its own, with copies on three nodes. */
  async put(key: string, hasCopies = true): Promise<string> {
    const bytes = Buffer.from(`bytes of ${key} ${this.#count++}`)
    const [id, checksum, birth] = [sha256(Buffer.from(key)), sha256(bytes), `birth-${this.#count}`]
    if (hasCopies) await this.blobs.write({ id, birth, bytes, checksum })
    const sizes = { size: bytes.length, sealedSize: bytes.length, checksum }
    await this.world.do(putChunks(key, [fresh(id, { birth, ...sizes })]))
    return `chunks/${CLUSTER.toLowerCase()}/${id.slice(0, 2)}/${id}.${checksum}`
  }

  async start(): Promise<string> {
    const operationId = `op-${this.#backups}`
    const backupId = `20261127t12000${this.#backups++}z-0123abcd`
    const backup = { backupId, target: 'directory:any' }
    await this.world.do({ ...startOperation(operationId), kind: 'backup', backup })
    return operationId
  }

  operation(id: string): LongOperation {
    const operation = this.world.store.reader.get(longOperationKeys.operation(id))
    if (operation === undefined) throw new Error(`no ${id}`)
    return operation
  }

  /** Rounds of these drivers in turns until the operation has ended. */
  async run(id: string, ...drivers: readonly BackingUp[]): Promise<LongOperation> {
    for (let n = 0; n < 2_000; n++) {
      if (['succeeded', 'failed', 'cancelled'].includes(this.operation(id).status)) return this.operation(id)
      await drivers[n % drivers.length]?.round()
      this.now += 61_000
    }
    throw new Error(`${id} does not end: ${JSON.stringify(this.operation(id))}`)
  }

  async readers(): Promise<readonly BackupReader[]> {
    const readers: BackupReader[] = []
    for await (const listed of listBackups(this.target, CLUSTER))
      readers.push(await BackupReader.open(this.target, listed, masterKey))
    return readers
  }
}

function recordAt(index: number): Uint8Array {
  const configuration = { voters: ['n1'], learners: [], outgoing: [] }
  const time = { lastTime: 1, withheldMs: 0, highTime: 1 }
  const level = { recoveryEpoch: 0, featureLevel: 7 }
  const place = { appliedIndex: index, appliedTerm: 1, configuration, configurationIndex: 0, sessions: [] }
  return encodeMachineRecord({ ...place, ...time, ...level })
}

async function sumOf(reader: BackupReader): Promise<string> {
  const sum = new RowSum()
  for await (const block of reader.rowBlocks())
    for (const { key, value } of rowsOf(block)) sum.add(rowHash(key, value))
  return sum.bytes().toString('hex')
}

t.test('a backup', async (t) => {
  t.test(
    'holds the rows of one cut and each chunk that they name, and the next one sends what is new',
    async (t) => {
      const bench = await Bench.start(t)
      const first = await bench.run(await bench.start(), bench.driver())
      t.match(first, {
        status: 'succeeded',
        error: null,
        progress: { blobsTotal: 6, blobsDone: 6, skipped: 0 },
      })
      const added = await bench.put('key-6')
      const second = await bench.run(await bench.start(), bench.driver())
      t.match(second.progress, { blobsTotal: 7, blobsDone: 1, skipped: 6 })
      t.equal(second.progress.bytesMoved, second.progress.bytesTotal)
      t.equal(bench.target.chunks.at(-1), added)
      t.equal(bench.target.chunks.length, 7, 'no chunk is sent twice')
      const readers = await bench.readers()
      t.same(
        readers.map(({ manifest }) => manifest.chunks),
        [6, 7],
      )
      for (const reader of readers) t.equal(await sumOf(reader), reader.manifest.checksum)
    },
  )

  t.test('fails when the target is full, without a manifest, and the next one sends the rest', async (t) => {
    const bench = await Bench.start(t)
    bench.target.fault = (what, name) => {
      if (what === 'put' && name.startsWith('chunks/') && bench.target.chunks.length >= 2)
        throw new TargetRefused('No space is left')
    }
    const full = await bench.run(await bench.start(), bench.driver())
    t.match(full, { status: 'failed', error: 'No space is left' })
    t.same(await bench.readers(), [])
    const sent = bench.target.chunks.length
    bench.target.fault = () => undefined
    const next = await bench.run(await bench.start(), bench.driver())
    t.match(next, { status: 'succeeded', progress: { blobsDone: 6 - sent, skipped: sent } })
  })

  t.test('waits for a target that does not answer, and continues', async (t) => {
    const bench = await Bench.start(t)
    const driver = bench.driver()
    const id = await bench.start()
    let refused = 0
    bench.target.fault = (_, name) => {
      if (name.startsWith('chunks/') && refused++ < 5) throw new TargetUnreachable('It is away')
    }
    for (let n = 0; n < 3; n++) {
      await driver.round()
      t.equal(await driver.round(), false, 'not again at once')
      t.equal(bench.operation(id).status, 'running')
      bench.now += 61_000
    }
    t.match(await bench.run(id, driver), { status: 'succeeded', progress: { blobsDone: 6 } })
  })

  t.test('is continued by another node where it was', async (t) => {
    const bench = await Bench.start(t)
    const id = await bench.start()
    const [first, second] = [bench.driver(), bench.driver()]
    for (let n = 0; n < 3; n++) await first.round()
    t.ok(bench.target.chunks.length > 0 && bench.target.chunks.length < 6, 'the first node sent some')
    t.match(await bench.run(id, second), { status: 'succeeded', progress: { blobsDone: 6, skipped: 0 } })
    t.equal(new Set(bench.target.chunks).size, bench.target.chunks.length, 'no chunk is sent twice')
  })

  t.test('of two nodes that drive it at the same time has the files of one cut', async (t) => {
    const bench = await Bench.start(t)
    const id = await bench.start()
    const [first, second] = [bench.driver(), bench.driver()]
    await Promise.all([first.round(), second.round()])
    t.match(await bench.run(id, first, second), { status: 'succeeded' })
    const [reader] = await bench.readers()
    t.ok(reader)
    if (reader) t.equal(await sumOf(reader), reader.manifest.checksum)
    const attempts = new Set<string>()
    for await (const { name } of bench.target.list('backups/')) attempts.add(name.split('/')[3] ?? '')
    t.equal(attempts.size, 2, 'that of the manifest, and the manifest itself')
  })

  t.test('is left alone by a node that is not on duty', async (t) => {
    const bench = await Bench.start(t)
    const id = await bench.start()
    t.equal(await bench.driver(() => false).round(), false)
    t.equal(bench.operation(id).status, 'queued')
    t.same(bench.target.put_, [])
  })

  t.test('holds the rest when a chunk has no copy, and says so', { timeout: 600_000 }, async (t) => {
    const bench = await Bench.start(t)
    const name = await bench.put('lost', false)
    const ended = await bench.run(await bench.start(), bench.driver())
    t.match(ended, { status: 'succeeded', error: /^1 chunks could not be read/, progress: { blobsDone: 6 } })
    const [reader] = await bench.readers()
    t.same(reader?.manifest.missing, [name])
  })

  t.test('names what a target has confirmed and does not have', async (t) => {
    const bench = await Bench.start(t)
    let forgotten = ''
    bench.target.forgets = (name) => {
      if (forgotten === '' && name.startsWith('chunks/')) forgotten = name
      return name === forgotten
    }
    const ended = await bench.run(await bench.start(), bench.driver())
    t.match(ended.error, /^1 chunks/)
    const [reader] = await bench.readers()
    t.same(reader?.manifest.missing, [forgotten])
  })

  t.test('stops at a pause and continues after it; a cancelled one writes no manifest', async (t) => {
    const bench = await Bench.start(t)
    const id = await bench.start()
    const driver = bench.driver()
    await driver.round()
    await bench.world.do({ type: 'setOperationStatus', operationId: id, action: 'pause', error: null })
    t.equal(await driver.round(), false)
    const { cursor } = bench.operation(id)
    await bench.world.do({ type: 'setOperationStatus', operationId: id, action: 'resume', error: null })
    t.equal(bench.operation(id).cursor, cursor)
    await driver.round()
    await bench.world.do({ type: 'setOperationStatus', operationId: id, action: 'cancel', error: null })
    t.equal(await driver.round(), false)
    t.same(await bench.readers(), [])
  })
})
