import t from 'tap'
import { auditHead } from '../../src/state-machine/audit/append.ts'
import { auditRowKeys } from '../../src/state-machine/audit/keys.ts'
import { ask } from './audit-world.ts'
import { MapWorld } from './map-world.ts'

t.test('recordAuditExport', async (t) => {
  const world = new MapWorld()
  for (const id of ['acme', 'evil', 'third'])
    ask(world, {
      type: 'createTenant',
      id,
      name: id,
      dataKey: new Uint8Array(1),
      dedupKey: new Uint8Array(1),
      masterKeyId: 'm',
    })
  const { next } = auditHead(world)
  t.equal(next, 3)

  t.test('moves the place forward, and never back', async (t) => {
    t.match(world.do({ type: 'recordAuditExport', next: 2, hash: 'b' }), { next: 2, hash: 'b' })
    t.match(world.do({ type: 'recordAuditExport', next: 1, hash: 'a' }), { next: 2, hash: 'b' })
    t.match(world.do({ type: 'recordAuditExport', next: 3, hash: 'c' }), { next: 3, hash: 'c' })
    t.match(world.get(auditRowKeys.auditExport()), { next: 3, hash: 'c' })
  })

  t.test('is refused beyond the end of the log', async (t) => {
    t.match(world.run({ type: 'recordAuditExport', next: 4, hash: 'd' }), {
      ok: false,
      code: 'invalid_argument',
    })
  })
})
