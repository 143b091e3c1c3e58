/** The driver of verifications: what it finds, where another node continues, what it leaves. [docs/adr/0095-parts-of-backups.md] */
import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { readReport } from '../../src/backup/checks/check-report.ts'
import { backupFolder, manifestName } from '../../src/backup/format/names.ts'
import { DirectoryTarget } from '../../src/backup/targets/directory-target.ts'
import { TargetUnreachable } from '../../src/backup/targets/target.ts'
import { checksOf } from '../../src/state-machine/backup-plans/checks.ts'
import { longOperationKeys } from '../../src/state-machine/long-operations/keys.ts'
import type { LongOperation } from '../../src/state-machine/long-operations/records.ts'
import { BackupVerifying } from '../../src/workers/backup-verifying.ts'
import { BACKUP_ID, CLUSTER, type KeyVersion, makeSealedBackup, readerOf } from '../backup/sealed-backups.ts'
import { namesIn } from '../backup/target-suite.ts'
import { testMasterKey } from '../helpers/content-world.ts'
import { SILENT } from '../helpers/loggers.ts'
import { startOperation } from '../state-machine/map-world.ts'
import { StoreWorld, type Teardown } from '../store/store-world.ts'

const OBJECTS = Object.fromEntries(
  Array.from({ length: 12 }, (_, n) => [`o${n}`, ([2, 1, 0] as const)[n % 3] ?? 2]),
) as Readonly<Record<string, KeyVersion>>

class Bench {
  readonly world: StoreWorld
  readonly folder: string
  readonly names: Readonly<Record<string, string>>
  now = 0
  /** Called when a driver opens the target. */
  onOpen: () => void = () => undefined
  /** Called before each chunk is read. */
  onRead: (name: string) => void = () => undefined
  #last: Promise<unknown> = Promise.resolve()

  private constructor(world: StoreWorld, folder: string, names: Readonly<Record<string, string>>) {
    this.world = world
    this.folder = folder
    this.names = names
  }

  static async start(t: Teardown & { testdir(): string }): Promise<Bench> {
    const folder = t.testdir()
    const names = await makeSealedBackup(new DirectoryTarget(folder), { objects: OBJECTS })
    return new Bench(await StoreWorld.withBucket(t), folder, names)
  }

  get target(): DirectoryTarget {
    return new DirectoryTarget(this.folder)
  }

  file(key: string): string {
    return join(this.folder, this.names[key] ?? '')
  }

  driver(isJobRunner: () => boolean = () => true): BackupVerifying {
    const { world } = this
    const status = () => ({ majorityTime: null, offsetMs: 0, offsets: [], logTime: 0, confirmedTime: 0 })
    return new BackupVerifying({
      cluster: { isJobRunner, clusterId: CLUSTER, time: { now: () => world.time, status } },
      state: world.store.reader,
      propose: (command, origin) => {
        const turn = this.#last.then(() => world.propose(command, origin))
        this.#last = turn.catch(() => undefined)
        return turn
      },
      masterKey: testMasterKey,
      openTarget: () => {
        this.onOpen()
        const target = this.target
        const get = target.get.bind(target)
        target.get = (name, range) => {
          this.onRead(name)
          return get(name, range)
        }
        return target
      },
      now: () => this.now,
      logger: SILENT,
    })
  }

  async begin(more: { readonly maxBytesPerSecond?: number } = {}): Promise<string> {
    const verify = { backupId: BACKUP_ID, target: 'nas' }
    await this.world.do({ ...startOperation('op-v'), kind: 'backupVerify', verify, ...more })
    return 'op-v'
  }

  operation(): LongOperation {
    const operation = this.world.store.reader.get(longOperationKeys.operation('op-v'))
    if (operation === undefined) throw new Error('no operation')
    return operation
  }

  /** Rounds of these drivers in turns until the operation has ended. */
  async run(...drivers: readonly BackupVerifying[]): Promise<LongOperation> {
    for (let n = 0; n < 2_000; n++) {
      if (['succeeded', 'failed', 'cancelled'].includes(this.operation().status)) return this.operation()
      await drivers[n % drivers.length]?.round()
      this.now += 61_000
    }
    throw new Error(`it does not end: ${JSON.stringify(this.operation())}`)
  }

  checks() {
    return this.world.store.reader.cut(checksOf)
  }
}

function flip(file: string): void {
  const bytes = readFileSync(file)
  bytes[3] = (bytes[3] ?? 0) ^ 1
  writeFileSync(file, bytes)
}

t.test('a verification by a node', async (t) => {
  t.test('of a whole backup says so, in the backup and in the cluster', async (t) => {
    const bench = await Bench.start(t)
    await bench.begin()
    const driver = bench.driver()
    t.match(await bench.run(driver), {
      status: 'succeeded',
      error: null,
      progress: { blobsTotal: 12, blobsDone: 12, checksumFailures: 0 },
    })
    const report = await readReport(await readerOf(bench.target))
    t.match(report, { operationId: 'op-v', chunks: 12, damageCount: 0, damages: [], versionCount: 0 })
    t.match(bench.checks(), [
      { target: 'nas', tenantId: null, backupId: BACKUP_ID, cutAt: 1_000, damageCount: 0 },
    ])
    t.match(driver.metrics(), [
      { name: 'holdfast_backup_verified_timestamp_seconds' },
      { name: 'holdfast_backup_verified_damages', value: 0 },
    ])
  })

  t.test('names each damaged and missing chunk, and the versions that need it', async (t) => {
    const bench = await Bench.start(t)
    flip(bench.file('o3'))
    flip(bench.file('o2'))
    rmSync(bench.file('o7'))
    await bench.begin()
    const ended = await bench.run(bench.driver())
    t.match(ended, {
      status: 'failed',
      error: /^3 parts of the backup/,
      progress: { blobsDone: 9, checksumFailures: 3 },
    })
    const report = await readReport(await readerOf(bench.target))
    const found = report?.damages.map(({ name, what }) => `${name} ${what}`).toSorted()
    t.strictSame(
      found,
      [
        `${bench.names['o2']} damaged`,
        `${bench.names['o3']} damaged`,
        `${bench.names['o7']} missing`,
      ].toSorted(),
    )
    const needed = report?.versions.map(({ tenantId, bucket, key, versionId }) => [
      tenantId,
      bucket,
      key,
      versionId,
    ])
    t.strictSame(
      needed?.toSorted(),
      ['o2', 'o3', 'o7'].map((key) => ['acme', 'photos', key, `v-${key}`]),
    )
    t.match(bench.checks(), [{ damageCount: 3 }])
  })

  t.test('is continued by another node with what was found before', async (t) => {
    const bench = await Bench.start(t)
    for (const key of Object.keys(OBJECTS)) flip(bench.file(key))
    await bench.begin()
    const [first, second] = [bench.driver(), bench.driver()]
    for (let n = 0; n < 6; n++) await first.round()
    const { progress } = bench.operation()
    t.ok(progress.checksumFailures > 0 && progress.checksumFailures < 12, 'the first node found some')
    t.match(await bench.run(second), { status: 'failed', progress: { checksumFailures: 12 } })
    const report = await readReport(await readerOf(bench.target))
    t.equal(report?.damages.length, 12, 'all are named')
    t.equal(report?.versionCount, 12)
    const left = (await namesIn(bench.target, backupFolder(CLUSTER, BACKUP_ID))).filter((name) =>
      /verifying/.test(name),
    )
    t.strictSame(left, [], 'and nothing but the report stays')
  })

  t.test('of two nodes that drive it in turns counts each chunk once', async (t) => {
    const bench = await Bench.start(t)
    flip(bench.file('o5'))
    await bench.begin()
    const [first, second] = [bench.driver(), bench.driver()]
    await Promise.all([first.round(), second.round()])
    t.match(await bench.run(first, second), { progress: { blobsDone: 11, checksumFailures: 1 } })
    t.equal((await readReport(await readerOf(bench.target)))?.damages.length, 1)
  })

  t.test(
    'waits for a target that does not answer, and says nothing about the backup meanwhile',
    async (t) => {
      const bench = await Bench.start(t)
      await bench.begin()
      let refused = 0
      bench.onRead = (name) => {
        if (name.startsWith('chunks/') && refused++ < 3) throw new TargetUnreachable('It is away')
      }
      t.match(await bench.run(bench.driver()), {
        status: 'succeeded',
        progress: { blobsDone: 12, checksumFailures: 0 },
      })
    },
  )

  t.test('of a backup that is removed meanwhile calls nothing damaged', async (t) => {
    const bench = await Bench.start(t)
    await bench.begin()
    const driver = bench.driver()
    for (let n = 0; n < 4; n++) await driver.round()
    rmSync(join(bench.folder, manifestName(CLUSTER, BACKUP_ID)))
    for (const key of Object.keys(OBJECTS)) rmSync(bench.file(key))
    t.match(await bench.run(driver), { status: 'failed', error: /removed meanwhile/ })
    t.strictSame(bench.checks(), [])
  })

  t.test('names a damaged file of rows, and not the chunks, and no versions', async (t) => {
    const bench = await Bench.start(t)
    flip(join(bench.folder, backupFolder(CLUSTER, BACKUP_ID), 'a', 'state-000000'))
    await bench.begin()
    t.match(await bench.run(bench.driver()), {
      status: 'failed',
      progress: { blobsDone: 12, checksumFailures: 1 },
    })
    t.match(await readReport(await readerOf(bench.target)), {
      versionCount: null,
      damages: [{ name: 'state' }],
    })
  })

  t.test('reads no faster than it may, stops at a pause and ends with a cancellation', async (t) => {
    const bench = await Bench.start(t)
    await bench.begin({ maxBytesPerSecond: 1 })
    const driver = bench.driver()
    await driver.round()
    await driver.round()
    const { progress } = bench.operation()
    t.equal(progress.blobsDone, 1, 'one chunk is more than a second of it')
    t.equal(await driver.round(), false, 'not before its time')
    bench.now += 1_000 * progress.bytesMoved
    await driver.round()
    t.equal(bench.operation().progress.blobsDone, 2)
    bench.now += 61_000
    await bench.world.do({ type: 'setOperationStatus', operationId: 'op-v', action: 'pause', error: null })
    t.equal(await driver.round(), false)
    await bench.world.do({ type: 'setOperationStatus', operationId: 'op-v', action: 'cancel', error: null })
    t.equal(await driver.round(), false)
    t.equal(await readReport(await readerOf(bench.target)), null)
  })

  t.test('is left alone by a node that is not on duty; one runs at a time', async (t) => {
    const bench = await Bench.start(t)
    await bench.begin()
    t.equal(await bench.driver(() => false).round(), false)
    t.equal(bench.operation().status, 'queued')
    const verify = { backupId: BACKUP_ID, target: 'nas' }
    const again = { ...startOperation('op-w'), kind: 'backupVerify', verify } as const
    t.match(await bench.world.propose(again), { ok: false, code: 'precondition_failed' })
  })
})
