/**
 * A key that ends while the body of a change is in flight changes nothing: it is asked for again in the entry that would commit.
 */
import { once } from 'node:events'
import net from 'node:net'
import t, { type Test } from 'tap'
import { until } from '../helpers/async.ts'
import { AuditedWorld } from './audited-world.ts'
import { type KeyWithToken, keyWithToken, revoke, rotate } from './issued-keys.ts'

const BUCKET = '/api/v1/buckets/photos'

interface Held {
  readonly method: string
  readonly path: string
  readonly body: string
  readonly type?: string
  /** Empty: a signed URL. */
  readonly token: string
}

/** Sends half of a body, runs `between` once the server has proved the caller, and sends the rest. */
async function held(
  { world }: AuditedWorld,
  { method, path, body, token, type = 'application/octet-stream' }: Held,
  between: () => Promise<unknown>,
): Promise<{ readonly status: number; readonly code: string | null; readonly requestId: string }> {
  const { arrivals } = world.memory
  const socket = net.connect(world.dataPort, '127.0.0.1')
  const authorization = token === '' ? '' : `Authorization: Bearer ${token}\r\n`
  const half = Math.floor(body.length / 2)
  socket.write(
    `${method} ${path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n${authorization}Content-Type: ${type}\r\n` +
      `Content-Length: ${body.length}\r\n\r\n${body.slice(0, half)}`,
  )
  await until('the caller is proved', () => world.memory.arrivals > arrivals)
  await between()
  let answer = ''
  socket.on('data', (piece: Buffer) => (answer += piece.toString('latin1')))
  socket.write(body.slice(half))
  await once(socket, 'close')
  return {
    status: Number(answer.slice(9, 12)),
    code: /"code":"(\w+)"/.exec(answer)?.[1] ?? null,
    requestId: /x-request-id: (\S+)/i.exec(answer)?.[1] ?? '',
  }
}

/** Changes of every kind that have a body. */
async function changes(audited: AuditedWorld): Promise<readonly Omit<Held, 'token'>[]> {
  const { world, token } = audited
  const ask = async (method: string, path: string, body?: string) =>
    (await world.call({ method, path: `${BUCKET}${path}`, token, ...(body === undefined ? {} : { body }) }))
      .json
  await ask('PUT', '/objects/there', 'kept')
  const { uploadId } = await ask('POST', '/multipart/assembled')
  const upload = `${BUCKET}/multipart/${String(uploadId)}`
  const part = await ask('PUT', `/multipart/${String(uploadId)}/parts/1/assembled`, 'a part')
  const type = 'application/json'
  const parts = [{ partNumber: 1, etag: part['etag'] }]
  const json = (value: object): string => JSON.stringify(value)
  return [
    { method: 'PUT', path: `${BUCKET}/objects/new`, body: 'ten bytes.' },
    { method: 'PUT', path: `${upload}/parts/2/assembled`, body: 'ten bytes.' },
    { method: 'POST', path: `${upload}/complete/assembled`, body: json({ parts }), type },
    {
      method: 'POST',
      path: `${BUCKET}/object-copy/copied`,
      body: json({ sourceBucket: 'photos', sourceKey: 'there' }),
      type,
    },
    {
      method: 'POST',
      path: `${BUCKET}/objects:batchDelete`,
      body: json({ objects: [{ key: 'there' }] }),
      type,
    },
    { method: 'PUT', path: `${BUCKET}/object-tags/there`, body: json({ tags: { a: 'b' } }), type },
  ]
}

async function refused(
  t: Test,
  audited: AuditedWorld,
  ending: {
    readonly code: string
    readonly end: (key: KeyWithToken) => Promise<unknown>
    readonly tokenOf?: (key: KeyWithToken) => Promise<string>
  },
): Promise<void> {
  const { memory } = audited.world
  const { code, end, tokenOf = async ({ token }) => token } = ending
  for (const change of await changes(audited)) {
    const key = await keyWithToken(memory)
    const token = await tokenOf(key)
    let before = ''
    const answer = await held(audited, { ...change, token }, async () => {
      await end(key)
      before = await stored(audited)
    })
    t.match(answer, { status: 401, code }, `${change.method} ${change.path}`)
    t.equal(await stored(audited), before, 'nothing is stored')
    const [row, ...others] = await audited.rowsOf(answer.requestId)
    t.match(row, { code, actor: { type: 'accessKey', id: key.accessKeyId } }, 'and the audit log says why')
    t.same(others, [])
  }
}

/** What a reader sees of the bucket. */
async function stored({ world, token }: AuditedWorld): Promise<string> {
  const seen = await Promise.all(
    ['/versions', '/multipart', '/object-tags/there'].map((path) =>
      world.send({ path: `${BUCKET}${path}`, token }),
    ),
  )
  return seen.map(({ bytes }) => bytes.toString()).join('\n')
}

t.test(
  'a key that was revoked while half of a body was sent stores nothing [admin.keys.commit]',
  async (t) => {
    const audited = await AuditedWorld.start(t)
    await refused(t, audited, { code: 'key_revoked', end: (key) => revoke(audited.world.memory, key) })
  },
)

t.test('nor does one that was rotated meanwhile', async (t) => {
  const audited = await AuditedWorld.start(t)
  await refused(t, audited, { code: 'token_invalid', end: (key) => rotate(audited.world.memory, key) })
})

t.test('nor one that expired, by the time of the log', async (t) => {
  const audited = await AuditedWorld.start(t)
  const { memory } = audited.world
  const [put] = await changes(audited)
  if (put === undefined) throw new Error('there are changes')
  const key = await keyWithToken(memory, { expiresAt: memory.now + 60_000 })
  const expired = await held(audited, { ...put, token: key.token }, async () => void (memory.now += 60_000))
  t.match(expired, { status: 401, code: 'key_revoked' })
})

t.test('a disabled tenant is named as the reason', async (t) => {
  const audited = await AuditedWorld.start(t)
  const { memory } = audited.world
  const [put] = await changes(audited)
  if (put === undefined) throw new Error('there are changes')
  const { token } = await keyWithToken(memory)
  const disabled = await held(audited, { ...put, token }, () =>
    memory.change({ type: 'disableTenant', tenantId: 'acme', reason: 'test' }),
  )
  t.match(disabled, { status: 401, code: 'tenant_disabled' })
})

const TTL_MS = 60_000

async function temporaryOf({ world }: AuditedWorld, { token }: KeyWithToken): Promise<string> {
  const body = { sessionName: 'build-17', ttlSeconds: TTL_MS / 1000 }
  const made = await world.call({ method: 'POST', path: '/api/v1/auth/temporary', token, body })
  return String(made.json['token'])
}

t.test(
  'a temporary credential that ended while half of a body was sent stores nothing, by the time of the log [tokens.temporary.commit]',
  async (t) => {
    const audited = await AuditedWorld.start(t)
    const { memory } = audited.world
    await refused(t, audited, {
      code: 'token_expired',
      tokenOf: (key) => temporaryOf(audited, key),
      end: async () => void (memory.now += TTL_MS),
    })
  },
)

t.test('nor does one whose key was revoked or rotated meanwhile [tokens.temporary.commit]', async (t) => {
  const audited = await AuditedWorld.start(t)
  const { memory } = audited.world
  const tokenOf = (key: KeyWithToken) => temporaryOf(audited, key)
  await refused(t, audited, { code: 'key_revoked', tokenOf, end: (key) => revoke(memory, key) })
  await refused(t, audited, { code: 'token_invalid', tokenOf, end: (key) => rotate(memory, key) })
})

t.test('a temporary credential stores what is decided before its end', async (t) => {
  const audited = await AuditedWorld.start(t)
  const { memory } = audited.world
  const key = await keyWithToken(memory)
  const token = await temporaryOf(audited, key)
  const put = { method: 'PUT', path: `${BUCKET}/objects/new`, body: 'ten bytes.', token }
  const stored = await held(audited, put, async () => void (memory.now += TTL_MS - 5_000))
  t.match(stored, { status: 200 })
  t.match(await held(audited, put, async () => void (memory.now += 5_000)), { status: 401 })
})

t.test('a bearer token of the key itself may expire meanwhile: its holder can get another', async (t) => {
  const audited = await AuditedWorld.start(t)
  const { memory } = audited.world
  const { token } = await keyWithToken(memory)
  const put = { method: 'PUT', path: `${BUCKET}/objects/new`, body: 'ten bytes.', token }
  const { nativeApiTokenTtlMs } = memory.services.config.security
  t.match(await held(audited, put, async () => void (memory.now += nativeApiTokenTtlMs)), { status: 200 })
})

t.test('a signed URL keeps what its key could do when the upload began [decisions 8]', async (t) => {
  const audited = await AuditedWorld.start(t)
  const { memory } = audited.world
  const key = await keyWithToken(memory)
  const minted = await audited.world.call({
    method: 'POST',
    path: '/api/v1/sign-url',
    token: key.token,
    body: { method: 'PUT', bucket: 'photos', key: 'signed' },
  })
  const { pathname, search } = new URL(String(minted.json['url']))
  const put = { method: 'PUT', path: pathname + search, body: 'ten bytes.', token: '' }
  t.match(await held(audited, put, () => revoke(memory, key)), { status: 200 })
})

t.test('below the level of that question an upload continues as it did', async (t) => {
  const audited = await AuditedWorld.start(t)
  const { memory } = audited.world
  memory.featureLevel = 3
  const key = await keyWithToken(memory)
  const put = { method: 'PUT', path: `${BUCKET}/objects/new`, body: 'ten bytes.', token: key.token }
  t.match(await held(audited, put, () => revoke(memory, key)), { status: 200 })
})
