/**
 * Answers that take longer than clients wait: the document begins, and ends with a result or an error.
 */
import http from 'node:http'
import type { AddressInfo } from 'node:net'
import t from 'tap'
import { PLAIN_EDGE } from '../../../src/api/edge.ts'
import { NO_METER } from '../../../src/api/request-log.ts'
import { createDataServer } from '../../../src/api/server/data-server.ts'
import { deferred, until } from '../../helpers/async.ts'
import { patternBytes } from '../../helpers/content-world.ts'
import { completionOf, MIB, MultipartCalls } from './multipart-calls.ts'
import { type S3Ask, S3World } from './s3-world.ts'

type Teardown = Parameters<typeof S3World.start>[0]

/** Time that passes when a test says so. */
class ManualClock {
  readonly #waiting = new Set<() => void>()

  after(_ms: number, callback: () => void): { cancel(): void } {
    this.#waiting.add(callback)
    return { cancel: () => void this.#waiting.delete(callback) }
  }

  get waiting(): number {
    return this.#waiting.size
  }

  elapse(): void {
    const due = [...this.#waiting]
    this.#waiting.clear()
    for (const callback of due) callback()
  }
}

/** Sends the request to a server of its own, with a clock of its own. */
async function asked(t: Teardown, s3: S3World, ask: Pick<S3Ask, 'method' | 'path' | 'headers' | 'body'>) {
  const clock = new ManualClock()
  const { memory } = s3.world
  const timeOfDay = { wallTime: () => memory.now, after: clock.after.bind(clock) }
  const server = createDataServer(memory.services, NO_METER, { ...PLAIN_EDGE, clock: timeOfDay })
  await server.listen({ host: '127.0.0.1', port: 0 })
  t.teardown(() => server.close())
  const { port } = server.server.address() as AddressInfo
  const { method, path, headers, body } = s3.signed({ ...ask, host: `127.0.0.1:${port}` })
  const response = new Promise<http.IncomingMessage>((resolve, reject) => {
    const request = http.request({ host: '127.0.0.1', port, method, path, headers }, resolve)
    request.on('error', reject)
    request.end(body)
  })
  await until('the answer is waited for', () => clock.waiting > 0)
  return { clock, response }
}

/** A completion whose commit waits for `commit`. */
async function completing(t: Teardown) {
  const s3 = await S3World.start(t)
  const film = new MultipartCalls(s3, 'film')
  const uploadId = await film.begin()
  const part = await film.part(uploadId, 1, 'bytes')
  const { memory } = s3.world
  const commit = deferred()
  memory.beforeApply = () => commit.promise
  const path = `${film.path}?uploadId=${uploadId}`
  const sent = await asked(t, s3, { method: 'POST', path, body: completionOf([part]) })
  return { s3, film, uploadId, commit, memory, ...sent }
}

/** What has come so far, and the whole. */
function received(message: http.IncomingMessage) {
  const pieces: Buffer[] = []
  message.on('data', (piece: Buffer) => pieces.push(piece))
  const ended = new Promise<boolean>((resolve) => {
    message.on('end', () => resolve(true))
    message.on('error', () => resolve(false))
  })
  return { text: () => Buffer.concat(pieces).toString(), ended }
}

const DECLARATION = '<?xml version="1.0" encoding="UTF-8"?>\n'

t.test('a completion in time is answered whole', async (t) => {
  const { clock, commit, response, film } = await completing(t)
  commit.resolve()
  const message = await response
  const { text, ended } = received(message)
  t.ok(await ended)
  t.match(message.headers, { 'content-length': `${text().length}`, 'x-amz-server-side-encryption': 'AES256' })
  t.match(text(), /^<\?xml[^>]*>\n<CompleteMultipartUploadResult/)
  t.equal(clock.waiting, 0)
  t.equal((await film.s3.call({ path: film.path })).status, 200)
})

t.test('one that takes long begins, keeps its client, and ends with the result', async (t) => {
  const { clock, commit, response } = await completing(t)
  clock.elapse()
  const message = await response
  t.equal(message.statusCode, 200)
  t.match(message.headers, { 'content-type': 'application/xml', 'x-amz-request-id': /./ })
  const { text, ended } = received(message)
  await until('the document has started', () => text() === DECLARATION)
  for (const blanks of [' ', '  ']) {
    await until('it waits again', () => clock.waiting > 0)
    clock.elapse()
    await until('a blank has come', () => text() === DECLARATION + blanks)
  }
  commit.resolve()
  t.ok(await ended)
  t.match(text(), /^<\?xml[^>]*>\n  <CompleteMultipartUploadResult.*<\/CompleteMultipartUploadResult>$/s)
})

t.test('or with an error, which the audit log records', async (t) => {
  const { s3, film, uploadId, clock, commit, memory, response } = await completing(t)
  clock.elapse()
  const message = await response
  const { text, ended } = received(message)
  memory.proposeFault = new Error('the log is broken')
  commit.resolve()
  t.ok(await ended)
  t.equal(message.statusCode, 200)
  t.match(text(), /^<\?xml[^>]*>\n *<Error><Code>InternalError<\/Code>.*<RequestId>.*<\/Error>$/s)
  t.notMatch(text(), /broken/)
  await until('the row is written', () => memory.auditRows.some(({ code }) => code === 'internal_error'))
  t.ok(memory.lines.some(({ message: line }) => line === 'request failed unexpectedly'))
  memory.proposeFault = null
  t.equal((await film.list(uploadId)).status, 200, 'the upload is still there')
  t.equal((await s3.call({ path: film.path })).status, 404)
})

t.test('a client that has gone is no error of this node', async (t) => {
  const s3 = await S3World.start(t)
  const { memory } = s3.world
  await s3.call({ method: 'PUT', path: '/photos/source', body: patternBytes(6 * MIB, 5) })
  const film = new MultipartCalls(s3, 'film')
  const uploadId = await film.begin()
  const gate = deferred()
  memory.blobs.beforeWrite = () => gate.promise
  const path = `${film.path}?partNumber=1&uploadId=${uploadId}`
  const headers = { 'x-amz-copy-source': 'photos/source', 'x-amz-copy-source-range': `bytes=1-${5 * MIB}` }
  const { clock, response } = await asked(t, s3, { method: 'PUT', path, headers })
  await until('a chunk waits for its copies', () => memory.blobs.writesNow > 0)
  clock.elapse()
  const message = await response
  message.destroy()
  await until('its request is over', () => memory.auditRows.some(({ code }) => code === 'client_gone'))
  gate.resolve()
  await until('no copy is under way', () => memory.content.memory.bytes === 0)
  await until('nothing waits any more', () => {
    clock.elapse()
    return clock.waiting === 0
  })
  t.equal((await film.list(uploadId)).xml?.childrenNamed('Part').length, 0)
  t.same(
    memory.lines.filter(({ level }) => level === 'error'),
    [],
  )
})
