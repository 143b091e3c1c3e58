/** Tenants disabled and deleted through HTTP: rights, blockers, and the tombstone. [admin: States] */
import assert from 'node:assert/strict'
import t, { type Test } from 'tap'
import { versionKeys } from '../../src/state-machine/versions/keys.ts'
import { Discarding } from '../../src/workers/discarding.ts'
import { TenantDeletion } from '../../src/workers/tenant-deletion.ts'
import { SILENT } from '../helpers/loggers.ts'
import type { ApiAnswer } from './api-world.ts'
import { BucketClient } from './bucket-client.ts'
import { bucketKeys } from '../../src/state-machine/buckets/keys.ts'
import { recountState } from '../../src/store/reads/recount-state.ts'
import { usageOf } from '../../src/state-machine/usage/usage.ts'

const FAR = '2099-01-01T00:00:00.000Z'
const FARTHER = '2099-06-01T00:00:00.000Z'
const REASON = { reason: 'The contract has ended' }
const DELETION = { ...REASON, confirm: 'acme' }

interface TenantWorld {
  readonly films: BucketClient
  /** Of the admin plane, as its owner unless another token is given. */
  readonly admin: (method: string, path: string, body?: object, token?: string) => Promise<ApiAnswer>
  readonly post: (path: string, body?: object, token?: string) => Promise<ApiAnswer>
  /** Until no worker has anything to do. */
  readonly work: () => Promise<void>
}

async function start(t: Test): Promise<TenantWorld> {
  const films = await BucketClient.start(t, { objectLockEnabled: true })
  const { memory } = films.world
  const owner = await memory.adminToken('owner')
  const admin: TenantWorld['admin'] = (method, path, body, token = owner) => {
    const ask = { admin: true, token, method, path: `/admin/api/v1/tenants${path}` }
    return films.world.call(body === undefined ? ask : { ...ask, body })
  }
  const parts = {
    cluster: { isJobRunner: () => true },
    state: memory.reader,
    propose: memory.services.propose,
  }
  const delay = { delayMs: 0, now: () => 0 }
  const workers = [TenantDeletion, Discarding].map(
    (Worker) => new Worker({ ...parts, ...delay, logger: SILENT }),
  )
  const work = async (): Promise<void> => {
    for (const worker of workers) while (await worker.round()) continue
  }
  return { films, admin, post: (path, body, token) => admin('POST', path, body, token), work }
}

const setLock = (films: BucketClient, key: string, retainUntil: string) =>
  films.on('object-retention', key, { method: 'PUT', body: { mode: 'GOVERNANCE', retainUntil } })
const hold = (films: BucketClient, key: string, status = 'ON') =>
  films.on('object-legal-hold', key, { method: 'PUT', body: { status } })

t.test('disableTenant', async (t) => {
  t.test(
    'ends the tenant at once and revokes its keys [admin.tenants.disable] [admin.tenants.disable.keys] [admin.tenants.disable.data] [admin.tenants.disable.again]',
    async (t) => {
      const { films, admin, post } = await start(t)
      const made = await post('/acme/keys', {})
      await post(`/acme/keys/${String(made.json['accessKeyId'])}/revoke`, { reason: 'lost' })
      const answer = await post('/acme/disable', REASON)
      t.match(answer, {
        status: 200,
        json: { id: 'acme', status: 'disabled', disabledReason: REASON.reason, deletedAt: null },
      })
      t.ok(Date.parse(String(answer.json['disabledAt'])) > 0)
      const listed = (await admin('GET', '/acme/keys')).json['keys'] as readonly Record<string, unknown>[]
      t.same(new Set(listed.map(({ revokedReason }) => revokedReason)), new Set(['lost', REASON.reason]))
      t.equal(listed.length, 2)
      t.ok(listed.every(({ status }) => status === 'revoked'))
      t.match(await films.get('k'), { status: 401, code: 'tenant_disabled' })
      t.match(await post('/acme/disable', { reason: 'again' }), { status: 200, json: answer.json })
      t.match(
        await post('/acme/keys', {}),
        { status: 412, code: 'precondition_failed' },
        'and gets no others',
      )
    },
  )

  t.test('revokes more keys than an entry takes [admin.tenants.disable.keys]', async (t) => {
    const { films, admin, post } = await start(t)
    for (let n = 0; n < 300; n++) await films.world.memory.accessKey('acme', 'read')
    t.match(await post('/acme/disable?dryRun=true', REASON), { json: { plan: { accessKeys: 301 } } })
    t.equal((await post('/acme/disable', REASON)).status, 200)
    const { keys: listed, isTruncated } = (await admin('GET', '/acme/keys?limit=1000')).json
    const statuses = (listed as readonly { status: string }[]).map(({ status }) => status)
    t.same([statuses.length, new Set(statuses), isTruncated], [301, new Set(['revoked']), false])
  })

  t.test(
    'refuses [admin.tenants.disable.reason] [admin.tenants.disable.role] [admin.tenants.disable.scope] [admin.tenants.disable.unknown]',
    async (t) => {
      const { films, admin, post } = await start(t)
      const { memory } = films.world
      await memory.tenant('other')
      for (const query of ['', '?dryRun=true']) {
        for (const body of [{}, { reason: '' }, { reason: ' ' }])
          t.match(await post(`/acme/disable${query}`, body), { status: 400, code: 'reason_required' })
        for (const role of ['viewer', 'operator'] as const)
          t.match(await post(`/acme/disable${query}`, REASON, await memory.adminToken(role)), {
            status: 403,
            code: 'access_denied',
          })
        const other = await memory.adminToken('owner', 'other')
        for (const id of ['acme', 'absent'])
          t.match(await post(`/${id}/disable${query}`, REASON, other), {
            status: 403,
            code: 'tenant_scope_denied',
          })
        for (const id of ['absent', 'NO', '..%2f'])
          t.match(await post(`/${id}/disable${query}`, REASON), { status: 404, code: 'not_found' })
        t.match(await post(`/acme/disable${query}`, { ...REASON, x: 1 }), {
          status: 400,
          code: 'invalid_request',
        })
      }
      t.match(await admin('GET', '/acme'), { json: { status: 'active' } })
      const own = await memory.adminToken('owner', 'acme')
      t.match(await post('/acme/disable', REASON, own), { status: 200 }, 'its own owner may')
    },
  )
})

t.test('deleteTenant', async (t) => {
  t.test(
    'removes everything but a tombstone and the audit log [admin.tenants.delete] [admin.tenants.delete.everything] [admin.tenants.delete.again] [admin.tenants.delete.audited] [admin.tenants.create.taken]',
    async (t) => {
      const { films, admin, post, work } = await start(t)
      for (let n = 0; n < 5; n++) await films.put('k', `version ${n}`)
      await films.put('large', Buffer.alloc(300_000, 'x'))
      await films.remove('k')
      await films.as({ name: 'photos' }).put('p', 'plain', {
        'idempotency-key': 'once',
        'x-service-checksum-crc32': 'AAAAAA==',
      })
      await post('/acme/disable', REASON)
      const started = await post('/acme/delete', DELETION)
      t.match(started, {
        status: 202,
        headers: { location: /\/cluster\/operations\/op_/ },
        json: {
          type: 'tenantDeletion',
          status: 'queued',
          tenantId: 'acme',
          reason: REASON.reason,
          etaSeconds: null,
        },
      })
      t.match(await admin('GET', '/acme'), { json: { status: 'deleting', deletedAt: null } })
      t.match(await post('/acme/delete', DELETION), {
        status: 202,
        json: { operationId: started.json['operationId'] },
      })
      await work()
      const { memory } = films.world
      const gone = await admin('GET', '/acme')
      t.match(gone, { status: 200, json: { status: 'deleted', name: 'acme', disabledReason: REASON.reason } })
      t.ok(Date.parse(String(gone.json['deletedAt'])) > 0)
      t.match(await post('/acme/delete', DELETION), {
        status: 200,
        json: { operationId: started.json['operationId'], status: 'succeeded' },
      })
      t.match(await admin('GET', '/acme/usage'), { json: { buckets: 0, versions: 0, inlineBytes: 0 } })
      t.same((await admin('GET', '/acme/keys')).json['keys'], [])
      t.same((await recountState(memory.reader, () => true))?.differences, [])
      t.match(await post('', { id: 'acme', name: 'Another' }), { status: 409, code: 'already_exists' })
      t.match(await films.get('k'), { status: 401, code: 'token_invalid' })
      t.match(await post('/acme/keys', {}), { status: 412, code: 'precondition_failed' })
      const owner = await memory.adminToken('owner')
      const audit = { admin: true, token: owner, path: '/admin/api/v1/audit?tenant=acme&limit=100' }
      const records = (await films.world.call(audit)).json['records'] as readonly Record<string, unknown>[]
      const operations = new Set(records.map(({ operation }) => operation))
      for (const operation of ['deleteTenant', 'disableTenant', 'putObject'])
        t.ok(operations.has(operation), `${operation} is still in the audit log`)
    },
  )

  t.test(
    'is gated by a retention and a legal hold, and says until when [admin.tenants.delete.retention] [admin.tenants.delete.legal-hold] [admin.tenants.delete.dry-run]',
    async (t) => {
      const { films, admin, post, work } = await start(t)
      for (const key of ['a', 'b', 'c', 'free']) await films.put(key)
      await setLock(films, 'a', FARTHER)
      await films.put('a', 'above the locked one')
      await setLock(films, 'b', FAR)
      await hold(films, 'b')
      await hold(films, 'c')
      await hold(films, 'free')
      await hold(films, 'free', 'OFF')
      await films.remove('free')
      const retention = { code: 'retention', count: 2, earliestRelease: FAR }
      const held = { code: 'legal_hold', count: 2, earliestRelease: null }
      const plan = {
        buckets: 2,
        objects: 3,
        versions: 5,
        deleteMarkers: 1,
        legalHeldVersions: 2,
        retainedVersions: 2,
      }
      const dry = (path: string, body: object) => post(`/acme/${path}?dryRun=true`, body)
      const before = films.world.memory.checksum()
      t.match(await dry('delete', DELETION), {
        status: 200,
        json: {
          dryRun: true,
          operation: 'deleteTenant',
          tenantId: 'acme',
          allowed: false,
          plan,
          blockers: [{ code: 'not_disabled' }, retention, held],
        },
      })
      t.equal(films.world.memory.checksum(), before)
      await post('/acme/disable', REASON)
      const refused = await post('/acme/delete', DELETION)
      t.match(refused, { status: 412, code: 'precondition_failed', json: { blockers: [retention, held] } })
      t.match(
        refused.json['message'],
        /2 of its versions are under retention; 2 of its versions are under legal hold/,
      )
      t.match(await dry('delete', DELETION), { json: { allowed: false, plan, blockers: [retention, held] } })
      await work()
      t.match(await admin('GET', '/acme'), { json: { status: 'disabled' } })
      t.match(await admin('GET', '/acme/usage'), { json: { versions: 5 } })
    },
  )

  /** As the row of `k` would be if it came from elsewhere; the tenant is disabled. */
  async function withRow(t: Test, change: object): Promise<TenantWorld> {
    const setup = await start(t)
    const { films, post } = setup
    await films.put('k')
    await hold(films, 'k')
    await post('/acme/disable', REASON)
    const { reader } = films.world.memory
    const bucket = reader.get(bucketKeys.bucket('acme', 'films'))
    const object = bucket === undefined ? undefined : reader.get(versionKeys.object(bucket.id, 'k'))
    assert(bucket !== undefined && object !== undefined)
    const changed = { ...object, legalHold: false, ...change }
    await films.world.memory.writeRow(versionKeys.object(bucket.id, 'k'), changed)
    return setup
  }

  t.test('continues when every retention has ended [admin.tenants.delete.released]', async (t) => {
    const retention = { mode: 'COMPLIANCE', until: Date.now() - 1_000 }
    const { admin, post, work } = await withRow(t, { retention })
    t.match(await post('/acme/delete?dryRun=true', DELETION), {
      json: { allowed: true, plan: { retainedVersions: 0, legalHeldVersions: 0 } },
    })
    t.match(await post('/acme/delete', DELETION), { status: 202 })
    await work()
    t.match(await admin('GET', '/acme'), { json: { status: 'deleted' } })
  })

  t.test('is gated by a lock that cannot be read [admin.tenants.delete.fail-closed]', async (t) => {
    for (const [code, damage] of [
      ['retention', { retention: { mode: 'NONE', until: 'soon' } }],
      ['legal_hold', { legalHold: 'perhaps' }],
    ] as const) {
      const { post } = await withRow(t, damage)
      t.match(await post('/acme/delete', DELETION), {
        status: 412,
        json: { blockers: [{ code, count: 1, earliestRelease: null }] },
      })
    }
  })

  t.test(
    'refuses [admin.tenants.delete.reason] [admin.tenants.delete.confirm] [admin.tenants.delete.active] [admin.tenants.delete.role] [admin.tenants.delete.scope] [admin.tenants.delete.unknown]',
    async (t) => {
      const { films, admin, post } = await start(t)
      const { memory } = films.world
      await memory.tenant('other')
      t.match(await post('/acme/delete', DELETION), {
        status: 412,
        code: 'precondition_failed',
        json: { blockers: [{ code: 'not_disabled' }] },
      })
      await post('/acme/disable', REASON)
      for (const query of ['', '?dryRun=true']) {
        for (const body of [{ confirm: 'acme' }, { confirm: 'acme', reason: ' ' }])
          t.match(await post(`/acme/delete${query}`, body), { status: 400, code: 'reason_required' })
        for (const confirm of ['', 'Acme', 'acme ', 'other', undefined])
          t.match(await post(`/acme/delete${query}`, { ...REASON, confirm }), {
            status: 400,
            code: 'confirm_mismatch',
          })
        t.match(await post(`/acme/delete${query}`, { ...DELETION, confirm: 1 }), { code: 'invalid_request' })
        for (const role of ['viewer', 'operator'] as const)
          t.match(await post(`/acme/delete${query}`, DELETION, await memory.adminToken(role)), {
            status: 403,
            code: 'access_denied',
          })
        const other = await memory.adminToken('owner', 'other')
        for (const id of ['acme', 'absent'])
          t.match(await post(`/${id}/delete${query}`, DELETION, other), {
            status: 403,
            code: 'tenant_scope_denied',
          })
        t.match(await post(`/absent/delete${query}`, { ...REASON, confirm: 'absent' }), {
          status: 404,
          code: 'not_found',
        })
      }
      t.match(await admin('GET', '/acme'), { json: { status: 'disabled' } }, 'nothing has started')
    },
  )
})

t.test(
  'dryRun shows every member of the plan and changes nothing [admin.tenants.disable.dry-run] [admin.tenants.delete.dry-run] [admin.tenants.create.dry-run]',
  async (t) => {
    const { films, post } = await start(t)
    await films.put('k', Buffer.alloc(100_000, 'x'))
    const { memory } = films.world
    const plan = {
      buckets: 2,
      objects: 1,
      versions: 1,
      deleteMarkers: 0,
      legalHeldVersions: 0,
      retainedVersions: 0,
      accessKeys: 1,
      physicalBytes: usageOf(memory.reader, 'acme').copyBytes,
    }
    t.ok(plan.physicalBytes > 0)
    const planOf = async (path: string, body: object) => {
      const [before, proposals] = [memory.checksum(), memory.proposals]
      const { status, json } = await post(`${path}?dryRun=true`, body)
      t.same([status, memory.checksum(), memory.proposals], [200, before, proposals])
      return json
    }
    const about = { dryRun: true, tenantId: 'acme', allowed: true, blockers: [], plan }
    const disabling = await planOf('/acme/disable', REASON)
    t.same(disabling, { ...about, operation: 'disableTenant', warnings: disabling['warnings'] })
    await post('/acme/disable', REASON)
    const deletion = await planOf('/acme/delete', DELETION)
    t.same(deletion, { ...about, operation: 'deleteTenant', warnings: deletion['warnings'] })
    t.match(await planOf('', { name: 'Other Inc.' }), {
      operation: 'createTenant',
      plan: { id: 'other-inc' },
    })
    t.match(await planOf('', { id: 'acme', name: 'Again' }), {
      allowed: false,
      plan: { id: null },
      blockers: [{ code: 'already_exists' }],
    })
  },
)

t.test(
  'tenants are made, listed and shown [admin.tenants.list] [admin.tenants.create] [admin.tenants.create.id] [admin.tenants.create.role] [admin.tenants.get] [admin.tenants.get.scope]',
  async (t) => {
    const { films, admin, post } = await start(t)
    const { memory } = films.world
    const made = await post('', { name: 'Über & Co' })
    t.match(made, { status: 201, headers: { location: '/admin/api/v1/tenants/uber-co' } })
    const createdAt = made.json['createdAt']
    const ends = { disabledAt: null, disabledReason: null, deletedAt: null }
    t.same(made.json, { id: 'uber-co', name: 'Über & Co', status: 'active', createdAt, ...ends })
    t.same((await admin('GET', '/uber-co')).json, made.json)
    for (const body of [{ id: 'A', name: 'x' }, { name: '&' }, { id: 'x', name: 'x' }, {}])
      t.match(await post('', body), { status: 400, code: 'invalid_request' })
    const scoped = await memory.adminToken('owner', 'acme')
    const viewer = await memory.adminToken('viewer')
    const ids = async (token?: string) =>
      ((await admin('GET', '', undefined, token)).json['tenants'] as { id: string }[]).map(({ id }) => id)
    t.same([await ids(viewer), await ids(scoped)], [['acme', 'uber-co'], ['acme']])
    t.match(await post('', { name: 'More' }, viewer), { status: 403, code: 'access_denied' })
    t.match(await post('', { name: 'More' }, scoped), { status: 403, code: 'tenant_scope_denied' })
    t.match(await post('', { name: 'More' }, await memory.adminToken('operator')), { status: 201 })
    for (const id of ['uber-co', 'absent'])
      t.match(await admin('GET', `/${id}`, undefined, scoped), { status: 403, code: 'tenant_scope_denied' })
    t.match(await admin('GET', '/absent'), { status: 404, code: 'not_found' })
  },
)
