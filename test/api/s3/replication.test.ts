/**
 * What the S3 API says to a site that replicates to it, and how it shows and changes the replication of a bucket. [docs/adr/0090-replication-to-a-second-site.md]
 *
 * Actions: HeadBucket, HeadObject, DeleteObject, CreateBucket, PutBucketReplication, GetBucketReplication, DeleteBucketReplication
 */
import {
  DeleteBucketReplicationCommand,
  GetBucketReplicationCommand,
  PutBucketReplicationCommand,
  type ReplicationRule,
  S3Client,
} from '@aws-sdk/client-s3'
import t, { type Test } from 'tap'
import { bucketKeys } from '../../../src/state-machine/buckets/keys.ts'
import { siteKeys } from '../../../src/state-machine/sites/keys.ts'
import {
  IDENTITY_HEADER,
  MARK_NAME,
  markText,
  REPLICA_HEADER,
  SOURCE_HEADER,
} from '../../../src/state-machine/sites/mark.ts'
import { MARK } from '../../state-machine/site-commands.ts'
import { S3World } from './s3-world.ts'

const VERSIONED = '<VersioningConfiguration><Status>Enabled</Status></VersioningConfiguration>'

t.test('HeadBucket names the bucket by the ids of its cluster and of itself', async (t) => {
  const s3 = await S3World.start(t)
  const { headers } = await s3.call({ method: 'HEAD', path: '/photos' })
  t.match(String(headers[IDENTITY_HEADER]), /^[\w-]+ \w+$/)
})

t.test('a deletion that repeats one of another site is kept in its delete marker and shown', async (t) => {
  const s3 = await S3World.start(t)
  await s3.call({ method: 'PUT', path: '/photos?versioning', body: VERSIONED })
  const mark = markText(MARK)
  await s3.call({
    method: 'PUT',
    path: '/photos/a',
    body: 'x',
    headers: { [`x-amz-meta-${MARK_NAME}`]: mark },
  })
  t.equal((await s3.call({ method: 'HEAD', path: '/photos/a' })).headers[`x-amz-meta-${MARK_NAME}`], mark)
  t.equal(
    (await s3.call({ method: 'DELETE', path: '/photos/a', headers: { [REPLICA_HEADER]: mark } })).status,
    204,
  )
  const gone = await s3.call({ method: 'HEAD', path: '/photos/a' })
  t.match(gone, { status: 404, headers: { 'x-amz-delete-marker': 'true', [REPLICA_HEADER]: mark } })
  t.ok(Date.parse(String(gone.headers['last-modified'])) > 0, 'and when it was made')
  await s3.call({ method: 'PUT', path: '/photos/b', body: 'x' })
  await s3.call({ method: 'DELETE', path: '/photos/b' })
  const own = await s3.call({ method: 'HEAD', path: '/photos/b' })
  t.match(own, { status: 404, headers: { 'x-amz-delete-marker': 'true' } })
  t.notOk(REPLICA_HEADER in own.headers, 'a client deleted it')
})

t.test('InvalidArgument for a header that is no mark', async (t) => {
  const s3 = await S3World.start(t)
  const answer = await s3.call({ method: 'DELETE', path: '/photos/a', headers: { [REPLICA_HEADER]: 'true' } })
  t.match(answer, { status: 400, s3Code: 'InvalidArgument' })
})

t.test('CreateBucket by replication keeps whose bucket it is for', async (t) => {
  const s3 = await S3World.start(t)
  const made = (path: string, source: string) =>
    s3.call({ method: 'PUT', path, headers: { [SOURCE_HEADER]: source } })
  t.equal((await made('/copies', 'c-1 photos')).status, 200)
  const row = s3.world.memory.reader.get(bucketKeys.bucket('acme', 'copies'))
  t.equal(row?.replicaOf, 'c-1 photos')
  t.match(await made('/others', 'photos'), { status: 400, s3Code: 'InvalidArgument' })
})

const ROLE = 'arn:holdfast:replication:us-east-1:acme:photos'
const DESTINATION = { Bucket: 'arn:aws:s3:::copies' }
const TARGET = { endpoint: 'https://s3.other.example', bucket: 'copies', accessKeyId: 'AKOTHER' }

/** A bucket with a target, the AWS SDK for it, and its rules by the native API. */
async function replicated(t: Test, rules: readonly object[] = []) {
  const s3 = await S3World.start(t)
  const token = await s3.world.memory.bearer('acme', 'read,write,delete,admin')
  const native = { path: '/api/v1/buckets/photos/replication', token }
  const body = { target: { ...TARGET, secretKey: 'the-secret' }, rules }
  t.equal((await s3.world.call({ ...native, method: 'PUT', body })).status, 200)
  const { accessKeyId, secretKey: secretAccessKey } = s3.secret
  const client = new S3Client({
    endpoint: `http://${s3.host}`,
    region: 'us-east-1',
    forcePathStyle: true,
    maxAttempts: 1,
    credentials: { accessKeyId, secretAccessKey },
  })
  t.teardown(() => client.destroy())
  const put = (Rules: ReplicationRule[], Role = ROLE) =>
    client.send(
      new PutBucketReplicationCommand({ Bucket: 'photos', ReplicationConfiguration: { Role, Rules } }),
    )
  const get = async () =>
    (await client.send(new GetBucketReplicationCommand({ Bucket: 'photos' }))).ReplicationConfiguration
  const rulesOf = async () => (await s3.world.call(native)).json['rules']
  return { s3, client, put, get, rulesOf }
}

t.test('GetBucketReplication shows what the AWS SDK can send back unchanged', async (t) => {
  const rules = [
    { id: 'a', filter: { prefix: 'in/', tags: { x: '1' } }, deletes: 'none' },
    { id: 'b', status: 'Disabled', filter: { prefix: 'old/' } },
    { id: 'c', deletes: 'all' },
  ]
  const { put, get, rulesOf } = await replicated(t, rules)
  const shown = await get()
  t.match(shown, {
    Role: ROLE,
    Rules: [
      { ID: 'a', Priority: 3, Filter: { And: { Prefix: 'in/', Tags: [{ Key: 'x', Value: '1' }] } } },
      { ID: 'b', Priority: 2, Status: 'Disabled', Destination: DESTINATION },
      { ID: 'c', Priority: 1, DeleteMarkerReplication: { Status: 'Enabled' } },
    ],
  })
  const before = await rulesOf()
  await put([...(shown?.Rules ?? [])].reverse())
  t.strictSame(await rulesOf(), before, 'priorities decide, not the order')
})

t.test('PutBucketReplication replaces the rules of a target that is set', async (t) => {
  const { put, rulesOf, s3 } = await replicated(t)
  await put([
    { ID: 'low', Priority: 1, Status: 'Enabled', Filter: { Prefix: '' }, Destination: DESTINATION },
    {
      ID: 'high',
      Priority: 2,
      Status: 'Enabled',
      Filter: { Prefix: 'in/' },
      DeleteMarkerReplication: { Status: 'Enabled' },
      ExistingObjectReplication: { Status: 'Enabled' },
      Destination: { ...DESTINATION, StorageClass: 'STANDARD' },
    },
  ])
  t.match(await rulesOf(), [
    { id: 'high', filter: { prefix: 'in/' }, deletes: 'markers' },
    { id: 'low', deletes: 'none' },
  ])
  const id = s3.world.memory.reader.get(bucketKeys.bucket('acme', 'photos'))?.id ?? ''
  t.ok(s3.world.memory.reader.get(siteKeys.siteState(id))?.resync, 'what is there is sent')
  await put([{ Status: 'Enabled', Prefix: 'logs/', Destination: DESTINATION }])
  t.match(await rulesOf(), [{ filter: { prefix: 'logs/' }, deletes: 'markers' }], 'the older form')
})

t.test('PutBucketReplication is refused where it names something else than what is set', async (t) => {
  const { put, rulesOf } = await replicated(t)
  const before = await rulesOf()
  const rule = { Status: 'Enabled', Filter: { Prefix: '' }, Destination: DESTINATION } as const
  const elsewhere = { Bucket: 'arn:aws:s3:::elsewhere' }
  const cases: readonly (readonly [ReplicationRule[], string | undefined, string, RegExp])[] = [
    [[{ ...rule, Destination: elsewhere }], undefined, 'InvalidArgument', /is arn:aws:s3:::copies/],
    [[rule], 'arn:aws:iam::1:role/r', 'InvalidArgument', /has to be arn:holdfast:replication/],
    [
      [
        {
          ...rule,
          Destination: { ...DESTINATION, ReplicationTime: { Status: 'Enabled', Time: { Minutes: 15 } } },
        },
      ],
      undefined,
      'NotImplemented',
      /ReplicationTime/,
    ],
    [
      [{ ...rule, SourceSelectionCriteria: { ReplicaModifications: { Status: 'Enabled' } } }],
      undefined,
      'NotImplemented',
      /SourceSelectionCriteria/,
    ],
    [
      [
        { ...rule, ID: 'a' },
        { ...rule, ID: 'b' },
      ],
      undefined,
      'InvalidRequest',
      /never decides/,
    ],
  ]
  for (const [rules, role, code, message] of cases) {
    const error = await put(rules, role).then(
      () => null,
      (reason: unknown) => reason,
    )
    t.match(error, { name: code, message }, String(message))
  }
  t.strictSame(await rulesOf(), before)
})

t.test('DeleteBucketReplication ends it; then there is none, and no role makes one', async (t) => {
  const { s3, client } = await replicated(t)
  for (const again of ['first', 'again'])
    t.ok(await client.send(new DeleteBucketReplicationCommand({ Bucket: 'photos' })), again)
  const missing = { status: 404, s3Code: 'ReplicationConfigurationNotFoundError' }
  t.match(await s3.call({ path: '/photos?replication' }), missing)
  const body = `<ReplicationConfiguration><Role>${ROLE}</Role></ReplicationConfiguration>`
  t.match(await s3.call({ method: 'PUT', path: '/photos?replication', body }), {
    status: 400,
    s3Code: 'InvalidRequest',
  })
  t.match(await s3.call({ path: '/absent?replication' }), { status: 404, s3Code: 'NoSuchBucket' })
})
