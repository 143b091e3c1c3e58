/**
 * batchDeleteObjects through HTTP: each key separately, in the order of the request. [decisions 5, 16]
 */
import t from 'tap'
import { Condition } from '../../cluster/index.ts'
import { BucketClient, idOf } from './bucket-client.ts'

interface Result {
  readonly key: string
  readonly deleted: boolean
  readonly status: number
  readonly deleteMarkerVersionId?: string
  readonly error?: { readonly code: string }
}

const resultsOf = ({ json }: { readonly json: Record<string, unknown> }) =>
  json['results'] as readonly Result[]

t.test('batchDeleteObjects', async (t) => {
  const films = await BucketClient.start(t, { objectLockEnabled: true })
  const one = idOf(await films.put('a', 'one'))
  const held = idOf(await films.put('held', 'x', { 'x-service-legal-hold': 'ON' }))

  await t.test(
    'reports the outcome of each key [objects.batch] [objects.batch.counts] [objects.batch.marker] [objects.batch.absent] [objects.batch.locked]',
    async (t) => {
      const answer = await films.batchDelete({
        objects: [
          { key: 'a' },
          { key: 'held', versionId: held },
          { key: 'absent', versionId: '0'.repeat(26) },
          { key: 'a', versionId: one },
          { key: 'nothing', versionId: 'no id' },
          { key: 'k'.repeat(1025) },
          { key: '' },
          { key: 'a\u0000' },
          { key: '\ud800' },
        ],
      })
      t.equal(answer.status, 200)
      const [first] = resultsOf(answer)
      const marker = first?.deleteMarkerVersionId ?? ''
      t.match(marker, /^[0-9A-Z]{26}$/)
      t.match(answer.json, {
        results: [
          { key: 'a', deleted: true, status: 204, deleteMarker: true },
          {
            key: 'held',
            versionId: held,
            deleted: false,
            status: 403,
            error: { code: 'object_locked', message: /hold/ },
          },
          { key: 'absent', versionId: '0'.repeat(26), deleted: true, status: 204 },
          { key: 'a', versionId: one, deleted: true, status: 204 },
          { key: 'nothing', versionId: 'no id', deleted: true, status: 204 },
          { deleted: false, status: 400, error: { code: 'invalid_key' } },
          { key: '', deleted: false, status: 400, error: { code: 'invalid_key' } },
          { key: 'a\u0000', deleted: false, status: 400, error: { code: 'invalid_key' } },
          { deleted: false, status: 400, error: { code: 'invalid_key' } },
        ],
        deletedCount: 4,
        errorCount: 5,
      })
      t.notOk('deleteMarker' in (resultsOf(answer)[3] ?? {}), 'a version is no delete marker')
      t.same(await films.shown(), [`a-${marker}*`, `held@${held}*`])
      const unmarked = await films.batchDelete({ objects: [{ key: 'a', versionId: marker }] })
      t.match(resultsOf(unmarked), [{ deleteMarker: true, deleteMarkerVersionId: marker, versionId: marker }])
    },
  )

  await t.test(
    'quiet omits successes, and still counts them [objects.batch.quiet] [objects.batch.counts]',
    async (t) => {
      const objects = [{ key: 'x' }, { key: 'held', versionId: held }, { key: 'y' }]
      const answer = await films.batchDelete({ objects, quiet: true })
      t.match(answer.json, { deletedCount: 2, errorCount: 1 })
      t.same(
        resultsOf(answer).map(({ key }) => key),
        ['held'],
      )
    },
  )

  await t.test('too_many_keys: 1 to 1000 [limits.batch] [errors.too_many_keys]', async (t) => {
    const keys = (count: number) => ({ objects: Array.from({ length: count }, (_, n) => ({ key: `k${n}` })) })
    t.match(await films.batchDelete({ objects: [] }), { status: 400, code: 'too_many_keys' })
    t.match(await films.batchDelete(keys(1001)), { status: 400, code: 'too_many_keys' })
    const { proposals } = films.world.memory
    const full = await films.batchDelete(keys(1000))
    t.match(full.json, { deletedCount: 1000, errorCount: 0 })
    t.same(
      resultsOf(full).map(({ key }) => key),
      keys(1000).objects.map(({ key }) => key),
      'in order',
    )
    t.equal(films.world.memory.proposals - proposals, 4, 'at most 256 in one entry')
    for (const body of [
      {},
      { objects: 'a' },
      { objects: ['a'] },
      { objects: [{}] },
      { keys: [] },
      { objects: [{ key: 'a', etag: 'x' }] },
    ])
      t.match(await films.batchDelete(body), { status: 400, code: 'invalid_request' }, JSON.stringify(body))
  })

  await t.test('takes a body of up to 4 MiB [limits.batch-body]', async (t) => {
    const path = '/api/v1/buckets/films/objects:batchDelete'
    const padded = (length: number) => '{"objects":[{"key":"x"}]}'.padEnd(length, ' ')
    const send = (body: string) =>
      films.ask({ method: 'POST', path, body, headers: { 'content-type': 'application/json' } })
    t.equal((await send(padded(4 * 1024 * 1024))).status, 200)
    t.match(await send(padded(4 * 1024 * 1024 + 1)), { status: 413, code: 'entity_too_large' })
    const escaped = Array.from({ length: 600 }, (_, n) => ({ key: `${n}`.padStart(1024, '\u0001') }))
    t.match((await films.batchDelete({ objects: escaped })).json, { deletedCount: 600 })
  })

  t.match(await films.as({ name: 'absent' }).batchDelete({ objects: [{ key: 'a' }] }), {
    status: 404,
    code: 'not_found',
  })
  const get = await films.ask({ path: '/api/v1/buckets/films/objects:batchDelete' })
  t.match(get, { status: 405, headers: { allow: 'POST' } })
})

t.test(
  'a batch key outside the scope is refused separately, the others continue [objects.batch.scope]',
  async (t) => {
    const films = await BucketClient.start(t)
    for (const key of ['in/a', 'out/a', 'in/b']) await films.put(key)
    const token = await films.world.memory.bearer('acme', 'op=delete:bucket=films:prefix=in/')
    const objects = [{ key: 'in/a' }, { key: 'out/a' }, { key: 'in/b' }, { key: 'out/never' }]
    const answer = await films.as({ token }).batchDelete({ objects })
    t.match(answer.json, {
      results: [
        { key: 'in/a', deleted: true },
        { key: 'out/a', deleted: false, status: 403, error: { code: 'access_denied' } },
        { key: 'in/b', deleted: true },
        { key: 'out/never', deleted: false, status: 403, error: { code: 'access_denied' } },
      ],
      deletedCount: 2,
      errorCount: 2,
    })
    t.same(await films.shown(), ['out/a@null*'])
    const photos = films.as({ token, name: 'photos' })
    t.match(
      await photos.batchDelete({ objects }),
      { status: 403, code: 'access_denied' },
      'no scope in the bucket',
    )
  },
)

t.test('a machine that fails in the middle reports the keys that it did not reach', async (t) => {
  const films = await BucketClient.start(t)
  const objects = Array.from({ length: 600 }, (_, n) => ({ key: `k${n}` }))
  const { memory } = films.world
  const failAfter = (parts: number): void => {
    let left = parts
    memory.beforeApply = async () => {
      memory.proposeFault = left === 0 ? new Condition('no_quorum', 'No majority') : null
      left -= 1
    }
  }
  failAfter(1)
  const half = await films.batchDelete({ objects })
  t.match(half, { status: 200, json: { deletedCount: 256, errorCount: 344 } })
  const failed = resultsOf(half).slice(256)
  t.ok(failed.every(({ status, error }) => status === 503 && error?.code === 'no_quorum'))
  failAfter(0)
  t.match(
    await films.batchDelete({ objects }),
    { status: 503, code: 'no_quorum' },
    'at once: nothing was done',
  )
  failAfter(-1)
  t.match((await films.batchDelete({ objects })).json, { deletedCount: 600 }, 'repeated, it ends')
})
