/**
 * A real store, the real sender and a modelled target, with a clock that only the test moves.
 */
import assert from 'node:assert/strict'
import type { Command } from '../../../src/state-machine/commands.ts'
import { siteKeys } from '../../../src/state-machine/sites/keys.ts'
import { versionRanges } from '../../../src/state-machine/versions/keys.ts'
import { newestVersion, versionAt } from '../../../src/state-machine/versions/versions.ts'
import { keyHere, readVersion } from '../../../src/workers/sites/read-version.ts'
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
  readonly #identity: string | null
  #drawn = 0
  #turn: Promise<unknown> = Promise.resolve()

  static async start(
    t: Teardown,
    {
      isVersioned = true,
      hasLock = false,
      existing = false,
      rules = [siteRule()],
      identity = null as string | null,
    } = {},
  ): Promise<Bench> {
    const world = await StoreWorld.withBucket(t)
    const name = { tenantId: 'acme', name: 'photos' } as const
    if (isVersioned) await world.do({ type: 'setBucketVersioning', ...name, versioning: 'Enabled' })
    if (hasLock) await world.do({ type: 'setBucketObjectLock', ...name, defaultRetention: null })
    if (!existing) await world.do(setReplication(world.store.reader, rules))
    const bench = new Bench(world, new MemorySite(isVersioned), identity)
    t.teardown(() => bench.sending.close())
    return bench
  }

  private constructor(world: StoreWorld, site: MemorySite, identity: string | null) {
    this.world = world
    this.#identity = identity
    this.site = site
    site.now = () => Math.floor(world.time / 1000) * 1000
    this.sending = this.another()
    this.resyncing = this.anotherWalk()
  }

  /** What a node waits for before it sends. */
  barrier = (): Promise<void> => Promise.resolve()

  /** As another node would begin, on the same state. */
  another(): Sending {
    const { reader: state } = this.world.store
    const content = {
      read: (_: unknown, { object }: { object: { etag: string } }) => bytesOf(object.etag),
    }
    return new Sending({
      cluster: { isJobRunner: () => this.duty.isOn, readBarrier: () => this.barrier() },
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
          here: keyHere({ state }, bucketId, change),
          now: this.world.time,
          origin: { clusterId: CLUSTER, bucketId },
          other: this.#identity,
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

  /** Ids, newest first, of at most 50. */
  async versionsOf(key: string): Promise<readonly string[]> {
    const { reader } = this.world.store
    const { id } = this.world.photos
    const versions: string[] = []
    let at = newestVersion(reader, id, key)
    while (at !== undefined && versions.length < 50) {
      versions.push(at.versionId)
      at = at.older === null ? undefined : versionAt(reader, id, key, at.older)
    }
    return versions
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
