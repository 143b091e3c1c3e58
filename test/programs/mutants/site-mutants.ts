/**
 * Bugs of the replication to another site: what is queued, what leaves the queue, what is sent and in which order.
 */
import type { Mutant } from './mutant.ts'
import { killedByTests, type TestedRow } from './rows.ts'

const ROOM = 'src/state-machine/sites/'
const WORK = 'src/workers/sites/'
const QUEUE = 'state-machine/sites'
const RESYNC = 'state-machine/site-resync'
const SENT = 'workers/sites/sending'
const STORE = 'workers/sites/s3-site'
const TENANT = 'state-machine/tenant-sites'
const VERDICT = 'operations/follow-verdict'
const FOLLOWING = 'workers/sites/following'
const S3 = 'api/s3/replication'
const S3_ROUTES = 'src/api/s3/buckets/replication-routes.ts'

const rows: readonly TestedRow[] = [
  [
    'RS1',
    'a replica is sent on to the next site',
    `${ROOM}queueing.ts`,
    '!isCopy && isReplica(version.metadata)',
    "!isCopy && isReplica(version.metadata) && kind !== 'put'",
    QUEUE,
  ],
  [
    'RS2',
    'a deletion that came from a site is sent back',
    'src/state-machine/events/events.ts',
    'if (kind === null || isReplica) return',
    'if (kind === null || (isReplica && isNamed)) return',
    QUEUE,
  ],
  [
    'RS3',
    'a disabled rule decides',
    `${ROOM}queueing.ts`,
    'one.isEnabled && matches(one, version)',
    'matches(one, version)',
    QUEUE,
  ],
  [
    'RS4',
    'a removal by id is sent by any rule that sends deletions',
    `${ROOM}queueing.ts`,
    "return kind !== 'remove' || rule.deletes === 'all'",
    "return kind !== 'remove' || rule.deletes !== 'none'",
    QUEUE,
  ],
  [
    'RS5',
    'a result that is reported again counts again',
    `${ROOM}sends.ts`,
    'change?.attempts !== attempts) continue',
    'change === undefined) continue',
    QUEUE,
  ],
  [
    'RS6',
    'a target that does not answer costs each change an attempt until it is given up',
    `${ROOM}sends.ts`,
    '      return paused(state, { result, lastError, time })\n',
    '      return givenUp(draft, state, change)\n',
    QUEUE,
  ],
  [
    'RS7',
    'a page of a resync counts twice',
    `${ROOM}resync.ts`,
    'resync?.id === resyncId && resync.place === place && resync.endedAt === null',
    'resync?.id === resyncId && resync.endedAt === null',
    RESYNC,
  ],
  [
    'RS8',
    'rows of a bucket that is replicated are forgotten',
    `${ROOM}sends.ts`,
    'if (state?.isRemoved !== true) return',
    'if (state === undefined) return',
    QUEUE,
  ],
  [
    'RS9',
    'a change passes one of its key that waits for its next attempt',
    `${WORK}sending.ts`,
    'const isFirst = !held.has(change.key)\n        held.add(change.key)',
    'const isFirst = !held.has(change.key)\n        if (sendIsDue(change.dueAt, now())) held.add(change.key)',
    SENT,
  ],
  [
    'RS10',
    'what is there already is sent again',
    'src/operations/replication/precedence.ts',
    "if (mark.versionId === own.versionId) return 'same'",
    "if (mark.versionId === own.versionId) return 'older'",
    SENT,
  ],
  [
    'RS11',
    'an older version replaces a newer one of the same origin',
    'src/operations/replication/precedence.ts',
    "return mark.versionId < own.versionId ? 'older' : 'superseded'",
    "return 'older'",
    SENT,
  ],
  [
    'RS12',
    'the earlier change wins',
    'src/operations/replication/precedence.ts',
    "return theirs < ours ? 'older' : 'later'",
    "return theirs > ours ? 'older' : 'later'",
    SENT,
  ],
  [
    'RS13',
    'a part that the target stored otherwise becomes part of the version',
    `${WORK}s3-parts.ts`,
    'else if (etag !== md5)',
    'else if (etag === md5)',
    STORE,
  ],
  [
    'RS14',
    'an upload that failed stays at the target',
    `${WORK}s3-parts.ts`,
    '    await requests.askAtLast(abort)\n',
    '    void abort\n',
    STORE,
  ],
  [
    'RS15',
    'a large version replaces what came between',
    `${WORK}s3-parts.ts`,
    '{ ...request.headers, ...conditions }',
    'request.headers',
    STORE,
  ],
  [
    'RS16',
    'an assembled version goes in other parts',
    `${WORK}part-plan.ts`,
    'if (assembledOf !== undefined && areAccepted(assembledOf)) return',
    'if (assembledOf !== undefined && !areAccepted(assembledOf)) return',
    STORE,
  ],
  [
    'RS17',
    'what only its client can read waits to be sent',
    `${ROOM}queueing.ts`,
    "if (!isReadable(version) && kind !== 'delete') {",
    "if (isReadable(version) && kind === 'remove') {",
    QUEUE,
  ],
  [
    'RS18',
    'a resync queues what only its client can read',
    `${ROOM}resync.ts`,
    '    if (!isReadable(version)) {\n      notReplicable++\n      continue\n    }\n',
    '    if (!isReadable(version)) notReplicable++\n',
    RESYNC,
  ],
  [
    'RS19',
    'the replication of a tenant replaces that of a bucket of its own',
    `${ROOM}tenant-sites.ts`,
    'const isOwn = own !== undefined && own.ofTenant === undefined',
    'const isOwn = own !== undefined && own.ofTenant === null',
    TENANT,
  ],
  [
    'RS20',
    'a bucket follows a replication that was changed since its target was asked',
    `${ROOM}tenant-sites.ts`,
    'bucket.value.id !== bucketId || site?.revision !== revision || isOwn',
    'bucket.value.id !== bucketId || site === undefined || isOwn',
    TENANT,
  ],
  [
    'RS21',
    'what is in a bucket that is made later is not sent',
    `${ROOM}tenant-sites.ts`,
    'existing: site.existing || isYounger,',
    'existing: site.existing && isYounger,',
    TENANT,
  ],
  [
    'RS22',
    'two sites with prefixes make buckets for the buckets of each other',
    'src/operations/replication/follow-verdict.ts',
    "if (isForeignCopy(site, bucket)) return 'copy'",
    "if (isForeignCopy(site, bucket)) return 'due'",
    VERDICT,
  ],
  [
    'RS23',
    'the end of the replication of a tenant releases buckets with one of their own',
    `${ROOM}tenant-sites.ts`,
    'if (siteOf(draft, bucket)?.ofTenant === undefined) continue',
    'if (siteOf(draft, bucket) === undefined) continue',
    TENANT,
  ],
  [
    'RS24',
    'a bucket that cannot follow does not wait',
    `${WORK}following.ts`,
    "await propose({ type: 'followTenant', ...named, ...(await this.#target(turn)) })",
    "await propose({ type: 'followTenant', ...named, targetBucket: '', identity: null, secret: new Uint8Array() })",
    FOLLOWING,
  ],
  [
    'RS25',
    'PutBucketReplication takes a destination that is not set',
    S3_ROUTES,
    'if (arn === destinationOf(site)) return',
    "if (arn.startsWith('arn:')) return",
    S3,
  ],
  [
    'RS26',
    'PutBucketReplication takes a role that stands for nothing',
    S3_ROUTES,
    'if (role === expected) return',
    'if (role !== expected) return',
    S3,
  ],
  [
    'RS27',
    'the lowest priority comes first',
    S3_ROUTES,
    'other.priority - one.priority',
    'one.priority - other.priority',
    S3,
  ],
  [
    'RS28',
    'a client that reads and sends back ends the removal of versions at the other site',
    S3_ROUTES,
    "return present?.deletes === 'all' ? 'all' : 'markers'",
    "return present?.deletes === 'none' ? 'all' : 'markers'",
    S3,
  ],
]

export const SITE_MUTANTS: readonly Mutant[] = killedByTests(rows)
