/** The deletion of tenants over a real store: drivers that stop at any point, two at once, locks that they do not know of. */
import t, { type Test } from 'tap'
import type { Command } from '../../src/state-machine/commands.ts'
import type { LongOperation } from '../../src/state-machine/long-operations/records.ts'
import { Discarding } from '../../src/workers/discarding.ts'
import { TenantDeletion } from '../../src/workers/tenant-deletion.ts'
import { SILENT } from '../helpers/loggers.ts'
import { createBucket, deleteTenant, put, putChunks, remove } from '../state-machine/map-world.ts'
import { createUpload } from '../state-machine/upload-commands.ts'
import { StoreWorld, type Teardown } from '../store/store-world.ts'
import { bodyKeys } from '../../src/state-machine/bodies/keys.ts'
import { bucketKeys, bucketRanges } from '../../src/state-machine/buckets/keys.ts'
import { chunkRanges } from '../../src/state-machine/chunks/keys.ts'
import { lookUpVersion } from '../../src/store/reads/version-lookup.ts'
import { objectRanges } from '../../src/state-machine/objects/keys.ts'
import { longOperationKeys } from '../../src/state-machine/long-operations/keys.ts'
import { pageOfAccessKeys } from '../../src/store/reads/access-key-listing.ts'
import { recountState } from '../../src/store/reads/recount-state.ts'
import { tenantKeys } from '../../src/state-machine/tenants/keys.ts'
import { usageOf } from '../../src/state-machine/usage/usage.ts'

const COUNT = 700
const inBucket = <C extends Command>(bucket: string, command: C): C => ({ ...command, bucket })

class Bench {
  readonly world: StoreWorld
  jobRunner = true
  proposals = 0
  #turn: Promise<unknown> = Promise.resolve()
  /** Runs before each proposal of a driver. */
  beforePropose: (command: Command) => Promise<void> = async () => undefined

  private constructor(world: StoreWorld) {
    this.world = world
  }

  /** Three buckets with everything that a bucket can hold; the tenant is disabled and its deletion asked for. */
  static async start(t: Teardown, prepare: (world: StoreWorld) => Promise<void> = async () => undefined) {
    const bench = new Bench(await StoreWorld.withBucket(t))
    const { world } = bench
    const secret = Uint8Array.of(1)
    const key = { tenantId: 'acme', accountId: null, name: null, scopes: 'read', secret, expiresAt: null }
    await world.apply([
      createBucket('kept', { versioning: 'Enabled', objectLockEnabled: true }),
      createBucket('empty'),
      ...['AK1', 'AK2'].map((accessKeyId) => ({ type: 'createAccessKey' as const, accessKeyId, ...key })),
    ])
    const sealed = (n: number) =>
      ({ kind: 'inline', chunkId: `i${n}`, sealed: Uint8Array.of(n % 256) }) as const
    const idempotency = (n: number) => (n % 100 === 0 ? { key: `once-${n}`, fingerprint: 'f' } : null)
    const puts = Array.from({ length: COUNT }, (_, n) => {
      return { ...put(`k${String(n).padStart(4, '0')}`, sealed(n), 1), idempotency: idempotency(n) }
    })
    await world.apply(puts)
    await world.apply([
      putChunks(
        'large',
        Array.from({ length: 20 }, (_, n) => `c${n}`),
      ),
      createUpload('open'),
      ...Array.from({ length: 30 }, (_, n) => inBucket('kept', put(`v${n % 3}`, sealed(n), 1))),
      remove('v0', null, 'kept'),
      remove('v9', null, 'kept'),
    ])
    await prepare(world)
    await world.do({ type: 'disableTenant', tenantId: 'acme', reason: 'unpaid' })
    await world.do(deleteTenant('acme', 'op1'))
    return bench
  }

  driver(): TenantDeletion {
    return new TenantDeletion({
      cluster: { isJobRunner: () => this.jobRunner },
      state: this.world.store.reader,
      propose: async (command) => {
        await this.beforePropose(command)
        this.proposals++
        // The log takes one after the other.
        const reply = this.#turn.then(() => this.world.propose(command))
        this.#turn = reply.catch(() => undefined)
        return reply
      },
      logger: SILENT,
    })
  }

  get operation(): LongOperation {
    const found = this.world.store.reader.get(longOperationKeys.operation('op1'))
    if (found === undefined) throw new Error('there is no operation')
    return found
  }

  async release(): Promise<void> {
    const { reader: state } = this.world.store
    const parts = { cluster: { isJobRunner: () => true }, state, propose: this.world.propose, logger: SILENT }
    const discarding = new Discarding({ ...parts, delayMs: 0, now: () => 0 })
    while (await discarding.round()) continue
  }

  async recounted(): Promise<readonly string[]> {
    return (await recountState(this.world.store.reader, () => true))?.differences ?? ['was not counted']
  }
}

async function rounds(driver: TenantDeletion): Promise<void> {
  while (await driver.round()) continue
}

const ALL = COUNT + 1 + 1 + 30 + 2

async function expectGone(t: Test, bench: Bench): Promise<void> {
  const { reader } = bench.world.store
  t.match(bench.operation, { status: 'succeeded', progress: { blobsTotal: ALL, blobsDone: ALL } })
  t.match(reader.get(tenantKeys.tenant('acme')), { status: 'deleted', deletedAt: Number, bucketCount: 0 })
  t.equal(reader.get(tenantKeys.tenant('acme'))?.dataKey.length, 0)
  t.same((await reader.page(bucketRanges.buckets('acme'), { limit: 10 })).items, [])
  t.same((await pageOfAccessKeys(reader, 'acme', { limit: 10 })).items, [])
  t.same(
    (await reader.page(objectRanges.expiries(Number.MAX_SAFE_INTEGER - 1), { limit: 10 })).items,
    [],
    'kept answers are gone as well',
  )
  await bench.release()
  t.match(usageOf(reader, 'acme'), {
    versions: 0,
    deleteMarkers: 0,
    uploads: 0,
    logicalBytes: 0,
    inlineBytes: 0,
  })
  t.same(await bench.recounted(), [])
}

t.test('TenantDeletion', async (t) => {
  t.test('removes everything, and says so', async (t) => {
    const bench = await Bench.start(t)
    await rounds(bench.driver())
    await expectGone(t, bench)
    const chunks = await bench.world.store.reader.page(chunkRanges.chunksOf('acme'), { limit: 100 })
    t.equal(chunks.items.length, 20, 'chunks are left to the collection')
    t.ok(chunks.items.every(({ condemnedAt }) => condemnedAt !== null))
  })

  t.test('does nothing on a node that is not on duty, nor while it is paused', async (t) => {
    const bench = await Bench.start(t)
    bench.jobRunner = false
    await rounds(bench.driver())
    bench.jobRunner = true
    const act = { type: 'setOperationStatus', operationId: 'op1', error: null } as const
    await bench.world.do({ ...act, action: 'pause' })
    await rounds(bench.driver())
    t.match(bench.operation, { status: 'paused', progress: { blobsDone: 0 } })
    await bench.world.do({ ...act, action: 'resume' })
    await rounds(bench.driver())
    await expectGone(t, bench)
  })

  t.test('continues in another driver at any place where the one before stopped', async (t) => {
    const bench = await Bench.start(t)
    let stops = 0
    for (let allowed = 0; bench.operation.status !== 'succeeded'; allowed = (allowed + 1) % 4) {
      let left = allowed
      bench.beforePropose = async () => {
        if (left-- > 0) return
        stops++
        throw new Error('this node is gone')
      }
      await rounds(bench.driver()).catch(() => undefined)
    }
    t.ok(stops >= 3, `${stops} stops`)
    await expectGone(t, bench)
  })

  t.test('counts nothing twice when two nodes drive it at the same time', async (t) => {
    const bench = await Bench.start(t)
    await Promise.all([rounds(bench.driver()), rounds(bench.driver())])
    await expectGone(t, bench)
  })

  t.test('fails at a version that is locked after all, which stays with all that is beside it', async (t) => {
    let versionId = ''
    const bench = await Bench.start(t, async (world) => {
      const held = inBucket('kept', {
        ...put('held', { kind: 'inline', chunkId: 'h', sealed: Uint8Array.of(1) }, 1),
      })
      versionId = (await world.do({ ...held, legalHold: true })).object.versionId
      await world.do(inBucket('kept', put('held', { kind: 'empty' }, 0)))
    })
    await rounds(bench.driver())
    t.match(bench.operation, { status: 'failed', error: /"held": it is under legal hold/ })
    const { reader } = bench.world.store
    const kept = reader.get(bucketKeys.bucket('acme', 'kept'))
    if (kept === undefined) return t.fail('its bucket is gone')
    t.ok(lookUpVersion(reader, kept, { key: 'held', versionId }))
    t.ok(reader.get(bodyKeys.inlineBody(kept.id, versionId)), 'with its bytes')
    t.match(
      reader.get(tenantKeys.tenant('acme')),
      { status: 'deleting', dataKey: { length: 1 } },
      'and the key that opens them',
    )
    t.same(await bench.recounted(), [])
    const { proposals } = bench
    await rounds(bench.driver())
    t.equal(bench.proposals, proposals, 'what has failed is not driven on')
  })

  t.test('does one after the other, the one asked for first', async (t) => {
    const bench = await Bench.start(t, async (world) => {
      const sealed = { dataKey: Uint8Array.of(1), dedupKey: Uint8Array.of(2), masterKeyId: 'mk-1' }
      await world.do({ type: 'createTenant', id: 'other', name: 'other', ...sealed })
      await world.do({ type: 'disableTenant', tenantId: 'other', reason: 'unpaid' })
    })
    await bench.world.do(deleteTenant('other', 'op2'))
    await rounds(bench.driver())
    await expectGone(t, bench)
    t.match(bench.world.store.reader.get(tenantKeys.tenant('other')), { status: 'deleting' })
    await rounds(bench.driver())
    t.match(bench.world.store.reader.get(tenantKeys.tenant('other')), { status: 'deleted' })
  })
})
