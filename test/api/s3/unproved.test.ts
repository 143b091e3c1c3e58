/**
 * Requests of the S3 API that prove nothing: they are counted by their address, and no log reports them as faults of a node.
 */
import t from 'tap'
import { S3World } from './s3-world.ts'

const BURST = 5

t.test('wrong signatures and none are limited by address [errors.rate_limited]', async (t) => {
  for (const kind of ['nothing', 'a bad signature', 'a bad link', 'version 2']) {
    const s3 = await S3World.start(t, { limits: { unprovedRequestsPerMinute: 60, unprovedBurst: BURST } })
    const { accessKeyId } = s3.secret
    const secret = { accessKeyId, secretKey: 'x'.repeat(40) }
    const send = () => {
      if (kind === 'nothing') return s3.sent({ path: '/photos/a' })
      if (kind === 'a bad signature') return s3.call({ path: '/photos/a', secret })
      if (kind === 'a bad link') return s3.sent({ path: s3.presigned({ path: '/photos/a', secret }) })
      return s3.sent({ path: '/photos/a', headers: { authorization: `AWS ${accessKeyId}:c2ln` } })
    }
    for (let n = 0; n < BURST; n += 1) t.not((await send()).status, 503, kind)
    t.match(await send(), { status: 503, s3Code: 'SlowDown', headers: { 'retry-after': '1' } }, kind)
    t.match(s3.world.memory.auditRows.at(-1), { code: 'rate_limited', api: 's3' })
    t.equal((await s3.call({ path: '/photos/a' })).status, 404, 'who proves itself is served')
  }
})

t.test('a refused request is no error in the log of the node', async (t) => {
  const s3 = await S3World.start(t)
  const { lines } = s3.world.memory
  const secret = { ...s3.secret, secretKey: 'x'.repeat(40) }
  const from = lines.length
  for (const ask of [
    { path: '/photos/a', secret },
    { path: '/photos/a?nonsense' },
    { method: 'PUT', path: '/photos/a', headers: { 'x-amz-acl': 'public-read' }, body: 'x' },
  ])
    t.ok((await s3.call(ask)).status >= 400)
  const written = JSON.stringify(lines.slice(from))
  t.notMatch(written, /failed unexpectedly/)
  t.notMatch(written, /CanonicalRequest|canonicalRequest/)
})
