/**
 * The master keys of the cluster through the admin API.
 */
import t from 'tap'
import { MasterKey } from '../../src/access/master-key.ts'
import { membersOf } from '../../src/state-machine/members/members.ts'
import { memberKeys } from '../../src/state-machine/members/keys.ts'
import { tenantKeys } from '../../src/state-machine/tenants/keys.ts'
import { foundThree } from '../helpers/membership-samples.ts'
import { ApiWorld } from './api-world.ts'

const OLD = { id: 'mk-old', secret: Buffer.alloc(32, 1) }
const NEW = { id: 'mk-new', secret: Buffer.alloc(32, 2) }
const oldName = { id: OLD.id, fingerprint: MasterKey.of([OLD]).fingerprint }
const newName = { id: NEW.id, fingerprint: MasterKey.of([NEW]).fingerprint }

t.test('getClusterEncryption', async (t) => {
  const world = await ApiWorld.start(t, {
    masterKey: MasterKey.of([NEW, OLD]),
    security: { keyProvider: { kind: 'file' } },
  })
  const { memory } = world
  const owner = await memory.adminToken('owner')
  await foundThree(memory)
  const agreed = async (holders: Readonly<Record<string, readonly string[]>>, sealing = oldName) =>
    memory.writeRow(tenantKeys.clusterKey(), { masterKeyFingerprint: sealing.fingerprint, holders })
  const ask = async (token = owner) =>
    world.call({ admin: true, token, path: '/admin/api/v1/cluster/encryption' })
  const both = [newName.fingerprint, oldName.fingerprint]

  await t.test('has no sealing key and no next one before the cluster has agreed on one', async (t) => {
    const { json } = await ask()
    t.match(json, { sealingKey: null, nextKey: null })
    t.strictSame(json['waitsFor'], [])
  })

  await t.test('names the members that a rotation waits for', async (t) => {
    await agreed({ n1: both, n2: both })
    t.match(await ask(), {
      status: 200,
      json: {
        nodeId: 'n1',
        provider: 'file',
        metadataSealed: false,
        sealingKey: oldName,
        nextKey: newName,
        waitsFor: ['n3'],
        secretsLeft: null,
        members: [
          { nodeId: 'n1', keys: [newName, oldName] },
          { nodeId: 'n2', keys: [newName, oldName] },
          { nodeId: 'n3', keys: null },
        ],
      },
    })
  })

  await t.test('counts what is left when the cluster has moved on', async (t) => {
    await agreed({ n1: both, n2: both, n3: both }, newName)
    memory.services.masterKeys.noteWalk(7)
    t.match((await ask()).json, { sealingKey: newName, nextKey: null, waitsFor: [], secretsLeft: 7 })
  })

  await t.test('has no id for a key that this node does not have', async (t) => {
    await agreed({ n1: both, n2: both, n3: ['f'.repeat(64)] }, newName)
    const { json } = await ask()
    t.match(json, { nextKey: { id: null, fingerprint: 'f'.repeat(64) }, waitsFor: ['n1', 'n2'] })
  })

  await t.test('does not wait for a lost member', async (t) => {
    await agreed({ n1: both, n2: both })
    const { members, ...rest } = membersOf(memory.reader)
    const lost = members.map((one) => (one.nodeId === 'n3' ? { ...one, phase: 'lost' } : one))
    await memory.writeRow(memberKeys.members(), { ...rest, members: lost })
    const { json } = await ask()
    t.match(json, { nextKey: newName })
    t.strictSame(json['waitsFor'], [])
  })

  await t.test('is for viewers of the cluster, and holds no key', async (t) => {
    t.equal((await ask(await memory.adminToken('viewer'))).status, 200)
    t.equal((await ask(await memory.adminToken('auditor'))).status, 403)
    const { bytes } = await ask()
    for (const secret of [OLD.secret, NEW.secret])
      for (const form of ['base64', 'hex'] as const) t.notOk(bytes.toString().includes(secret.toString(form)))
  })
})
