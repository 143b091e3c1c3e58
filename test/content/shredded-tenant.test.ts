/**
 * A tenant whose keys were destroyed: no node opens or seals its data again, and none keeps its keys.
 */
import t from 'tap'
import { ANYTHING, NO_SETTINGS } from '../state-machine/map-world.ts'
import { ChunkKeys } from '../../src/content/chunk-keys.ts'
import { ContentWorld, inPieces, patternBytes, testMasterKey, testTenant } from '../helpers/content-world.ts'
import { MemoryServices } from '../helpers/memory-services.ts'
import { tenantKeys } from '../../src/state-machine/tenants/keys.ts'

const NOTHING = new Uint8Array(0)

t.test('a shredded tenant', async (t) => {
  t.test('is refused with tenant_disabled by reads and uploads, keys in memory or not', async (t) => {
    const world = new ContentWorld()
    const object = await world.put(patternBytes(10_000))
    const shredded = { ...world.tenant, dataKey: NOTHING, dedupKey: NOTHING }
    const refusal = { code: 'tenant_disabled', message: /were destroyed/ }
    const request = {
      tenant: shredded,
      caller: { tenantId: 'acme', accessKeyId: 'AK', address: '127.0.0.1' },
      source: inPieces(Buffer.from('x'), 1),
      expectedSize: null,
      sizeMax: 9,
    }
    const rest = { claimed: new Map(), signal: new AbortController().signal }
    for (const { content } of [world, new ContentWorld()]) {
      t.throws(
        () => content.read(shredded, { bucketId: 'bucket-1', object, pinned: {} }, { start: 0, end: 5 }),
        refusal,
      )
      await t.rejects(content.ingest({ ...request, ...rest }), refusal)
    }
  })

  t.test('loses its keys on every node when the row changes, even without another request', async (t) => {
    const keys = new ChunkKeys(testMasterKey)
    const [acme, other] = [testTenant('acme'), testTenant('other')]
    const [kept, lost] = [keys.of(other), keys.of(acme)]
    const rows = new Map([
      ['acme', acme],
      ['other', other],
    ])
    keys.forgetChanged((id) => rows.get(id))
    t.equal(keys.of(acme), lost, 'an unchanged row keeps its keys')
    rows.set('acme', { ...acme, dataKey: NOTHING })
    keys.forgetChanged((id) => rows.get(id))
    t.not(keys.of(acme), lost)
    t.equal(keys.of(other), kept)
    rows.delete('other')
    keys.forgetChanged((id) => rows.get(id))
    t.not(keys.of(other), kept, 'a row that is gone counts as changed')
  })

  t.test('cannot commit an upload that started before', async (t) => {
    const { services, ...world } = await served(t)
    const tenant = services.state.get(tenantKeys.tenant('acme'))
    if (tenant === undefined) return t.fail('no tenant')
    const ingested = await services.content.ingest({
      tenant,
      caller: { tenantId: 'acme', accessKeyId: 'AK', address: '127.0.0.1' },
      source: inPieces(Buffer.from('too late'), 3),
      expectedSize: null,
      sizeMax: 100,
      claimed: new Map(),
      signal: new AbortController().signal,
    })
    await services.propose({ type: 'disableTenant', tenantId: 'acme', reason: 'asked for' })
    const { size, etag, checksums, body } = ingested
    const about = {
      tenantId: 'acme',
      bucket: 'box',
      key: 'k',
      contentType: '',
      metadata: {},
      masterKeyId: 'mk',
      precondition: ANYTHING,
      idempotency: null,
      ...NO_SETTINGS,
    }
    const reply = await services.propose({ type: 'putObject', ...about, size, etag, checksums, body })
    t.match(reply, { ok: false, code: 'tenant_disabled' })
    t.throws(
      () =>
        services.access.openBearer(`Bearer ${world.token}`)({
          address: '192.0.2.1',
          isSecure: false,
        }),
      { code: 'tenant_disabled' },
    )
  })
})

async function served(t: { teardown(handler: () => void | Promise<void>): void }) {
  const world = await MemoryServices.start(t)
  await world.tenant('acme')
  const token = await world.bearer('acme')
  await world.services.propose({
    type: 'createBucket',
    tenantId: 'acme',
    name: 'box',
    bucketsMax: 5,
    versioning: 'Unversioned',
    objectLockEnabled: false,
  })
  return { services: world.services, token }
}
