/** Which bucket follows the replication of its tenant. [docs/adr/0098-what-replication-sends.md] */
import t from 'tap'
import { type Followed, followVerdict } from '../../src/operations/replication/follow-verdict.ts'
import { TARGET } from '../state-machine/site-commands.ts'

const { bucket: _, identity: __, ...PLACE } = TARGET
const NOW = 1_700_000_000_000

const site = (bucketPrefix = '', isRemoved = false): Followed['site'] => ({
  tenantId: 'acme',
  target: { ...PLACE, bucketPrefix },
  secret: new Uint8Array(0),
  rules: [],
  createsBuckets: true,
  existing: false,
  since: 0,
  updatedAt: 0,
  revision: 5,
  isRemoved,
})
const waiting = (more: object = {}) => ({
  tenantId: 'acme',
  bucketId: 'B1',
  bucket: 'photos',
  revision: 5,
  since: 0,
  attempts: 1,
  dueAt: NOW + 1,
  lastError: 'NoSuchBucket',
  ...more,
})

function verdict(more: Partial<Followed> = {}, replicaOf?: string) {
  const bucket = { id: 'B1', name: 'photos', ...(replicaOf === undefined ? {} : { replicaOf }) }
  return followVerdict({ site: site(), bucket, present: undefined, waiting: undefined, ...more }, NOW)
}

t.test('a bucket without a replication is due, and one that follows is not asked again', async (t) => {
  t.equal(verdict(), 'due')
  t.equal(verdict({ present: { ofTenant: 5 } }), 'follows')
  t.equal(verdict({ present: { ofTenant: 4 } }), 'due', 'that of the tenant was changed')
})

t.test('its own replication comes first, also when that of the tenant ends', async (t) => {
  t.equal(verdict({ present: {} }), 'own')
  t.equal(verdict({ present: {}, site: site('', true) }), 'own')
  t.equal(verdict({ present: { ofTenant: 5 }, site: site('', true) }), 'released')
})

t.test('one that waits is due at its time, for another revision, or as another bucket', async (t) => {
  t.equal(verdict({ waiting: waiting() }), 'waits')
  t.equal(verdict({ waiting: waiting({ dueAt: NOW }) }), 'due')
  t.equal(verdict({ waiting: waiting({ revision: 4 }) }), 'due')
  t.equal(verdict({ waiting: waiting({ bucketId: 'B0' }) }), 'due')
})

t.test('a bucket that another site made goes back to its source and nowhere else', async (t) => {
  t.equal(verdict({}, 'c-1 photos'), 'due')
  t.equal(verdict({}, 'c-1 pictures'), 'copy')
  t.equal(verdict({ site: site('b-') }, 'c-1 photos'), 'copy', 'two prefixes make no end of buckets')
  t.equal(verdict({ site: site('b-') }, 'c-1 b-photos'), 'due')
})

t.test('a bucket that a restore fills waits until it is whole', async (t) => {
  const bucket = { id: 'B1', name: 'photos', restoring: 'op-1' }
  t.equal(verdict({ bucket }), 'waits')
  t.equal(verdict({ bucket, present: { ofTenant: 5 } }), 'follows')
})
