/**
 * Large objects and the ends of processes: an import that is killed continues where it was, and reads nothing twice.
 */
import { createHash, randomBytes } from 'node:crypto'
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { CommandLine, ended } from '../../helpers/command-line.ts'
import { until } from '../../helpers/async.ts'
import { type ImportWorld, importWorld } from './import-world.ts'

const MIB = 1024 * 1024
const PART = 5 * MIB
const BODY = randomBytes(3 * PART + 17)
const PARTS = ['--part-size', '5MiB']
const rangeOf = (part: number): string => {
  const start = (part - 1) * PART
  return `/photos/film bytes=${start}-${Math.min(BODY.length, start + PART) - 1}`
}

async function isStored({ get }: ImportWorld): Promise<boolean> {
  const { bytes, status } = await get('photos/objects/film')
  return status === 200 && bytes.equals(BODY)
}

t.test('a large object', async (t) => {
  await t.test('is read in ranges, and keeps everything', async (t) => {
    const here = await importWorld(t)
    const headers = { 'content-type': 'video/mp4', 'cache-control': 'no-cache', 'x-amz-meta-of': 'me' }
    here.source.put('photos', 'film', { body: BODY, headers, tags: { kind: 'film' } })
    const { code, lines } = await here.lines('s3://photos', ...PARTS)
    t.match(lines, [
      { path: 'photos/film', size: BODY.length, verified: ['MD5'] },
      { summary: { copied: 1 } },
    ])
    t.equal(code, 0)
    t.same(here.source.reads, [1, 2, 3, 4].map(rangeOf))
    t.ok(await isStored(here))
    const { headers: stored } = await here.get('photos/objects/film')
    t.match(stored, { 'content-type': 'video/mp4', 'cache-control': 'no-cache', 'x-service-meta-of': 'me' })
    t.same((await here.get('photos/object-tags/film')).json['tags'], { kind: 'film' })
    t.notOk(existsSync(here.folder), 'nothing is left on this machine')
    t.match((await here.lines('s3://photos', ...PARTS)).lines, [{ summary: { unchanged: 1 } }])
  })

  await t.test('with other bytes than the source keeps is given up, with its parts', async (t) => {
    const here = await importWorld(t)
    here.source.put('photos', 'film', { body: BODY, etag: createHash('md5').update('other').digest('hex') })
    const { code, lines } = await here.lines('s3://photos', ...PARTS)
    t.match(lines, [{ action: 'failed', code: 'checksum_mismatch' }, { summary: { failed: 1 } }])
    t.equal(code, 1)
    t.equal(here.source.reads.length, 12, 'after three attempts')
    t.same((await here.get('photos/multipart')).json['uploads'], [])
    t.notOk(existsSync(here.folder))
  })

  await t.test('that changes meanwhile is copied as it is then', async (t) => {
    const here = await importWorld(t)
    const before = randomBytes(BODY.length)
    here.source.put('photos', 'film', { body: before })
    here.source.odd = {
      intercept: ({ range }) => {
        if (range?.startsWith(`bytes=${PART}-`) === true) here.source.put('photos', 'film', { body: BODY })
        return false
      },
    }
    t.match((await here.lines('s3://photos', ...PARTS)).lines, [
      { path: 'photos/film' },
      { summary: { copied: 1 } },
    ])
    t.ok(await isStored(here))
    t.same((await here.get('photos/multipart')).json['uploads'], [])
  })

  await t.test('from a source that ignores ranges is refused', async (t) => {
    const here = await importWorld(t)
    here.source.put('photos', 'film', { body: BODY })
    here.source.odd = {
      intercept: ({ method, range }, response) => {
        if (range === undefined || method === 'HEAD') return false
        response.end(BODY)
        return true
      },
    }
    const { code, lines } = await here.lines('s3://photos', ...PARTS)
    t.match(lines[0], { action: 'failed', message: /answers a range with 200/ })
    t.equal(code, 1)
  })
})

/** Ends an import while the source holds back the last part of `film`, after all others are stored. */
async function killed(
  t: Parameters<typeof importWorld>[0],
  signal: 'SIGKILL' | 'SIGTERM' = 'SIGKILL',
): Promise<ImportWorld & { readonly status: number | null; readonly err: string }> {
  const here = await importWorld(t)
  const { folder, source, world } = here
  for (const key of ['a', 'b']) source.put('photos', key, key)
  source.put('photos', 'film', { body: BODY })
  source.odd = {
    intercept: ({ range }) => (range === rangeOf(4).split(' ')[1] ? new Promise(() => {}) : false),
  }
  const env = {
    AWS_ACCESS_KEY_ID: 'AKID',
    AWS_SECRET_ACCESS_KEY: 'a secret',
    HOLDFAST_TOKEN: process.env['HOLDFAST_TOKEN'] ?? '',
  }
  const sides = ['--endpoint', source.endpoint, '--target-endpoint', `http://127.0.0.1:${world.dataPort}`]
  const command = new CommandLine({ cwd: process.cwd(), env })
  const child = command.start(['import', 's3://photos', ...sides, ...PARTS, '--state-folder', folder])
  let err = ''
  child.stderr?.on('data', (piece: Buffer) => (err += piece.toString()))
  await until('three parts are stored', () => storedParts(folder) === 3)
  child.kill(signal)
  const status = await ended(child)
  source.odd = {}
  source.asked.length = 0
  return { ...here, status, err }
}

/** As the one file in the folder says. */
function storedParts(folder: string): number {
  const [name] = existsSync(folder) ? readdirSync(folder).filter((one) => one.endsWith('.json')) : []
  if (name === undefined) return 0
  return (JSON.parse(readFileSync(join(folder, name), 'utf8')) as { readonly parts: number }).parts
}

t.test('an import that was killed inside a large object', async (t) => {
  await t.test('reads the rest of it alone, and verifies all of it', async (t) => {
    const here = await killed(t)
    const [name = ''] = readdirSync(here.folder)
    t.equal(statSync(join(here.folder, name)).mode & 0o077, 0, 'what it wrote down is private')
    const { code, lines } = await here.lines('s3://photos', ...PARTS)
    t.match(lines, [{ path: 'photos/film', verified: ['MD5'] }, { summary: { copied: 1, unchanged: 2 } }])
    t.equal(code, 0)
    t.same(here.source.reads, [rangeOf(4)])
    t.ok(await isStored(here))
    t.notOk(existsSync(here.folder))
  })

  await t.test('starts that object again when it changed since, and gives the old parts up', async (t) => {
    const here = await killed(t)
    const newer = randomBytes(BODY.length)
    here.source.put('photos', 'film', { body: newer })
    t.match((await here.lines('s3://photos', ...PARTS)).lines.at(-1), { summary: { copied: 1, failed: 0 } })
    t.same(here.source.reads, [1, 2, 3, 4].map(rangeOf))
    t.ok((await here.get('photos/objects/film')).bytes.equals(newer))
    t.same((await here.get('photos/multipart')).json['uploads'], [])
  })

  await t.test('starts that object again when its upload is gone', async (t) => {
    const here = await killed(t)
    const { json } = await here.get('photos/multipart')
    const [upload] = json['uploads'] as readonly { readonly uploadId: string }[]
    const path = `/api/v1/buckets/photos/multipart/${upload?.uploadId}/film`
    await here.world.send({ method: 'DELETE', path, token: process.env['HOLDFAST_TOKEN'] ?? '' })
    t.match((await here.lines('s3://photos', ...PARTS)).lines.at(-1), { summary: { copied: 1, failed: 0 } })
    t.equal(here.source.reads.length, 4)
    t.ok(await isStored(here))
  })

  await t.test('says so when it was asked to end, and continues too', async (t) => {
    const here = await killed(t, 'SIGTERM')
    t.equal(here.status, 1)
    t.match(here.err, /The command was interrupted\n.*The same command continues with the rest/)
    t.match((await here.lines('s3://photos', ...PARTS)).lines.at(-1), { summary: { copied: 1, failed: 0 } })
    t.same(here.source.reads, [rangeOf(4)])
  })
})
