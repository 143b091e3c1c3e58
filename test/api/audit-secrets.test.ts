/**
 * Every secret that a request can carry is sent in every place where a caller can put it, and then searched for: in the rows of the edge, in
 * the committed links as they lie in the store, in the files of a spool, and in the log.
 */
import { createHash, randomBytes } from 'node:crypto'
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import t from 'tap'
import { AuditSpool } from '../../src/audit/audit-spool.ts'
import { recordingLogger } from '../helpers/loggers.ts'
import type { Ask } from './api-world.ts'
import { AuditedWorld } from './audited-world.ts'

const CUSTOMER_KEY = randomBytes(32)

function keyHeaders(prefix: string, key: string): Readonly<Record<string, string>> {
  const md5 = createHash('md5').update(CUSTOMER_KEY).digest('base64')
  return { [`${prefix}-algorithm`]: 'AES256', [`${prefix}-key`]: key, [`${prefix}-key-md5`]: md5 }
}

t.test('no secret is written down anywhere [audit.no-secrets]', async (t) => {
  const audited = await AuditedWorld.start(t)
  const { world, token, owner } = audited
  const { memory } = world
  const dir = mkdtempSync(join(tmpdir(), 'holdfast-spool-'))
  t.teardown(() => rmSync(dir, { recursive: true, force: true }))
  const logger = recordingLogger(memory.lines)
  const spool = await AuditSpool.open({ dir, isStrict: false, bytesMax: 2 ** 28, logger })
  memory.services.audit = spool
  const key = await memory.accessKey('acme', 'read,write,delete')
  const basic = Buffer.from(`${key.accessKeyId}:${key.secretKey}`).toString('base64')
  const created = await world.call({
    method: 'POST',
    path: '/admin/api/v1/tenants/acme/keys',
    token: owner,
    admin: true,
    body: { scopes: 'read', name: 'second' },
  })
  const rotated = await world.call({
    method: 'POST',
    path: `/admin/api/v1/tenants/acme/keys/${String(created.json['accessKeyId'])}/rotate`,
    token: owner,
    admin: true,
  })
  const minted = await world.call({ method: 'POST', path: '/api/v1/auth/token', body: key })
  const signed = 'svcurl_c2lnbmVkLXVybC10b2tlbg'
  const secrets: Readonly<Record<string, string>> = {
    bearer: token,
    admin: owner,
    secretKey: key.secretKey,
    basic,
    created: String(created.json['secretKey']),
    rotated: String(rotated.json['secretKey']),
    minted: String(minted.json['token']),
    signed,
    signingSecret: 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw',
    content: 'the-bytes-of-an-object',
    customerKey: CUSTOMER_KEY.toString('base64'),
  }
  for (const secret of Object.values(secrets)) {
    const asks: Ask[] = [
      { path: '/api/v1/buckets', headers: { authorization: `Bearer ${secret}` } },
      { path: '/admin/api/v1/tenants', admin: true, headers: { authorization: `Bearer ${secret}` } },
      { path: `/api/v1/signed/photos/a?token=${secret}` },
      { path: `/api/v1/buckets/photos/objects/a?token=${secret}`, token },
      {
        path: '/api/v1/buckets/photos/objects/a',
        token,
        headers: { 'x-service-meta-secret': secret, cookie: secret },
      },
      { method: 'PUT', path: '/api/v1/buckets/photos/objects/a', token, body: secret },
      ...(['PUT', 'GET', 'HEAD'] as const).map((method) => ({
        method,
        path: '/api/v1/buckets/photos/objects/sealed',
        token,
        headers: keyHeaders('x-service-customer', secret),
        ...(method === 'PUT' ? { body: 'x' } : {}),
      })),
      { path: `/photos/sealed?x-amz-server-side-encryption-customer-key=${encodeURIComponent(secret)}` },
      {
        method: 'POST',
        path: '/api/v1/auth/token',
        body: { accessKeyId: key.accessKeyId, secretKey: secret },
      },
      { method: 'POST', path: '/api/v1/auth/token', body: { accessKeyId: secret, secretKey: 'x' } },
      { method: 'POST', path: '/api/v1/auth/token', headers: { authorization: `Basic ${secret}` } },
      { method: 'POST', path: '/api/v1/buckets', token, body: { name: 'b', signingSecret: secret } },
      { method: 'POST', path: '/api/v1/buckets', token, body: `{"secretKey":"${secret}"` },
    ]
    for (const ask of asks) await world.send(ask)
    await world.raw(`GARBAGE ${secret}\r\n\r\n`)
  }
  await spool.durable()
  await spool.close()
  const files = readdirSync(dir).map((name) => readFileSync(join(dir, name)).toString('latin1'))
  t.ok(files.join('').includes('createToken'), 'the spool has rows of the requests')
  const places = {
    spool: files.join('\n'),
    committed: JSON.stringify(await audited.committed()),
    log: JSON.stringify(memory.lines),
  }
  for (const [place, text] of Object.entries(places))
    for (const [name, secret] of Object.entries(secrets))
      t.notOk(text.includes(secret), `${name} is not in the ${place}`)
})
