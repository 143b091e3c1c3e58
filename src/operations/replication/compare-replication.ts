/**
 * compareBucketReplication: authorize -> exists -> compare a page of keys here with those of the target.
 *
 * Rules: it changes nothing; what is compared is what the rules name, by size and digest, and by the mark where the digests of the two sites are of
 * different kinds; a key that waits in the queue is named apart from one that nothing waits for; a token continues behind the page.
 */
import { S3_ACTIONS } from '../../access/policies/s3-actions.ts'
import { accessKey } from '../../access/rights.ts'
import { isNamed, isReadable } from '../../state-machine/sites/queueing.ts'
import { isReplica } from '../../state-machine/sites/mark.ts'
import { siteRanges } from '../../state-machine/sites/keys.ts'
import type { SiteRule } from '../../state-machine/sites/records.ts'
import type { ObjectRecord } from '../../state-machine/versions/records.ts'
import { versionRanges } from '../../state-machine/versions/keys.ts'
import { openContinuationToken, sealContinuationToken } from '../base/continuation-token.ts'
import { dataOperation } from '../base/operation.ts'
import type { Services } from '../base/services.ts'
import { bucketTarget } from '../base/targets.ts'
import type { RemoteObject, RemoteStore } from '../base/remote-store.ts'
import { atTarget, findReplication, remoteOf } from './replicated-bucket.ts'

export const COMPARED_MAX = 500
/** Rows of the queue in which a key that differs is looked for. */
const QUEUE_LOOKED_MAX = 5_000

/**
 * `missing`: only here. `extra`: only there. `different`: other bytes. `waiting`: one of these, and a change of the key waits to be sent.
 * `not_replicable`: one of these, and only the client can read the object here.
 */
export type Difference = 'missing' | 'extra' | 'different' | 'waiting' | 'not_replicable'

export interface Comparison {
  readonly compared: number
  readonly differences: readonly { readonly key: string; readonly difference: Difference }[]
  readonly nextContinuationToken: string | null
}

export const compareBucketReplication = dataOperation(
  {
    id: 'compareBucketReplication',
    isListing: true,
    requires: accessKey('admin', 'whole-bucket'),
    s3Action: S3_ACTIONS.getReplication,
    refuses: ['invalid_continuation_token', 'target_refused'],
    target: bucketTarget,
  },
  async (
    services,
    principal,
    input: { readonly bucket: string; readonly continuationToken?: string },
  ): Promise<Comparison> => {
    const { bucket, site } = findReplication(services, principal.tenantId, input.bucket)
    const context = ['compareBucketReplication', bucket.id, `${site.revision}`]
    const { continuationToken } = input
    const after =
      continuationToken === undefined ? '' : openContinuationToken(services, context, continuationToken)
    const remote = remoteOf(services, site)
    const page = await pageOf(services, { bucketId: bucket.id, remote, after })
    const found: { key: string; difference: Difference }[] = []
    for (const pair of page.pairs) {
      const difference = await differenceOf(remote, site.rules, pair)
      if (difference !== null) found.push({ key: pair.key, difference })
    }
    const waiting = found.length === 0 ? new Set<string>() : await waitingKeys(services, bucket.id)
    return {
      compared: page.pairs.length,
      differences: found.map((one) =>
        waiting.has(one.key) && one.difference !== 'not_replicable' ? { ...one, difference: 'waiting' } : one,
      ),
      nextContinuationToken: page.next === null ? null : sealContinuationToken(services, context, page.next),
    }
  },
)

interface Pair {
  readonly key: string
  readonly here: ObjectRecord | undefined
  readonly there: RemoteObject | undefined
}

/** Keys of both sides up to the last key that both pages have reached. */
async function pageOf(
  { state }: Services,
  {
    bucketId,
    remote,
    after,
  }: { readonly bucketId: string; readonly remote: RemoteStore; readonly after: string },
): Promise<{ readonly pairs: readonly Pair[]; readonly next: string | null }> {
  const [own, other] = await Promise.all([
    state.page(versionRanges.objects(bucketId), { after, limit: COMPARED_MAX }),
    atTarget(remote.list({ prefix: '', after, limit: COMPARED_MAX })),
  ])
  const ends = [
    own.next === null ? null : own.items.at(-1)?.key,
    other.isLast ? null : other.objects.at(-1)?.key,
  ].filter((end) => end !== null && end !== undefined)
  const until = ends.length === 0 ? null : ends.reduce((one, two) => (isBefore(two, one) ? two : one))
  const isIn = (key: string): boolean => until === null || !isBefore(until, key)
  const here = new Map(own.items.filter(({ key }) => isIn(key)).map((one) => [one.key, one] as const))
  const there = new Map(other.objects.filter(({ key }) => isIn(key)).map((one) => [one.key, one] as const))
  const keys = [...new Set([...here.keys(), ...there.keys()])].sort((one, two) =>
    isBefore(one, two) ? -1 : 1,
  )
  return { pairs: keys.map((key) => ({ key, here: here.get(key), there: there.get(key) })), next: until }
}

/** In the order of UTF-8 bytes, in which both sides list. */
const isBefore = (one: string, two: string): boolean => Buffer.compare(Buffer.from(one), Buffer.from(two)) < 0

/** Null: they agree, or no rule is about them. */
async function differenceOf(
  remote: RemoteStore,
  rules: readonly SiteRule[],
  { key, here, there }: Pair,
): Promise<Difference | null> {
  if (here === undefined) return there !== undefined && isSent(rules, key) ? 'extra' : null
  const isOwn = isNamed(rules, { kind: 'put', version: here })
  // What came from a site is there already, unless it was deleted there.
  if (!isOwn && !(isReplica(here.metadata) && isSent(rules, key))) return null
  if (!isReadable(here)) return 'not_replicable'
  if (there === undefined) return 'missing'
  if (there.size !== here.size) return 'different'
  if (there.etag === here.etag) return null
  return (await haveSameBytes(remote, here)) ? null : 'different'
}

/** Whether a rule without tags is about the key. */
function isSent(rules: readonly SiteRule[], key: string): boolean {
  return rules.some(
    ({ isEnabled, prefix, tags }) => isEnabled && key.startsWith(prefix) && Object.keys(tags).length === 0,
  )
}

/** Objects of parts and of the native API have tags of another kind at the other site: a checksum of all bytes decides, or the mark. */
async function haveSameBytes(remote: RemoteStore, here: ObjectRecord): Promise<boolean> {
  const there = await atTarget(remote.head({ key: here.key, versionId: null }))
  if (there === null || there.size !== here.size) return false
  const crc = here.checksums.CRC64NVME
  if (crc !== undefined && there.crc64nvme !== null) return crc === there.crc64nvme
  return there.mark?.versionId === here.versionId
}

async function waitingKeys({ state }: Services, bucketId: string): Promise<ReadonlySet<string>> {
  const keys = new Set<string>()
  let after: string | null = ''
  for (let looked = 0; looked < QUEUE_LOOKED_MAX && after !== null; looked += COMPARED_MAX) {
    const page: { items: readonly { key: string }[]; next: string | null } = await state.page(
      siteRanges.siteChanges(bucketId),
      { after, limit: COMPARED_MAX },
    )
    for (const { key } of page.items) keys.add(key)
    after = page.next
  }
  return keys
}
