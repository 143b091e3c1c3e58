/**
 * Uploads by signed URLs: the terms of the URL hold, for any upload. [native: Signed-URL access] [decisions 8]
 */
import { createHash } from 'node:crypto'
import t from 'tap'
import { deferred, until } from '../helpers/async.ts'
import { patternBytes } from '../helpers/content-world.ts'
import { SignedClient } from './signed-client.ts'

const sum = (body: string | Buffer): string => createHash('sha256').update(body).digest('base64')
const tooLarge = { status: 413, code: 'entity_too_large' }
const mismatch = { status: 403, code: 'signed_url_mismatch' }

t.test('a PUT URL', async (t) => {
  const signed = await SignedClient.start(t, { objectLockEnabled: true })
  const { films } = signed
  const link = (key: string, more: object = {}) => signed.link({ method: 'PUT', key, ...more })

  await t.test('stores the object and answers its record [signed-urls.put]', async (t) => {
    const body = patternBytes(5000)
    const headers = { 'content-type': 'image/jpeg', 'x-service-meta-camera': 'x100' }
    const put = await signed.put(await link('up/1.jpg'), body, headers)
    t.match(put, {
      status: 200,
      json: { bucket: 'films', key: 'up/1.jpg', size: 5000, contentType: 'image/jpeg' },
    })
    t.same(put.json['metadata'], { camera: 'x100' })
    t.ok((await films.get('up/1.jpg')).bytes.equals(body))
    const again = await signed.put(await link('up/1.jpg'), 'other', { 'if-none-match': '*' })
    t.match(again, { status: 412, code: 'precondition_failed' })
  })

  await t.test('stores its pinned type, for any type of the upload [signed-urls.put.type]', async (t) => {
    const url = await link('typed', { contentType: 'image/png' })
    for (const headers of [{}, { 'content-type': 'text/html' }, { 'content-type': 'image/png' }])
      t.equal((await signed.put(url, 'x', headers)).json['contentType'], 'image/png')
    t.equal((await films.head('typed')).headers['content-type'], 'image/png')
  })

  await t.test(
    'entity_too_large: takes no byte more than it says, announced or not [signed-urls.put.length]',
    async (t) => {
      for (const size of [10, 5000]) {
        const url = await link(`capped-${size}`, { contentLengthMax: size })
        t.match(await signed.put(url, Buffer.alloc(size + 1)), tooLarge, 'announced')
        const pieces = [Buffer.alloc(size), Buffer.alloc(1)]
        t.match(await signed.streamed(url, pieces), tooLarge, 'not announced')
        t.equal((await films.get(`capped-${size}`)).status, 404, 'nothing stays')
        t.equal(
          (await signed.streamed(url, [Buffer.alloc(size - 1), Buffer.alloc(1)])).status,
          200,
          'the last byte',
        )
        t.match(await signed.put(url, Buffer.alloc(size + 1)), tooLarge)
        t.equal((await films.get(`capped-${size}`)).bytes.length, size, 'the previous object stays')
      }
      const versions = await films.shown({ prefix: 'capped-' })
      t.equal(versions.length, 2)
    },
  )

  await t.test('is not issued for more than the deployment accepts', async (t) => {
    const small = await SignedClient.start(t, {}, { limits: { objectPutBytesMax: 100 } })
    const url = await small.link({ method: 'PUT', key: 'k', contentLengthMax: 1_000_000 })
    t.match(await small.put(url, Buffer.alloc(101)), tooLarge)
    t.match(await small.streamed(url, [Buffer.alloc(50), Buffer.alloc(51)]), tooLarge)
  })

  await t.test(
    'checksum_mismatch: takes the bytes it names and no others [signed-urls.put.checksum]',
    async (t) => {
      const body = patternBytes(5000)
      const url = await link('summed', { checksumAlg: 'sha256', checksumVal: sum(body) })
      const refused = { status: 400, code: 'checksum_mismatch' }
      t.match(await signed.put(url, patternBytes(5000, 2)), refused)
      t.match(
        await signed.put(url, patternBytes(5000, 2), {
          'x-service-checksum-sha256': sum(patternBytes(5000, 2)),
        }),
        refused,
      )
      t.match(await signed.put(url, body, { 'x-service-checksum-sha256': sum('other') }), refused)
      t.match(
        await signed.put(url, body, { 'x-service-checksum-crc32': 'AAAAAA==' }),
        refused,
        'those of the upload hold too',
      )
      t.equal((await films.get('summed')).status, 404, 'nothing stays')
      const stored = await signed.put(url, body)
      t.match(stored.json, { checksums: { SHA256: sum(body) } })
      t.equal((await signed.put(url, body, { 'x-service-checksum-sha256': sum(body) })).status, 200)
    },
  )

  await t.test('grants no tags, no locks, and no part of an object', async (t) => {
    const url = await link('plain')
    for (const [name, value] of [
      ['x-service-tagging', 'a=b'],
      ['x-service-retention-mode', 'COMPLIANCE'],
      ['x-service-retain-until', '2099-01-01T00:00:00Z'],
      ['x-service-legal-hold', 'ON'],
      ['x-service-checksum', 'x'],
      ['x-service-colour', 'red'],
      ['content-range', 'bytes 0-1/5'],
      ['if-unmodified-since', 'Thu, 01 Jan 1970 00:00:00 GMT'],
    ] as const) {
      const answer = await signed.put(url, 'x', { [name]: value })
      t.match(answer, { status: 400, code: 'invalid_request' }, name)
      t.match(answer.json['message'], new RegExp(name))
    }
    t.equal((await films.get('plain')).status, 404)
  })

  await t.test('for a prefix stores any key that begins with it [signed-urls.put.prefix]', async (t) => {
    const made = await signed.mint({ method: 'PUT', keyPrefix: 'in/a ', contentLengthMax: 5 })
    const template = String(made.json['urlTemplate']).slice('http://127.0.0.1:0'.length)
    const at = (suffix: string) => template.replace('{+suffix}', suffix)
    for (const [suffix, key] of [
      ['b', 'in/a b'],
      ['b/c.txt', 'in/a b/c.txt'],
      ['%2Fd', 'in/a /d'],
      ['../x', 'in/a ../x'],
      ['', 'in/a '],
    ] as const)
      t.match(await signed.put(at(suffix)), { status: 200, json: { key } }, suffix)
    t.match(await signed.put(at('big'), 'too large'), tooLarge, 'under the same terms')
    for (const key of ['in/a', 'in/b', 'in/', 'x/in/a%20b', '../in/a%20b', 'IN/A%20b'])
      t.match(await signed.put(template.replace('in/a%20{+suffix}', key)), mismatch, key)
    t.match(await signed.get(at('b')), mismatch, 'and reads none of it')
  })
})

t.test('the idempotency key of a URL', async (t) => {
  const signed = await SignedClient.start(t, { versioning: 'Enabled' })
  const { films } = signed
  const { memory } = signed.world

  await t.test('collapses retries without a checksum [signed-urls.put.idempotency]', async (t) => {
    const body = patternBytes(5000)
    const url = await signed.link({ method: 'PUT', key: 'once', idempotencyKey: 'i' })
    const first = await signed.put(url, body)
    t.match(first.json, { checksums: { SHA256: sum(body) } }, "the server's own")
    const again = await signed.put(url, body)
    t.match(again, { status: 200, headers: { 'idempotent-replayed': 'true' } })
    t.same(again.json, first.json)
    t.equal((await signed.put(url, body, { 'idempotency-key': 'i' })).status, 200, 'given twice')
    t.match(await signed.put(url, body, { 'idempotency-key': 'j' }), { status: 400, code: 'invalid_request' })
    const conflict = { status: 409, code: 'idempotency_conflict' }
    t.match(await signed.put(url, patternBytes(5000, 2)), conflict, 'other bytes')
    t.match(await signed.put(url, body, { 'content-type': 'a/b' }), conflict, 'another type')
    t.match(await signed.put(url, body, { 'x-service-meta-a': 'b' }), conflict, 'other metadata')
    t.equal((await films.shown({ prefix: 'once' })).length, 1)
    const other = await signed.link({ method: 'PUT', key: 'once' })
    t.match(
      await signed.put(other, body, { 'idempotency-key': 'j' }),
      { status: 400, code: 'checksum_required' },
      'of a request it needs one',
    )
  })

  await t.test('of two uploads at once one runs, the other is refused as retryable', async (t) => {
    const url = await signed.link({ method: 'PUT', key: 'race', idempotencyKey: 'i' })
    const inApply = deferred()
    const mayApply = deferred()
    memory.beforeApply = () => {
      inApply.resolve()
      return mayApply.promise
    }
    // If both got so far, the first would wait for the second forever.
    const { propose } = memory.services
    let proposed = 0
    memory.services.propose = (command) => {
      proposed += 1
      if (proposed === 2) mayApply.resolve()
      return propose(command)
    }
    const running = signed.put(url, 'x')
    await inApply.promise
    t.match(await signed.put(url, 'x'), { status: 409, code: 'idempotency_in_progress' })
    mayApply.resolve()
    t.equal((await running).status, 200)
    t.equal((await signed.put(url, 'x')).headers['idempotent-replayed'], 'true')
    t.equal((await films.shown({ prefix: 'race' })).length, 1)
  })
})

t.test('a running upload', async (t) => {
  const signed = await SignedClient.start(t)
  const { memory } = signed.world

  await t.test(
    'is finished, though its URL and its key end meanwhile [signed-urls.expired.start]',
    async (t) => {
      const key = await memory.accessKey('acme', 'write')
      const { token } = memory.services.access.exchange({ ...key, clientAddress: 'test' })
      const url = await signed.link({ method: 'PUT', key: 'long', ttlSeconds: 5 }, { token })
      const running = await signed.begin(url, [patternBytes(5000)])
      memory.now += 3_600_000
      const revoked = { accessKeyId: key.accessKeyId, tenantId: 'acme', reason: 'lost' }
      t.ok((await memory.services.propose({ type: 'revokeAccessKey', ...revoked })).ok)
      t.match(await signed.put(url), { status: 401, code: 'signed_url_expired' }, 'no other one begins')
      t.equal((await running.finish('end')).status, 200)
    },
  )

  await t.test('is not committed for a tenant that was disabled meanwhile', async (t) => {
    const url = await signed.link({ method: 'PUT', key: 'late' }, { token: await memory.bearer('acme') })
    const mayApply = deferred()
    memory.beforeApply = () => mayApply.promise
    let proposed = 0
    const { propose } = memory.services
    memory.services.propose = (command) => {
      proposed += 1
      return propose(command)
    }
    const shredded = memory.services.propose({
      type: 'disableTenant',
      tenantId: 'acme',
      reason: 'gone',
    })
    const running = signed.put(url, 'x')
    await until('the upload is proposed behind it', () => proposed === 2)
    mayApply.resolve()
    t.ok((await shredded).ok)
    t.match(await running, { status: 401, code: 'tenant_disabled' })
  })
})
