/**
 * Every operation of the data API is reached by a command: the commands below are typed, and their requests are compared with the
 * routes of the contract document.
 */
import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { writeFileSync } from 'node:fs'
import t from 'tap'
import { DATA_ROUTES } from '../../src/client/generated/data-operations.ts'
import { CliWorld } from '../helpers/cli-world.ts'

/** Operations that no command sends, and why. */
const WITHOUT_COMMAND: Readonly<Record<string, string>> = {
  healthz: 'for probes and load balancers; holdfast doctor examines a node',
  readyz: 'for probes and load balancers; holdfast doctor examines a node',
  getOpenAPI: 'holdfast openapi data prints it without a node',
  getSigned: 'for the holders of a URL, who have no credentials and need no command',
  putSigned: 'for the holders of a URL, who have no credentials and need no command',
  getBucketObjectLock: 'holdfast bucket get shows it',
}

const PATTERNS = Object.entries(DATA_ROUTES).map(([name, { method, path, rest }]) => {
  const pattern = path.replace(/\{(\w+)\}/g, (_, parameter: string) => (parameter === rest ? '.+' : '[^/]+?'))
  return { name, method, pattern: new RegExp(`^${pattern}$`) }
})

/** The operation of a request: of several that fit, that with the longest path. */
function operationOf(method: string, target: string): string | undefined {
  const path = target.replace(/\?.*$/, '')
  return PATTERNS.filter((one) => one.method === method && one.pattern.test(path)).toSorted(
    (a, b) => b.pattern.source.length - a.pattern.source.length,
  )[0]?.name
}

t.test('the commands reach every operation of the data API', async (t) => {
  const asked = new Set<string>()
  const onRequest = (message: unknown): void => {
    const { request } = message as { readonly request: { readonly method: string; readonly path: string } }
    asked.add(operationOf(request.method, request.path) ?? `${request.method} ${request.path}`)
  }
  subscribe('undici:request:create', onRequest)
  t.teardown(() => unsubscribe('undici:request:create', onRequest))
  const cli = await CliWorld.start(t)

  await t.test('tags of an object', async (t) => {
    writeFileSync(cli.file('cat.jpg'), 'a cat')
    await cli.json(`put ${cli.file('cat.jpg')} photos/`)
    t.same(await cli.json('tag set photos/cat.jpg a=1 b=x=y'), [{ tags: { a: '1', b: 'x=y' } }])
    t.same(await cli.json('tag set photos/cat.jpg a=2'), [{ tags: { a: '2', b: 'x=y' } }], 'the others stay')
    t.match(await cli.run('tag get photos/cat.jpg'), { code: 0, out: 'a  2\nb  x=y\n' })
    t.same(await cli.json('tag remove photos/cat.jpg a'), [{ tags: { b: 'x=y' } }])
    t.same(await cli.json('tag set photos/cat.jpg c=1 --replace'), [{ tags: { c: '1' } }])
    t.same(await cli.json('tag remove photos/cat.jpg'), [{ tags: {} }])
    t.match(await cli.run('tag set photos/cat.jpg c'), { code: 2, err: /name=value/ })
  })

  await t.test('retention and legal hold of an object', async (t) => {
    await cli.json('bucket create vault --object-lock')
    await cli.json(`put ${cli.file('cat.jpg')} vault/`)
    const until = await cli.json('retention set vault/cat.jpg --mode GOVERNANCE --until 2099-01-01')
    t.match(until, [{ mode: 'GOVERNANCE', retainUntil: /^2099-01-01T00:00:00/ }])
    t.match(await cli.run('retention get vault/cat.jpg'), { out: /retainUntil +2099-01-01/ })
    t.match(await cli.run('retention set vault/cat.jpg --mode GOVERNANCE'), { code: 2, err: /--until TIME/ })
    t.match(await cli.json('retention set vault/cat.jpg --mode GOVERNANCE --for 36500d'), [
      { retainUntil: /^21\d\d-/ },
    ])
    t.same(await cli.json('legal-hold set vault/cat.jpg on'), [{ status: 'ON' }])
    t.same(await cli.json('legal-hold get vault/cat.jpg'), [{ status: 'ON' }])
  })

  await t.test('counts of buckets', async (t) => {
    t.match(await cli.json('bucket usage photos'), [{ bucket: 'photos', objects: 1, logicalBytes: 5 }])
    t.match(await cli.json('bucket usage'), [
      { bucket: 'photos', objects: 1 },
      { bucket: 'vault', versions: 1 },
    ])
    t.match(await cli.run('bucket usage'), { code: 0, out: /^ *SIZE .*\n +5 B +1 .* photos\n/ })
    t.match(await cli.run('bucket usage photos'), { out: /bytes of versions +5 \(5 B\)/ })
  })

  await t.test('CORS rules of a bucket', async (t) => {
    const rules = [{ allowedOrigins: ['https://app.example'], allowedMethods: ['GET'] }]
    writeFileSync(cli.file('cors.json'), JSON.stringify({ rules }))
    t.match(await cli.json(`cors set photos ${cli.file('cors.json')}`), [{ rules }])
    const { out } = await cli.run('cors get photos')
    writeFileSync(cli.file('again.json'), out)
    t.match(
      await cli.json(`cors set photos ${cli.file('again.json')}`),
      [{ rules }],
      'what it prints it takes',
    )
    t.match(await cli.json('cors delete photos'), [{ deleted: true }])
    writeFileSync(cli.file('odd.json'), '{"rule":[]}')
    t.match(await cli.run(`cors set photos ${cli.file('odd.json')}`), { code: 2, err: /no list 'rules'/ })
  })

  await t.test('lifecycle rules of a bucket', async (t) => {
    const rules = [{ id: 'tmp', status: 'Enabled', filter: { prefix: 'tmp/' }, expiration: { days: 30 } }]
    writeFileSync(cli.file('rules.json'), JSON.stringify({ rules }))
    t.match(await cli.json(`bucket lifecycle preview photos ${cli.file('rules.json')}`), [
      { counts: { expired: 0 }, items: [] },
    ])
    t.match(await cli.json(`bucket lifecycle set photos ${cli.file('rules.json')}`), [{ rules }])
    const { out } = await cli.run('bucket lifecycle get photos')
    writeFileSync(cli.file('same.json'), out)
    t.match(
      await cli.json(`bucket lifecycle set photos ${cli.file('same.json')}`),
      [{ rules }],
      'what it prints it takes',
    )
    t.match(await cli.json('bucket lifecycle delete photos'), [{ deleted: true }])
    t.match(await cli.run('bucket lifecycle get photos'), { code: 1, err: /no lifecycle rules/ })
    writeFileSync(cli.file('wrong.json'), '{"rule":[]}')
    t.match(await cli.run(`bucket lifecycle set photos ${cli.file('wrong.json')}`), {
      code: 2,
      err: /no list 'rules'/,
    })
  })

  await t.test('replication of a bucket', async (t) => {
    const site = '--to https://s3.other.example --target-bucket copies'
    writeFileSync(cli.file('key.env'), 'AWS_ACCESS_KEY_ID=AKOTHER\nAWS_SECRET_ACCESS_KEY=secret\n')
    writeFileSync(cli.file('sites.json'), '{"rules":[{"filter":{"prefix":"in/"},"deletes":"none"}]}')
    const key = `--target-key-file ${cli.file('key.env')}`
    t.match(await cli.run(`replication set photos ${site}`), { code: 2, err: /--target-key-file/ })
    t.match(await cli.run(`replication set ${site} ${key}`), { code: 2, err: /--all-buckets/ })
    t.match(await cli.json(`replication set photos ${site} ${key} --rules ${cli.file('sites.json')}`), [
      { target: { bucket: 'copies' }, rules: [{ deletes: 'none' }] },
    ])
    t.match(await cli.json('replication show photos'), [{ rules: [{ filter: { prefix: 'in/' } }] }])
    const all = await cli.json(`replication set --all-buckets --to https://s3.other.example ${key}`)
    t.match(all, [{ bucket: 'photos' }, { bucket: 'vault', target: { bucket: 'vault' } }])
    t.match(await cli.json('replication status photos'), [{ pending: 0, failures: [] }])
    t.match(await cli.run('replication status photos'), { code: 0, out: /lagSeconds +0/ })
    t.match(await cli.run('replication diff photos'), { code: 1, out: /missing +cat.jpg/, err: /1 differ/ })
    t.match(await cli.json('replication resync photos'), [{ endedAt: null }])
    t.match(await cli.json('replication retry photos'), [{ retried: 0 }])
    t.match(await cli.json('replication remove photos'), [{ deleted: true }])
    t.match(await cli.run('replication show photos'), { code: 1, err: /is not replicated/ })
    await cli.json('replication remove vault')
  })

  await t.test('notifications of a bucket and their deliveries', async (t) => {
    const configs = [{ id: 'app', url: 'https://app.example/hook', events: ['object-created'] }]
    writeFileSync(cli.file('hooks.json'), JSON.stringify({ configs }))
    const set = await cli.run(`notifications set photos ${cli.file('hooks.json')}`)
    t.match(set, { code: 0, out: /^app {2}\S+\n$/, err: /shown only here/ })
    const [known] = await cli.json('notifications get photos')
    writeFileSync(cli.file('hooks.json'), JSON.stringify(known))
    t.match(await cli.json(`notifications set photos ${cli.file('hooks.json')}`), [
      { configs: [{ id: 'app' }] },
    ])
    const [test] = await cli.json('notifications test photos app')
    t.match(test, { configId: 'app', type: 'test' })
    await cli.json(`put ${cli.file('cat.jpg')} photos/again.jpg`)
    t.match(await cli.json('deliveries list photos --config app'), [{ key: 'again.jpg' }, { type: 'test' }])
    t.equal((await cli.json('deliveries list photos --limit 1')).length, 1)
    const id = String(test?.['deliveryId'])
    t.match(await cli.json(`deliveries show photos ${id}`), [{ deliveryId: id }])
    t.match(await cli.json(`deliveries redeliver photos ${id}`), [{ deliveryId: id }])
    t.match(await cli.run('deliveries show photos evt_none'), { code: 1, err: /does not exist; those that/ })
    t.match(await cli.json('notifications delete photos'), [{ deleted: true }])
  })

  await t.test('uploads that were not completed', async (t) => {
    const { world } = cli
    const token = (await cli.run('token')).out.trim()
    for (const key of ['old/a', 'old/a', 'old/b', 'new'])
      await world.send({ method: 'POST', path: `/api/v1/buckets/photos/multipart/${key}`, token, body: {} })
    const listed = await cli.json('uploads list photos/old/ --parts')
    t.match(listed, [{ key: 'old/a', partCount: 0, bytes: 0 }, { key: 'old/a' }, { key: 'old/b' }])
    const id = String(listed[0]?.['uploadId'])
    t.match(await cli.json(`uploads abort photos/old/a --upload-id ${id}`), [{ key: 'old/a', uploadId: id }])
    t.match(await cli.run('uploads abort photos'), { code: 2, err: /--all/ })
    t.equal((await cli.json('uploads abort photos/old/ --all')).length, 2)
    t.match(await cli.json('uploads list photos'), [{ key: 'new' }])
    t.match(await cli.run('uploads abort photos/none'), { code: 0, err: /there is none/ })
  })

  await t.test('buckets, objects, listings, uploads in parts, tokens', async (t) => {
    t.match(await cli.json('bucket versioning photos on'), [{ status: 'Enabled' }])
    t.match(await cli.json('bucket versioning photos'), [{ status: 'Enabled' }])
    await cli.json('bucket object-lock vault --mode GOVERNANCE --days 1')
    for (const typed of [
      'ls',
      'ls photos',
      'ls photos --versions',
      'bucket get photos',
      'stat photos/cat.jpg',
      'sign photos/cat.jpg',
    ])
      await cli.json(typed)
    await cli.json('cp photos/cat.jpg photos/copy.jpg')
    await cli.json(`get photos/copy.jpg ${cli.file('back.jpg')}`)
    await cli.json('rm photos/copy.jpg')
    await cli.json('rm photos/ --recursive')
    writeFileSync(cli.file('large'), Buffer.alloc(5 * 1024 * 1024 + 1))
    await cli.json(`put ${cli.file('large')} photos/ --part-size 5MiB`)
    await cli.json('key temporary --session build')
    await cli.json('bucket create empty')
    t.match(await cli.json('bucket delete empty'), [{ deleted: true }])
  })

  const missing = Object.keys(DATA_ROUTES).filter((name) => !asked.has(name))
  t.same(missing.toSorted(), Object.keys(WITHOUT_COMMAND).toSorted(), 'all but those that have a reason')
  t.ok(
    [...asked].every((name) => name in DATA_ROUTES),
    'every request belongs to the contract',
  )
})
