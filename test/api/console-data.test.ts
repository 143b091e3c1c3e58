/**
 * The data API through the admin listener: the same as on its own listener, less what a browser would open by itself.
 */
import { createHash } from 'node:crypto'
import http from 'node:http'
import t, { type Test } from 'tap'
import { CONSOLE_DATA, consolePlane } from '../../src/api/server/console-data.ts'
import { ApiWorld } from './api-world.ts'

const OBJECT = `${CONSOLE_DATA}/api/v1/buckets/photos/objects/cat.txt`

async function worldOf(t: Test, options: Parameters<typeof ApiWorld.withBucket>[1] = {}) {
  const { world, token } = await ApiWorld.withBucket(t, options)
  const call = (method: string, path: string, more: object = {}) =>
    world.send({ method, path, token, admin: true, ...more })
  return { world, token, call }
}

t.test('objects are stored, listed and read as on the data listener', async (t) => {
  const { world, call, token } = await worldOf(t)
  t.equal((await call('PUT', OBJECT, { body: Buffer.from('miaow') })).status, 200)
  const there = await world.send({ path: '/api/v1/buckets/photos/objects/cat.txt', token })
  const here = await call('GET', OBJECT)
  t.equal(here.bytes.toString(), 'miaow')
  for (const name of ['etag', 'content-type', 'x-service-version-id', 'cache-control'])
    t.equal(here.headers[name], there.headers[name], name)
  t.equal(here.headers['set-cookie'], undefined)
  const listed = await call('GET', `${CONSOLE_DATA}/api/v1/buckets/photos/objects?prefix=c`)
  t.match(listed.json, { objects: [{ key: 'cat.txt' }] })
})

t.test('keys travel byte for byte', async (t) => {
  const { world, call, token } = await worldOf(t)
  for (const key of ['a%2F..%2Fb', 'console/data/x', '%3Cimg%20src=x%3E', 'a//b', '%F0%9F%90%88']) {
    const path = `/api/v1/buckets/photos/objects/${key}`
    t.equal((await call('PUT', `${CONSOLE_DATA}${path}`, { body: Buffer.from(key) })).status, 200, key)
    t.equal((await world.send({ path, token })).bytes.toString(), key)
  }
})

t.test('it takes tokens of access keys only, and the admin API none of them', async (t) => {
  const { world, token } = await worldOf(t)
  const admin = await world.memory.adminToken('owner')
  const path = `${CONSOLE_DATA}/api/v1/buckets`
  t.equal((await world.send({ path, admin: true })).status, 401)
  t.equal((await world.send({ path, admin: true, token: admin })).status, 401)
  t.equal((await world.send({ path: '/admin/api/v1/tenants', admin: true, token })).status, 401)
})

t.test('nothing is there that a browser opens without a header', async (t) => {
  const { world, call, token } = await worldOf(t)
  await call('PUT', OBJECT, { body: Buffer.from('<script>') })
  const minted = await call('POST', `${CONSOLE_DATA}/api/v1/sign-url`, {
    body: { method: 'GET', bucket: 'photos', key: 'cat.txt' },
  })
  const { url } = minted.json as { readonly url: string }
  const { pathname, search } = new URL(url)
  t.equal((await world.send({ path: pathname + search })).status, 200, 'on the data listener')
  t.equal((await world.send({ path: CONSOLE_DATA + pathname + search, admin: true })).status, 401)
  t.equal((await call('GET', CONSOLE_DATA + pathname + search)).status, 404)
  t.equal((await call('OPTIONS', OBJECT)).status, 405)
  t.equal((await call('GET', `${CONSOLE_DATA}/photos/cat.txt`)).status, 404, 'S3')
  t.equal((await call('GET', `${CONSOLE_DATA}/console/`)).status, 404)
  t.ok(consolePlane.routes.every(({ auth }) => auth === 'bearer' || auth === 'credentials'))
  t.equal((await world.send({ path: `${CONSOLE_DATA}`, admin: true, token })).status, 404)
})

t.test('a body streams through, and is taken no faster than it is stored', async (t) => {
  const { world, token } = await worldOf(t)
  const piece = Buffer.alloc(64 * 1024, 'x')
  const pieces = 64
  const request = http.request({
    host: '127.0.0.1',
    port: world.adminPort,
    method: 'PUT',
    path: OBJECT,
    headers: { authorization: `Bearer ${token}`, expect: '100-continue', 'transfer-encoding': 'chunked' },
  })
  const answered = new Promise<http.IncomingMessage>((resolve, reject) => {
    request.once('response', resolve).once('error', reject)
  })
  request.flushHeaders()
  await new Promise((resolve) => request.once('continue', resolve))
  for (let sent = 0; sent < pieces; sent++)
    if (!request.write(piece)) await new Promise((resolve) => request.once('drain', resolve))
  request.end()
  const response = await answered
  t.equal(response.statusCode, 200)
  response.resume()
  const read = await world.send({ path: '/api/v1/buckets/photos/objects/cat.txt', token })
  const wanted = createHash('sha256')
  for (let sent = 0; sent < pieces; sent++) wanted.update(piece)
  t.equal(createHash('sha256').update(read.bytes).digest('base64'), wanted.digest('base64'))
})

t.test('it is not there where it is switched off', async (t) => {
  const { world, call, token } = await worldOf(t, { consoleData: false })
  const path = '/api/v1/buckets/photos/objects/cat.txt'
  t.equal((await world.send({ method: 'PUT', path, token, body: Buffer.from('miaow') })).status, 200)
  t.equal((await call('GET', OBJECT)).status, 404)
  const body = await world.memory.accessKey('acme', 'read')
  const exchange = { method: 'POST', body, path: '/api/v1/auth/token' }
  t.equal((await world.send(exchange)).status, 200)
  const passed = { ...exchange, path: `${CONSOLE_DATA}${exchange.path}`, admin: true }
  t.equal((await world.send(passed)).status, 401)
})
