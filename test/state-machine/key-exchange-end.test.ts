/** The end of an exchange of a data key, and what else ends or changes meanwhile. [docs/adr/0088-exchange-of-tenant-keys.md] */
import assert from 'node:assert/strict'
import t from 'tap'
import type { EraseStep } from '../../src/state-machine/removal/commands.ts'
import { chunkKeys } from '../../src/state-machine/chunks/keys.ts'
import { longOperationKeys } from '../../src/state-machine/long-operations/keys.ts'
import { tenantKeys } from '../../src/state-machine/tenants/keys.ts'
import {
  bodyOf,
  acme,
  chunkOf,
  endExchange,
  exchange,
  exchanging,
  left,
  putSmall,
  reseal,
  resealed,
  resealedBody,
} from './key-exchange-samples.ts'
import {
  deleteTenant,
  disableTenant,
  type MapWorld,
  putChunks,
  recounted,
  releaseAll,
  remove,
  startOperation,
  worldWithBucket,
} from './map-world.ts'

/** An unfinished operation of another world. */
function addOperation(world: MapWorld, from: MapWorld, operationId: string): void {
  const operation = from.get(longOperationKeys.operation(operationId))
  assert(operation !== undefined)
  const { unfinished = [], finished = [] } = world.get(longOperationKeys.operationList()) ?? {}
  const others = (ids: readonly string[]): string[] => ids.filter((id) => id !== operationId)
  world.rows.set(longOperationKeys.operation(operationId), operation)
  world.rows.set(longOperationKeys.operationList(), {
    unfinished: [...others(unfinished), operationId],
    finished: others(finished),
  })
}

t.test('endKeyExchange', async (t) => {
  t.test('destroys the former key when nothing is left under it', async (t) => {
    const world = exchanging('c1')
    t.match(world.run(endExchange()), { ok: false, code: 'precondition_failed' })
    world.do(reseal(world, { chunks: [resealed(world, 'c1')] }))
    world.do(endExchange())
    t.equal(acme(world).formerKey, undefined)
    t.equal(world.get(tenantKeys.sealed('acme')), undefined)
    t.equal(world.get(longOperationKeys.operation('op1'))?.status, 'succeeded')
    t.notOk(JSON.stringify([...world.rows]).includes('"dataKey":{"0":1}'), 'no row holds it')
    t.strictSame(recounted(world), [])
  })

  t.test('is refused while a small body alone is sealed with the former key', async (t) => {
    const world = worldWithBucket()
    world.do(putSmall('s'))
    world.do(exchange('op1'))
    t.match(world.run(endExchange()), {
      ok: false,
      code: 'precondition_failed',
      message: /0 chunks and 5 bytes/,
    })
    world.do(reseal(world, { bodies: [resealedBody(world, 's')] }))
    world.do(endExchange())
  })

  t.test('waits for chunks without references and for bodies of removed versions', async (t) => {
    const world = worldWithBucket()
    world.do(putChunks('k', ['c1']))
    world.do(putSmall('s'))
    world.do(remove('k'))
    world.do(remove('s'))
    world.do(exchange('op1'))
    t.match(world.run(endExchange()), { ok: false })
    releaseAll(world)
    t.match(world.run(endExchange()), { ok: false })
    const condemnedAt = chunkOf(world, 'c1')?.condemnedAt ?? 0
    world.do({
      type: 'collectChunks',
      chunks: [{ tenantId: 'acme', chunkId: 'c1', birth: 'birth-c1', condemnedAt }],
    })
    world.do(endExchange())
  })

  t.test('and resealing are refused while a backup holds what its cut names', async (t) => {
    const backup = { backupId: 'b1', target: 'directory:/mnt/backups' }
    const started = exchanging('c1')
    const beside = { ...startOperation('bk'), kind: 'backup', backup } as const
    t.match(started.run(beside), { ok: false, message: /"op1" is unfinished/ })
    const alone = worldWithBucket()
    alone.do(beside)
    t.match(alone.run(exchange('op1')), { ok: false, message: /while backup "bk" is unfinished/ })
    // Neither starts beside the other; both together can only come from elsewhere.
    const world = exchanging('c1')
    addOperation(world, alone, 'bk')
    const again = reseal(world, { chunks: [resealed(world, 'c1')] })
    t.match(world.run(again), { ok: false, code: 'precondition_failed', message: /backup/ })
    world.do({ type: 'setOperationStatus', operationId: 'bk', action: 'finish', error: null })
    world.do(again)
    addOperation(world, alone, 'bk')
    t.match(world.run(endExchange()), { ok: false, code: 'precondition_failed', message: /backup/ })
  })

  t.test('leaves a second exchange the versions that follow', async (t) => {
    const world = exchanging('c1')
    world.do(reseal(world, { chunks: [resealed(world, 'c1')] }))
    world.do(endExchange())
    world.do(exchange('op2', 2))
    t.match(left(world), { chunks: 1 })
    world.do(reseal(world, { chunks: [resealed(world, 'c1', { birth: 'birth-third' })] }, 'op2'))
    world.do(endExchange('op2'))
    t.match(chunkOf(world, 'c1'), { keyVersion: 3 })
    t.strictSame(recounted(world), [])
  })
})

t.test('the end of a tenant destroys both keys', async (t) => {
  const world = exchanging()
  disableTenant(world, 'acme')
  world.do(deleteTenant('acme', 'del'))
  world.do({
    type: 'eraseTenant',
    tenantId: 'acme',
    operationId: 'del',
    step: { kind: 'bucket', bucket: 'photos' },
  })
  world.do({ type: 'shredTenant', tenantId: 'acme', operationId: 'del' })
  t.match(acme(world), { dataKey: new Uint8Array(0), dedupKey: new Uint8Array(0) })
  t.equal(acme(world).formerKey, undefined)
  t.strictSame(recounted(world), [])
})

t.test('a chunk of a tenant that ended during an exchange does not halt the collection', async (t) => {
  const world = exchanging('c1')
  disableTenant(world, 'acme')
  world.do(deleteTenant('acme', 'del'))
  const { bodyId: versionId } = bodyOf(world, 'k')
  const erase = (step: EraseStep) =>
    world.do({ type: 'eraseTenant', tenantId: 'acme', operationId: 'del', step })
  erase({ kind: 'content', bucket: 'photos', items: [{ kind: 'version', key: 'k', versionId }] })
  erase({ kind: 'bucket', bucket: 'photos' })
  world.do({ type: 'shredTenant', tenantId: 'acme', operationId: 'del' })
  t.equal(chunkOf(world, 'c1')?.keyVersion, undefined, 'it is there, under the former key')
  t.strictSame(recounted(world), [])
})

t.test('a rotation of the master key during an exchange seals all three keys again, or none', async (t) => {
  const world = exchanging()
  const { dataKey, dedupKey } = acme(world)
  const before = { dataKey, dedupKey, formerDataKey: Uint8Array.of(1) }
  const after = { dataKey: Uint8Array.of(7), dedupKey: Uint8Array.of(8), formerDataKey: Uint8Array.of(9) }
  const rewrap = (from: {
    readonly dataKey: Uint8Array
    readonly dedupKey: Uint8Array
    readonly formerDataKey?: Uint8Array
  }) =>
    ({
      type: 'rewrapTenantKeys',
      masterKeyId: 'mk-2',
      items: [{ tenantId: 'acme', before: from, after }],
    }) as const
  t.strictSame(world.do(rewrap({ dataKey, dedupKey })), { rewrapped: 0 }, 'it was made before the exchange')
  t.strictSame(world.do(rewrap(before)), { rewrapped: 1 })
  t.match(acme(world), {
    dataKey: after.dataKey,
    dedupKey: after.dedupKey,
    masterKeyId: 'mk-2',
    formerKey: { version: 1, dataKey: after.formerDataKey },
  })
  t.notOk('formerDataKey' in acme(world))
  world.do(endExchange())
  t.strictSame(world.do(rewrap({ ...after })), { rewrapped: 0 }, 'the exchange has ended')
})

t.test('the recount finds a wrong count, and a row under a key that its tenant does not have', async (t) => {
  const world = exchanging('c1')
  world.do(reseal(world, { chunks: [resealed(world, 'c1')] }))
  world.rows.set('sealed\u0000acme', { chunks: 2, storedBytes: 38, inlineBytes: 0 })
  t.match(recounted(world), [/present key of tenant "acme": chunks is 1 and counted as 2/])
  world.rows.set('sealed\u0000acme', { chunks: 1, storedBytes: 38, inlineBytes: 0 })
  t.strictSame(recounted(world), [])
  const row = chunkOf(world, 'c1')
  world.rows.set(chunkKeys.chunk('acme', 'c1'), { ...row, keyVersion: 5 })
  t.match(recounted(world), [/1 chunks and bodies of tenant "acme" name a key/, /.*/, /.*/])
})
