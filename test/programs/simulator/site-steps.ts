/**
 * The requests of clients on buckets that are replicated.
 *
 * Owns: the distribution. Knows nothing of: which answer is right. Rule: where both sites write, a version is never removed by its id: that is not sent.
 */
import { bucketKeys } from '../../../src/state-machine/buckets/keys.ts'
import type { Command } from '../../../src/state-machine/commands.ts'
import { siteKeys } from '../../../src/state-machine/sites/keys.ts'
import { identityText } from '../../../src/state-machine/sites/mark.ts'
import type { SiteTarget } from '../../../src/state-machine/sites/records.ts'
import type { RetentionRecord } from '../../../src/state-machine/versions/records.ts'
import { createTenant, put, remove } from '../../state-machine/map-world.ts'
import { siteRule } from '../../state-machine/site-commands.ts'
import type { ObjectOracle } from './object-oracle.ts'
import type { Random } from './random.ts'
import { bucketCommand, REPLICATED, type Replicated, SECOND, TENANT } from './second-site.ts'

export const SITE_KEYS = ['x', 'y', 'z']
const HOUR_MS = 3_600_000
const SIZE = 7
/** Few: equal bytes come again, with an equal etag. Where both sites write, none do: a late upload passes its condition over them. [RELIABILITY.md, not promised] */
const CONTENTS = 5

export function sitePut(
  bucket: Replicated,
  key: string,
  { n, from }: { readonly n: number; readonly from: string },
): Extract<Command, { type: 'putObject' }> {
  // Two bytes are those of the tenant whose key is exchanged.
  const sealed = Uint8Array.of(n % CONTENTS, 2, 3)
  const plain = put(key, { kind: 'inline', chunkId: 'ci', sealed }, SIZE)
  return {
    ...plain,
    tenantId: TENANT,
    bucket,
    etag: bucket === 'both' ? `${from}${n}` : `e${n % CONTENTS}`,
    metadata: { from: `${from}${n}` },
  }
}

export function replicationOf(
  name: Replicated,
  bucketId: string,
  identity: string,
): Extract<Command, { type: 'setBucketReplication' }> {
  const target: SiteTarget = {
    endpoint: 'https://other.example',
    bucket: name,
    region: 'us-east-1',
    isVirtualHost: false,
    accessKeyId: 'AKOTHER',
    identity,
  }
  const rules = [siteRule({ deletes: name === 'both' ? 'markers' : 'all' })]
  const secret = Uint8Array.of(7, 7)
  return {
    type: 'setBucketReplication',
    tenantId: TENANT,
    name,
    bucketId,
    target,
    secret,
    rules,
    existing: true,
  }
}

export class SiteSteps {
  readonly #random: Random
  readonly #oracle: ObjectOracle
  /** Of a bucket of the second site. */
  readonly #idThere: (name: Replicated) => string
  #puts = 0

  constructor(random: Random, oracle: ObjectOracle, idThere: (name: Replicated) => string) {
    this.#random = random
    this.#oracle = oracle
    this.#idThere = idThere
  }

  /** The prerequisites of all other steps; null: all are there. */
  missing(): Command | null {
    const { world, models } = this.#oracle
    if (!models.has(TENANT)) return createTenant(TENANT)
    for (const name of REPLICATED) {
      const bucket = world.get(bucketKeys.bucket(TENANT, name))
      if (bucket === undefined) return bucketCommand(name)
      // Now and then something is there before: it is queued by the walk.
      if (world.get(siteKeys.site(bucket.id)) !== undefined) continue
      if (this.#random.chance(0.5)) return this.#put(name)
      const identity = identityText({ clusterId: SECOND, bucketId: this.#idThere(name) })
      return replicationOf(name, bucket.id, identity)
    }
    return null
  }

  next(): Command {
    const random = this.#random
    const bucket = random.pick(REPLICATED)
    const dice = random.fraction()
    const key = random.pick(SITE_KEYS)
    const name = { tenantId: TENANT, bucket, key }
    if (dice < 0.5 || (bucket === 'both' && dice >= 0.7)) return this.#put(bucket)
    if (dice < 0.7) return { ...remove(key, null, bucket), tenantId: TENANT }
    if (dice < 0.73) return { type: 'startResync', tenantId: TENANT, name: bucket }
    const versionId = bucket === 'sent' ? this.#versionOf(bucket, key) : null
    if (dice < 0.83 || bucket === 'flat')
      return dice < 0.78 || versionId === null
        ? { type: 'setObjectTags', ...name, versionId, tags: { n: String(random.below(9)) } }
        : { ...remove(key, versionId, bucket), tenantId: TENANT }
    if (dice < 0.92)
      return {
        type: 'setObjectRetention',
        ...name,
        versionId,
        retention: this.#retention(),
        ...this.#bypass(),
      }
    return { type: 'setObjectLegalHold', ...name, versionId, legalHold: random.chance(0.4) }
  }

  #put(bucket: Replicated): Command {
    const random = this.#random
    this.#puts += 1
    const command = sitePut(bucket, random.pick(SITE_KEYS), { n: this.#puts, from: 'a' })
    const tags = random.chance(0.3) ? { at: 'birth' } : command.tags
    if (bucket !== 'sent') return { ...command, tags }
    const retention = random.chance(0.2) ? this.#retention() : null
    return { ...command, tags, retention, legalHold: random.chance(0.1) }
  }

  #bypass(): { readonly bypassGovernance?: true } {
    return this.#random.chance(0.3) ? { bypassGovernance: true } : {}
  }

  #retention(): RetentionRecord {
    const hours = this.#random.pick([1, 2, 30, 100])
    const mode = this.#random.chance(0.5) ? 'GOVERNANCE' : 'COMPLIANCE'
    return { mode, until: (Math.ceil(this.#oracle.world.time / HOUR_MS) + hours) * HOUR_MS }
  }

  /** Any of a key, delete markers among them; null: there is none. */
  #versionOf(bucket: Replicated, key: string): string | null {
    const versions = this.#oracle.models.get(TENANT)?.buckets.get(bucket)?.keys.get(key) ?? []
    return versions.length === 0 ? null : this.#random.pick(versions).id
  }
}
