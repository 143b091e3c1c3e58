/**
 * What the S3 API says to a site that replicates to it. [docs/adr/0090-replication-to-a-second-site.md]
 *
 * Actions: HeadBucket, HeadObject, DeleteObject
 */
import t from 'tap'
import {
  IDENTITY_HEADER,
  MARK_NAME,
  markText,
  REPLICA_HEADER,
} from '../../../src/state-machine/sites/mark.ts'
import { MARK } from '../../state-machine/site-commands.ts'
import { S3World } from './s3-world.ts'

const VERSIONED = '<VersioningConfiguration><Status>Enabled</Status></VersioningConfiguration>'

t.test('HeadBucket names the bucket by the ids of its cluster and of itself', async (t) => {
  const s3 = await S3World.start(t)
  const { headers } = await s3.call({ method: 'HEAD', path: '/photos' })
  t.match(String(headers[IDENTITY_HEADER]), /^[\w-]+ \w+$/)
})

t.test('a deletion that repeats one of another site is kept in its delete marker and shown', async (t) => {
  const s3 = await S3World.start(t)
  await s3.call({ method: 'PUT', path: '/photos?versioning', body: VERSIONED })
  const mark = markText(MARK)
  await s3.call({
    method: 'PUT',
    path: '/photos/a',
    body: 'x',
    headers: { [`x-amz-meta-${MARK_NAME}`]: mark },
  })
  t.equal((await s3.call({ method: 'HEAD', path: '/photos/a' })).headers[`x-amz-meta-${MARK_NAME}`], mark)
  t.equal(
    (await s3.call({ method: 'DELETE', path: '/photos/a', headers: { [REPLICA_HEADER]: mark } })).status,
    204,
  )
  const gone = await s3.call({ method: 'HEAD', path: '/photos/a' })
  t.match(gone, { status: 404, headers: { 'x-amz-delete-marker': 'true', [REPLICA_HEADER]: mark } })
  t.ok(Date.parse(String(gone.headers['last-modified'])) > 0, 'and when it was made')
  await s3.call({ method: 'PUT', path: '/photos/b', body: 'x' })
  await s3.call({ method: 'DELETE', path: '/photos/b' })
  const own = await s3.call({ method: 'HEAD', path: '/photos/b' })
  t.match(own, { status: 404, headers: { 'x-amz-delete-marker': 'true' } })
  t.notOk(REPLICA_HEADER in own.headers, 'a client deleted it')
})

t.test('InvalidArgument for a header that is no mark', async (t) => {
  const s3 = await S3World.start(t)
  const answer = await s3.call({ method: 'DELETE', path: '/photos/a', headers: { [REPLICA_HEADER]: 'true' } })
  t.match(answer, { status: 400, s3Code: 'InvalidArgument' })
})
