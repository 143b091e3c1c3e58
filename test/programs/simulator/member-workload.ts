/**
 * Clients of a cluster whose members change: they store a few chunks where there is room, and write and look all the time.
 *
 * Owns: the distribution. Rule: the bytes of a chunk are on the disks named by its row before any client requests the row.
 */
import { tenantKeys } from '../../../src/state-machine/tenants/keys.ts'
import { chunkKeys } from '../../../src/state-machine/chunks/keys.ts'
import { bucketKeys } from '../../../src/state-machine/buckets/keys.ts'
import type { Command } from '../../../src/state-machine/commands.ts'
import {
  createBucket,
  createTenant,
  fresh,
  OPEN_SESSION,
  put,
  putChunks,
} from '../../state-machine/map-world.ts'
import type { MemberOracle } from './member-oracle.ts'
import { COPIES_WANTED } from './member-service.ts'
import { encodeCall, replyIn } from './object-rules.ts'
import type { Random } from './random.ts'
import { NONE } from './sim-commands.ts'
import type { SimWorld } from './sim-world.ts'
import type { Requested, Workload, Write } from './workload.ts'

/** In one walk: each is looked at in every evacuation. */
const CHUNKS_MAX = 12
const LOOKS = 0.3

export class MemberWorkload implements Workload {
  readonly #random: Random
  readonly #oracle: MemberOracle
  readonly #world: SimWorld
  #chunks = 0

  constructor(random: Random, oracle: MemberOracle, world: SimWorld) {
    this.#random = random
    this.#oracle = oracle
    this.#world = world
  }

  next(): Requested {
    if (this.#random.chance(LOOKS))
      return { type: 'look', kind: 'read', key: 'members', expected: NONE, see: () => NONE }
    return this.last()
  }

  last(): Write {
    const command = this.#missing() ?? this.#chunk() ?? small()
    return {
      type: 'write',
      kind: 'other',
      key: '',
      expected: NONE,
      command: (id) => encodeCall(id, command),
      reported: (text) => (replyIn(text).ok ? 'ok' : null),
    }
  }

  learned(): void {}

  #missing(): Command | null {
    const { view } = this.#oracle
    if (view.get(tenantKeys.tenant('acme')) === undefined) return createTenant('acme')
    if (view.get(chunkKeys.session(OPEN_SESSION.session)) === undefined) return OPEN_SESSION
    return view.get(bucketKeys.bucket('acme', 'photos')) === undefined ? createBucket() : null
  }

  /** Where the members are now, or were a moment ago as far as an uploader knows. */
  #chunk(): Command | null {
    if (this.#chunks >= CHUNKS_MAX || !this.#random.chance(0.5)) return null
    const holders = this.#random
      .shuffle(
        this.#oracle.members.members.filter(({ phase }) => phase === 'active').map((one) => one.nodeId),
      )
      .slice(0, COPIES_WANTED)
    if (holders.length === 0) return null
    this.#chunks += 1
    const use = fresh(`c${this.#chunks}`, { replicas: holders })
    for (const host of this.#world.hosts) if (holders.includes(host.id)) host.copies.add(use.birth)
    return putChunks(`k${this.#chunks}`, [use], holders.length)
  }
}

function small(): Command {
  return put('small', { kind: 'inline', chunkId: 'ci', sealed: Uint8Array.of(1, 2, 3) }, 3)
}
