/**
 * Turns between the pieces of a copy: a long one keeps no other request from its turn.
 */
import assert from 'node:assert/strict'
import t from 'tap'
import { sharedTurns } from '../../src/api/piece-turns.ts'
import { Admission } from '../../src/limits/admission.ts'
import { inPieces } from '../helpers/content-world.ts'
import { MemoryServices } from '../helpers/memory-services.ts'

t.test('sharedTurns', async (t) => {
  const { limits } = await MemoryServices.start(t, { callers: { workAtOnce: 1 } })
  const client = new AbortController()
  const admit = (accessKeyId: string) =>
    limits.admit({ tenantId: 'acme', accessKeyId, address: '127.0.0.1' }, { isUpload: false, client })
  const copy = admit('copy')
  assert.ok(copy instanceof Admission)
  const waiting = admit('other')
  assert.ok(waiting instanceof Promise, 'there is one turn')
  let asked = 0
  const exchange = { admission: copy, requireTime: () => void asked++ }
  const pieces = sharedTurns(inPieces(Buffer.from('abcd'), 2), exchange)
  t.equal(Buffer.from((await pieces.next()).value ?? '').toString(), 'ab')
  const second = pieces.next()
  const other = await waiting
  t.ok(other.isContinued, 'the other request works between two pieces')
  other.release()
  t.equal(Buffer.from((await second).value ?? '').toString(), 'cd')
  t.equal((await pieces.next()).done, true)
  t.equal(asked, 2, 'each piece asks whether there is time left')
  copy.release()
})
