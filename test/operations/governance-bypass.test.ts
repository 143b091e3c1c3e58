/**
 * Who may set GOVERNANCE aside: the verb admin over the key, by policies too, with a second approval where the setting asks for one.
 */
import t from 'tap'
import type { AccessKeyPrincipal } from '../../src/access/base/principal.ts'
import { newAdminToken } from '../../src/access/admin-token.ts'
import { parseScopes } from '../../src/access/scopes.ts'
import { Refusal } from '../../src/base/refusal.ts'
import { batchDeleteObjects } from '../../src/operations/objects/batch-delete-objects.ts'
import { deleteObject } from '../../src/operations/objects/delete-object.ts'
import { setObjectRetention } from '../../src/operations/objects/set-object-retention.ts'
import type { RetentionRecord } from '../../src/state-machine/versions/records.ts'
import { MemoryServices } from '../helpers/memory-services.ts'
import { NO_SETTINGS, ANYTHING } from '../state-machine/map-world.ts'

const DAY_MS = 86_400_000
type Teardown = Parameters<typeof MemoryServices.start>[0]

const by = (scopes: string): AccessKeyPrincipal => ({
  kind: 'accessKey',
  accessKeyId: 'AKTEST',
  tenantId: 'acme',
  keyVersion: 1,
  scopes: parseScopes(scopes),
  signedUrl: null,
  circumstances: { address: '192.0.2.1', isSecure: false, at: 0 },
})

const THREE = ['read', 'write', 'delete'].map((verb) => `op=${verb}:bucket=*:prefix=`).join()
const ADMIN = by('read,write,delete,admin')
const denied = { code: 'access_denied' }
const kept = { code: 'object_locked' }

class Vault {
  readonly memory: MemoryServices
  readonly until: number

  /** A bucket `vault` with versions of `in/k` and `k`, the latter held by each call of `store`. */
  static async start(t: Teardown, options: Parameters<typeof MemoryServices.start>[1] = {}): Promise<Vault> {
    const memory = await MemoryServices.start(t, options)
    await memory.tenant('acme')
    const settings = { versioning: 'Enabled', objectLockEnabled: true } as const
    await memory.change({ type: 'createBucket', tenantId: 'acme', name: 'vault', bucketsMax: 9, ...settings })
    return new Vault(memory)
  }

  constructor(memory: MemoryServices) {
    this.memory = memory
    this.until = memory.services.cluster.time.now() + 9 * DAY_MS
  }

  /** The version id. */
  async store(key: string, mode: RetentionRecord['mode'] = 'GOVERNANCE'): Promise<string> {
    const { services } = this.memory
    const reply = await services.propose({
      type: 'putObject',
      tenantId: 'acme',
      bucket: 'vault',
      key,
      contentType: 'text/plain',
      metadata: {},
      masterKeyId: 'mk-1',
      size: 0,
      etag: 'e',
      checksums: {},
      body: { kind: 'empty' },
      idempotency: null,
      precondition: ANYTHING,
      ...NO_SETTINGS,
      retention: { mode, until: this.until },
    })
    if (!reply.ok) throw new Error(reply.message)
    return reply.value.object.versionId
  }

  remove(principal: AccessKeyPrincipal, key: string, versionId: string, bypassGovernance = true) {
    const name = { bucket: 'vault', key, versionId, ifMatch: null }
    return deleteObject(this.memory.services, principal, { ...name, bypassGovernance })
  }

  removeAll(principal: AccessKeyPrincipal, objects: Parameters<typeof batchDeleteObjects>[2]['objects']) {
    const input = { bucket: 'vault', objects, bypassGovernance: true }
    return batchDeleteObjects(this.memory.services, principal, input)
  }

  retain(
    principal: AccessKeyPrincipal,
    key: string,
    retention: RetentionRecord | null,
    bypassGovernance = true,
  ) {
    const name = { bucket: 'vault', key, versionId: undefined }
    return setObjectRetention(this.memory.services, principal, { ...name, retention, bypassGovernance })
  }
}

t.test('a bypass of GOVERNANCE needs the verb admin over the key [retention.bypass]', async (t) => {
  const vault = await Vault.start(t)
  const id = await vault.store('in/k')
  const other = await vault.store('k')
  for (const scopes of ['read,write,delete', `${THREE},op=admin:bucket=vault:prefix=out/`]) {
    await t.rejects(vault.remove(by(scopes), 'in/k', id), denied, scopes)
    await t.rejects(vault.retain(by(scopes), 'in/k', null), denied, scopes)
  }
  await t.rejects(vault.remove(by('admin'), 'in/k', id), denied, 'and the verb of what is done')
  await t.rejects(vault.remove(ADMIN, 'in/k', id, false), kept, 'and it is asked for')
  const inside = by(`${THREE},op=admin:bucket=vault:prefix=in/`)
  const { results } = await vault.removeAll(inside, [
    { key: 'in/k', versionId: id },
    { key: 'k', versionId: other },
  ])
  t.match(results, [{ outcome: { existed: true } }, { outcome: denied }], 'each key by itself')
  t.match(await vault.remove(ADMIN, 'k', other), { deleted: { existed: true } })
})

t.test('a policy can deny it, and COMPLIANCE stays', async (t) => {
  const vault = await Vault.start(t)
  const id = await vault.store('k')
  const denial = { Effect: 'Deny', Principal: '*', Resource: 'arn:aws:s3:::vault/*' }
  const policy = { Version: '2012-10-17', Statement: [{ ...denial, Action: 's3:BypassGovernanceRetention' }] }
  const name = { tenantId: 'acme', name: 'vault' } as const
  await vault.memory.change({ type: 'setBucketPolicy', ...name, policy: JSON.stringify(policy) })
  await t.rejects(vault.remove(ADMIN, 'k', id), denied)
  await vault.memory.change({ type: 'deleteBucketPolicy', ...name })
  const days = { NumericLessThan: { 's3:object-lock-remaining-retention-days': 5 } }
  const short = { ...denial, Action: 's3:PutObjectRetention', Condition: days }
  const bounded = JSON.stringify({ Version: '2012-10-17', Statement: [short] })
  await vault.memory.change({ type: 'setBucketPolicy', ...name, policy: bounded })
  await t.rejects(vault.retain(ADMIN, 'k', null), denied, 'to remove it is to leave no days')
  const sooner = { mode: 'GOVERNANCE', until: vault.until - DAY_MS } as const
  t.match(await vault.retain(ADMIN, 'k', sooner), { object: { retention: sooner } })
  await vault.memory.change({ type: 'deleteBucketPolicy', ...name })
  await t.rejects(vault.retain(ADMIN, 'k', null, false), kept)
  t.match(await vault.retain(ADMIN, 'k', null), { object: { retention: null } })
  const strict = await vault.store('k', 'COMPLIANCE')
  await t.rejects(vault.remove(ADMIN, 'k', strict), kept)
  await t.rejects(vault.retain(ADMIN, 'k', null), kept)
})

t.test(
  'lower_locks: a bypass needs a second approval where it matters [admin.approvals.bypass]',
  async (t) => {
    const vault = await Vault.start(t, { security: { secondApproval: ['lower_locks'] } })
    const id = await vault.store('k')
    const asked = { code: 'precondition_failed', extras: { blockers: [{ code: 'approval_required' }] } }
    const { token, tokenId, sha256 } = newAdminToken()
    t.ok(token)
    const owner = { tokenId, name: 'o', role: 'owner', tenantId: null, expiresAt: null, sha256 } as const
    await vault.memory.change({ type: 'createAdminToken', ...owner })
    const approve = async (change: Promise<unknown>) => {
      const error: unknown = await change.then(
        () => undefined,
        (cause: unknown) => cause,
      )
      t.match(error, asked)
      const approvalId = error instanceof Refusal ? (error.extras.blockers?.[0]?.approvalId ?? '') : ''
      await vault.memory.change({ type: 'approveChange', approvalId, approvedBy: tokenId })
    }
    const { results } = await vault.removeAll(ADMIN, [{ key: 'k', versionId: id }])
    t.match(results, [{ outcome: kept }], 'a batch cannot be approved')
    const longer = { mode: 'GOVERNANCE', until: vault.until + DAY_MS } as const
    t.match(await vault.retain(ADMIN, 'k', longer), { object: { retention: longer } }, 'longer needs none')
    const sooner = { mode: 'GOVERNANCE', until: vault.until - DAY_MS } as const
    await approve(vault.retain(ADMIN, 'k', sooner))
    await t.rejects(vault.retain(ADMIN, 'k', null), asked, 'what is approved is one date')
    t.match(await vault.retain(ADMIN, 'k', sooner), { object: { retention: sooner } })
    await approve(vault.remove(ADMIN, 'k', id))
    t.match(await vault.remove(ADMIN, 'k', id), { deleted: { existed: true } })
    t.match(await vault.remove(ADMIN, 'k', id), { deleted: { existed: false } }, 'nor what is not there')
  },
)
