/** The signing secrets of webhooks are sealed like all others, and take part in a rotation of the master key. */
import t from 'tap'
import { MasterKey } from '../../src/access/master-key.ts'
import { SealedSecrets } from '../../src/access/sealed-secrets.ts'
import { hookSecret } from '../../src/access/sealing-contexts.ts'
import { MemoryServices } from '../helpers/memory-services.ts'
import { requested } from '../state-machine/hook-commands.ts'
import { createBucket } from '../state-machine/map-world.ts'
import { eventRanges } from '../../src/state-machine/events/keys.ts'

const [OLD, NEW] = [1, 2].map((byte) => ({ id: `mk-${byte}`, secret: Buffer.alloc(32, byte) }))

t.test(
  'a rotation seals the secret of a webhook again, and until then the old key is required [notifications.secret.rotation]',
  async (t) => {
    if (OLD === undefined || NEW === undefined) return
    const { services } = await MemoryServices.start(t, { masterKey: MasterKey.of([OLD]) })
    const keys = services.access.newTenantKeys('acme')
    await services.propose({ type: 'createTenant', id: 'acme', name: 'acme', ...keys })
    await services.propose(createBucket())
    const { hookId, signingSecret, sealed } = services.access.newHook()
    const fresh = { hookId, secret: sealed }
    const configs = [
      requested('a', { fresh }),
      requested('gone', { fresh: { hookId: 'GONE', secret: sealed } }),
    ]
    const set = { type: 'setNotifications', tenantId: 'acme', bucket: 'photos' } as const
    await services.propose({ ...set, configs: configs.slice(0, 1) })
    const hook = async () => (await services.state.page(eventRanges.hooks(), { limit: 10 })).items[0]
    const plain = Buffer.from(signingSecret.slice('whsec_'.length), 'base64')
    t.equal(plain.length, 24)

    const both = MasterKey.of([NEW, OLD])
    const rotation = new SealedSecrets(both, services.state)
    const alone = new SealedSecrets(MasterKey.of([NEW]), services.state)
    for await (const { command, lost } of rotation.rewraps()) {
      t.same(lost, [])
      if (command.type !== 'rewrapHookSecrets') await services.propose(command)
    }
    t.match(await alone.missing(), { owner: `notification hook '${hookId}'`, masterKeyId: 'mk-1' })
    for await (const { command } of rotation.rewraps())
      if (command.items.length > 0)
        t.same(await services.propose(command), { ok: true, value: { rewrapped: 1 } })
    t.equal(await alone.missing(), null)
    const after = (await hook())?.secret ?? new Uint8Array()
    t.same(Buffer.from(MasterKey.of([NEW]).open(after, hookSecret(hookId))), plain, 'it is the same secret')
    t.throws(() => MasterKey.of([NEW]).open(after, hookSecret('OTHER')), 'and opens for no other webhook')
    for await (const { command } of rotation.rewraps())
      t.same(command.items, [], 'then there is nothing left to do')

    await services.propose({ ...set, configs: [] })
    t.equal(await alone.missing(), null, 'a deleted webhook has no secret')
  },
)
