/**
 * A real store, the real sender and a modelled target, with a clock that only the test moves.
 */
import assert from 'node:assert/strict'
import type { Command } from '../../../src/state-machine/commands.ts'
import { siteKeys } from '../../../src/state-machine/sites/keys.ts'
import { versionRanges } from '../../../src/state-machine/versions/keys.ts'
import { readVersion } from '../../../src/workers/sites/read-version.ts'
import { Resyncing } from '../../../src/workers/sites/resyncing.ts'
import { sendChange } from '../../../src/workers/sites/send-change.ts'
import { Sending } from '../../../src/workers/sites/sending.ts'
import { SILENT } from '../../helpers/loggers.ts'
import { MemorySite } from '../../helpers/memory-site.ts'
import { put } from '../../state-machine/map-world.ts'
import { setReplication, siteRule } from '../../state-machine/site-commands.ts'
import { StoreWorld, type Teardown } from '../../store/store-world.ts'

const CLUSTER = 'cluster-a'

export class Bench {
  readonly world: StoreWorld
  readonly site: MemorySite
  readonly duty = { isOn: true }
  sending: Sending
  resyncing: Resyncing
  #drawn = 0
  #turn: Promise<unknown> = Promise.resolve()

  static async start(
    t: Teardown,
    { isVersioned = true, existing = false, rules = [siteRule()] } = {},
  ): Promise<Bench> {
    const world = await StoreWorld.withBucket(t)
    if (isVersioned)
      await world.do({ type: 'setBucketVersioning', tenantId: 'acme', name: 'photos', versioning: 'Enabled' })
    if (!existing) await world.do(setReplication(world.store.reader, rules))
    const bench = new Bench(world, new MemorySite(isVersioned))
    t.teardown(() => bench.sending.close())
    return bench
  }

  private constructor(world: StoreWorld, site: MemorySite) {
    this.world = world
    this.site = site
    site.now = () => Math.floor(world.time / 1000) * 1000
    this.sending = this.another()
    this.resyncing = this.anotherWalk()
  }

  /** As another node would begin, on the same state. */
  another(): Sending {
    const { reader: state } = this.world.store
    const content = {
      read: (_: unknown, { object }: { object: { etag: string } }) => bytesOf(object.etag),
    }
    return new Sending({
      cluster: { isJobRunner: () => this.duty.isOn },
      state,
      propose: this.propose,
      now: () => this.world.time,
      random: () => 0.5,
      logger: SILENT,
      send: (site, change) => {
        const { bucketId } = site
        const version = readVersion({ state, content }, site, change)
        return sendChange({
          remote: this.site,
          change,
          version,
          origin: { clusterId: CLUSTER, bucketId },
          other: null,
        })
      },
    })
  }

  anotherWalk(): Resyncing {
    const { sending, world } = this
    const { reader: state } = world.store
    const cluster = { isJobRunner: () => this.duty.isOn }
    return new Resyncing({
      cluster,
      state,
      propose: this.propose,
      sending,
      now: () => world.time,
      logger: SILENT,
    })
  }

  /** One entry at a time, as a log has them. */
  readonly propose = ((command: Command) => {
    this.#turn = this.#turn.then(() => this.world.propose(command))
    return this.#turn
  }) as StoreWorld['propose']

  /** Its etag is its content. */
  put(key: string, more: object = {}): Promise<unknown> {
    this.#drawn++
    return this.propose({ ...put(key, { kind: 'empty' }, 0), etag: `e${this.#drawn}`, ...more })
  }

  get state() {
    const state = this.world.store.reader.get(siteKeys.siteState(this.world.photos.id))
    assert.ok(state !== undefined)
    return state
  }

  /** Rounds until nothing is under way. */
  async rounds(): Promise<void> {
    while (await this.resyncing.round());
    await this.sending.round()
    await this.sending.idle()
  }

  /** Time passes until nothing waits. */
  async settle(): Promise<void> {
    for (let n = 0; n < 500; n++) {
      await this.rounds()
      const { pending, resync } = this.state
      if (pending === 0 && (resync === null || resync.endedAt !== null)) return
      this.world.later(10 * 60_000)
    }
    assert.fail(`it settles: ${JSON.stringify(this.state)}`)
  }

  /** The current objects, as `key -> etag`. */
  async contents(): Promise<ReadonlyMap<string, string>> {
    const range = versionRanges.objects(this.world.photos.id)
    const { items } = await this.world.store.reader.page(range, { limit: 1000 })
    return new Map(items.map(({ key, etag }) => [key, etag]))
  }
}

async function* bytesOf(text: string) {
  yield Buffer.from(text)
}
