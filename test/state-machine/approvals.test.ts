/** A second approval counts once, for one change, by another token that is still good. */
import t from 'tap'
import { commandLevel } from '../../src/state-machine/command-levels.ts'
import { approvedChangeOf } from '../../src/state-machine/approved-change.ts'
import type { ApprovalUse } from '../../src/state-machine/approvals/commands.ts'
import { approvalKeys } from '../../src/state-machine/approvals/keys.ts'
import {
  APPROVAL_MS,
  APPROVALS_MAX,
  APPROVALS_OF_KEYS_MAX,
  APPROVALS_PER_REQUESTER_MAX,
  type Requester,
} from '../../src/state-machine/approvals/records.ts'
import type { AdminRole } from '../../src/state-machine/base/origin.ts'
import type { Command } from '../../src/state-machine/commands.ts'
import { deleteTenant, disableTenant, type MapWorld, rowsOf, worldWithBucket } from './map-world.ts'

const REQUESTER: Requester = { type: 'adminToken', id: 'requester' }
const USE: ApprovalUse = { approvalId: 'apr_1', requestedBy: REQUESTER, approvedBy: 'other' }
const END = deleteTenant('acme', 'op1')
const REFUSED = { ok: false, code: 'precondition_failed' }

function token(
  world: MapWorld,
  tokenId: string,
  more: { readonly role?: AdminRole; readonly tenantId?: string; readonly expiresAt?: number } = {},
): void {
  const { role = 'owner', tenantId = null, expiresAt = null } = more
  world.do({
    type: 'createAdminToken',
    tokenId,
    name: tokenId,
    role,
    tenantId,
    expiresAt,
    sha256: `hash of ${tokenId}`,
  })
}

/** A disabled tenant, and the tokens `requester` and `other`. */
function start(): MapWorld {
  const world = worldWithBucket()
  disableTenant(world, 'acme')
  token(world, 'requester')
  token(world, 'other')
  return world
}

function request(
  change: Command = END,
  more: {
    readonly approvalId?: string
    readonly requestedBy?: Requester
    readonly tenantId?: string | null
  } = {},
): Extract<Command, { type: 'requestApproval' }> {
  const approved = approvedChangeOf(change)
  if (approved === null) throw new Error(`${change.type} is never approved`)
  const { operation, text } = approved
  const asked = { approvalId: 'apr_1', requestedBy: REQUESTER, tenantId: 'acme', ...more }
  return { type: 'requestApproval', operation, change: text, ...asked }
}

const approve = (approvedBy = 'other', approvalId = 'apr_1') =>
  ({ type: 'approveChange', approvalId, approvedBy }) as const

function approved(): MapWorld {
  const world = start()
  world.do(request())
  world.do(approve())
  return world
}

const isThere = (world: MapWorld): boolean => world.get(approvalKeys.approval('apr_1')) !== undefined

t.test('requestApproval', async (t) => {
  t.test('waits, and asked again it stays as it is', async (t) => {
    const world = start()
    const asked = world.do(request())
    t.match(asked, { operation: 'deleteTenant', requestedBy: REQUESTER, approvedBy: null })
    t.equal(asked.expiresAt, asked.requestedAt + APPROVAL_MS)
    t.same(world.do(request()), asked)
    t.equal(rowsOf(world, 'approval').length, 1)
  })

  t.test('begins again once its approval counts no more', async (t) => {
    const world = approved()
    world.do({ type: 'revokeAdminToken', tokenId: 'other' })
    t.match(world.do(request()), { approvedBy: null })
    world.time += APPROVAL_MS
    t.match(world.do(request()), { requestedAt: world.time })
    t.equal(world.get(approvalKeys.approvalList())?.approvals.length, 1)
  })

  t.test('is refused beyond the number of one requester, of all keys, and of all', async (t) => {
    const world = start()
    const fill = (requestedBy: Requester, tenantId: string, count: number): number => {
      let taken = 0
      while (taken < count) {
        const approvalId = `apr_${requestedBy.id}_${tenantId}_${taken}`
        if (!world.run(request(END, { approvalId, requestedBy, tenantId })).ok) return taken
        taken++
      }
      return taken
    }
    const key = (id: string): Requester => ({ type: 'accessKey', id })
    t.equal(fill(key('K1'), 'acme', 99), APPROVALS_PER_REQUESTER_MAX)
    t.equal(fill(key('K2'), 'acme', 99), 0, 'the keys of a tenant share their places')
    let ofKeys = APPROVALS_PER_REQUESTER_MAX
    for (let n = 0; n < 9; n++) ofKeys += fill(key('K'), `t${n}`, 99)
    t.equal(ofKeys, APPROVALS_OF_KEYS_MAX, 'owners keep places of their own')
    let all = ofKeys
    for (let n = 0; n < 9; n++) all += fill({ type: 'adminToken', id: `a${n}` }, 'acme', 99)
    t.equal(all, APPROVALS_MAX)
    t.match(world.run(request(END, { approvalId: 'apr_more' })), REFUSED)
    world.time += APPROVAL_MS
    world.do(request(END, { approvalId: 'apr_more' }))
    t.equal(rowsOf(world, 'approval').length, APPROVALS_MAX - 7, 'those that have ended go, some at a time')
  })
})

t.test('approveChange', async (t) => {
  t.test('access_denied: the requester approves, or a token that is no owner', async (t) => {
    const world = start()
    world.do(request())
    t.match(world.run(approve('requester')), { code: 'access_denied', message: /itself/ })
    token(world, 'operator', { role: 'operator' })
    t.match(world.run(approve('operator')), { code: 'access_denied' })
    t.match(world.get(approvalKeys.approval('apr_1')), { approvedBy: null })
  })

  t.test('token_invalid: the token is revoked, has expired, or is not there', async (t) => {
    const world = start()
    world.do(request())
    token(world, 'brief', { expiresAt: world.time + 1 })
    world.do({ type: 'revokeAdminToken', tokenId: 'other' })
    for (const id of ['brief', 'other', 'unknown']) t.match(world.run(approve(id)), { code: 'token_invalid' })
  })

  t.test(
    'tenant_scope_denied: the token is of another tenant, or the change is of the cluster',
    async (t) => {
      const world = start()
      world.do({ type: 'createTenant', ...rival() })
      token(world, 'rival', { tenantId: 'rival' })
      token(world, 'ofAcme', { tenantId: 'acme' })
      world.do(request())
      world.do(request(END, { approvalId: 'apr_2', tenantId: null }))
      t.match(world.run(approve('rival')), { code: 'tenant_scope_denied' })
      t.match(world.run(approve('ofAcme', 'apr_2')), { code: 'tenant_scope_denied' })
      t.match(world.do(approve('ofAcme')), { approvedBy: 'ofAcme' })
    },
  )

  t.test('keeps the first approval while it counts; not_found after its end', async (t) => {
    const world = approved()
    token(world, 'third')
    t.match(world.do(approve('third')), { approvedBy: 'other' })
    world.do({ type: 'revokeAdminToken', tokenId: 'other' })
    t.match(world.do(approve('third')), { approvedBy: 'third' })
    world.time += APPROVAL_MS
    t.match(world.run(approve('third')), { code: 'not_found' })
  })
})

t.test('rejectChange takes it away; not_found without one', async (t) => {
  const world = approved()
  world.do({ type: 'rejectChange', approvalId: 'apr_1' })
  t.match(world.run({ ...END, approval: USE }), REFUSED)
  t.match(world.run({ type: 'rejectChange', approvalId: 'apr_1' }), { code: 'not_found' })
  t.same(world.get(approvalKeys.approvalList()), { approvals: [] })
})

t.test('a change with an approval', async (t) => {
  t.test('is made and uses it up in the same entry, so it is made once', async (t) => {
    const world = approved()
    const [first, second] = world.entry([
      { ...END, approval: USE },
      { ...END, operationId: 'op2', approval: USE },
    ])
    t.match(first, { ok: true, value: { operationId: 'op1' } })
    t.match(second, REFUSED)
    t.notOk(isThere(world))
  })

  t.test('is refused while no other token has approved it', async (t) => {
    const world = start()
    world.do(request())
    t.match(world.run({ ...END, approval: USE }), REFUSED)
    t.ok(isThere(world))
  })

  t.test('is refused when it is not exactly what was approved', async (t) => {
    const world = approved()
    world.do({ type: 'createTenant', ...rival() })
    disableTenant(world, 'rival')
    const others: readonly Command[] = [
      { ...END, reason: 'another reason', approval: USE },
      { ...deleteTenant('rival', 'op1'), approval: USE },
      { type: 'deleteBucketPolicy', tenantId: 'acme', name: 'photos', approval: USE },
      { type: 'setBucketPolicy', tenantId: 'acme', name: 'photos', policy: '{}', approval: USE },
    ]
    for (const other of others) t.match(world.run(other), REFUSED, other.type)
    t.ok(world.run({ ...END, operationId: 'op7', approval: USE }).ok, 'ids that no caller chose may differ')
  })

  t.test('is refused for another requester, and for one of another kind', async (t) => {
    const world = approved()
    for (const requestedBy of [
      { type: 'adminToken', id: 'third' },
      { type: 'accessKey', id: 'requester' },
    ] as const)
      t.match(world.run({ ...END, approval: { ...USE, requestedBy } }), REFUSED)
  })

  t.test('is refused after its end', async (t) => {
    const world = approved()
    world.time += APPROVAL_MS
    t.match(world.run({ ...END, approval: USE }), { ...REFUSED, message: /expired/ })
  })

  t.test('is refused once the token that approved it is revoked, or has expired', async (t) => {
    const world = approved()
    world.do({ type: 'revokeAdminToken', tokenId: 'other' })
    t.match(world.run({ ...END, approval: USE }), { ...REFUSED, message: /revoked/ })
    const later = start()
    token(later, 'brief', { expiresAt: later.time + 60_000 })
    later.do(request())
    later.do(approve('brief'))
    later.time += 60_000
    t.match(later.run({ ...END, approval: { ...USE, approvedBy: 'brief' } }), REFUSED)
  })

  t.test('that is refused for another reason keeps it', async (t) => {
    const world = worldWithBucket()
    token(world, 'requester')
    token(world, 'other')
    world.do(request())
    world.do(approve())
    t.match(world.run({ ...END, approval: USE }), { ...REFUSED, message: /it is active/ })
    t.ok(isThere(world))
    disableTenant(world, 'acme')
    t.ok(world.run({ ...END, approval: USE }).ok)
  })

  t.test('of the machine uses it up before', async (t) => {
    const world = start()
    const change: Command = {
      type: 'correctTime',
      requestedBy: 'requester',
      reason: 'r',
      correction: { kind: 'confirm', withheldMs: 5 },
    }
    const text = approvedChangeOf(change)?.text ?? ''
    world.do(request(change, { tenantId: null }))
    const use = { type: 'useApproval', change: text, approval: USE } as const
    t.match(world.run(use), REFUSED)
    world.do(approve())
    t.match(world.run({ ...use, change: text.replace('5', '6') }), REFUSED)
    world.do(use)
    t.match(world.run(use), REFUSED)
  })
})

t.test('an approval needs level 4, and a change without one needs what it needed', async (t) => {
  t.equal(commandLevel({ ...END, approval: USE }), 4)
  t.equal(commandLevel(END), 1)
  t.equal(commandLevel(request()), 4)
})

function rival() {
  const [dataKey, dedupKey] = [Uint8Array.of(1), Uint8Array.of(2)]
  return { id: 'rival', name: 'rival', dataKey, dedupKey, masterKeyId: 'mk-1' }
}
