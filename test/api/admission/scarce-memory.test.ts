/**
 * Which requests are refused while the memory of the node is short, through both APIs.
 */
import t from 'tap'
import { S3World } from '../s3/s3-world.ts'

const NATIVE = '/api/v1/buckets/photos'

t.test('uploads and listings are refused while memory is short, and nothing else', async (t) => {
  const s3 = await S3World.start(t)
  const { world, token } = s3
  let nowMs = 0
  world.memory.limitsNow = () => nowMs
  const ask = (method: string, path: string, body?: string) =>
    world.call({ method, path, token, ...(body === undefined ? {} : { body }) })
  t.equal((await ask('PUT', `${NATIVE}/objects/cat`, 'meow')).status, 200)
  const started = await ask('POST', `${NATIVE}/multipart/cat`)
  const uploadId = String(started.json['uploadId'])
  const heavy = [
    ['PUT', `${NATIVE}/objects/dog`, 'woof'],
    ['GET', '/api/v1/buckets'],
    ['GET', `${NATIVE}/objects`],
    ['GET', `${NATIVE}/versions`],
    ['GET', `${NATIVE}/multipart`],
    ['GET', `${NATIVE}/multipart/${uploadId}/parts/cat`],
    ['GET', `${NATIVE}/notifications/deliveries`],
  ] as const
  const light = [
    ['GET', `${NATIVE}/objects/cat`],
    ['HEAD', `${NATIVE}/objects/cat`],
    ['GET', NATIVE],
  ] as const
  const heavyS3 = [
    '/',
    '/photos?list-type=2',
    '/photos?versions',
    '/photos?uploads',
    `/photos/cat?uploadId=${uploadId}`,
  ]
  for (const [used, status] of [
    [1, 503],
    [0, 200],
  ] as const) {
    world.memory.memoryUsed = used
    nowMs += 60_000
    for (const [method, path, body] of heavy) {
      const answer = await ask(method, path, body)
      t.match(answer, { status, ...(status === 200 ? {} : { code: 'slow_down' }) }, `${method} ${path}`)
    }
    for (const [method, path] of light) t.equal((await ask(method, path)).status, 200, `${method} ${path}`)
    for (const path of heavyS3) t.equal((await s3.call({ path })).status, status, `S3 ${path}`)
    t.equal((await s3.call({ path: '/photos/cat' })).status, 200)
  }
})
