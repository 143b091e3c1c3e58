/**
 * Commands about many objects: patterns, mv, du, find, diff, watch.
 */
import { mkdirSync, readdirSync, utimesSync, writeFileSync } from 'node:fs'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import t, { type Test } from 'tap'
import { wantedBy } from '../../src/cli/many/find-command.ts'
import { foldersOf } from '../../src/cli/many/usage-below.ts'
import { comparePaths } from '../../src/cli/sync/entry.ts'
import { collected } from '../helpers/async.ts'
import { CliWorld } from '../helpers/cli-world.ts'
import { runCommand } from '../helpers/run-command.ts'

async function* of<T>(items: readonly T[]): AsyncGenerator<T> {
  yield* items
}

t.test('many objects', async (t) => {
  const cli = await CliWorld.start(t)
  const token = (await cli.run('token')).out.trim()
  const store = async (key: string, body: string): Promise<void> => {
    const path = `/api/v1/buckets/photos/objects/${key}`
    await cli.world.send({ method: 'PUT', path, token, body })
  }
  for (const key of ['1.jpg', '2.jpg', 'b.png', 'sub/3.jpg', 'sub/deep/4.jpg']) await store(`a/${key}`, key)
  const keys = async (path: string) => (await cli.json(`ls ${path} -r`)).map(({ key }) => key)

  await t.test('a pattern takes what matches, and an object of exactly that name before it', async (t) => {
    mkdirSync(cli.file('out'))
    t.equal((await cli.json(`get photos/a/*.jpg ${cli.file('out')}`)).length, 2)
    t.equal((await cli.json(`get photos/a/**/*.jpg ${cli.file('out')}`)).length, 4)
    t.same(readdirSync(cli.file('out')).toSorted(comparePaths), ['1.jpg', '2.jpg', 'sub'])
    t.same(readdirSync(cli.file('out/sub/deep')), ['4.jpg'])
    t.match(await cli.run(`get photos/a/*.jpg ${cli.file('none')}`), { code: 2, err: /is not a folder/ })
    await cli.json('cp photos/a/*.{jpg,png} photos/copies/')
    t.same(await keys('photos/copies/'), ['copies/1.jpg', 'copies/2.jpg', 'copies/b.png'])
    t.match(await cli.run('cp photos/a/*.jpg photos/one'), { code: 2, err: /a slash at its end/ })
    await store('copies/%2A.jpg', 'a star')
    t.match(await cli.json('rm photos/copies/*.jpg'), [{ key: 'copies/*.jpg' }], 'the object of that name')
    t.equal((await cli.json('rm photos/copies/*.jpg --dry-run')).length, 2)
    t.equal((await cli.json('rm photos/copies/*.jpg')).length, 2)
    t.same(await keys('photos/copies/'), ['copies/b.png'])
    t.match(await cli.run('rm photos/copies/*.gif'), {
      code: 1,
      err: /Nothing matches 'photos\/copies\/\*\.gif'/,
    })
  })

  await t.test('mv moves one, those that match, or everything below a prefix', async (t) => {
    await cli.json('mv photos/copies/b.png photos/copies/c.png')
    t.same(await keys('photos/copies/'), ['copies/c.png'])
    t.match(await cli.run('mv photos/copies/c.png photos/copies/'), { code: 2, err: /is the source itself/ })
    await store('m/1', 'one')
    await store('m/sub/2', 'two')
    t.equal((await cli.json('mv photos/m photos/n -r --dry-run')).length, 2)
    t.match(await cli.run('mv photos/m photos/m/n -r'), { code: 2, err: /within it/ })
    t.match(await cli.run('mv photos/m photos/n -r'), { code: 0, out: 'moved  m/1\nmoved  m/sub/2\n' })
    t.same(await keys('photos/m/'), [])
    t.same(await keys('photos/n/'), ['n/1', 'n/sub/2'])
    await cli.json('mv photos/n/* photos/m/')
    t.same(await keys('photos/m/'), ['m/1'])
  })

  await t.test('complete prints names that begin with a word, and no error', async (t) => {
    t.same(await cli.run('complete -- ph'), { code: 0, out: 'photos/\n', err: '' })
    t.same(await cli.run('complete -- photos/a/'), {
      code: 0,
      out: ['sub/', '1.jpg', '2.jpg', 'b.png'].map((name) => `photos/a/${name}\n`).join(''),
      err: '',
    })
    t.same(await cli.run('complete none/a'), { code: 1, out: '', err: '' })
    t.same(await cli.run('complete ./a'), { code: 0, out: '', err: '' })
  })

  await t.test('du sums up folder by folder', async (t) => {
    const { out } = await cli.run('du photos/a/ --depth 2')
    t.equal(
      out,
      [
        '      14 B         1  photos/a/sub/deep/',
        '      23 B         2  photos/a/sub/',
        '      38 B         5  photos/a/',
        '',
      ].join('\n'),
    )
    t.match(await cli.json('du'), [{ path: 'photos/' }])
    const all = await collected(
      foldersOf(of(['a/x/1', 'a/x/y/2', 'a/z', 'b', 'c/1'].map((key) => ({ key, size: 1 }))), '', 1),
    )
    t.same(
      all.map(({ path, objects }) => [path, objects]),
      [
        ['a/', 3],
        ['c/', 1],
        ['', 5],
      ],
    )
  })

  await t.test('find chooses by name, size and age', async (t) => {
    t.match(await cli.run('find photos/a --name ?.jpg --larger 6B'), {
      out: 'photos/a/sub/3.jpg\nphotos/a/sub/deep/4.jpg\n',
    })
    t.match(await cli.run('find photos --path a/sub/* --print0'), { out: 'photos/a/sub/3.jpg\0' })
    t.same(await cli.json('find photos --older 1d'), [])
    const object = { key: 'a/b.txt', size: 5, lastModified: new Date(1000).toISOString() }
    for (const [wanted, expected] of [
      [{}, true],
      [{ newer: 501 }, true],
      [{ newer: 500 }, false],
      [{ older: 499 }, true],
      [{ older: 500 }, false],
      [{ larger: 5 }, false],
      [{ smaller: 6, larger: 4 }, true],
      [{ name: 'a*' }, false],
      [{ path: 'a*' }, false],
    ] as const)
      t.equal(wantedBy(wanted, 1500)(object), expected, JSON.stringify(wanted))
  })

  await t.test('diff compares a folder with a prefix, and two prefixes', async (t) => {
    mkdirSync(cli.file('tree'))
    for (const name of ['same', 'other', 'mine']) writeFileSync(cli.file(`tree/${name}`), name)
    await cli.json(`sync ${cli.file('tree')} photos/tree`)
    t.match(await cli.run(`diff ${cli.file('tree')} photos/tree`), { code: 0, out: '' })
    await cli.json('rm photos/tree/mine')
    await store('tree/theirs', 'theirs')
    writeFileSync(cli.file('tree/other'), 'OTHER')
    utimesSync(cli.file('tree/other'), 1, 1)
    t.match(await cli.run(`diff ${cli.file('tree')} photos/tree`), {
      code: 1,
      out: '-  mine  4 B\n+  theirs  6 B\n',
    })
    t.match(await cli.run(`diff photos/tree ${cli.file('tree')} --checksum`), {
      code: 1,
      out: '+  mine  4 B\n!  other  5 B, 5 B\n-  theirs  6 B\n',
    })
    await cli.json('cp photos/tree/* photos/tree2/')
    t.match(await cli.run('diff photos/tree photos/tree2'), { code: 0, out: '' })
    await store('tree2/same', 'SAME')
    t.match(
      await cli.json('diff photos/tree photos/tree2').catch((error: Error) => error.message),
      /ended with 1/,
    )
  })
})

/** Answers the requests one after the other. */
async function scripted(
  t: Test,
  answers: readonly ((request: IncomingMessage, response: ServerResponse) => void)[],
) {
  const asked: string[] = []
  const server = createServer((request, response) => {
    request.resume()
    response.setHeader('content-type', 'application/json')
    asked.push(`${request.method} ${request.headers['if-match'] ?? ''}`.trim())
    answers[asked.length - 1]?.(request, response)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.teardown(() => server.close())
  process.env['HOLDFAST_TOKEN'] = 'svctk_any'
  t.teardown(() => delete process.env['HOLDFAST_TOKEN'])
  return { asked, at: ['--endpoint', `http://127.0.0.1:${(server.address() as AddressInfo).port}`] }
}

t.test('mv removes a source only if it is still the object that was copied', async (t) => {
  const head = (_: IncomingMessage, response: ServerResponse): void =>
    void response.writeHead(200, { etag: '"e1"', 'x-service-object-length': '3' }).end()
  const { asked, at } = await scripted(t, [
    head,
    (_, response) => void response.end('{}'),
    head,
    (_, response) =>
      void response.writeHead(412).end('{"code":"precondition_failed","message":"it is another"}'),
  ])
  t.match(await runCommand('mv', 'photos/a', 'photos/b', ...at), {
    code: 3,
    err: /'photos\/a' is not removed: it was replaced while it was moved\n {2}Both objects are kept/,
  })
  t.same(asked, ['HEAD', 'POST', 'HEAD', 'DELETE "e1"'])
})

t.test('mv removes nothing when its copy has other bytes', async (t) => {
  const head = (size: string) => (_: IncomingMessage, response: ServerResponse) =>
    void response.writeHead(200, { etag: '"e1"', 'x-service-object-length': size }).end()
  const { asked, at } = await scripted(t, [head('3'), (_, response) => void response.end('{}'), head('4')])
  t.match(await runCommand('mv', 'photos/a', 'photos/b', ...at), { code: 3, err: /its copy was replaced/ })
  t.same(asked, ['HEAD', 'POST', 'HEAD'])
})

t.test('watch prints what came, changed and went', async (t) => {
  const listing =
    (...objects: readonly (readonly [key: string, etag: string])[]) =>
    (_: IncomingMessage, response: ServerResponse) =>
      void response.end(
        JSON.stringify({
          objects: objects.map(([key, etag]) => ({
            key,
            etag,
            size: 1,
            lastModified: '2026-01-01T00:00:00.000Z',
          })),
          commonPrefixes: [],
          isTruncated: false,
        }),
      )
  const { at } = await scripted(t, [
    listing(['w/changed', '1'], ['w/gone', '1'], ['w/same', '1']),
    listing(['w/came', '1'], ['w/changed', '2'], ['w/same', '1']),
  ])
  const { code, out } = await runCommand('watch', 'photos/w/', '--every', '1ms', '--count', '1', ...at)
  t.equal(code, 0)
  t.equal(out, 'created  photos/w/came  1 B\nchanged  photos/w/changed  1 B\nremoved  photos/w/gone\n')
})
