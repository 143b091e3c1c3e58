/** Sessions of people: bounded, ended by idle time, by their end, by log-out at once; a secret before a renewal counts for a moment. */
import t from 'tap'
import { approvedChangeOf } from '../../src/state-machine/approved-change.ts'
import { countsNow } from '../../src/state-machine/tenants/admin-sessions.ts'
import { adminTokenByHash } from '../../src/state-machine/tenants/admin-tokens.ts'
import { tenantKeys } from '../../src/state-machine/tenants/keys.ts'
import {
  ADMIN_SESSIONS_MAX,
  ADMIN_SESSIONS_PER_USER_MAX,
  FORMER_SECRET_MS,
} from '../../src/state-machine/tenants/records.ts'
import { deleteTenant, disableTenant, MapWorld, rowsOf, worldWithBucket } from './map-world.ts'

const IDLE_MS = 30 * 60_000
const HOURS_8 = 8 * 60 * 60_000

function open(world: MapWorld, tokenId: string, userId = 'alice', more: { readonly lifeMs?: number } = {}) {
  return world.run({
    type: 'openAdminSession',
    tokenId,
    name: userId,
    role: 'owner',
    tenantId: null,
    user: { id: userId, issuer: 'https://id.example', subject: userId },
    idleMs: IDLE_MS,
    endsAt: world.time + (more.lifeMs ?? HOURS_8),
    sha256: `hash of ${tokenId}`,
  })
}

const renew = (tokenId: string, formerSha256: string, sha256: string) =>
  ({ type: 'renewAdminSession', tokenId, formerSha256, sha256 }) as const
const isOpen = (world: MapWorld, tokenId: string): boolean =>
  world.get(tenantKeys.adminToken(tokenId)) !== undefined
const hashes = (world: MapWorld): number => rowsOf(world, 'adminTokenHash').length

t.test('openAdminSession', async (t) => {
  t.test('makes an admin token that ends after the idle time, at the latest at its end', async (t) => {
    const world = new MapWorld()
    t.match(open(world, 's1'), { ok: true, value: { role: 'owner', expiresAt: world.time + IDLE_MS } })
    const short = open(world, 's2', 'bob', { lifeMs: 60_000 })
    t.match(short, { ok: true, value: { session: { user: { id: 'bob' } } } })
    t.ok(short.ok && short.value.expiresAt === short.value.session?.endsAt)
    t.match(open(world, 's1'), { code: 'already_exists' })
  })

  t.test('ends the oldest session of a user who has as many as one may have', async (t) => {
    const world = new MapWorld()
    open(world, 'other', 'bob')
    for (let n = 0; n < ADMIN_SESSIONS_PER_USER_MAX; n++) open(world, `s${n}`)
    t.ok(isOpen(world, 's0'))
    open(world, 'one-more')
    t.notOk(isOpen(world, 's0'))
    t.ok(isOpen(world, 's1') && isOpen(world, 'one-more') && isOpen(world, 'other'))
    t.equal(hashes(world), ADMIN_SESSIONS_PER_USER_MAX + 1, 'its hash goes with it')
  })

  t.test('is refused beyond the bound of the cluster, and not once some have ended', async (t) => {
    const world = new MapWorld()
    for (let n = 0; n < ADMIN_SESSIONS_MAX; n++) open(world, `s${n}`, `user ${n}`)
    t.match(open(world, 'more'), { code: 'precondition_failed', message: /512 are open/ })
    world.do({ type: 'revokeAdminToken', tokenId: 's7' })
    t.match(open(world, 'more'), { ok: true })
    t.equal(world.get(tenantKeys.adminSessions())?.sessions.length, ADMIN_SESSIONS_MAX)
    world.time += IDLE_MS
    open(world, 'later', 'someone')
    t.notOk(isOpen(world, 's0'), 'rows of ended sessions go when others are opened')
    t.ok(isOpen(world, 's20'), 'some at a time')
  })

  t.test('not_found: a tenant that does not exist; invalid_argument: no hash', async (t) => {
    const world = new MapWorld()
    const user = { id: 'u', issuer: 'i', subject: 's' }
    const command = { type: 'openAdminSession', tokenId: 's', name: 'n', role: 'viewer', user } as const
    const times = { idleMs: 1, endsAt: world.time + 1000 }
    t.match(world.run({ ...command, ...times, tenantId: 'absent', sha256: 'h' }), { code: 'not_found' })
    t.match(world.run({ ...command, ...times, tenantId: null, sha256: '' }), { code: 'invalid_argument' })
  })
})

t.test('renewAdminSession', async (t) => {
  t.test('exchanges the secret, and the one before counts for a moment', async (t) => {
    const world = new MapWorld()
    open(world, 's1')
    world.time += 60_000
    const renewed = world.do(renew('s1', 'hash of s1', 'second'))
    t.equal(renewed.expiresAt, world.time + IDLE_MS, 'it was not idle')
    const found = adminTokenByHash(world, 'hash of s1')
    t.equal(found?.tokenId, 's1')
    t.ok(countsNow(renewed, 'second', world.time))
    t.ok(countsNow(renewed, 'hash of s1', world.time + FORMER_SECRET_MS - 1))
    t.notOk(countsNow(renewed, 'hash of s1', world.time + FORMER_SECRET_MS))
    world.do(renew('s1', 'second', 'third'))
    t.equal(adminTokenByHash(world, 'hash of s1'), undefined, 'one secret before, and no more')
    t.equal(hashes(world), 2)
  })

  t.test('by the secret before changes nothing, and by any other is refused', async (t) => {
    const world = new MapWorld()
    open(world, 's1')
    world.do(renew('s1', 'hash of s1', 'second'))
    t.match(world.do(renew('s1', 'hash of s1', 'elsewhere')), { sha256: 'second' }, 'two pages at once')
    t.match(world.run(renew('s1', 'guess', 'third')), { code: 'token_invalid' })
    world.time += FORMER_SECRET_MS
    t.match(world.run(renew('s1', 'hash of s1', 'third')), { code: 'token_invalid' })
  })

  t.test('never reaches past the end, and opens no session again', async (t) => {
    const world = new MapWorld()
    open(world, 's1', 'alice', { lifeMs: IDLE_MS + 1000 })
    const endsAt = world.get(tenantKeys.adminToken('s1'))?.session?.endsAt ?? 0
    world.time += IDLE_MS - 1000
    t.equal(world.do(renew('s1', 'hash of s1', 'second')).expiresAt, endsAt)
    world.time = endsAt
    t.match(world.run(renew('s1', 'second', 'third')), { code: 'token_invalid' })
    open(world, 's2')
    world.do({ type: 'revokeAdminToken', tokenId: 's2' })
    t.match(world.run(renew('s2', 'hash of s2', 'third')), { code: 'token_invalid' })
    open(world, 's3')
    world.time += IDLE_MS
    t.match(world.run(renew('s3', 'hash of s3', 'third')), { code: 'token_invalid' }, 'it was idle')
  })
})

t.test('endAdminSessions ends one session, or all of a user and no other', async (t) => {
  const world = new MapWorld()
  for (const id of ['s1', 's2', 's3']) open(world, id)
  open(world, 'other', 'bob')
  world.do(renew('s1', 'hash of s1', 'second'))
  t.same(world.do({ type: 'endAdminSessions', userId: 'bob', tokenId: 's1' }), { ended: 0 })
  t.same(world.do({ type: 'endAdminSessions', userId: 'alice', tokenId: 's1' }), { ended: 1 })
  t.notOk(isOpen(world, 's1'))
  t.ok(isOpen(world, 's2'))
  t.same(world.do({ type: 'endAdminSessions', userId: 'alice', tokenId: null }), { ended: 2 })
  t.notOk(isOpen(world, 's2') || isOpen(world, 's3'))
  t.ok(isOpen(world, 'other'))
  t.same(world.do({ type: 'endAdminSessions', userId: 'bob', tokenId: null }), { ended: 1 })
  t.equal(world.get(tenantKeys.adminSessions()), undefined)
  t.equal(rowsOf(world, 'adminToken').length + hashes(world), 0, 'nothing is left of them')
})

t.test('a person who logs in again does not approve what that person asked for', async (t) => {
  const world = worldWithBucket()
  disableTenant(world, 'acme')
  open(world, 's1')
  const change = approvedChangeOf(deleteTenant('acme', 'op1'))
  world.do({
    type: 'requestApproval',
    approvalId: 'apr_1',
    operation: change?.operation ?? '',
    tenantId: 'acme',
    change: change?.text ?? '',
    requestedBy: { type: 'adminToken', id: 's1' },
  })
  world.do({ type: 'endAdminSessions', userId: 'alice', tokenId: null })
  open(world, 's2')
  const approve = (approvedBy: string) =>
    world.run({ type: 'approveChange', approvalId: 'apr_1', approvedBy })
  t.match(approve('s2'), { code: 'access_denied', message: /same person/ })
  open(world, 's3', 'bob')
  t.match(approve('s3'), { ok: true })
})
