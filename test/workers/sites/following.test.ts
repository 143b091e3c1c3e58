/** Buckets follow the replication of their tenant, also those that are made later. [docs/adr/0098-what-replication-sends.md] */
import t, { type Test } from 'tap'
import { SiteFault } from '../../../src/operations/base/remote-store.ts'
import { bucketKeys } from '../../../src/state-machine/buckets/keys.ts'
import { siteKeys, siteRanges } from '../../../src/state-machine/sites/keys.ts'
import { Following } from '../../../src/workers/sites/following.ts'
import { SILENT } from '../../helpers/loggers.ts'
import { MemoryServices } from '../../helpers/memory-services.ts'
import { MemorySite } from '../../helpers/memory-site.ts'
import { createBucket } from '../../state-machine/map-world.ts'
import { setReplication, siteRule, TARGET } from '../../state-machine/site-commands.ts'

const { bucket: _, identity: __, ...PLACE } = TARGET
const ACME = { tenantId: 'acme' } as const

class World {
  readonly memory: MemoryServices
  readonly duty = { isOn: true }
  readonly made: string[] = []
  readonly following: Following
  readonly #there: Set<string>
  mayCreate = true
  now = Date.now()

  static async start(t: Test, there: readonly string[] = []): Promise<World> {
    const memory = await MemoryServices.start(t)
    const keys = memory.services.access.newTenantKeys('acme')
    await memory.services.propose({ type: 'createTenant', id: 'acme', name: 'acme', ...keys })
    return new World(memory, there)
  }

  private constructor(memory: MemoryServices, there: readonly string[]) {
    this.memory = memory
    this.#there = new Set(there)
    const { cluster, siteSecrets, state, propose } = memory.services
    this.following = new Following({
      cluster: { clusterId: cluster.clusterId, isJobRunner: () => this.duty.isOn },
      state,
      propose,
      siteSecrets,
      openSite: ({ target }) => this.#open(target.bucket),
      now: () => this.now,
      random: () => 0.5,
      logger: SILENT,
    })
  }

  async set({ createsBuckets = true } = {}): Promise<void> {
    const { siteSecrets, propose } = this.memory.services
    const target = { ...PLACE, bucketPrefix: 'at-' }
    const secret = siteSecrets.sealForTenant('acme', 'the secret')
    const more = { secret, rules: [siteRule()], createsBuckets, existing: false }
    await propose({ type: 'setTenantReplication', ...ACME, target, ...more })
  }

  async bucket(name: string): Promise<void> {
    await this.memory.services.propose(createBucket(name, { bucketsMax: 1000 }))
  }

  async rounds(): Promise<void> {
    while (await this.following.round());
  }

  /** Names of the buckets that follow, and of those that wait. */
  async state(): Promise<{ readonly follow: readonly string[]; readonly wait: readonly string[] }> {
    const { state } = this.memory.services
    const sites = (await state.page(siteRanges.sites(), { limit: 1000 })).items
    const waits = (await state.page(siteRanges.waitingSites('acme'), { limit: 1000 })).items
    return {
      follow: sites.filter(({ ofTenant }) => ofTenant !== undefined).map(({ bucket }) => bucket),
      wait: waits.map(({ bucket, lastError }) => `${bucket}: ${lastError}`),
    }
  }

  #open(bucket: string): MemorySite {
    const site = new MemorySite()
    site.identity = { clusterId: 'cluster-b', bucketId: bucket }
    site.fault = (request) => {
      if (request === 'probe' && !this.#there.has(bucket))
        return new SiteFault('unreachable', 'ListObjectsV2: NoSuchBucket', { s3Code: 'NoSuchBucket' })
      if (!request.startsWith('make bucket')) return null
      if (!this.mayCreate)
        return new SiteFault('failed', 'CreateBucket: AccessDenied', { s3Code: 'AccessDenied' })
      this.#there.add(bucket)
      this.made.push(bucket)
      return null
    }
    return site
  }
}

t.test('buckets follow once their target is there or was made, those that are made later too', async (t) => {
  const world = await World.start(t, ['at-one'])
  for (const name of ['one', 'two']) await world.bucket(name)
  await world.set()
  await world.rounds()
  t.same(await world.state(), { follow: ['one', 'two'], wait: [] })
  await world.bucket('later')
  await world.rounds()
  t.same((await world.state()).follow.length, 3)
  t.same(world.made, ['at-two', 'at-later'])
  const { state, siteSecrets } = world.memory.services
  const id = state.get(bucketKeys.bucket('acme', 'later'))?.id ?? ''
  const site = state.get(siteKeys.site(id))
  t.match(site, { target: { bucket: 'at-later', identity: 'cluster-b at-later' } })
  t.equal(siteSecrets.open(id, site?.secret ?? new Uint8Array(0)), 'the secret', 'sealed for the bucket')
  t.match(state.get(siteKeys.siteState(id))?.resync, { endedAt: null }, 'and what it holds is sent')
})

t.test('a target that is not there, or that refuses, keeps its bucket waiting and no other', async (t) => {
  const world = await World.start(t, ['at-one'])
  for (const name of ['none', 'one', 'x'.repeat(62)]) await world.bucket(name)
  await world.set({ createsBuckets: false })
  await world.rounds()
  const { follow, wait } = await world.state()
  t.same(follow, ['one'])
  t.match(wait, [/^none: .*NoSuchBucket/, /^xxx.*too long/])
  t.match(world.following.samples(), [{ value: 2 }])
  world.mayCreate = false
  await world.set()
  await world.rounds()
  t.match((await world.state()).wait[0], /^none: .*AccessDenied/, 'another revision is tried at once')
  world.mayCreate = true
  await world.rounds()
  t.match((await world.state()).wait[0], /^none: /, 'not before it is due')
  world.now += 3_600_000
  await world.rounds()
  t.same((await world.state()).follow.length, 2)
  t.match(world.following.samples(), [{ value: 1 }])
})

t.test(
  'hundreds of buckets are passed page by page, and those with their own stay as they are',
  async (t) => {
    const world = await World.start(t)
    const { services } = world.memory
    for (let n = 0; n < 300; n++) await world.bucket(`b${String(n).padStart(3, '0')}`)
    await world.bucket('photos')
    await services.propose(setReplication(services.state))
    await world.set()
    await world.rounds()
    t.equal((await world.state()).follow.length, 300)
    await services.propose({ type: 'deleteTenantReplication', ...ACME })
    await world.rounds()
    t.same(await world.state(), { follow: [], wait: [] })
    const { items } = await services.state.page(siteRanges.sites(), { limit: 1000 })
    t.same(
      items.map(({ bucket }) => bucket),
      ['photos'],
    )
    t.equal(services.state.get(siteKeys.tenantSite('acme')), undefined)
  },
)

t.test('a node that is not on duty asks nothing', async (t) => {
  const world = await World.start(t)
  await world.bucket('one')
  await world.set()
  world.duty.isOn = false
  t.equal(await world.following.round(), false)
  t.same([world.made, (await world.state()).follow], [[], []])
})
