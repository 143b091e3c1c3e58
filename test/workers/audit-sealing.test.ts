/**
 * The worker that seals audit rows: when, in which steps, and that rows stay where anything fails.
 */
import { hash } from 'node:crypto'
import t from 'tap'
import { Condition } from '../../cluster/index.ts'
import { MasterKey } from '../../src/access/master-key.ts'
import { SealedSecrets } from '../../src/access/sealed-secrets.ts'
import { testMasterKey } from '../helpers/content-world.ts'
import { LATER, SealingWorld, down } from './sealing-world.ts'
import { auditRowKeys } from '../../src/state-machine/audit/keys.ts'
import { recountState } from '../../src/store/reads/recount-state.ts'

t.test('sealing', async (t) => {
  t.test('leaves few rows alone until one of them is old', async (t) => {
    const world = await SealingWorld.start(t)
    await world.log(5)
    await world.sealing.round()
    t.match(await world.segments(), [])
    t.equal(world.memory.blobs.written.length, 0)
    await world.sealAll()
    t.match(await world.segments(), [{ first: 0, next: 5, rows: 5 }])
    t.strictSame(await world.ids(), down(4, 0))
    t.strictSame((await world.verify()).faults, [])
  })

  t.test('seals full segments at once, a bounded number of them in one round', async (t) => {
    const world = await SealingWorld.start(t)
    const userAgent = 'x'.repeat(1_100_000)
    // Incompressible enough: packed rows count as they are stored.
    for (let n = 0; n < 12; n++) {
      const reason = Array.from({ length: 40_000 }, (_, m) => hash('sha256', `${n}/${m}`)).join('')
      await world.ship([{ userAgent, reason }])
    }
    await world.sealing.round()
    const sealed = (await world.segments()).length
    t.equal(sealed, 4)
    await world.sealing.round()
    t.ok((await world.segments()).length > sealed)
    t.strictSame((await world.verify()).faults, [])
  })

  t.test('does nothing on a node that is not on duty, and below the feature level', async (t) => {
    const world = await SealingWorld.start(t)
    await world.log(3)
    world.isJobRunner = false
    await world.sealAll()
    world.isJobRunner = true
    world.stateLevel = 2
    await world.sealAll()
    t.match(await world.segments(), [])
    t.equal(world.memory.blobs.written.length, 0)
    t.equal(world.memory.reader.get(auditRowKeys.auditKeys()), undefined)
    t.strictSame(await world.ids(), down(2, 0))
    world.stateLevel = 3
    await world.sealAll()
    t.equal((await world.segments()).length, 1, 'rows from before the raise go as well')
  })

  t.test('continues at once with as many links as a segment holds, and with no more', async (t) => {
    const world = await SealingWorld.start(t, { links: 20 })
    await world.log(19)
    await world.sealing.round()
    t.match(await world.segments(), [])
    await world.log(4)
    await world.sealing.round()
    t.match(await world.segments(), [{ first: 0, next: 20 }])
    t.strictSame(await world.ids(), down(22, 0))
    t.strictSame((await world.verify()).faults, [])
  })
})

t.test('rows stay where they are', async (t) => {
  const cases: Record<string, (world: SealingWorld) => Promise<void> | void> = {
    'when the copies cannot be written': ({ memory }) => {
      memory.blobs.beforeWrite = async () => {
        throw new Condition('not_enough_replicas', 'No room')
      }
    },
    'when a copy cannot be read back': ({ memory }) => {
      memory.blobs.failAfter('n2', 0, new Error('EIO'))
    },
    'when the proposal is lost': ({ memory }) => {
      memory.beforeApply = async () => {
        memory.beforeApply = async () => {}
        memory.proposeFault = new Condition('no_quorum', 'Gone')
      }
    },
  }
  for (const [name, spoil] of Object.entries(cases))
    t.test(`${name}, and the next try succeeds`, async (t) => {
      const world = await SealingWorld.start(t)
      await world.log(4)
      await world.sealAll()
      await world.log(4)
      await spoil(world)
      const failure = await world.sealAll().catch((error: unknown) => error)
      t.ok(failure instanceof Condition, 'it waits, and reports no bug')
      t.equal((await world.segments()).length, 1)
      t.strictSame(await world.ids(), down(7, 0))
      t.strictSame((await world.verify()).faults, [])
      world.memory.blobs.beforeWrite = async () => {}
      world.memory.blobs.failAfter('n2', Number.MAX_SAFE_INTEGER, new Error('EIO'))
      world.memory.proposeFault = null
      await world.worker().round()
      t.equal((await world.segments()).length, 2)
      t.strictSame(await world.ids(), down(7, 0))
    })

  t.test('and are sealed once when another node led meanwhile', async (t) => {
    const world = await SealingWorld.start(t)
    await world.log(6)
    world.now += LATER
    const other = world.worker()
    world.memory.blobs.beforeWrite = async () => {
      world.memory.blobs.beforeWrite = async () => {}
      await other.round()
    }
    await world.sealing.round()
    t.equal((await world.segments()).length, 1)
    t.strictSame(await world.ids(), down(5, 0))
    const recount = await recountState(world.memory.reader, () => true)
    t.strictSame(recount?.differences, [])
  })
})

t.test('keys of segments are sealed again with a new master key', async (t) => {
  const world = await SealingWorld.start(t)
  await world.log(3)
  await world.sealAll()
  const row = world.memory.reader.get(auditRowKeys.auditKeys())
  const secrets = new SealedSecrets(testMasterKey, world.memory.reader)
  t.equal(await secrets.missing(), null)
  const other = MasterKey.fromBytes('mk-other', new Uint8Array(32).fill(9))
  t.match(await new SealedSecrets(other, world.memory.reader).missing(), { owner: 'the audit log' })
  const both = MasterKey.of([
    { id: 'mk-other', secret: new Uint8Array(32).fill(9) },
    { id: testMasterKey.id, secret: Buffer.alloc(32, 7) },
  ])
  for await (const { command } of new SealedSecrets(both, world.memory.reader).rewraps())
    if (command.items.length > 0) await world.memory.change(command)
  t.notSame(world.memory.reader.get(auditRowKeys.auditKeys()), row)
  t.equal(await new SealedSecrets(other, world.memory.reader).missing(), null)
})
