/**
 * `holdfast import` from the S3 API of this project, whose signatures, listings and errors share no code with the fake source.
 */
import { randomBytes } from 'node:crypto'
import { writeFileSync } from 'node:fs'
import t from 'tap'
import { SourceClient } from '../../../src/cli/import/source-client.ts'
import { sourceObjects } from '../../../src/cli/import/source-listing.ts'
import { collected } from '../../helpers/async.ts'
import { S3World } from '../../api/s3/s3-world.ts'
import { temporaryFolder } from '../../helpers/process-cluster.ts'
import { runCommand } from '../../helpers/run-command.ts'
import { ApiWorld } from '../../api/api-world.ts'
import type { Line } from './import-world.ts'

const LARGE = randomBytes(11 * 1024 * 1024)
const KEYS = ['a b+c/ü', "!'()*", 'x/../y', 'a//b', 'tab\there', '%41&<']

/** As the signer of the tests signs it. */
const encoded = (key: string): string =>
  key
    .split('/')
    .map((segment) =>
      encodeURIComponent(segment).replace(
        /[!'()*]/g,
        (found) => `%${found.charCodeAt(0).toString(16).toUpperCase()}`,
      ),
    )
    .join('/')

async function worlds(t: Parameters<typeof S3World.start>[0] & Parameters<typeof temporaryFolder>[0]) {
  const source = await S3World.start(t)
  const { world: target, token } = await ApiWorld.withBucket(t)
  process.env['HOLDFAST_TOKEN'] = token
  const folder = temporaryFolder(t)
  const keyFile = `${folder}/key.env`
  const key = ({ accessKeyId, secretKey } = source.secret): void =>
    writeFileSync(keyFile, `AWS_ACCESS_KEY_ID=${accessKeyId}\nAWS_SECRET_ACCESS_KEY=${secretKey}\n`)
  key()
  const sides = ['--endpoint', `http://${source.host}`, '--source-key-file', keyFile]
  const to = ['--target-endpoint', `http://127.0.0.1:${target.dataPort}`, '--state-folder', `${folder}/state`]
  const run = (...args: readonly string[]) => runCommand('import', ...args, ...sides, ...to)
  const get = (path: string) => target.send({ path: `/api/v1/buckets/${path}`, token })
  return { source, target, run, get, key }
}

t.test('another Holdfast', async (t) => {
  const { source, run, get, key } = await worlds(t)
  const headers = {
    'content-type': 'text/x-odd; charset=utf-8',
    'cache-control': 'max-age=1',
    'x-amz-tagging': 'team=a%20b&k%3Dv=',
    'x-amz-meta-von': Buffer.from('grüße').toString('latin1'),
  }
  for (const name of KEYS) {
    const put = { method: 'PUT', path: `/photos/${encoded(name)}`, body: Buffer.from(name), headers }
    t.equal((await source.call(put)).status, 200, name)
  }
  const native = {
    method: 'PUT',
    path: '/api/v1/buckets/photos/objects/native',
    token: source.token,
    body: 'native',
  }
  t.equal((await source.world.call(native)).status, 200)
  t.equal((await source.call({ method: 'PUT', path: '/photos/large', body: LARGE })).status, 200)

  await t.test('gives up every object, whichever API stored it, verified', async (t) => {
    const { code, out, err } = await run('s3://photos', '--part-size', '5MiB', '--json')
    t.equal(code, 0, err)
    const lines = out
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as Line)
    t.match(lines.at(-1), { summary: { copied: KEYS.length + 2, failed: 0, withoutChecksum: 0 } })
    for (const name of KEYS) {
      const { bytes, headers: stored } = await get(`photos/objects/${encoded(name)}`)
      t.equal(bytes.toString(), name, name)
      t.match(stored, {
        'content-type': headers['content-type'],
        'cache-control': headers['cache-control'],
        'x-service-meta-von': headers['x-amz-meta-von'],
      })
      t.same((await get(`photos/object-tags/${encoded(name)}`)).json['tags'], { team: 'a b', 'k=v': '' })
    }
    t.equal((await get('photos/objects/native')).bytes.toString(), 'native')
    t.ok((await get('photos/objects/large')).bytes.equals(LARGE))
  })

  await t.test('is not read again', async (t) => {
    t.match(await run('s3://photos'), { code: 0, out: '', err: `${KEYS.length + 2} unchanged  (0 B)\n` })
  })

  await t.test('lists its buckets', async (t) => {
    t.match(await run('s3://', '--all'), { code: 0, err: new RegExp(`^${KEYS.length + 2} unchanged`) })
  })

  await t.test('is listed in pages, each key once', async (t) => {
    const { accessKeyId, secretKey } = source.secret
    const client = new SourceClient({
      endpoint: new URL(`http://${source.host}`),
      isVirtualHost: false,
      region: 'eu-central-1',
      credentials: { accessKeyId, secretKey, sessionToken: null },
      ca: null,
      clock: { now: () => Date.now(), wait: async () => {} },
      signal: new AbortController().signal,
      random: () => 0,
    })
    t.teardown(() => client.close())
    const listed = await collected(sourceObjects(client, { bucket: 'photos', prefix: '', pageKeys: 3 }))
    t.same(listed.map(({ key: one }) => one).toSorted(), [...KEYS, 'large', 'native'].toSorted())
    t.equal(listed.find(({ key: one }) => one === 'large')?.size, LARGE.length)
  })

  await t.test('refuses, and the refusal is explained', async (t) => {
    key({ ...source.secret, secretKey: 'a wrong one' })
    t.match(await run('s3://photos'), { code: 1, err: /does not accept the signature/ })
    key({ ...source.secret, accessKeyId: 'AKNOBODY' })
    t.match(await run('s3://photos'), { code: 1, err: /does not know the access key/ })
    key()
    t.match(await run('s3://nothing-there', '--into', 'photos'), { code: 1, err: /has no such bucket/ })
    key(await source.world.memory.accessKey('acme', 'op=read:bucket=other:prefix='))
    t.match(await run('s3://photos'), { code: 1, err: /may not do this .*ListObjectsV2/ })
  })
})
