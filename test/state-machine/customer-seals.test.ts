/** Bodies that are sealed with a key of their client: what apply keeps of them, copies, and the exchange of the tenant's own key. [docs/adr/0092-keys-of-clients.md] */
import t from 'tap'
import { commandLevel } from '../../src/state-machine/command-levels.ts'
import type { Command } from '../../src/state-machine/commands.ts'
import { CUSTOMER_KEY_VERSION } from '../../src/state-machine/tenants/data-keys.ts'
import { usageKeys } from '../../src/state-machine/usage/keys.ts'
import { chunkOf, endExchange, exchange, left, reseal, resealed } from './key-exchange-samples.ts'
import { fresh, put, putChunks, recounted, releaseAll, remove, worldWithBucket } from './map-world.ts'
import { completeUpload, createUpload, putPart } from './upload-commands.ts'

const SEAL = { salt: 'a-salt', proof: 'a-proof' }
const OTHER = { salt: 'another-salt', proof: 'another-proof' }

type Put = Extract<Command, { type: 'putObject' }>

function ofCustomer(id: string) {
  return { ...fresh(id), keyVersion: CUSTOMER_KEY_VERSION }
}

const putSealed = (key: string, ...ids: readonly string[]): Put => ({
  ...putChunks(key, ids.map(ofCustomer)),
  customerSeal: SEAL,
})

function copyOf(versionId: string, more: object): Extract<Command, { type: 'copyObject' }> {
  const {
    size: _size,
    etag: _etag,
    checksums: _sums,
    body: _body,
    idempotency: _key,
    ...requested
  } = put('copy', { kind: 'empty' }, 0)
  return { ...requested, type: 'copyObject', source: { bucket: 'photos', key: 'k', versionId }, ...more }
}

t.test('a body that is sealed with a key of its client', async (t) => {
  t.test('is kept as such, through an upload in parts too', async (t) => {
    const world = worldWithBucket()
    t.match(world.do(putSealed('k', 'c1')), { object: { customerSeal: SEAL } })
    t.equal(chunkOf(world, 'c1')?.keyVersion, CUSTOMER_KEY_VERSION)
    const { uploadId } = world.do({ ...createUpload('p'), customerSeal: OTHER })
    world.do(putPart({ key: 'p', uploadId, partNumber: 1 }, [ofCustomer('c2')]))
    t.match(world.do(completeUpload({ key: 'p', uploadId }, 1)), { customerSeal: OTHER })
    t.strictSame(recounted(world), [])
  })

  t.test('is nothing that an exchange of the key of the tenant waits for', async (t) => {
    const world = worldWithBucket()
    world.do(putSealed('k', 'c1', 'c2'))
    world.do(putChunks('plain', ['c3']))
    t.match(world.get(usageKeys.usage('acme')), { customerChunks: 2 })
    world.do(exchange('op1'))
    t.equal(left(world).chunks, 1)
    t.match(world.run(endExchange()), { ok: false, message: /1 chunks/ })
    world.do(reseal(world, { chunks: [resealed(world, 'c3'), resealed(world, 'c1')] }))
    t.equal(chunkOf(world, 'c1')?.birth, 'birth-c1', 'its chunks are not sealed again')
    world.do(putSealed('later', 'c4'))
    t.strictSame(recounted(world), [])
    world.do(endExchange())
    t.strictSame(recounted(world), [])
  })

  t.test('takes what it counts along', async (t) => {
    const world = worldWithBucket()
    world.do(putSealed('k', 'c1'))
    world.do(remove('k'))
    releaseAll(world)
    const condemnedAt = chunkOf(world, 'c1')?.condemnedAt ?? 0
    world.do({
      type: 'collectChunks',
      chunks: [{ tenantId: 'acme', chunkId: 'c1', birth: 'birth-c1', condemnedAt }],
    })
    t.match(world.get(usageKeys.usage('acme')), { chunkCount: 0, customerChunks: 0, customerBytes: 0 })
    t.strictSame(recounted(world), [])
  })

  t.test('is copied with bytes of its own, and never by its chunks under another key', async (t) => {
    const world = worldWithBucket()
    const { object } = world.do(putSealed('k', 'c1'))
    const refused = { ok: false, code: 'invalid_argument' }
    t.match(world.run(copyOf(object.versionId, {})), refused)
    t.match(world.run(copyOf(object.versionId, { customerSeal: OTHER })), refused)
    const { size, etag, checksums, body } = putChunks('x', [ofCustomer('c2')])
    const stored = { size, etag, checksums, body }
    const longer = putChunks('x', [ofCustomer('c4'), ofCustomer('c5')])
    const other = { size: longer.size, etag, checksums, body: longer.body }
    t.match(
      world.run(copyOf(object.versionId, { stored: other })),
      refused,
      'other bytes than the source has',
    )
    const copied = world.do(copyOf(object.versionId, { stored, customerSeal: OTHER }))
    t.match(copied, { key: 'copy', size, customerSeal: OTHER })
    t.equal(chunkOf(world, 'c1')?.references, 1)
    t.equal(chunkOf(world, 'c2')?.references, 1)
    const plain = putChunks('x', ['c3'])
    t.equal(
      world.do(copyOf(object.versionId, { stored: { ...stored, body: plain.body } })).customerSeal,
      undefined,
    )
    t.strictSame(recounted(world), [])
  })

  t.test('needs feature level 7', async (t) => {
    const { customerSeal: _, ...plain } = putSealed('k', 'c1')
    t.equal(commandLevel(plain), 1)
    t.equal(commandLevel(putSealed('k', 'c1')), 7)
    t.equal(commandLevel({ ...createUpload('k'), customerSeal: SEAL }), 7)
    const { size, etag, checksums, body } = putChunks('x', ['c2'])
    t.equal(commandLevel(copyOf('v', { stored: { size, etag, checksums, body } })), 7)
  })
})
