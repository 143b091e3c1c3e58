/**
 * Replication of a bucket through the native API: set, read, removed, refused, its status and what differs. [docs/adr/0090-replication-to-a-second-site.md]
 */
import { createHash } from 'node:crypto'
import t from 'tap'
import { SiteFault } from '../../src/operations/base/remote-store.ts'
import { siteKeys, siteRanges } from '../../src/state-machine/sites/keys.ts'
import { BucketClient } from './bucket-client.ts'

const PATH = '/api/v1/buckets/films/replication'
const TARGET = { endpoint: 'https://s3.other.example', bucket: 'copies', accessKeyId: 'AKOTHER' }
const SECRET = 'the-secret-of-the-target'
const WITH_SECRET = { ...TARGET, secretKey: SECRET }

const start = async (t: Parameters<typeof BucketClient.start>[0], bucket: object = {}) =>
  (await BucketClient.start(t, bucket)).asAdmin()
const set = (films: BucketClient, more: object = {}) =>
  films.ask({ method: 'PUT', path: PATH, body: { target: WITH_SECRET, ...more } })
const SITES = siteRanges.sites()
t.test(
  'set, read, replace and remove [replication.get] [replication.set] [replication.delete]',
  async (t) => {
    const films = await start(t)
    const unset = { status: 404, code: 'not_found', json: { message: 'Bucket "films" is not replicated' } }
    t.match(await films.ask({ path: PATH }), unset)
    const rules = [
      { id: 'in', status: 'Disabled', filter: { prefix: 'in/', tags: { a: 'b' } }, deletes: 'none' },
    ]
    const shown = { target: { ...TARGET, region: 'us-east-1', virtualHost: false }, rules }
    t.match(await set(films, { rules }), { status: 200, json: shown })
    const read = await films.ask({ path: PATH })
    t.match(read, { status: 200, json: shown })
    t.notMatch(JSON.stringify(read.json), SECRET, 'no answer shows the secret')
    const everything = [{ id: 'everything', status: 'Enabled', filter: {}, deletes: 'markers' }]
    const kept = await films.ask({ method: 'PUT', path: PATH, body: { target: TARGET } })
    t.match(
      kept,
      { status: 200, json: { rules: everything } },
      'the secret stays, and no rule is one for everything',
    )
    for (const again of ['first', 'again'])
      t.equal((await films.ask({ method: 'DELETE', path: PATH })).status, 204, again)
    t.match(await films.ask({ path: PATH }), unset)
    t.match(await films.ask({ path: `${PATH}/status` }), unset)
  },
)

t.test('the secret is sealed in its row', async (t) => {
  const films = await start(t)
  await set(films)
  const { state } = films.world.memory.services
  const { items } = await state.page(SITES, { limit: 10 })
  t.equal(items.length, 1)
  t.notOk(Buffer.from(JSON.stringify(items)).includes(SECRET))
  const [{ bucketId, secret } = { bucketId: '', secret: new Uint8Array(0) }] = items
  t.equal(films.world.memory.services.siteSecrets.open(bucketId, secret), SECRET)
  t.throws(
    () => films.world.memory.services.siteSecrets.open('OTHER', secret),
    'and opens for no other bucket',
  )
  t.ok(state.get(siteKeys.siteState(bucketId)))
})

t.test(
  'invalid_request, invalid_argument: what contradicts itself or could never act, by the name of the field [replication.rules]',
  async (t) => {
    const films = await start(t)
    const tags = { filter: { tags: { a: 'b' } } }
    const cases: readonly (readonly [object, string, RegExp])[] = [
      [{ target: { ...TARGET } }, 'invalid_request', /target.secretKey is missing/],
      [{ target: { ...WITH_SECRET, endpoint: 'http://s3.example.net' } }, 'invalid_request', /use https/],
      [{ target: { ...WITH_SECRET, endpoint: 'https://127.0.0.1' } }, 'invalid_request', /no public address/],
      [
        { target: { ...WITH_SECRET, endpoint: 'https://s3.example.net/bucket' } },
        'invalid_argument',
        /target.endpoint has a path/,
      ],
      [{ target: { ...WITH_SECRET, bucket: 'No' } }, 'invalid_argument', /target.bucket/],
      [{ target: { ...WITH_SECRET, region: 'a b' } }, 'invalid_argument', /target.region/],
      [{ target: { ...WITH_SECRET, accessKeyId: 'a\u00e4' } }, 'invalid_argument', /target.accessKeyId/],
      [{ target: { ...WITH_SECRET, secretKey: 'a b' } }, 'invalid_argument', /target.secretKey/],
      [{ rules: [{}, { filter: { prefix: 'a/' } }] }, 'invalid_request', /rules.1 never decides/],
      [
        { rules: [tags, { filter: { prefix: 'a', tags: { a: 'b', c: 'd' } } }] },
        'invalid_request',
        /rules.1 never decides/,
      ],
      [
        { rules: [{ ...tags, deletes: 'markers' }] },
        'invalid_request',
        /has tags in its filter and replicates deletions/,
      ],
      [
        { rules: [{ id: 'a', filter: { prefix: 'x' } }, { id: 'a' }] },
        'invalid_argument',
        /like that of an earlier/,
      ],
      [{ rules: [{ status: 'On' }] }, 'invalid_argument', /give Enabled or Disabled/],
      [{ rules: [{ deletes: 'some' }] }, 'invalid_argument', /give none, markers or all/],
      [{ rules: [{ filter: { prefix: 'p'.repeat(1025) } }] }, 'invalid_argument', /rules.0.filter.prefix/],
    ]
    for (const [given, code, message] of cases)
      t.match(await set(films, given), { status: 400, code, json: { message } }, String(message))
    t.equal((await films.ask({ path: PATH })).status, 404, 'nothing was set')
    const disjoint = [tags, { status: 'Disabled' }, { filter: { prefix: 'b/' } }, {}]
    t.equal(
      (await set(films, { rules: disjoint })).status,
      200,
      'a general rule behind special ones decides the rest',
    )
  },
)

t.test(
  'target_refused where the target does not serve, or is the bucket itself [replication.target] [errors.target_refused]',
  async (t) => {
    const films = await start(t)
    const { otherSite: site, services } = films.world.memory
    site.fault = () =>
      new SiteFault('unreachable', 'ListObjectsV2 was answered 404 NoSuchBucket', { s3Code: 'NoSuchBucket' })
    const missing = {
      status: 424,
      code: 'target_refused',
      json: { message: /NoSuchBucket; create the bucket there/ },
    }
    t.match(await set(films), missing)
    site.fault = () => null
    await set(films)
    site.fault = () => new SiteFault('unreachable', 'ListObjectsV2 was not answered in time')
    const compared = await films.ask({ method: 'POST', path: `${PATH}/compare`, body: {} })
    t.match(compared, { status: 424, json: { message: /not answered in time; check target.endpoint/ } })
    site.fault = () => null
    const { items } = await services.state.page(SITES, { limit: 1 })
    const [{ bucketId } = { bucketId: '' }] = items
    site.identity = { clusterId: services.cluster.clusterId, bucketId }
    t.match(await set(films), { status: 424, json: { message: /is the bucket "films" itself/ } })
    site.identity = { clusterId: services.cluster.clusterId, bucketId: 'ANOTHER' }
    t.equal((await set(films)).status, 200, 'another bucket of the same cluster is a target')
  },
)

t.test('access_denied without the verb admin over the whole bucket [replication.admin]', async (t) => {
  const films = await start(t)
  await set(films)
  for (const scope of ['read,write,delete', 'op=admin:bucket=films:prefix=tmp/']) {
    const narrow = films.as({ token: await films.world.memory.bearer('acme', scope) })
    for (const answer of [
      await set(narrow),
      await narrow.ask({ path: PATH }),
      await narrow.ask({ path: `${PATH}/status` }),
      await narrow.ask({ method: 'POST', path: `${PATH}/resync` }),
      await narrow.ask({ method: 'POST', path: `${PATH}/retry` }),
      await narrow.ask({ method: 'POST', path: `${PATH}/compare`, body: {} }),
      await narrow.ask({ method: 'DELETE', path: PATH }),
    ])
      t.match(answer, { status: 403, code: 'access_denied' }, scope)
  }
})

t.test('precondition_failed below feature level 7 [replication.level]', async (t) => {
  const films = await start(t)
  films.world.memory.featureLevel = 6
  t.match(await set(films), { status: 412, code: 'precondition_failed' })
})

t.test(
  'status, resync and retry tell what waits and what was given up [replication.status] [replication.resync] [replication.retry]',
  async (t) => {
    const films = await start(t)
    await films.put('before', 'x')
    await set(films)
    await films.put('a', 'four')
    await films.put('b', 'five5')
    const status = async () => (await films.ask({ path: `${PATH}/status` })).json
    t.match(await status(), { pending: 2, pendingBytes: 9, failed: 0, resync: null, failures: [] })
    t.match(await films.ask({ method: 'POST', path: `${PATH}/resync` }), {
      status: 202,
      json: { endedAt: null, queued: 0 },
    })
    const { state } = films.world.memory.services
    const [{ bucketId } = { bucketId: '' }] = (await state.page(SITES, { limit: 1 })).items
    const { items } = await state.page(siteRanges.siteChanges(bucketId), { limit: 1 })
    const result = { bucketId, changeId: items[0]?.changeId ?? '', attempts: 0 }
    const refused = {
      ...result,
      verdict: 'refused',
      error: 'PutObject was answered 400 EntityTooLarge',
      retryAfterMs: null,
      jitter: 0,
    } as const
    await films.world.memory.change({ type: 'recordSends', results: [refused] })
    t.match(await status(), {
      pending: 1,
      failed: 1,
      failures: [{ kind: 'put', key: 'a', attempts: 1, error: /EntityTooLarge/ }],
    })
    t.match(await films.ask({ method: 'POST', path: `${PATH}/retry` }), { status: 200, json: { retried: 1 } })
    t.match(await status(), { pending: 2, failed: 0 })
    t.match(await films.ask({ method: 'POST', path: `${PATH}/retry` }), { json: { retried: 0 } })
  },
)

t.test('compare names the keys that differ, page by page [replication.compare]', async (t) => {
  const films = await start(t)
  const { otherSite: site } = films.world.memory
  const at = (key: string, bytes: string) => {
    const there = {
      isDeleteMarker: false,
      etag: 'e',
      size: bytes.length,
      modifiedAt: 0,
      mark: null,
      crc64nvme: null,
    }
    site.keys.set(key, [
      {
        ...there,
        versionId: key,
        bytes: Buffer.from(bytes),
        metadata: {},
        tags: {},
        retention: null,
        legalHold: false,
      },
    ])
  }
  for (const key of ['different', 'missing']) await films.put(key, 'text')
  await set(films)
  await films.put('waiting', 'text')
  at('different', 'longer text')
  at('extra', 'x')
  const answer = await films.ask({ method: 'POST', path: `${PATH}/compare`, body: {} })
  t.match(answer, { status: 200, json: { compared: 4 } })
  t.same((answer.json as { differences: unknown }).differences, [
    { key: 'different', difference: 'different' },
    { key: 'extra', difference: 'extra' },
    { key: 'missing', difference: 'missing' },
    { key: 'waiting', difference: 'waiting' },
  ])
  for (let n = 0; n < 1200; n++) at(`there${String(n).padStart(5, '0')}`, 'x')
  let [compared, token, pages]: [number, string | undefined, number] = [0, undefined, 0]
  do {
    const body = token === undefined ? {} : { continuationToken: token }
    const { json } = await films.ask({ method: 'POST', path: `${PATH}/compare`, body })
    const page = json as { compared: number; nextContinuationToken?: string }
    compared += page.compared
    token = page.nextContinuationToken
    pages++
  } while (token !== undefined)
  t.same([compared, pages > 2], [1204, true], 'each key once')
})

t.test('an object with a key of its client is counted, and differs without being a failure', async (t) => {
  const films = await start(t)
  await set(films)
  await films.put('plain', 'text')
  const key = Buffer.alloc(32, 7)
  await films.put('sealed', 'text', {
    'x-service-customer-algorithm': 'AES256',
    'x-service-customer-key': key.toString('base64'),
    'x-service-customer-key-md5': createHash('md5').update(key).digest('base64'),
  })
  const { json } = await films.ask({ path: `${PATH}/status` })
  t.match(json, { pending: 1, failed: 0, notReplicable: 1 })
  const compared = await films.ask({ method: 'POST', path: `${PATH}/compare`, body: {} })
  t.same(compared.json['differences'], [
    { key: 'plain', difference: 'waiting' },
    { key: 'sealed', difference: 'not_replicable' },
  ])
})
