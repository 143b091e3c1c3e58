/**
 * What tenants store comes from an origin of its own, and never from that of the API. [listeners.content_origin]
 */
import t from 'tap'
import { SignedClient } from './signed-client.ts'
import { S3World } from './s3/s3-world.ts'

const API = 'api.example.org'
const CONTENT = 'content.example.org'
const SETTINGS = { publicUrl: `https://${API}`, contentOrigin: `https://${CONTENT}` }
const SCRIPT = 'alert(document.domain)'

t.test('with a content origin', async (t) => {
  const signed = await SignedClient.start(t, {}, SETTINGS)
  const { films, world } = signed
  await films.put('evil.js', SCRIPT, { 'content-type': 'text/javascript' })
  const ask = (path: string, host: string, method = 'GET') => world.call({ path, method, headers: { host } })

  await t.test('signed URLs begin with it [signed-urls.content-origin]', async (t) => {
    for (const body of [
      { method: 'GET', key: 'evil.js' },
      { method: 'PUT', keyPrefix: 'in/' },
    ])
      t.match(
        (await signed.mint(body)).json['url'],
        /^https:\/\/content\.example\.org\/api\/v1\/signed\/films\//,
      )
  })

  await t.test(
    'a script of a tenant does not come from the origin of the API [signed-urls.content-origin]',
    async (t) => {
      const link = await signed.link({ method: 'GET', key: 'evil.js' })
      for (const host of [
        API,
        '127.0.0.1',
        `${CONTENT}:8443`,
        `${CONTENT}.`,
        `x.${CONTENT}`,
        `${CONTENT}.evil.example`,
      ])
        for (const method of ['GET', 'HEAD']) {
          const answer = await ask(link, host, method)
          t.equal(answer.status, 403, `${method} at ${host}`)
          t.notMatch(answer.bytes.toString(), 'alert')
          if (method === 'GET')
            t.match(answer, {
              code: 'signed_url_mismatch',
              json: {
                message: 'Contents are served at https://content.example.org only: open the same path there',
              },
            })
        }
      for (const host of [CONTENT, `${CONTENT}:443`, 'Content.Example.ORG']) {
        const answer = await ask(link, host)
        t.equal(answer.bytes.toString(), SCRIPT, host)
        t.match(answer.headers, {
          'content-security-policy': "sandbox; frame-ancestors 'none'",
          'cross-origin-resource-policy': 'same-origin',
          'x-frame-options': 'DENY',
        })
      }
      const spelled = link.replace('/signed/', '/%73igned/')
      t.not(
        (await world.send({ path: spelled, headers: { host: API } })).status,
        200,
        'in no spelling of the path',
      )
    },
  )

  await t.test('uploads by link are taken at either', async (t) => {
    for (const [n, host] of [API, CONTENT].entries()) {
      const link = await signed.link({ method: 'PUT', key: `up-${n}` })
      t.equal((await signed.put(link, 'hello', { host })).status, 200, host)
    }
  })

  await t.test('the API does not answer there, to any caller [signed-urls.content-origin]', async (t) => {
    const { token } = films
    const refused = { status: 400, code: 'invalid_request' }
    const message = 'content.example.org serves signed URLs only: the API is at https://api.example.org'
    for (const [method, path] of [
      ['GET', '/api/v1/buckets'],
      ['GET', '/api/v1/buckets/films/objects/evil.js'],
      ['POST', '/api/v1/auth/token'],
      ['GET', '/api/v1/openapi.json'],
      ['GET', '/api/v1/none'],
    ] as const)
      for (const as of [{}, { token }]) {
        const answer = await world.call({ method, path, ...as, headers: { host: CONTENT } })
        t.match(answer, { ...refused, json: { message } }, `${method} ${path}`)
      }
    for (const path of ['/healthz', '/readyz'])
      t.equal((await ask(path, CONTENT)).status, 200, 'probes may come by any name')
    t.equal((await world.call({ path: '/api/v1/buckets', token, headers: { host: API } })).status, 200)
  })
})

t.test('without a content origin any host serves both', async (t) => {
  const signed = await SignedClient.start(t)
  await signed.films.put('k', 'hello')
  const link = await signed.link({ method: 'GET', key: 'k' })
  t.equal((await signed.get(link, { host: 'any.example' })).status, 200)
})

t.test('presigned URLs of the S3 API are links, however their parameters are spelled', async (t) => {
  const s3 = await S3World.start(t, SETTINGS)
  await s3.call({ method: 'PUT', path: '/photos/evil.js', host: API, body: SCRIPT })
  const spellings = (path: string): readonly string[] => [
    path,
    path.replace('X-Amz-Signature', 'X-Amz%2DSignature'),
    path.replace('X-Amz-Signature', '%58-Amz-Signature'),
    path.replace('X-Amz-Algorithm', 'X-Amz-Algorith%6D').replace('X-Amz-Signature', 'X-Amz-Signatur%65'),
  ]
  for (const path of spellings(s3.presigned({ path: '/photos/evil.js', host: API }))) {
    const answer = await s3.sent({ path, headers: { host: API } })
    t.match(answer, { status: 403, s3Code: 'AccessDenied' }, path)
    t.notMatch(answer.bytes.toString(), 'alert')
  }
  for (const path of spellings(s3.presigned({ path: '/photos/evil.js', host: CONTENT }))) {
    const answer = await s3.sent({ path, headers: { host: CONTENT } })
    t.equal(answer.bytes.toString(), SCRIPT, path)
    t.match(answer.headers, {
      'content-security-policy': "sandbox; frame-ancestors 'none'",
      'cross-origin-resource-policy': 'same-origin',
      'x-frame-options': 'DENY',
    })
  }
  t.match(await s3.call({ path: '/photos/evil.js', host: CONTENT }), { status: 400 }, 'no API there')
  t.equal((await s3.call({ path: '/photos/evil.js', host: API })).bytes.toString(), SCRIPT)
})
