/** The secrets of targets of replication are sealed like all others, and take part in a rotation of the master key. */
import t from 'tap'
import { MasterKey } from '../../src/access/master-key.ts'
import { SealedSecrets } from '../../src/access/sealed-secrets.ts'
import { siteSecretsOf } from '../../src/access/site-secrets.ts'
import { siteKeys, siteRanges } from '../../src/state-machine/sites/keys.ts'
import { MemoryServices } from '../helpers/memory-services.ts'
import { bucketId } from '../state-machine/hook-commands.ts'
import { createBucket } from '../state-machine/map-world.ts'
import { setReplication, TARGET } from '../state-machine/site-commands.ts'

const [OLD, NEW] = [1, 2].map((byte) => ({ id: `mk-${byte}`, secret: Buffer.alloc(32, byte) }))

t.test('a rotation seals the secret of a target again, and until then the old key is required', async (t) => {
  if (OLD === undefined || NEW === undefined) return
  const { services } = await MemoryServices.start(t, { masterKey: MasterKey.of([OLD]) })
  const keys = services.access.newTenantKeys('acme')
  await services.propose({ type: 'createTenant', id: 'acme', name: 'acme', ...keys })
  await services.propose(createBucket())
  const id = bucketId(services.state)
  const secret = services.siteSecrets.seal(id, 'the secret')
  await services.propose({ ...setReplication(services.state), secret })
  const { bucket: _, identity: __, ...place } = TARGET
  await services.propose({
    type: 'setTenantReplication',
    tenantId: 'acme',
    target: { ...place, bucketPrefix: '' },
    secret: services.siteSecrets.sealForTenant('acme', 'the same for all'),
    rules: [],
    createsBuckets: false,
    existing: false,
  })

  const rotation = new SealedSecrets(MasterKey.of([NEW, OLD]), services.state)
  const alone = new SealedSecrets(MasterKey.of([NEW]), services.state)
  for await (const { command, lost } of rotation.rewraps()) {
    t.same(lost, [])
    if (!command.type.includes('SiteSecrets') && command.items.length > 0) await services.propose(command)
  }
  for (const [type, owner] of [
    ['rewrapSiteSecrets', "replication of bucket 'photos'"],
    ['rewrapTenantSiteSecrets', "replication of tenant 'acme'"],
  ] as const) {
    t.match(await alone.missing(), { owner, masterKeyId: 'mk-1' })
    for await (const { command } of rotation.rewraps())
      if (command.type === type)
        t.same(await services.propose(command), { ok: true, value: { rewrapped: 1 } })
  }
  t.equal(await alone.missing(), null)
  const [site] = (await services.state.page(siteRanges.sites(), { limit: 10 })).items
  const after = siteSecretsOf(MasterKey.of([NEW]))
  t.equal(after.open(id, site?.secret ?? new Uint8Array()), 'the secret', 'it is the same secret')
  const whole = services.state.get(siteKeys.tenantSite('acme'))?.secret ?? new Uint8Array()
  t.equal(after.openOfTenant('acme', whole), 'the same for all')
  for await (const { command } of rotation.rewraps())
    t.same(command.items, [], 'then there is nothing left to do')
})
