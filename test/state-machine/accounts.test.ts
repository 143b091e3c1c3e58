/** Accounts, the lists of a tenant's keys with their bounds, and times of use. */
import fc from 'fast-check'
import t from 'tap'
import { tenantKeys } from '../../src/state-machine/tenants/keys.ts'
import {
  ACCESS_KEYS_PER_TENANT_MAX,
  type AccessKeyRecord,
  type AccountRecord,
  ACCOUNTS_PER_TENANT_MAX,
  REVOKED_KEYS_KEPT_MAX,
  USES_PER_ENTRY_MAX,
} from '../../src/state-machine/tenants/records.ts'
import { tenantAccessOf } from '../../src/state-machine/tenants/tenant-access.ts'
import { createTenant, disableTenant, MapWorld, recounted, rowsOf } from './map-world.ts'

const secret = Uint8Array.of(9)

const account = (name: string, tenantId = 'acme') =>
  ({ type: 'createAccount', tenantId, name, description: '' }) as const

const key = (accessKeyId: string, accountId: string | null = null, tenantId = 'acme') =>
  ({
    type: 'createAccessKey',
    accessKeyId,
    tenantId,
    accountId,
    name: null,
    scopes: 'read',
    secret,
    expiresAt: null,
  }) as const

const revoke = (accessKeyId: string, tenantId = 'acme') =>
  ({ type: 'revokeAccessKey', accessKeyId, tenantId, reason: 'lost' }) as const

const noUse = { type: 'noteUses', accessKeys: [], adminTokens: [] } as const

function world(): MapWorld {
  const made = new MapWorld()
  made.do(createTenant('acme'))
  made.do(createTenant('beta'))
  return made
}

/** How many active keys there are, and how many revoked ones are kept. */
function counts(of: MapWorld, tenantId = 'acme'): readonly number[] {
  const { activeKeys, revokedKeys } = tenantAccessOf(of, tenantId)
  return [activeKeys.length, revokedKeys.length]
}

function fill(of: MapWorld): void {
  of.entry(Array.from({ length: ACCESS_KEYS_PER_TENANT_MAX }, (_, n) => key(`AK${n}`)))
}

t.test('createAccount', async (t) => {
  t.test('makes an account without keys, with id and time from the log, found by its name', async (t) => {
    const acme = world()
    const made = acme.do(account('ci'))
    t.match(made, { accountId: /^acc_[0-9A-Z]{26}$/, tenantId: 'acme', name: 'ci', keyCount: 0 })
    t.equal(made.createdAt, acme.time)
    t.same(acme.get(tenantKeys.account('acme', made.accountId)), made)
    t.same(acme.get(tenantKeys.accountName('acme', 'ci')), { accountId: made.accountId })
    t.ok(acme.do(account('cd')).accountId > made.accountId, 'ids ascend')
  })

  t.test('already_exists when the name is taken in this tenant, and no other has it taken', async (t) => {
    const acme = world()
    acme.do(account('ci'))
    t.match(acme.run(account('ci')), { ok: false, code: 'already_exists' })
    t.match(acme.run(account('CI')), { ok: true })
    t.match(acme.run(account('ci', 'beta')), { ok: true })
  })

  t.test('not_found without a tenant, precondition_failed when it is disabled', async (t) => {
    const acme = world()
    t.match(acme.run(account('ci', 'none')), { ok: false, code: 'not_found' })
    disableTenant(acme, 'acme')
    t.match(acme.run(account('ci')), { ok: false, code: 'precondition_failed', message: /is disabled/ })
  })

  t.test('invalid_argument when the name cannot be part of a row key', async (t) => {
    for (const name of ['', 'a\u0000b', '\ud800'])
      t.match(world().run(account(name)), { ok: false, code: 'invalid_argument' })
  })

  t.test('precondition_failed when the tenant has the maximum number [admin.accounts.bound]', async (t) => {
    const acme = world()
    acme.entry(Array.from({ length: ACCOUNTS_PER_TENANT_MAX }, (_, n) => account(`a${n}`)))
    t.match(acme.run(account('more')), { ok: false, code: 'precondition_failed' })
    t.match(acme.run(account('more', 'beta')), { ok: true })
    t.equal(tenantAccessOf(acme, 'acme').accountCount, ACCOUNTS_PER_TENANT_MAX)
  })
})

t.test('keys of an account', async (t) => {
  t.test('are counted while they are active', async (t) => {
    const acme = world()
    const { accountId } = acme.do(account('ci'))
    const count = () => acme.get(tenantKeys.account('acme', accountId))?.keyCount
    t.match(acme.do(key('AK1', accountId)), { accountId, lastUsedAt: null })
    acme.do(key('AK2', accountId))
    acme.do(key('AK3'))
    t.equal(count(), 2)
    const rotation = { type: 'rotateAccessKey', accessKeyId: 'AK1', tenantId: 'acme', secret } as const
    t.match(acme.do({ ...rotation, scopes: null, expiresAt: null }), { accountId })
    t.equal(count(), 2)
    acme.do(revoke('AK1'))
    acme.do(revoke('AK1'))
    t.equal(count(), 1, 'once')
  })

  t.test("not_found when the account is another tenant's, exactly as when there is none", async (t) => {
    const acme = world()
    const { accountId } = acme.do(account('ci', 'beta'))
    for (const id of [accountId, 'acc_none', '', 'a\u0000b']) {
      t.match(acme.run(key('AK1', id)), { ok: false, code: 'not_found' }, JSON.stringify(id))
      t.equal(acme.get(tenantKeys.accessKey('AK1')), undefined)
    }
  })
})

t.test('the keys of a tenant', async (t) => {
  t.test(
    'are bounded, also if some are expired; a revocation permits another one [admin.keys.bound]',
    async (t) => {
      const acme = world()
      fill(acme)
      t.match(acme.run(key('AKMORE')), { ok: false, code: 'precondition_failed', message: /revoke those/ })
      t.match(acme.run(key('AKMORE', null, 'beta')), { ok: true }, 'each tenant has its own bound')
      acme.do(revoke('AK7'))
      t.match(acme.run(key('AKROOM')), { ok: true })
      t.match(acme.run(key('AKFULL')), { ok: false, code: 'precondition_failed' })
      t.same(counts(acme), [ACCESS_KEYS_PER_TENANT_MAX, 1])
    },
  )

  t.test(
    'a tenant that makes and revokes keys for years loses the rows of those it revoked first',
    async (t) => {
      const acme = world()
      for (let n = 0; n < REVOKED_KEYS_KEPT_MAX + 2; n++) acme.entry([key(`AK${n}`), revoke(`AK${n}`)])
      t.same(counts(acme), [0, REVOKED_KEYS_KEPT_MAX])
      for (const gone of ['AK0', 'AK1']) {
        t.equal(acme.get(tenantKeys.accessKey(gone)), undefined)
        t.equal(acme.get(tenantKeys.tenantAccessKey('acme', gone)), undefined)
        t.match(acme.run(revoke(gone)), { ok: false, code: 'not_found' })
      }
      t.match(acme.get(tenantKeys.accessKey('AK2')), { status: 'revoked' })
      t.equal(rowsOf(acme, 'accessKey').length, REVOKED_KEYS_KEPT_MAX)
      t.same(recounted(acme), [])
    },
  )

  t.test('precondition_failed when the tenant is disabled', async (t) => {
    const acme = world()
    disableTenant(acme, 'acme')
    t.match(acme.run(key('AK1')), { ok: false, code: 'precondition_failed' })
  })

  t.test('lists, indexes and counts follow from the rows after any history', async (t) => {
    const step = fc.record({
      what: fc.constantFrom('key', 'revoke', 'rotate', 'account'),
      tenantId: fc.constantFrom('acme', 'beta'),
      n: fc.nat(5),
    })
    const property = fc.property(fc.array(step, { maxLength: 40 }), (steps) => {
      const acme = world()
      for (const { what, tenantId, n } of steps) {
        const owner = rowsOf<AccountRecord>(acme, 'account')[n]?.accountId ?? null
        const id = { accessKeyId: `AK${n}`, tenantId }
        if (what === 'key') acme.run(key(`AK${n}`, owner, tenantId))
        else if (what === 'revoke') acme.run(revoke(`AK${n}`, tenantId))
        else if (what === 'account') acme.run(account(`a${n}`, tenantId))
        else acme.run({ type: 'rotateAccessKey', ...id, secret, scopes: null, expiresAt: null })
      }
      const all = rowsOf<AccessKeyRecord>(acme, 'accessKey')
      const listed = ['acme', 'beta'].flatMap((id) => tenantAccessOf(acme, id).activeKeys)
      const active = all.filter(({ status }) => status === 'active').map(({ accessKeyId }) => accessKeyId)
      return (
        listed.toSorted().join() === active.toSorted().join() &&
        rowsOf<AccountRecord>(acme, 'account').every(
          ({ accountId, keyCount }) =>
            all.filter((one) => one.accountId === accountId && one.status === 'active').length === keyCount,
        ) &&
        recounted(acme).length === 0
      )
    })
    fc.assert(property, { numRuns: 200 })
    t.pass()
  })
})

t.test('the recount', async (t) => {
  const acme = world()
  const { accountId } = acme.do(account('ci'))
  acme.do(key('AK1', accountId))
  acme.do(key('AK2'))
  acme.do(revoke('AK2'))
  const access = tenantAccessOf(acme, 'acme')
  const owner = acme.get(tenantKeys.account('acme', accountId))
  const first = acme.get(tenantKeys.accessKey('AK1'))
  if (owner === undefined || first === undefined) throw new Error('they were made')
  const list = /lists of their tenants differ/
  const owners = /their names, their number or their keys differ/
  const changes: readonly [string, string, object | null, RegExp][] = [
    ['a key in no list', tenantKeys.tenantAccess('acme'), { ...access, activeKeys: [] }, list],
    [
      'a key in the wrong list',
      tenantKeys.tenantAccess('acme'),
      { ...access, activeKeys: ['AK1', 'AK2'], revokedKeys: [] },
      list,
    ],
    ['a missing list', tenantKeys.tenantAccess('acme'), null, list],
    ['a key missing in the index', tenantKeys.tenantAccessKey('acme', 'AK1'), null, list],
    ['a missing key', tenantKeys.accessKey('AK2'), null, list],
    [
      'a revoked key that is active again',
      tenantKeys.accessKey('AK2'),
      { ...acme.get(tenantKeys.accessKey('AK2')), status: 'active' },
      list,
    ],
    ['a count of accounts', tenantKeys.tenantAccess('acme'), { ...access, accountCount: 2 }, owners],
    ['a count of keys', tenantKeys.account('acme', accountId), { ...owner, keyCount: 2 }, owners],
    ['a key without its account', tenantKeys.accessKey('AK1'), { ...first, accountId: null }, owners],
    ['an account without its name', tenantKeys.accountName('acme', 'ci'), null, owners],
    ['a name of another account', tenantKeys.accountName('acme', 'ci'), { accountId: 'acc_other' }, owners],
  ]
  t.same(recounted(acme), [])
  for (const [what, at, row, expected] of changes) {
    t.test(`sees ${what}`, async (t) => {
      const rows = new Map(acme.rows)
      if (row === null) rows.delete(at)
      else rows.set(at, row as never)
      const changed = new MapWorld()
      for (const [name, value] of rows) changed.rows.set(name, value)
      t.match(recounted(changed).join(), expected)
    })
  }
})

t.test('noteUses', async (t) => {
  const lastUse = (of: MapWorld, id: string) => of.get(tenantKeys.accessKey(id))?.lastUsedAt

  t.test('keeps the latest time of each, and none later than the entry', async (t) => {
    const acme = world()
    acme.do(key('AK1'))
    const token = {
      tokenId: 'T1',
      name: 'ops',
      role: 'owner',
      tenantId: null,
      expiresAt: null,
      sha256: 'h',
    } as const
    t.match(acme.do({ type: 'createAdminToken', ...token }), { lastUsedAt: null })
    const at = acme.time
    const note = (ms: number) =>
      acme.do({
        type: 'noteUses',
        accessKeys: [{ accessKeyId: 'AK1', at: ms }],
        adminTokens: [{ tokenId: 'T1', at: ms }],
      })
    t.same(note(at), { noted: 2 })
    t.same([lastUse(acme, 'AK1'), acme.get(tenantKeys.adminToken('T1'))?.lastUsedAt], [at, at])
    t.same(note(at - 1), { noted: 0 }, 'another node saw it later')
    t.equal(lastUse(acme, 'AK1'), at)
    note(at + 3_600_000)
    t.equal(lastUse(acme, 'AK1'), acme.time, 'the clock of the node was ahead')
  })

  t.test('skips keys and tokens that are gone, and changes nothing else', async (t) => {
    const acme = world()
    const made = acme.do(key('AK1'))
    const accessKeys = [
      { accessKeyId: 'AKGONE', at: 5 },
      { accessKeyId: 'AK1', at: 5 },
    ]
    t.same(acme.do({ ...noUse, accessKeys, adminTokens: [{ tokenId: 'gone', at: 5 }] }), { noted: 1 })
    t.same(acme.get(tenantKeys.accessKey('AK1')), { ...made, lastUsedAt: 5 })
    const rotation = { type: 'rotateAccessKey', accessKeyId: 'AK1', tenantId: 'acme', secret } as const
    t.match(acme.do({ ...rotation, scopes: null, expiresAt: null }), { lastUsedAt: 5 })
    t.match(acme.do(revoke('AK1')), { lastUsedAt: 5, status: 'revoked' })
  })

  t.test('invalid_argument when an entry has too many uses', async (t) => {
    const accessKeys = Array.from({ length: USES_PER_ENTRY_MAX + 1 }, () => ({ accessKeyId: 'AK1', at: 1 }))
    t.match(world().run({ ...noUse, accessKeys }), { ok: false, code: 'invalid_argument' })
  })
})
