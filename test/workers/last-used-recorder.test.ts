/** When keys and tokens were last used: remembered by requests, committed by rounds, to the hour. */
import t from 'tap'
import { LastUsed, USE_PRECISION_MS } from '../../src/access/last-used.ts'
import { USES_PER_ENTRY_MAX } from '../../src/state-machine/tenants/records.ts'
import { recordLastUsed } from '../../src/workers/last-used-recorder.ts'
import { SILENT } from '../helpers/loggers.ts'
import { MemoryServices } from '../helpers/memory-services.ts'
import { tenantKeys, tenantRanges } from '../../src/state-machine/tenants/keys.ts'

const MINUTE_MS = 60_000
const HERE = { address: '192.0.2.1', isSecure: false }

async function bench(t: Parameters<typeof MemoryServices.start>[0]) {
  const memory = await MemoryServices.start(t)
  const { services, uses } = memory
  await memory.tenant('acme')
  const key = await memory.accessKey('acme', 'read')
  const round = (of = uses) => recordLastUsed({ uses: of, propose: services.propose, logger: SILENT })
  const lastUse = () => services.state.get(tenantKeys.accessKey(key.accessKeyId))?.lastUsedAt
  const logIn = () => services.access.exchange({ ...key, clientAddress: 'test' }).token
  const ask = (token: string) => services.access.openBearer(`Bearer ${token}`)(HERE)
  return { memory, services, uses, key, round, lastUse, logIn, ask }
}

t.test(
  'a key that was never used says so, and the next round records the first use [admin.keys.last-used]',
  async (t) => {
    const { memory, round, lastUse, logIn } = await bench(t)
    t.equal(await round(), false)
    t.equal(lastUse(), null)
    const at = memory.now
    logIn()
    t.equal(lastUse(), null, 'not before')
    memory.now += MINUTE_MS
    await round()
    t.equal(lastUse(), at)
  },
)

t.test(
  'a key that is always in use costs one entry an hour, and a round with nothing to tell none',
  async (t) => {
    const { memory, round, lastUse, logIn, ask } = await bench(t)
    const token = logIn()
    await round()
    const before = memory.proposals
    const began = memory.now
    for (let minute = 1; minute < 60; minute++) {
      memory.now = began + minute * MINUTE_MS
      ask(token)
      await round()
    }
    t.equal(memory.proposals, before)
    t.equal(lastUse(), began, 'up to an hour behind')
    memory.now = began + USE_PRECISION_MS
    logIn()
    t.equal(memory.proposals, before, 'a request proposes nothing')
    await round()
    t.same([memory.proposals, lastUse()], [before + 1, memory.now])
  },
)

t.test('a request without a proven identity is no use', async (t) => {
  const { services, key, round, lastUse } = await bench(t)
  const { access } = services
  t.throws(() => access.exchange({ ...key, secretKey: 'wrong', clientAddress: 'test' }))
  t.throws(() => access.openBearer('Bearer svctk_none')(HERE))
  await round()
  t.equal(lastUse(), null)
})

t.test('a signed URL is a use of its key, a look at who holds it is none', async (t) => {
  const { memory, services, round, lastUse, logIn, ask } = await bench(t)
  const terms = { method: 'GET', bucket: 'b', key: 'k', keyPrefix: null } as const
  const limits = { contentType: null, maxBytes: null, checksum: null, ifNoneMatch: null, reason: null }
  const made = services.access.signUrl(ask(logIn()), { ...terms, ...limits } as never, {
    ttlSeconds: 86_400,
    isHolderHidden: true,
  })
  await round()
  memory.now += USE_PRECISION_MS * 2
  services.access.openSignedUrl(made.token).formerHolder(HERE)
  await round()
  const before = lastUse()
  services.access.openSignedUrl(made.token).holder(HERE)
  await round()
  t.same([before === memory.now, lastUse()], [false, memory.now])
})

t.test('the use of an admin token is recorded like that of a key [admin.tokens.last-used]', async (t) => {
  const { memory, services, round } = await bench(t)
  const token = await memory.adminToken('viewer')
  const last = async () =>
    (await services.state.page(tenantRanges.adminTokens(), { limit: 10 })).items[0]?.lastUsedAt
  t.equal(await last(), null)
  services.access.openAdmin(`Bearer ${token}`)(HERE)
  await round()
  t.equal(await last(), memory.now)
})

t.test('without a leader nothing is lost, and nothing waits', async (t) => {
  const { memory, round, lastUse, logIn } = await bench(t)
  memory.proposeFault = new Error('no leader')
  const at = memory.now
  logIn()
  await t.rejects(round(), { message: 'no leader' })
  memory.proposeFault = null
  memory.now += MINUTE_MS
  await round()
  t.equal(lastUse(), at)
})

t.test('LastUsed', async (t) => {
  const record = (accessKeyId: string) => ({ accessKeyId, lastUsedAt: null }) as never

  t.test('gives what an entry may hold, and the rest in the next round', async (t) => {
    const uses = new LastUsed()
    for (let n = 0; n <= USES_PER_ENTRY_MAX; n++) uses.noteKey(record(`AK${n}`), n)
    uses.noteToken({ tokenId: 'T', lastUsedAt: null } as never, 5)
    const { accessKeys, adminTokens } = uses.oldest(USES_PER_ENTRY_MAX)
    t.equal(accessKeys.length + adminTokens.length, USES_PER_ENTRY_MAX)
    uses.forget({ accessKeys, adminTokens })
    t.same(
      uses.oldest(USES_PER_ENTRY_MAX).accessKeys.map(({ at }) => at),
      [999, 1_000],
    )
  })

  t.test('remembers the latest time of each, and so many at most', async (t) => {
    const uses = new LastUsed()
    for (let n = 0; n < 100_001; n++) uses.noteKey(record(`AK${n}`), 1)
    uses.noteKey(record('AK0'), 2)
    const { accessKeys } = uses.oldest(200_000)
    t.same([accessKeys.length, accessKeys[0]?.at], [100_000, 2])
  })
})
