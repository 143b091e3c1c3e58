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

/** What the proxy answers instead of the node. */
interface Refused {
  readonly status: number
  readonly code: string
  readonly message: string
}

const NO_STREAMS: Refused = { status: 404, code: 'not_found', message: 'This path does not exist' }

interface CountedNode {
  readonly url: string
  readonly asked: (path: string) => number
  /** Streams of events that are read now. */
  readonly streams: () => number
  /** The answer to each request for events from now on; null: that of the node. Streams that run end. */
  readonly refuse: (answer: Refused | null) => void
}

/** The node behind a proxy that counts what is asked for by path. */
async function countedNode(
  t: { teardown(callback: () => void): unknown },
  adminUrl: string,
): Promise<CountedNode> {
  const asked: string[] = []
  const streams = new Set<http.ServerResponse>()
  let refused: Refused | null = null
  const server = http.createServer((request, response) => {
    const { pathname } = new URL(request.url ?? '/', adminUrl)
    asked.push(pathname)
    if (pathname === EVENTS) {
      if (refused !== null) {
        response.writeHead(refused.status, { 'content-type': 'application/problem+json' })
        return response.end(JSON.stringify(refused))
      }
      streams.add(response)
      response.on('close', () => streams.delete(response))
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
    streams: () => streams.size,
    refuse: (answer) => {
      refused = answer
      for (const stream of streams) stream.destroy()
    },
  }
}

/** As if the person chose another tab, or came back. */
async function show(driver: ConsoleDriver, state: 'visible' | 'hidden'): Promise<void> {
  await driver.page.run<void>((to: string) => {
    const { document } = globalThis as { readonly document?: EventTarget }
    if (document === undefined) return
    Object.defineProperty(document, 'visibilityState', { value: to, configurable: true })
    document.dispatchEvent(new Event('visibilitychange'))
  }, state)
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
        const node = await countedNode(t, adminUrl)
        if (!hasEvents) node.refuse(NO_STREAMS)
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

  const opened = async (t: Parameters<typeof countedNode>[0]) => {
    const node = await countedNode(t, adminUrl)
    const driver = await ConsoleDriver.open(browser, node.url)
    await driver.logIn(cluster.setup.ownerToken)
    await driver.go('health')
    await driver.sees('Live')
    return { node, driver }
  }

  await t.test('a hidden page reads no stream, and shows what it missed when it is back', async (t) => {
    const { node, driver } = await opened(t)
    await driver.sees(NONE)
    await until('it reads one stream', async () => node.streams() === 1)
    await show(driver, 'hidden')
    await until('it reads none', async () => node.streams() === 0)
    const before = node.asked(EVENTS)
    await change('PUT', '/backup-schedules/nightly', { target: 'nas', when: '30 2 1 1 *' })
    t.equal(node.asked(EVENTS), before, 'and asks for none')
    t.ok((await driver.text()).includes(NONE))
    await show(driver, 'visible')
    await until('it is shown', async () => !(await driver.text()).includes(NONE))
    await change('DELETE', '/backup-schedules/nightly')
    await driver.sees(NONE)
  })

  await t.test('a node that cannot answer is asked again, with what was missed', async (t) => {
    const { node, driver } = await opened(t)
    await driver.sees(NONE)
    await until('it reads one stream', async () => node.streams() === 1)
    const before = node.asked(EVENTS)
    node.refuse({ status: 503, code: 'no_leader', message: 'No node leads' })
    await driver.sees('Connecting again')
    await change('PUT', '/backup-schedules/nightly', { target: 'nas', when: '30 2 1 1 *' })
    node.refuse(null)
    await driver.sees('Live')
    t.ok(node.asked(EVENTS) > before, 'by a stream')
    await until('it is shown', async () => !(await driver.text()).includes(NONE))
    await change('DELETE', '/backup-schedules/nightly')
    await driver.sees(NONE)
  })

  await t.test('a token that has ended leads to the log-in', async (t) => {
    const { node, driver } = await opened(t)
    await until('it reads one stream', async () => node.streams() === 1)
    node.refuse({ status: 401, code: 'unauthenticated', message: 'This token has expired' })
    await driver.sees('The token is expired or revoked: log in with another one.')
    const before = node.asked(EVENTS)
    await driver.go('health')
    await driver.sees('Admin token')
    t.equal(node.asked(EVENTS), before, 'nothing is asked for without a token')
  })

  await t.test('the page of a caller without the right stops asking', async (t) => {
    const { node, driver } = await opened(t)
    await until('it reads one stream', async () => node.streams() === 1)
    node.refuse({ status: 403, code: 'access_denied', message: 'This role may not' })
    await until(
      'the page no longer says that it is live',
      async () => !/Live|Connecting/.test(await driver.text()),
    )
    const before = node.asked(EVENTS)
    await driver.go('cluster')
    await driver.sees('n1')
    t.equal(node.asked(EVENTS), before)
  })
})
