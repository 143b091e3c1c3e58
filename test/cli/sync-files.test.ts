/**
 * What a sync keeps of files and how much it does at once: times, patterns, parts that arrived, memory.
 */
import { createHash } from 'node:crypto'
import { mkdirSync, readdirSync, readFileSync, statSync, utimesSync, writeFileSync } from 'node:fs'
import type { IncomingMessage } from 'node:http'
import { join } from 'node:path'
import { setImmediate } from 'node:timers/promises'
import t from 'tap'
import { ByteBudget } from '../../src/cli/base/byte-budget.ts'
import { isPattern, literalStart, pathFilter, patternOf } from '../../src/cli/base/glob.ts'
import { timeIn, timeText } from '../../src/cli/objects/file-time.ts'
import { collected, deferred } from '../helpers/async.ts'
import { objectPages } from '../../src/cli/objects/listing.ts'
import { dataClient } from '../../src/client/clients.ts'
import { problem, ScriptedServer } from '../client/scripted-server.ts'
import { CliWorld } from '../helpers/cli-world.ts'

const MIB = 1024 * 1024

t.test('holdfast sync', async (t) => {
  const cli = await CliWorld.start(t)
  const write = (name: string, content: string | Buffer, seconds = 1_500_000_000.25): void => {
    mkdirSync(join(cli.file(name), '..'), { recursive: true })
    writeFileSync(cli.file(name), content)
    utimesSync(cli.file(name), seconds, seconds)
  }
  const summary = async (typed: string, ...more: readonly string[]) =>
    (await cli.json(typed, ...more)).at(-1)?.['summary']
  const up = `sync ${cli.file('tree')} photos/tree`
  let sentBytes = 0
  cli.world.dataServer.server.on('request', ({ method, headers }: IncomingMessage) => {
    if (method === 'PUT') sentBytes += Number(headers['content-length'] ?? 0)
  })
  const future = Date.now() / 1000 + 86_400

  await t.test('keeps the times of files, and gives them back', async (t) => {
    write('tree/old', 'old')
    write('tree/sub/future', 'future', future)
    t.match(await summary(up), { uploaded: 2 })
    t.match(await cli.json('stat photos/tree/old'), [{ metadata: { mtime: '1500000000.25' } }])
    const down = `sync photos/tree ${cli.file('back')}`
    t.match(await summary(down), { downloaded: 2 })
    t.equal(statSync(cli.file('back/old')).mtimeMs, 1_500_000_000_250)
    t.ok(Math.abs(statSync(cli.file('back/sub/future')).mtimeMs - future * 1000) < 2)
    t.match(await summary(down), { downloaded: 0, unchanged: 2 })
    await cli.json(`get photos/tree/old ${cli.file('one')}`)
    t.equal(statSync(cli.file('one')).mtimeMs, 1_500_000_000_250, 'holdfast get too')
  })

  await t.test('asks for no object by itself when nothing has changed', async (t) => {
    const asked: string[] = []
    const count = ({ method = '', url = '' }: IncomingMessage): void =>
      void asked.push(`${method} ${url.split('?')[0]}`)
    cli.world.dataServer.server.on('request', count)
    t.match(await summary(`sync photos/tree ${cli.file('back')}`), { downloaded: 0, unchanged: 2 })
    cli.world.dataServer.server.off('request', count)
    t.same(asked, ['GET /api/v1/buckets/photos/objects'])
  })

  await t.test('does not send files again whose times are in the future', async (t) => {
    sentBytes = 0
    t.match(await summary(up), { uploaded: 0, unchanged: 2 })
    write('tree/sub/future', 'FUTURE', future + 10)
    t.match(await summary(up), { uploaded: 1, unchanged: 1 }, 'unless they have changed')
    t.equal(sentBytes, 'FUTURE'.length)
  })

  await t.test('without times compares with those of the objects', async (t) => {
    write('tree/sub/future', 'future', future)
    t.match(await summary(`${up} --no-times`), { uploaded: 1 })
    t.match(await summary(`${up} --no-times`), { uploaded: 1 }, 'it looks newer')
    const [facts] = await cli.json('stat photos/tree/sub/future')
    t.same(facts?.['metadata'], {})
  })

  await t.test('leaves alone what a pattern excludes, on both sides', async (t) => {
    write('site/index.html', 'a')
    write('site/a.map', 'a')
    write('site/deep/b.map', 'b')
    write('site/node_modules/x/index.html', 'x')
    const site = `sync ${cli.file('site')} photos/site --exclude *.map --exclude node_modules/`
    t.match(await summary(site, '--include', 'deep/b.map'), { uploaded: 2 })
    await cli.json(`put ${cli.file('site/a.map')} photos/site/kept.map`)
    t.match(await summary(`${site} --delete`, '--include', 'deep/b.map'), { removed: 0, unchanged: 2 })
    t.match(await summary(`sync photos/site ${cli.file('part')} --include deep/`), { downloaded: 1 })
    t.same(readdirSync(cli.file('part')), ['deep'])
    t.match(await cli.run(`${up} --exclude [`), { code: 0 }, 'a bracket alone is a name')
    t.match(await cli.run(`${up} --exclude {a`), { code: 2, err: /brace is not closed/ })
  })

  await t.test('sends of a large file only the parts that are not there', async (t) => {
    const bytes = Buffer.alloc(17 * MIB)
    for (let at = 0; at < 17; at++) bytes[at * MIB] = at
    write('large/file', bytes)
    const token = (await cli.run('token')).out.trim()
    const send = (method: string, path: string, body: Buffer | object) =>
      cli.world.send({
        method,
        path: `/api/v1/buckets/photos/multipart/${path}`,
        token,
        body,
        headers: digestOf(body),
      })
    const digestOf = (body: Buffer | object): Readonly<Record<string, string>> =>
      Buffer.isBuffer(body)
        ? { 'x-service-checksum-sha256': createHash('sha256').update(body).digest('base64') }
        : {}
    const { json } = await send('POST', 'large/file', { metadata: { mtime: '1500000000.25' } })
    await send('PUT', `${String(json['uploadId'])}/parts/1/large/file`, bytes.subarray(0, 16 * MIB))
    sentBytes = 0
    t.match(await summary(`sync ${cli.file('large')} photos/large`), { uploaded: 1 })
    t.equal(sentBytes, MIB, 'the first part of 16 MiB was there')
    await cli.json(`get photos/large/file ${cli.file('large-back')}`)
    t.ok(readFileSync(cli.file('large-back')).equals(bytes))
    await send('POST', 'large/file', {})
    utimesSync(cli.file('large/file'), future, future)
    t.match(await summary(`sync ${cli.file('large')} photos/large`), { uploaded: 1 })
    t.equal(
      (await cli.json('uploads list photos/large/')).length,
      1,
      'one from before the change is not resumed',
    )
  })
})

t.test('a node of an earlier release lists without metadata', async (t) => {
  const server = await ScriptedServer.start(t)
  const client = dataClient({ endpoints: [server.url], token: 'svctk_x' })
  t.teardown(() => client.close())
  const page = (more: object) => ({
    status: 200,
    headers: { 'content-type': 'application/json' },
    body: { objects: [], commonPrefixes: [], ...more },
  })
  const pages = () =>
    collected(objectPages(client, { bucket: 'photos', key: '', delimiter: '', withMetadata: true }))
  const refused = problem(400, 'invalid_argument')
  server.script(
    refused,
    page({ isTruncated: true, nextContinuationToken: 'x' }),
    page({ isTruncated: false }),
  )
  t.equal((await pages()).length, 2)
  const includes = server.received.map(({ path }) => new URL(path, server.url).searchParams.get('include'))
  t.same(includes, ['metadata', null, null], 'it is asked for once')
  server.script(problem(403, 'access_denied'))
  await t.rejects(pages(), { code: 'access_denied' }, 'what is refused for another reason is not asked again')
  t.equal(server.received.length, 1)
})

t.test('the budget of bytes', async (t) => {
  const budget = new ByteBudget(100)
  const ends = [deferred(), deferred(), deferred(), deferred()]
  const started: number[] = []
  const all = [60, 60, 10, 1000].map((bytes, n) =>
    budget.with(bytes, async () => {
      started.push(n)
      await ends[n]?.promise
    }),
  )
  const after = async (n: number): Promise<readonly number[]> => {
    ends[n]?.resolve()
    await all[n]
    await setImmediate()
    return [...started]
  }
  await setImmediate()
  t.same(started, [0], 'the third fits, but the second came before it')
  t.same(await after(0), [0, 1, 2])
  t.same(await after(1), [0, 1, 2])
  t.same(await after(2), [0, 1, 2, 3], 'one that is larger than the budget is alone')
  await after(3)
  await t.rejects(
    budget.with(100, () => Promise.reject(new Error('failed'))),
    /failed/,
  )
  await budget.with(100, async () => {})
})

t.test('patterns', async (t) => {
  const matching = (pattern: string, ...texts: readonly string[]) =>
    texts.filter((text) => patternOf(pattern).matches(text))
  t.same(matching('a*', 'a', 'ab', 'a/b', 'ba'), ['a', 'ab'])
  t.same(matching('a/**', 'a/b', 'a/b/c', 'a'), ['a/b', 'a/b/c'])
  t.same(matching('**/c', 'c', 'a/c', 'a/b/c', 'ac'), ['c', 'a/c', 'a/b/c'])
  t.same(matching('*.{jpg,p?g}', 'a.jpg', '.png', 'a.gif', 'd/a.jpg'), ['a.jpg', '.png'])
  t.same(matching('[a-c!]', 'b', '!', 'd', '/'), ['b', '!'])
  t.same(matching('[!a]x', 'bx', 'ax', '/x'), ['bx'])
  t.same(matching('a\\*', 'a*', 'ab'), ['a*'])
  t.same(matching('a+(b)|c.', 'a+(b)|c.', 'aab'), ['a+(b)|c.'])
  t.same(matching('ü?', 'üb', 'ü\u{1F600}'), ['üb', 'ü\u{1F600}'])
  t.same(['a*', 'a?b', 'a[b', 'a{b', 'ab'].filter(isPattern), ['a*', 'a?b', 'a[b', 'a{b'])
  t.equal(literalStart('photos/2026/*.jpg'), 'photos/2026/')
  t.equal(literalStart('plain'), 'plain')
  const filter = pathFilter({ excluded: ['/top', 'a/b', 'x'], included: ['x/keep'] })
  t.same(
    ['top', 'top/1', 'd/top', 'a/b/c', 'd/a/b', 'd/x/1', 'x/keep/1', 'x/2'].filter(filter),
    ['d/top', 'd/a/b', 'x/keep/1'],
    'a slash ties a pattern to the beginning',
  )
})

t.test('the time of a file is written as rclone writes it', async (t) => {
  for (const [ns, text] of [
    [1_500_000_000_250_000_000n, '1500000000.25'],
    [1n, '0.000000001'],
    [-1_500_000_000n, '-1.5'],
    [0n, '0'],
  ] as const)
    t.equal(timeText(ns), text)
  const read = (text: string) => timeIn({ 'x-service-meta-mtime': text })
  t.same(['1500000000.2509', '-1.5', '0'].map(read), [1_500_000_000_250, -1500, 0])
  t.same(['', '1e9', 'yesterday', '1.', '9'.repeat(13)].map(read), [null, null, null, null, null])
  t.equal(timeIn({}), null)
})
