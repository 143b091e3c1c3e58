/**
 * The corpora of attacks on the native API, sent at the S3 API: keys that parsers misread, requests that two servers read in two ways, values that end
 * a header, and secrets, which no log line, no row of the audit log and no refusal may repeat.
 */
import t from 'tap'
import { CORPUS } from '../key-corpus.ts'
import { AMBIGUOUS } from '../framing-corpus.ts'
import { AuditedWorld } from '../audited-world.ts'
import { S3_ROUTES, sampleOf } from './s3-samples.ts'
import { type S3Ask, S3World } from './s3-world.ts'

const ask = (s3: S3World, raw: string, more: Partial<S3Ask> = {}) =>
  s3.call({ ...more, path: `/photos/${raw}` })

t.test('keys round-trip byte for byte, through either API', async (t) => {
  const s3 = await S3World.start(t)
  const native = '/api/v1/buckets/photos/objects'
  const keys = new Map<string, string>()
  for (const [raw, key] of CORPUS) {
    const body = `${keys.size}`
    t.equal((await ask(s3, raw, { method: 'PUT', body })).status, 200, `PUT ${raw.slice(0, 60)}`)
    keys.set(key, body)
  }
  for (const [raw, key] of CORPUS) {
    const label = raw.slice(0, 60)
    t.equal((await ask(s3, raw)).bytes.toString(), keys.get(key), `GET ${label} finds its own body`)
    const { bytes } = await s3.world.call({ path: `${native}/${raw}`, token: s3.token })
    t.equal(bytes.toString(), keys.get(key), `the native API finds ${label}`)
    const link = await s3.sent({ path: s3.presigned({ path: `/photos/${raw}` }) })
    t.equal(link.bytes.toString(), keys.get(key), `a link to ${label}`)
  }
  const listed = await s3.world.call({ path: native, token: s3.token })
  const names = (listed.json['objects'] as readonly { readonly key: string }[]).map(({ key }) => key)
  t.same(names.toSorted(), [...keys.keys()].toSorted())
  for (const [raw] of CORPUS) t.equal((await ask(s3, raw, { method: 'DELETE' })).status, 204)
  t.equal((await s3.world.call({ path: native, token: s3.token })).json['keyCount'], 0)
})

t.test('an ambiguous request is refused, and no byte after it is read', async (t) => {
  const s3 = await S3World.start(t)
  const put = { method: 'PUT', path: '/photos/victim', body: 'here' }
  await s3.call(put)
  const text = (ask: S3Ask, length = false): string => {
    const { method, path, headers = {} } = s3.signed({ payload: 'UNSIGNED-PAYLOAD', ...ask })
    const lines = Object.entries(headers).map(([name, value]) => `${name}: ${String(value)}`)
    return [`${method} ${path} HTTP/1.1`, ...lines, ...(length ? ['content-length: 0', ''] : [])].join('\r\n')
  }
  const smuggled = `${text({ method: 'DELETE', path: '/photos/victim' }, true)}\r\n`
  const chunks = 'STREAMING-UNSIGNED-PAYLOAD-TRAILER'
  const heads = {
    plain: text({ method: 'PUT', path: '/photos/k' }),
    'of a known length': text({
      method: 'PUT',
      path: '/photos/k',
      payload: chunks,
      headers: { 'x-amz-decoded-content-length': '5' },
    }),
  }
  for (const [kind, head] of Object.entries(heads))
    for (const [name, request] of Object.entries(AMBIGUOUS)) {
      const received = await s3.world.raw(request.replace('HEAD', head) + smuggled)
      const statuses = [...received.matchAll(/HTTP\/1\.1 (\d\d\d) /g)].map(([, status]) => status)
      // A plain body without a length is refused before it is read, and then what is wrong with it ends the connection.
      const [first = '', ...others] = statuses
      t.match(first, /^(400|411|413|431|501)$/, `${name}, ${kind}`)
      t.same(others, first === '411' ? ['400'] : [], `${name}, ${kind}: nothing that follows is served`)
      t.equal((await s3.call({ path: '/photos/victim' })).status, 200, `${name}: nothing was deleted`)
    }
  t.equal((await s3.call({ path: '/photos/k' })).status, 404, 'and nothing stored')
  const received = await s3.world.raw(smuggled.replace('\r\n\r\n', '\r\nConnection: close\r\n\r\n'))
  t.match(received, /^HTTP\/1\.1 204 /, 'by itself the second request is a good one')
})

const ENDS = [
  '\r\nX-Injected: 1\r\n\r\n',
  '\n',
  '\r',
  '\0',
  '\u007f',
  '\u2028X-Injected: 1',
  '\u0d0aX-Injected: 1',
]

t.test('no text of a request ends a line of a header', async (t) => {
  const s3 = await S3World.start(t)
  await s3.call({ method: 'PUT', path: '/photos/a', body: 'x' })
  for (const end of ENDS)
    for (const route of S3_ROUTES) {
      const { method, path, headers, body } = sampleOf(route, { bucket: 'photos', key: `a${end}` })
      const query = route.parameters.map((name) => `${name}=${encodeURIComponent(`a${end}b`)}`)
      for (const asked of [path, `${path}${path.includes('?') ? '&' : '?'}${query.join('&')}`]) {
        const sent = { method, path: asked, headers, ...(body === undefined ? {} : { body }) }
        // Not read as XML: a key may hold what no XML of version 1.0 can, and `encoding-type` is for that.
        const answer = await s3.world.send(s3.signed(sent))
        t.equal(answer.headers['x-injected'], undefined, `${route.action} ${encodeURIComponent(end)}`)
        t.notMatch(Object.values(answer.headers).join(), /\p{Cc}/u)
        t.ok(answer.status !== 500, `${route.action} ${encodeURIComponent(end)}: ${answer.status}`)
      }
    }
})

t.test('no secret is in a log line, a row of the audit log or a refusal', async (t) => {
  const s3 = await S3World.start(t)
  const { memory } = s3.world
  const audited = await AuditedWorld.around(s3.world, s3.token)
  const planted = 'planted-secret-0123456789'
  const refusals: string[] = []
  const signatures: string[] = []
  const send = async (asked: Parameters<S3World['sent']>[0]): Promise<void> => {
    const signature = /Signature=([0-9a-f]{64})/.exec(
      `${asked.path} ${String(asked.headers?.['authorization'])}`,
    )
    if (signature?.[1] !== undefined) signatures.push(signature[1])
    const answer = await s3.sent(asked)
    if (answer.status >= 400) refusals.push(answer.bytes.toString() + JSON.stringify(answer.headers))
  }
  const wrong = { ...s3.secret, secretKey: planted }
  for (const route of S3_ROUTES) {
    const sample = sampleOf(route)
    await send(s3.signed(sample))
    await send(s3.signed({ ...sample, secret: wrong }))
    const { method, body } = sample
    const sent = { method, ...(body === undefined ? {} : { body }) }
    await send({ ...sent, path: s3.presigned(sample) })
    await send({ ...sent, path: s3.presigned({ ...sample, secret: wrong }) })
    await send({
      ...sent,
      path: sample.path,
      headers: { cookie: planted, authorization: `AWS4-HMAC-SHA256 ${planted}` },
    })
    await send({ ...sent, path: sample.path, headers: { authorization: `Basic ${planted}` } })
  }
  t.ok(refusals.length > S3_ROUTES.length && signatures.length > 3 * S3_ROUTES.length)
  const logged = JSON.stringify(memory.lines, (_, value: unknown) =>
    value instanceof Error
      ? { own: Object.entries(value), text: `${value.message} ${value.stack ?? ''}` }
      : value,
  )
  const recorded = JSON.stringify([...memory.auditRows, ...(await audited.committed())])
  const secrets = { planted, secretKey: s3.secret.secretKey, bearer: s3.token }
  for (const [name, secret] of Object.entries(secrets))
    for (const [place, text] of Object.entries({ logged, recorded, refused: refusals.join('\n') }))
      t.notOk(text.includes(secret), `${name} is not ${place}`)
  t.notOk(signatures.some((signature) => logged.includes(signature) || recorded.includes(signature)))
})
