/**
 * The console as the package contains it, and as a node serves it: small, without anything inline, kept by browsers for as long as it is the same.
 */
import type { AddressInfo } from 'node:net'
import { gzipSync } from 'node:zlib'
import t from 'tap'
import { request } from 'undici'
import { consolePack, consoleSite } from '../../scripts/build/console-site.ts'
import { ROOT } from '../../scripts/supply-chain/lockfile.ts'
import { adminPlane } from '../../src/api/admin/routes.ts'
import { createHttpServer } from '../../src/api/http-server.ts'
import { adminPages } from '../../src/api/pages/admin-pages.ts'
import { ConsolePages } from '../../src/api/pages/console-pages.ts'
import { Documentation } from '../../src/api/pages/documentation.ts'
import { SiteArchive } from '../../src/api/pages/site-archive.ts'
import { METRICS } from '../api/api-world.ts'
import { MemoryServices } from '../helpers/memory-services.ts'

/** Everything that a browser loads, compressed by gzip. */
const CONSOLE_BYTES_MAX = 200_000

const site = consoleSite(ROOT)
const page = site.get('index.html')?.bytes.toString() ?? ''

t.test('all of it is smaller than its budget', async (t) => {
  const sizes = [...site.values()].map(({ bytes }) => gzipSync(bytes).length)
  const whole = sizes.reduce((sum, size) => sum + size, 0)
  t.comment(`${whole} bytes with gzip`)
  t.ok(whole < CONSOLE_BYTES_MAX, `${whole} bytes`)
})

t.test('nothing stands inside the page, and it names nothing of another host', async (t) => {
  t.notMatch(page, /<script(?![^>]*\ssrc=)|<style|<\w[^>]*\s(?:style|on\w+)=/i)
  const named = [...page.matchAll(/(?:src|href)="([^"]+)"/g)].map(([, path = '']) => path)
  t.equal(named.length, 3)
  t.same(
    named.filter((path) => !site.has(path)),
    [],
    'each is a file of the site',
  )
  const script = named.find((path) => path.endsWith('.js')) ?? ''
  const code = site.get(script)?.bytes.toString() ?? ''
  t.notMatch(code, /\beval\(|new Function\(/)
  const hosts = [...code.matchAll(/https?:\/\/([\w.-]+)/g)].map(([, host]) => host)
  t.same(
    [...new Set(hosts)].filter((host) => host !== 'www.w3.org' && host !== 'localhost'),
    [],
    'names of XML and an example of an address',
  )
})

t.test('equal sources give equal files', async (t) => {
  t.ok(consolePack(ROOT).equals(consolePack(ROOT)))
})

t.test('a node serves it', async (t) => {
  const memory = await MemoryServices.start(t)
  const archive = new SiteArchive(consolePack(ROOT))
  const absent = (): Promise<SiteArchive> => Promise.reject(Object.assign(new Error(), { code: 'ENOENT' }))
  const serve = async (load: () => Promise<SiteArchive>): Promise<string> => {
    const pages = adminPages(new Documentation(absent), new ConsolePages(load))
    const server = createHttpServer(memory.services, { ...adminPlane(METRICS), pages }, METRICS)
    await server.listen({ host: '127.0.0.1', port: 0 })
    t.teardown(() => server.close())
    return `http://127.0.0.1:${(server.server.address() as AddressInfo).port}`
  }
  const root = await serve(async () => archive)
  const get = async (path: string, accept = 'gzip, br') => {
    const answer = await request(`${root}${path}`, { headers: { 'accept-encoding': accept } })
    return { ...answer, bytes: Buffer.from(await answer.body.arrayBuffer()) }
  }

  await t.test('without a credential, with a policy that allows its own files alone', async (t) => {
    const { statusCode, headers } = await get('/console/')
    t.equal(statusCode, 200)
    t.match(headers, { 'cache-control': 'no-cache', 'content-type': 'text/html; charset=utf-8' })
    const policy = String(headers['content-security-policy'])
    t.match(policy, /^default-src 'none'; script-src 'self'; style-src 'self';/)
    t.match(policy, /frame-ancestors 'none'.*require-trusted-types-for 'script'; trusted-types 'none'$/)
    t.notMatch(policy, /unsafe|https?:|\*/)
    t.match(await get('/console'), { statusCode: 308, headers: { location: '/console/' } })
  })

  await t.test('script and style for a year, by Brotli where that is taken', async (t) => {
    for (const [path, { bytes }] of site) {
      if (path === 'index.html') continue
      const brotli = await get(`/console/${path}`)
      t.match(brotli.headers, {
        'cache-control': 'public, max-age=31536000, immutable',
        'content-encoding': 'br',
      })
      const zipped = await get(`/console/${path}`, 'gzip')
      t.match(zipped.headers, { 'content-encoding': 'gzip' })
      t.not(zipped.headers['etag'], brotli.headers['etag'])
      t.ok((await get(`/console/${path}`, 'identity')).bytes.equals(bytes), path)
    }
  })

  await t.test('and says so where there is no such file, or no console', async (t) => {
    t.match(await get('/console/console.000000000000.js'), { statusCode: 404 })
    const bare = await request(`${await serve(absent)}/console/`)
    t.equal(bare.statusCode, 404)
    t.match(await bare.body.text(), /npm run build/)
  })
})
