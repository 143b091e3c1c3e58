/**
 * A node that does not know yet whether its master key is that of the cluster.
 */
import t from 'tap'
import { LastUsed } from '../../src/access/last-used.ts'
import { NativeAccess } from '../../src/access/native-access.ts'
import { MasterKeyGate } from '../../src/workers/master-key-gate.ts'
import { TEST_LIMITS, testMasterKey } from '../helpers/content-world.ts'
import { MemoryServices } from '../helpers/memory-services.ts'

t.test('a token that this node cannot read', async (t) => {
  const gate = new MasterKeyGate()
  const { config } = (await MemoryServices.start(t)).services
  const access = new NativeAccess({
    masterKey: testMasterKey,
    config: { ...config, limits: TEST_LIMITS },
    state: { get: () => undefined },
    uses: new LastUsed(),
    now: () => 0,
    requireKey: () => gate.require(),
  })
  const asks = {
    token_invalid: () => access.openBearer('Bearer svctk_x.y'),
    invalid_signed_url: () => access.openSignedUrl('svcurl_x.y'),
  }
  await t.test('is not refused as unknown: another master key may have signed it', async (t) => {
    for (const ask of Object.values(asks)) t.throws(ask, { code: 'leader_not_ready' })
    t.throws(
      () => access.openAdmin('Bearer x'),
      { code: 'token_invalid' },
      'no master key signs admin tokens',
    )
  })

  await t.test('is refused once the keys were compared', async (t) => {
    gate.reached()
    for (const [code, ask] of Object.entries(asks)) t.throws(ask, { code })
  })
})
