/**
 * What a page of the console shows changes by itself: by one stream of events, and by requests that wait at a node that has no stream.
 */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import http from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import t from 'tap'
import { parse, stringify } from 'yaml'
import { until } from '../helpers/async.ts'
import { Browser } from '../helpers/browser.ts'
import { HOW_TO_HAVE_ONE } from '../helpers/chromium.ts'
import { ConsoleDriver } from '../helpers/console-driver.ts'
import { ProcessCluster, temporaryFolder } from '../helpers/process-cluster.ts'

/** Of the last good backup by a schedule. */
const NONE = 'none is scheduled'
const EVENTS = '/admin/api/v1/events'
const CHANGES = '/admin/api/v1/changes'

/** The node behind a proxy that counts what is asked for by path. Without events it is as one of a build that does not have them. */
async function countedNode(
  t: { teardown(callback: () => void): unknown },
  adminUrl: string,
  hasEvents: boolean,
): Promise<{ readonly url: string; readonly asked: (path: string) => number }> {
  const asked: string[] = []
  const server = http.createServer((request, response) => {
    const { pathname } = new URL(request.url ?? '/', adminUrl)
    asked.push(pathname)
    if (pathname === EVENTS && !hasEvents) {
      const problem = { status: 404, code: 'not_found', message: 'This path does not exist' }
      response.writeHead(404, { 'content-type': 'application/problem+json' })
      return response.end(JSON.stringify(problem))
    }
    const { method, headers } = request
    const onward = http.request(`${adminUrl}${request.url}`, { method, headers }, (answer) => {
      response.writeHead(answer.statusCode ?? 502, answer.headers)
      answer.pipe(response)
    })
    onward.on('error', () => response.destroy())
    response.on('close', () => onward.destroy())
    return request.pipe(onward)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.teardown(() => {
    server.close()
    server.closeAllConnections()
  })
  const { port } = server.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${port}`,
    asked: (path) => asked.filter((one) => one === path).length,
  }
}

t.test('a page of the console is live', { timeout: 600_000 }, async (t) => {
  const directory = temporaryFolder(t)
  const cluster = await ProcessCluster.start(t, 1, null, {
    beforeStart: async ({ plan: [first] }) => {
      if (first === undefined) return
      mkdirSync(join(directory, 'weekly'))
      const written = { ...(parse(readFileSync(first.configFile, 'utf8')) as object), backup: { directory } }
      writeFileSync(first.configFile, stringify(written))
    },
  })
  const browser = await Browser.start(t)
  if (browser === null) {
    process.stderr.write(`NOT TESTED: the console in a browser. ${HOW_TO_HAVE_ONE}\n`)
    return
  }
  const { nodeId, adminUrl } = cluster.node('n1')
  const change = async (method: 'PUT' | 'DELETE', path: string, body?: object): Promise<void> => {
    const answer = await cluster.admin(nodeId, {
      method,
      path: `/cluster${path}`,
      ...(body === undefined ? {} : { body }),
    })
    if (answer.status >= 300) throw new Error(answer.body.toString())
  }
  await change('PUT', '/backup-targets/nas', { directory: { folder: 'weekly' } })

  for (const hasEvents of [true, false])
    await t.test(
      `a schedule is shown when it is set, ${hasEvents ? 'by the stream' : 'without one'}`,
      async (t) => {
        const node = await countedNode(t, adminUrl, hasEvents)
        const driver = await ConsoleDriver.open(browser, node.url)
        await driver.logIn(cluster.setup.ownerToken)
        await driver.go('health')
        await driver.sees(NONE)
        await driver.sees('Live')
        await change('PUT', '/backup-schedules/nightly', { target: 'nas', when: '30 2 1 1 *' })
        await until('it is shown', async () => !(await driver.text()).includes(NONE))
        t.ok(node.asked(EVENTS) > 0)
        t.equal(node.asked(CHANGES) > 0, !hasEvents)
        await change('DELETE', '/backup-schedules/nightly')
        await driver.sees(NONE)
      },
    )
})
