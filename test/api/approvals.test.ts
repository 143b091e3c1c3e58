/** Dangerous changes wait for a second owner, where the setting says so: asked for, approved, made once. */
import assert from 'node:assert/strict'
import t, { type Test } from 'tap'
import type { Config } from '../../src/config/types.ts'
import { approvalSamples } from '../../src/operations/approvals/approval-samples.ts'
import type { ApiAnswer } from './api-world.ts'
import { AuditedWorld } from './audited-world.ts'
import { BucketClient } from './bucket-client.ts'
import { denial, FILMS, PolicyClient } from './policy-client.ts'

const DAY_MS = 24 * 3_600_000
const REASON = { reason: 'The contract has ended' }
const DELETION = { ...REASON, confirm: 'acme' }
const ADMIN = '/admin/api/v1'
const REQUIRED = {
  status: 412,
  code: 'precondition_failed',
  json: { blockers: [{ code: 'approval_required' }] },
}

type Kind = Config['security']['secondApproval'][number]
const needs = (...secondApproval: readonly Kind[]) => ({ security: { secondApproval } })

type Post = (path: string, body: object, token?: string) => Promise<ApiAnswer>

interface Owners {
  readonly requester: string
  readonly other: string
  readonly get: (path: string, token?: string) => Promise<ApiAnswer>
  readonly post: Post
  /** The ids of those that wait or are approved. */
  readonly listed: (token?: string) => Promise<readonly unknown[]>
}

async function ownersOf({ world }: { readonly world: AuditedWorld['world'] }): Promise<Owners> {
  const [requester, other] = [await world.memory.adminToken('owner'), await world.memory.adminToken('owner')]
  const get: Owners['get'] = (path, token = requester) =>
    world.call({ admin: true, token, path: `${ADMIN}${path}` })
  const post: Post = (path, body, token = requester) =>
    world.call({ admin: true, token, method: 'POST', path: `${ADMIN}${path}`, body })
  const listed = async (token = requester): Promise<readonly unknown[]> => {
    const { approvals } = (await get('/approvals', token)).json
    assert(Array.isArray(approvals))
    return approvals.map(({ approvalId }: { approvalId: string }) => approvalId)
  }
  return { requester, other, get, post, listed }
}

/** The disabled tenant `acme`, whose deletion needs an approval. */
async function start(t: Test) {
  const audited = await AuditedWorld.start(t, needs('delete_tenant'))
  const owners = await ownersOf(audited)
  assert.equal((await owners.post('/tenants/acme/disable', REASON)).status, 200)
  const remove = (token?: string, body: object = DELETION) => owners.post('/tenants/acme/delete', body, token)
  return { ...owners, audited, memory: audited.world.memory, remove }
}

function idIn({ json }: ApiAnswer): string {
  const { blockers } = json
  assert(Array.isArray(blockers), JSON.stringify(json))
  return String((blockers[0] as { approvalId?: string }).approvalId)
}

t.test('deleteTenant with security.second_approval: delete_tenant', async (t) => {
  t.test(
    'is made once, by who asked, after another owner has approved it [admin.approvals.delete]',
    async (t) => {
      const { requester, other, get, post, listed, remove, memory } = await start(t)
      const refused = await remove()
      t.match(refused, REQUIRED)
      const id = idIn(refused)
      t.match(refused.json['message'], new RegExp(`holdfast approvals approve ${id}`))
      const { proposals } = memory
      t.equal(idIn(await remove()), id, 'asked again it is the same')
      t.equal(memory.proposals, proposals, 'and nothing is written')
      t.match(await get(`/approvals/${id}`, other), {
        status: 200,
        json: {
          operation: 'deleteTenant',
          tenantId: 'acme',
          status: 'waiting',
          change: { tenantId: 'acme', ...REASON },
          approvedBy: null,
        },
      })
      t.match(await post(`/approvals/${id}/approve`, REASON, requester), {
        status: 403,
        code: 'access_denied',
      })
      t.match(await remove(), REQUIRED)
      t.match(await post(`/approvals/${id}/approve`, REASON, other), {
        status: 200,
        json: { status: 'approved' },
      })
      t.match(await remove(other), REQUIRED, 'the approval is not for the one who gave it')
      t.not(idIn(await remove(other)), id)
      t.match(
        await remove(requester, { ...DELETION, reason: 'another' }),
        REQUIRED,
        'nor for another request',
      )
      const made = await remove()
      t.match(made, { status: 202, json: { type: 'tenantDeletion' } })
      t.notOk((await listed()).includes(id), 'it is used up')
      t.match(await remove(), { json: { operationId: made.json['operationId'] } }, 'asked again as ever')
    },
  )

  t.test('is not asked for by a dry run, which says so [admin.approvals.dry-run]', async (t) => {
    const { other, post, listed, remove } = await start(t)
    const dry = await post('/tenants/acme/delete?dryRun=true', DELETION)
    t.match(dry, { status: 200, json: { allowed: false, blockers: [{ code: 'approval_required' }] } })
    t.match(dry.json['warnings'], [/cannot be brought back/, /asked for no approval/])
    t.same(await listed(), [])
    const id = idIn(await remove())
    t.equal(idIn(dry), id)
    t.match(await post(`/approvals/${id}/approve?dryRun=true`, REASON), { code: 'access_denied' })
    t.match(await post(`/approvals/${id}/approve?dryRun=true`, REASON, other), {
      json: { allowed: true, plan: { approval: { status: 'approved' } } },
    })
    t.match(await remove(), REQUIRED, 'a dry run approves nothing')
  })

  t.test('shows other blockers first [admin.approvals.blockers]', async (t) => {
    const audited = await AuditedWorld.start(t, needs('delete_tenant'))
    const { post, listed } = await ownersOf(audited)
    const refused = await post('/tenants/acme/delete', DELETION)
    t.match(refused, { status: 412, json: { blockers: [{ code: 'not_disabled' }] } })
    t.same(await listed(), [])
  })

  t.test(
    'needs a new approval when the old one was rejected or has expired [admin.approvals.reject] [admin.approvals.end]',
    async (t) => {
      const { other, post, get, listed, remove, memory } = await start(t)
      const id = idIn(await remove())
      t.match(await post(`/approvals/${id}/reject`, { reason: ' ' }, other), { code: 'reason_required' })
      t.equal((await post(`/approvals/${id}/approve`, REASON, other)).status, 200)
      t.match(await post(`/approvals/${id}/reject`, REASON, other), { json: { status: 'approved' } })
      t.match(await remove(), REQUIRED)
      t.equal((await post(`/approvals/${id}/reject`, REASON)).status, 200, 'who asked takes it back')
      t.match(await get(`/approvals/${id}`), { status: 404, code: 'not_found' })
      await remove()
      await post(`/approvals/${id}/approve`, REASON, other)
      // Not from the start of the world: it was asked for at the time of this machine.
      memory.now = Date.now() + DAY_MS + 1000
      t.same(await listed(), [])
      t.match(await post(`/approvals/${id}/approve`, REASON, other), { code: 'not_found' })
      t.match(await remove(), REQUIRED)
    },
  )

  t.test(
    'needs a new approval when the token that gave it is revoked [admin.approvals.revoked]',
    async (t) => {
      const { other, post, get, remove, memory } = await start(t)
      const id = idIn(await remove())
      const approved = await post(`/approvals/${id}/approve`, REASON, other)
      const tokenId = String(approved.json['approvedBy'])
      await memory.change({ type: 'revokeAdminToken', tokenId })
      t.match(await remove(), REQUIRED)
      t.match(await get(`/approvals/${id}`), { json: { status: 'waiting' } })
    },
  )

  t.test(
    'is refused by name below level 4, and made without the setting [admin.approvals.level]',
    async (t) => {
      const { remove, memory } = await start(t)
      memory.featureLevel = 3
      const refused = await remove()
      t.match(refused, { status: 412, json: { blockers: [{ code: 'version_incompatible' }] } })
      memory.services.config = {
        ...memory.services.config,
        security: { ...memory.services.config.security, secondApproval: [] },
      }
      t.equal((await remove()).status, 202)
    },
  )

  t.test('leaves a row for each step in the audit log [admin.approvals.audited]', async (t) => {
    const { audited, requester, other } = await start(t)
    const ask = (path: string, body: object, token: string) =>
      ({ admin: true, method: 'POST', path: `${ADMIN}${path}`, body, token }) as const
    const refused = await audited.world.call(ask('/tenants/acme/delete', DELETION, requester))
    const id = idIn(refused)
    const rows = await audited.rowsOf(String(refused.headers['x-request-id']))
    t.match(
      rows.toSorted((a, b) => (a.operation < b.operation ? -1 : 1)),
      [
        { operation: 'deleteTenant', status: 412, code: 'precondition_failed', tenantId: 'acme' },
        {
          operation: 'requestApproval',
          code: null,
          tenantId: 'acme',
          details: { approvalId: id, operation: 'deleteTenant', change: /The contract has ended/ },
        },
      ],
    )
    const denied = await audited.row(ask(`/approvals/${id}/approve`, REASON, requester))
    t.match(denied.row, { operation: 'approveChange', code: 'access_denied', details: { approvalId: id } })
    const approved = await audited.row(ask(`/approvals/${id}/approve`, { reason: 'seen' }, other))
    const approvedBy = String(approved.answer.json['approvedBy'])
    const about = { approvalId: id, operation: 'deleteTenant' }
    t.match(approved.row, { operation: 'approveChange', reason: 'seen', tenantId: 'acme', details: about })
    const made = await audited.row(ask('/tenants/acme/delete', DELETION, requester))
    t.match(made.row, { operation: 'deleteTenant', status: 202, details: { approvalId: id, approvedBy } })
  })

  t.test('counts what waits, and for how long', async (t) => {
    const { other, remove, post, memory } = await start(t)
    const values = () =>
      approvalSamples(memory.services.state, memory.services.cluster.time.now()).map(({ value }) => value)
    t.same(values(), [0, 0])
    const id = idIn(await remove())
    memory.now = Date.now() + 3_600_000
    const [count, seconds] = values()
    t.equal(count, 1)
    t.ok(seconds !== undefined && seconds > 3_500 && seconds < 3_700)
    await post(`/approvals/${id}/approve`, REASON, other)
    t.same(values(), [0, 0])
  })
})

t.test(
  'a token of one tenant sees and approves what is about that tenant [admin.approvals.scope]',
  async (t) => {
    const { get, post, listed, remove, memory } = await start(t)
    await memory.tenant('rival')
    const rival = await memory.adminToken('owner', 'rival')
    const ofAcme = await memory.adminToken('owner', 'acme')
    const id = idIn(await remove())
    t.same(await listed(rival), [])
    t.same(await listed(ofAcme), [id])
    const denied = { status: 403, code: 'tenant_scope_denied' }
    t.match(await get(`/approvals/${id}`, rival), denied)
    for (const verb of ['approve', 'reject'])
      t.match(await post(`/approvals/${id}/${verb}`, REASON, rival), denied)
    t.equal((await post(`/approvals/${id}/approve`, REASON, ofAcme)).status, 200)
    t.equal((await remove()).status, 202)
  },
)

t.test('a policy of a bucket with security.second_approval: lower_locks', async (t) => {
  t.test('may deny more, and needs an approval to deny less [admin.approvals.policies]', async (t) => {
    const policies = await PolicyClient.start(t, {}, needs('lower_locks'))
    const { post } = await ownersOf(policies.films)
    const other = await policies.films.world.memory.adminToken('owner')
    const approve = async (answer: ApiAnswer) =>
      t.equal((await post(`/approvals/${idIn(answer)}/approve`, REASON, other)).status, 200)
    const deletes = denial({ Action: 's3:DeleteObject', Resource: `${FILMS}/*` })
    const puts = denial({ Action: 's3:PutObject', Resource: `${FILMS}/*` })
    const policy = (...Statement: readonly object[]) => ({ Version: '2012-10-17', Statement })
    const allow = { ...puts, Effect: 'Allow' }
    t.equal((await policies.ask({ method: 'DELETE' })).status, 204, 'there is nothing to lift')
    for (const more of [[allow], [deletes], [deletes, allow], [puts, deletes]])
      t.equal((await policies.put(policy(...more))).status, 200)
    const others = [[deletes], [allow], [puts, { ...deletes, Action: 's3:DeleteObjectVersion' }]]
    for (const less of others) t.match(await policies.put(policy(...less)), REQUIRED)
    t.same((await policies.ask()).json, policy(puts, deletes), 'nothing has changed')
    const fewer = policy(deletes)
    await approve(await policies.put(fewer))
    t.same((await policies.put(fewer)).json, fewer)
    const removal = await policies.ask({ method: 'DELETE' })
    t.match(removal, REQUIRED)
    await approve(removal)
    t.equal((await policies.ask({ method: 'DELETE' })).status, 204)
  })
})

t.test('a legal hold with security.second_approval: lower_locks', async (t) => {
  t.test(
    'is set at once, and comes off one version after an owner has approved it [admin.approvals.holds]',
    async (t) => {
      const bucket = { objectLockEnabled: true, versioning: 'Enabled' }
      const films = await BucketClient.start(t, bucket, needs('lower_locks'))
      const { post, requester } = await ownersOf(films)
      const hold = (status: string, query = '') =>
        films.on('object-legal-hold', `k${query}`, { method: 'PUT', body: { status } })
      const { versionId } = (await films.put('k')).json
      t.equal((await hold('OFF')).status, 200, 'there is none to take off')
      t.equal((await hold('ON')).status, 200)
      const refused = await hold('OFF')
      t.match(refused, REQUIRED)
      const approved = await post(`/approvals/${idIn(refused)}/approve`, REASON, requester)
      t.match(approved, { status: 200, json: { requestedBy: { type: 'accessKey' }, change: { versionId } } })
      const second = String((await films.put('k', 'a second version')).json['versionId'])
      t.equal((await hold('ON', `?versionId=${second}`)).status, 200)
      t.match(await hold('OFF'), REQUIRED, 'the newest version is another one now')
      t.equal((await hold('OFF', `?versionId=${String(versionId)}`)).status, 200)
      t.equal((await hold('ON', `?versionId=${String(versionId)}`)).status, 200)
      t.match(await hold('OFF', `?versionId=${String(versionId)}`), REQUIRED, 'it is used up')
    },
  )
})

t.test('confirmClusterTime with security.second_approval: lower_locks [admin.approvals.time]', async (t) => {
  const audited = await AuditedWorld.start(t, needs('lower_locks'))
  const { memory } = audited.world
  const { cluster } = memory.services
  const status = () => {
    const now = cluster.time.now()
    return { ...cluster.time.status(), logTime: now, confirmedTime: now - 5_000 }
  }
  memory.services.cluster = { ...cluster, time: { ...cluster.time, status } }
  const { post, other } = await ownersOf(audited)
  const confirm = (withheldMs = 5_000) => post('/cluster/time/confirm', { withheldMs, ...REASON })
  t.match(await confirm(4_000), { status: 412, json: { blockers: [{ code: 'time_changed' }] } })
  const refused = await confirm()
  t.match(refused, REQUIRED, 'confirmed time ends retention for good')
  t.equal((await post(`/approvals/${idIn(refused)}/approve`, REASON, other)).status, 200)
  t.equal((await confirm()).status, 200)
  t.match(await confirm(), REQUIRED, 'once')
})
