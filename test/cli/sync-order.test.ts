/**
 * A sync reports in the order of the names, whichever transfer ends first.
 */
import { mkdirSync, writeFileSync } from 'node:fs'
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { setImmediate } from 'node:timers/promises'
import t from 'tap'
import { forEachInOrder, REPORTS_WAITING_MAX } from '../../src/cli/base/in-order.ts'
import { sync } from '../../src/cli/sync/sync-command.ts'
import { deferred } from '../helpers/async.ts'
import { temporaryFolder } from '../helpers/process-cluster.ts'

async function* of<T>(items: Iterable<T>): AsyncGenerator<T> {
  yield* items
}

/** An empty bucket that answers the first upload only after the second one. */
async function reversingService(t: Pick<typeof import('tap').default, 'teardown'>): Promise<string> {
  let first: ServerResponse | null = null
  const server = createServer((request, response) => {
    response.setHeader('content-type', 'application/json')
    if (request.method === 'GET') {
      response.end(JSON.stringify({ objects: [], commonPrefixes: [], isTruncated: false }))
      return
    }
    request.resume().on('end', () => {
      if (request.url?.includes('/objects/one') === true) first = response
      else {
        response.end('{}')
        response.on('finish', () => first?.end('{}'))
      }
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.teardown(() => server.close())
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

t.test(
  'sync prints its results in the order of the names, although the first upload ends last',
  async (t) => {
    const endpoint = await reversingService(t)
    const root = temporaryFolder(t)
    mkdirSync(join(root, 'sub'))
    writeFileSync(join(root, 'one'), 'one')
    writeFileSync(join(root, 'sub/two'), 'two')
    t.teardown(() => delete process.env['HOLDFAST_ACCESS_KEY_ID'])
    t.teardown(() => delete process.env['HOLDFAST_SECRET_KEY'])
    process.env['HOLDFAST_TOKEN_CACHE'] = 'off'
    t.teardown(() => delete process.env['HOLDFAST_TOKEN_CACHE'])
    process.env['HOLDFAST_ACCESS_KEY_ID'] = 'key'
    process.env['HOLDFAST_SECRET_KEY'] = 'secret'
    const written = t.capture(process.stdout, 'write')
    const code = await sync(root, 'album', {
      endpoint,
      parallel: 2,
      times: false,
      progress: false,
      json: true,
    })
    const lines = written().map(({ args }) => String(args[0]))
    written.restore()
    t.equal(code, 0)
    t.same(lines.slice(0, 2), [
      '{"action":"upload","path":"one"}\n',
      '{"action":"upload","path":"sub/two"}\n',
    ])
  },
)

t.test('forEachInOrder', async (t) => {
  await t.test('reports each item as soon as it and all earlier items have ended', async (t) => {
    const ends = [0, 1, 2, 3].map(() => deferred())
    const reported: number[] = []
    const all = forEachInOrder(of([0, 1, 2, 3]), 4, async (n, submit) => {
      await ends[n]?.promise
      submit(() => reported.push(n))
    })
    for (const [ended, expected] of [
      [2, []],
      [0, [0]],
      [1, [0, 1, 2]],
      [3, [0, 1, 2, 3]],
    ] as const) {
      ends[ended]?.resolve()
      for (let turn = 0; turn < 3; turn++) await setImmediate()
      t.same(reported, expected)
    }
    await all
  })

  await t.test('starts no further item while its window waits for one slow item', async (t) => {
    const slow = deferred()
    let started = 0
    let reports = 0
    const all = forEachInOrder(
      of(Array.from({ length: 3 * REPORTS_WAITING_MAX }).keys()),
      4,
      async (n, submit) => {
        started++
        if (n === 0) await slow.promise
        submit(() => reports++)
      },
    )
    for (let turn = 0; turn < 5 * REPORTS_WAITING_MAX; turn++) await setImmediate()
    t.equal(started, REPORTS_WAITING_MAX)
    t.equal(reports, 0)
    slow.resolve()
    await all
    t.equal(reports, 3 * REPORTS_WAITING_MAX)
  })

  await t.test('loses no report of an item that ended before another item failed', async (t) => {
    const [bothStarted, failed] = [deferred(), deferred()]
    const reported: string[] = []
    const all = forEachInOrder(of(['fails', 'ends']), 2, async (item, submit) => {
      if (item === 'ends') {
        bothStarted.resolve()
        await failed.promise
        submit(() => reported.push(item))
        return
      }
      await bothStarted.promise
      submit(() => reported.push(item))
      failed.resolve()
      throw new Error('one failed')
    })
    await t.rejects(all, { message: 'one failed' })
    t.same(reported, ['fails', 'ends'])
  })
})
