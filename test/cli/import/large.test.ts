/**
 * Large objects of another store: ranges become parts, and nothing but the whole object comes into being.
 */
import { createHash, randomBytes } from 'node:crypto'
import { existsSync } from 'node:fs'
import t from 'tap'
import { OpenUploads } from '../../../src/cli/import/open-uploads.ts'
import { BODY, isStored, PART, PARTS, rangeOf } from './film.ts'
import { importWorld } from './import-world.ts'

t.test('a large object', { timeout: 1_800_000 }, async (t) => {
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
    t.same(here.source.reads, [1, 2, 3].map(rangeOf))
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
    t.equal(here.source.reads.length, 9, 'after three attempts')
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

  await t.test('that changes meanwhile at a source that ignores If-Match is never a mixture', async (t) => {
    const here = await importWorld(t)
    here.source.put('photos', 'film', { body: randomBytes(BODY.length) })
    here.source.odd = {
      ignoresIfMatch: true,
      intercept: ({ range }) => {
        if (range?.startsWith(`bytes=${PART}-`) === true) here.source.put('photos', 'film', { body: BODY })
        return false
      },
    }
    t.match((await here.lines('s3://photos', ...PARTS)).lines.at(-1), { summary: { copied: 1, failed: 0 } })
    t.ok(await isStored(here))
    t.equal(here.source.reads.length, 5, 'the second part shows the change, and the copy starts again')
  })

  await t.test('that is there has nothing under way', async (t) => {
    const here = await importWorld(t)
    here.source.put('photos', 'film', { body: BODY })
    await here.run('s3://photos', ...PARTS)
    const source = { bucket: 'photos', key: 'film', etag: 'e', size: 1, modifiedAt: 1 }
    const left = {
      bucket: 'photos',
      key: 'film',
      uploadId: 'u',
      partBytes: PART,
      source,
      parts: 1,
      digests: {},
    }
    await new OpenUploads(here.folder).keep(left)
    t.match((await here.lines('s3://photos', ...PARTS)).lines, [{ summary: { unchanged: 1 } }])
    t.notOk(existsSync(here.folder), 'what a kill left behind is removed')
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

  await t.test('whose ranges have more bytes than was asked for is refused', async (t) => {
    const here = await importWorld(t)
    here.source.put('photos', 'film', { body: BODY, etag: 'e-2' })
    here.source.odd = {
      intercept: ({ range }, response) => {
        const start = Number(/^bytes=(\d+)-/.exec(range ?? '')?.[1] ?? NaN)
        if (Number.isNaN(start)) return false
        response.writeHead(206, {
          etag: '"e-2"',
          'content-range': `bytes ${start}-${BODY.length - 1}/${BODY.length}`,
        })
        response.end(BODY.subarray(start))
        return true
      },
    }
    const { code, lines } = await here.lines('s3://photos', ...PARTS)
    t.match(lines[0], { action: 'failed', message: /sent more than it was asked for/ })
    t.equal(code, 1)
  })
})
